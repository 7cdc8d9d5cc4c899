//! The reserve: room on disk that is there before it is needed, for safety records when the disk is full.
//!
//! A file of fixed size, filled with zeros. Lines are put into it one after the other; the first zero
//! ends them. They go on in the chain of the safety class, behind its last segment, until a new segment
//! takes them over. Lines that a segment has taken are passed over, so a process that is killed between
//! taking and clearing loses and doubles nothing.

use std::io;

use super::chain::{Sealed, Tip, open};
use super::disk::{Disk, DiskFile, write_all};
use super::names::RESERVE;

/// Size of the reserve, bytes. Chosen: more than a hundred stops with all their records.
pub(super) const RESERVE_BYTES: u64 = 1024 * 1024;

/// The writing end.
#[derive(Debug)]
pub(super) struct Reserve {
    file: Box<dyn DiskFile>,
    /// Where the next line begins.
    at: u64,
    /// Up to where bytes other than zero may lie.
    touched: u64,
    unsynced: bool,
    bytes: u64,
}

impl Reserve {
    /// Opens the reserve of this size, and makes it when it is missing. What lies in it stays.
    pub(super) fn open(disk: &dyn Disk, bytes: u64) -> io::Result<Self> {
        let file = disk.fixed(RESERVE, bytes)?;
        let lies = disk.read(RESERVE, bytes)?;
        let used = lies.iter().rposition(|byte| *byte != 0);
        let touched = used.map_or(0, |at| at.saturating_add(1));
        Ok(Self {
            file,
            at: 0,
            touched: u64::try_from(touched).unwrap_or(bytes),
            unsynced: false,
            bytes,
        })
    }

    /// Puts one line behind those that it holds.
    ///
    /// # Errors
    /// When it is full, or the disk refuses.
    pub(super) fn put(&mut self, line: &[u8]) -> io::Result<()> {
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        let end = self.at.saturating_add(len);
        // One zero must be left to end the lines.
        if end >= self.bytes {
            return Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the reserve of the black box is full",
            ));
        }
        let rest = usize::try_from(self.touched.saturating_sub(end)).unwrap_or(0);
        self.touched = self.touched.max(end);
        self.unsynced = true;
        if rest > 0 {
            // What a write that failed half-way left there. The zeros first: then a line is never
            // followed by them.
            write_all(self.file.as_mut(), end, &vec![0; rest])?;
            self.touched = end;
        }
        write_all(self.file.as_mut(), self.at, line)?;
        self.at = end;
        Ok(())
    }

    /// Brings what it holds to the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        if self.unsynced {
            self.file.sync()?;
            self.unsynced = false;
        }
        Ok(())
    }

    /// Fills it with zeros again: a segment has its lines.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        let touched = usize::try_from(self.touched).unwrap_or(0);
        self.at = 0;
        if touched == 0 {
            return Ok(());
        }
        write_all(self.file.as_mut(), 0, &vec![0; touched])?;
        self.file.sync()?;
        self.touched = 0;
        self.unsynced = false;
        Ok(())
    }

    /// Returns whether it holds lines that this life put there.
    pub(super) fn is_used(&self) -> bool {
        self.at > 0
    }
}

/// Returns the lines of the reserve that go on behind `tip`, each with what it says; none when the file
/// is missing. What does not follow is not returned: it is of an earlier use.
pub(super) fn lines_behind(disk: &dyn Disk, tip: Tip) -> io::Result<Vec<(Vec<u8>, Sealed)>> {
    let bytes = match disk.read(RESERVE, RESERVE_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        found => found?,
    };
    let used = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let mut lines = Vec::new();
    let mut last = tip;
    for line in used.split_inclusive(|byte| *byte == b'\n') {
        let Ok(record) = open(line) else {
            break;
        };
        if record.n <= tip.n {
            continue;
        }
        if record.n != last.n.saturating_add(1) || record.prev != last.hash {
            break;
        }
        last = record.tip();
        lines.push((line.to_vec(), record));
    }
    Ok(lines)
}
