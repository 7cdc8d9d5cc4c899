//! All lines of a box, in the order of their chains: what verifying, showing and exporting share.

use std::io;

use super::chain::Tip;
use super::disk::Disk;
use super::names::{CLASSES, RESERVE, SegmentName};
use super::reserve::lines_behind;
use crate::terms::FactClass;

/// A segment is read up to here, bytes: four MiB, and the notes of pruning that may stand behind them.
pub(super) const SEGMENT_READ_MAX: u64 = 5 * 1024 * 1024;
/// Segments of one class that are looked at: the newest. A recorder leaves a quarter of it.
const SEGMENTS_READ_MAX: usize = 4096;

/// One thing after the other.
#[derive(Debug)]
pub(super) enum Seen<'a> {
    /// A class begins.
    Class(FactClass),
    /// A file begins.
    File {
        name: &'a str,
        /// Whether it is the newest of its class.
        newest: bool,
    },
    /// A line, with its line feed unless the file ends before it.
    Line(&'a [u8]),
    /// The file cannot be read.
    Unreadable(io::Error),
    /// The file is larger than a recorder ever makes one.
    TooLarge,
}

/// Shows all lines of a box to `see`, which returns where the chain of the class stands: lines of the
/// reserve that go on there follow the segments of the safety class.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn walk(disk: &dyn Disk, see: &mut dyn FnMut(Seen<'_>) -> Tip) -> io::Result<()> {
    for class in CLASSES {
        let mut tip = see(Seen::Class(class));
        let segments = segments_of(disk, class)?;
        let newest = segments.last().cloned();
        for segment in segments {
            let name = segment.name.as_str();
            let newest = Some(&segment) == newest.as_ref();
            tip = see(Seen::File { name, newest });
            tip = show(disk, name, see).unwrap_or(tip);
        }
        if class == FactClass::Safety {
            let aside = lines_behind(disk, tip).unwrap_or_default();
            if !aside.is_empty() {
                see(Seen::File {
                    name: RESERVE,
                    newest: true,
                });
            }
            for (line, _) in aside {
                see(Seen::Line(&line));
            }
        }
    }
    Ok(())
}

fn show(disk: &dyn Disk, name: &str, see: &mut dyn FnMut(Seen<'_>) -> Tip) -> Option<Tip> {
    let bytes = match disk.read(name, SEGMENT_READ_MAX.saturating_add(1)) {
        Ok(bytes) => bytes,
        Err(error) => return Some(see(Seen::Unreadable(error))),
    };
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SEGMENT_READ_MAX {
        return Some(see(Seen::TooLarge));
    }
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    lines.map(|line| see(Seen::Line(line))).last()
}

/// Returns the segments of a class, oldest first.
pub(super) fn segments_of(disk: &dyn Disk, class: FactClass) -> io::Result<Vec<SegmentName>> {
    let names = disk.list()?.into_iter();
    let mut found: Vec<SegmentName> = names
        .filter_map(|(name, _)| SegmentName::parse(class, &name))
        .collect();
    found.sort_unstable();
    let surplus = found.len().saturating_sub(SEGMENTS_READ_MAX);
    found.drain(..surplus);
    Ok(found)
}

/// Returns all segments with their sizes, oldest first in each class.
pub(in crate::telemetry) fn segment_files(
    disk: &dyn Disk,
) -> io::Result<Vec<(FactClass, SegmentName, u64)>> {
    let mut found = Vec::new();
    for (name, bytes) in disk.list()? {
        let of = |class| Some((class, SegmentName::parse(class, &name)?));
        if let Some((class, segment)) = CLASSES.into_iter().find_map(of) {
            found.push((class, segment, bytes));
        }
    }
    found.sort_unstable_by(|(_, a, _), (_, b, _)| a.cmp(b));
    Ok(found)
}
