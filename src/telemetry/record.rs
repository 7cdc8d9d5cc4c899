//! Records of the black box: one JSON object a line, and reading them back.
//!
//! A process that was killed leaves at most one torn line, at the end of its last segment; reading
//! passes over it. Any other line that is no record is an error: somebody changed the file.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::segment::{SEGMENT_BYTES_MAX, segments};
use crate::terms::{Fact, FactClass};

/// Longest line of the black box, bytes. Chosen: ten times the longest ordinary fact. Texts of a
/// longer record are cut.
pub(super) const RECORD_BYTES_MAX: usize = 8192;

/// One record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Counts from 1 in each process life. A gap tells that facts were thinned or dropped.
    pub seq: u64,
    /// Id of the process life, random.
    pub boot: String,
    /// Monotonic time, ms since an origin that the process chose.
    pub t_mono_ms: u64,
    /// Wall time, RFC 3339 with milliseconds. It may jump; order and intervals come from the others.
    pub t_wall: String,
    /// How it is kept.
    pub class: FactClass,
    /// What happened.
    pub fact: Fact,
}

/// Why records could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The folder or a segment cannot be read.
    #[error("could not read {}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A line that is no record, and not the torn end of a segment.
    #[error("{}:{line}: not a record of the black box", path.display())]
    BadLine {
        /// The segment.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A segment is larger than the recorder ever makes one.
    #[error("{} is larger than {SEGMENT_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The segment.
        path: PathBuf,
    },
}

/// Reads all records of a folder, oldest first. A folder without segments has none.
///
/// Bounded by what a recorder may keep: the newest 64 segments of 4 MiB.
///
/// # Errors
/// [`RecordError`] when the folder or a segment cannot be read, or was changed by somebody.
pub fn read_records(dir: &Path) -> Result<Vec<Record>, RecordError> {
    let found = segments(dir).map_err(|source| RecordError::Unreadable {
        path: dir.to_owned(),
        source,
    })?;
    let mut records = Vec::new();
    for (_, path) in found {
        read_segment(&path, &mut records)?;
    }
    Ok(records)
}

fn read_segment(path: &Path, into: &mut Vec<Record>) -> Result<(), RecordError> {
    let unreadable = |source| RecordError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let file = OpenOptions::new()
        .read(true)
        .open(path)
        .map_err(unreadable)?;
    // One byte more than a segment may have tells a larger one from a full one.
    let mut left = SEGMENT_BYTES_MAX.saturating_add(1);
    let mut reader = BufReader::new(file.take(left));
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let bytes = reader.read_until(b'\n', &mut line).map_err(unreadable)?;
        if bytes == 0 {
            break;
        }
        left = left.saturating_sub(u64::try_from(bytes).unwrap_or(u64::MAX));
        if left == 0 {
            return Err(RecordError::TooLarge {
                path: path.to_owned(),
            });
        }
        match serde_json::from_slice(&line) {
            Ok(record) => into.push(record),
            // Torn: the process was killed, or the disk was full, while this line was written.
            Err(_) if line.last() != Some(&b'\n') => break,
            Err(source) => {
                return Err(RecordError::BadLine {
                    path: path.to_owned(),
                    line: number,
                    source,
                });
            }
        }
    }
    Ok(())
}

/// The head of a record, before its fact.
#[derive(Debug, Serialize)]
pub(super) struct Line<'a> {
    pub(super) seq: u64,
    pub(super) boot: &'a str,
    pub(super) t_mono_ms: u64,
    pub(super) t_wall: &'a str,
    pub(super) class: FactClass,
    pub(super) fact: &'a Value,
}

impl Line<'_> {
    /// Appends the line to a buffer.
    pub(super) fn append(&self, out: &mut Vec<u8>) -> Result<(), serde_json::Error> {
        let start = out.len();
        match serde_json::to_writer(&mut *out, self) {
            Ok(()) => {
                out.push(b'\n');
                Ok(())
            }
            Err(error) => {
                out.truncate(start);
                Err(error)
            }
        }
    }
}

/// Returns a fact as JSON that fits a record: texts and lists of an oversized one are cut.
pub(super) fn bounded(fact: &Fact) -> Result<Value, serde_json::Error> {
    /// Room for the fact; the rest of the record is of known size.
    const FACT_BYTES_MAX: usize = RECORD_BYTES_MAX - 512;
    let mut value = serde_json::to_value(fact)?;
    for (chars, items) in [(1024, 32), (256, 8), (32, 4)] {
        if serde_json::to_vec(&value)?.len() <= FACT_BYTES_MAX {
            break;
        }
        cut(&mut value, chars, items);
    }
    Ok(value)
}

fn cut(value: &mut Value, chars: usize, items: usize) {
    match value {
        Value::String(text) => {
            if let Some((at, _)) = text.char_indices().nth(chars) {
                text.truncate(at);
            }
        }
        Value::Array(list) => {
            list.truncate(items);
            list.iter_mut().for_each(|item| cut(item, chars, items));
        }
        Value::Object(map) => map.values_mut().for_each(|item| cut(item, chars, items)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
