//! Where a class ends on disk: what a new segment joins.

use std::io;

use super::TORN_MAX;
use super::chain::{Tip, open};
use super::disk::Disk;
use super::names::SegmentName;
use super::walk::{SEGMENT_READ_MAX, segments_of};
use crate::terms::FactClass;

/// The end of a class.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The last record that can be read; the start when there is none.
    pub(super) tip: Tip,
    /// The highest number of a segment.
    pub(super) number: u64,
    /// Segments behind that record, its own included, that end in an unfinished line.
    pub(super) torn: Vec<String>,
    /// The segment whose last whole line is no record.
    pub(super) unreadable: Option<String>,
}

/// Finds the end of a class.
///
/// # Errors
/// When the folder or a segment cannot be read.
pub(super) fn find_tail(disk: &dyn Disk, class: FactClass) -> io::Result<Tail> {
    let segments = segments_of(disk, class)?;
    let mut tail = Tail {
        tip: Tip::START,
        number: segments.last().map_or(0, |segment| segment.number),
        torn: Vec::new(),
        unreadable: None,
    };
    for SegmentName { name, .. } in segments.into_iter().rev() {
        let bytes = disk.read(&name, SEGMENT_READ_MAX)?;
        let (lines, rest) = whole_lines(&bytes);
        if !rest.is_empty() && tail.torn.len() < TORN_MAX {
            tail.torn.push(name.clone());
        }
        let Some(last) = lines.split_inclusive(|byte| *byte == b'\n').next_back() else {
            continue;
        };
        match open(last) {
            Ok(record) => tail.tip = record.tip(),
            Err(_) => tail.unreadable = Some(name),
        }
        break;
    }
    Ok(tail)
}

/// Returns the last record of a segment that can be read.
///
/// # Errors
/// When the segment cannot be read.
pub(super) fn last_tip(disk: &dyn Disk, name: &str) -> io::Result<Option<Tip>> {
    let bytes = disk.read(name, SEGMENT_READ_MAX)?;
    let mut lines = whole_lines(&bytes).0.split_inclusive(|byte| *byte == b'\n');
    let tip = |line| open(line).ok().map(|record| record.tip());
    Ok(lines.by_ref().rev().find_map(tip))
}

/// Splits a segment into its whole lines and what is left.
fn whole_lines(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().rposition(|byte| *byte == b'\n');
    let end = end.map_or(0, |at| at.saturating_add(1));
    bytes.split_at_checked(end).unwrap_or((bytes, &[]))
}
