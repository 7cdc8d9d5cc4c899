//! The facts of the black box, and reading them back. How their lines are chained stands in `blackbox`.
//!
//! A process that was killed leaves at most one torn line in each class, at the end of its last segment;
//! reading passes over it. Any other line that is no record is an error: somebody changed the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::blackbox::{Disk as _, Folder, SEGMENT_BYTES_MAX, segment_files};
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
    #[error("{} is larger than twice {SEGMENT_BYTES_MAX} bytes", path.display())]
    TooLarge {
        /// The segment.
        path: PathBuf,
    },
}

/// Reads the facts of a folder, those of a life in the order in which they were raised, older lives
/// first. A folder without segments has none. What the recorder says about the box itself is passed
/// over, and so are the hashes: `verify_records` judges those.
///
/// Bounded by what a recorder may keep: 256 MiB.
///
/// # Errors
/// [`RecordError`] when the folder or a segment cannot be read, or was changed by somebody.
pub fn read_records(dir: &Path) -> Result<Vec<Record>, RecordError> {
    let disk = Folder::new(dir);
    let found = segment_files(&disk).map_err(|source| RecordError::Unreadable {
        path: dir.to_owned(),
        source,
    })?;
    let mut records = Vec::new();
    let mut lives = Lives::default();
    for (class, segment, bytes) in found {
        let path = dir.join(&segment.name);
        if bytes > SEGMENT_BYTES_MAX.saturating_mul(2) {
            return Err(RecordError::TooLarge { path });
        }
        let lines = disk.read(&segment.name, SEGMENT_BYTES_MAX.saturating_mul(2));
        let lines = lines.map_err(|source| RecordError::Unreadable {
            path: path.clone(),
            source,
        })?;
        for read in read_lines(&path, &lines)? {
            lives.note(&read.boot, class);
            records.extend(read.into_record());
        }
    }
    records.sort_by_key(|record| (lives.rank(&record.boot), record.seq));
    Ok(records)
}

fn read_lines(path: &Path, bytes: &[u8]) -> Result<Vec<Read>, RecordError> {
    let mut read = Vec::new();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        match Read::parse(line) {
            Ok(record) => read.push(record),
            // Torn: the process was killed, or the disk was full, while this line was written.
            Err(_) if !line.ends_with(b"\n") => break,
            Err(source) => {
                return Err(RecordError::BadLine {
                    path: path.to_owned(),
                    line: number.saturating_add(1),
                    source,
                });
            }
        }
    }
    Ok(read)
}

/// A line as it lies there: a fact, or a note about the box itself.
#[derive(Debug, Deserialize)]
struct Read {
    seq: u64,
    boot: String,
    t_mono_ms: u64,
    t_wall: String,
    class: FactClass,
    fact: Option<Fact>,
    note: Option<IgnoredAny>,
}

impl Read {
    fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        let read: Self = serde_json::from_slice(line)?;
        if read.fact.is_some() == read.note.is_some() {
            return Err(serde_json::Error::custom("neither a fact nor a note"));
        }
        Ok(read)
    }

    fn into_record(self) -> Option<Record> {
        Some(Record {
            seq: self.seq,
            boot: self.boot,
            t_mono_ms: self.t_mono_ms,
            t_wall: self.t_wall,
            class: self.class,
            fact: self.fact?,
        })
    }
}

/// The lives, older ones first: in the order of the safety class, which is pruned last. Those that it
/// does not know are older than all of them.
#[derive(Debug, Default)]
struct Lives(BTreeMap<String, usize>);

impl Lives {
    fn note(&mut self, boot: &str, class: FactClass) {
        if class == FactClass::Safety && !self.0.contains_key(boot) {
            let rank = self.0.len().saturating_add(1);
            self.0.insert(boot.to_owned(), rank);
        }
    }

    fn rank(&self, boot: &str) -> usize {
        self.0.get(boot).copied().unwrap_or(0)
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
