//! Segments of the black box: numbered files of bounded size and number.
//!
//! Each process life begins a segment of its own, so nothing is ever appended behind a torn line.
//! When there are too many, the oldest is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Largest segment, bytes.
pub(super) const SEGMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most segments in a folder: 256 MiB together.
pub(super) const SEGMENTS_MAX: usize = 64;
/// Numbers beyond this are no segments of ours: years of one segment a second.
const NUMBER_MAX: u64 = 999_999_999;

/// Returns the newest segments of a folder, oldest first, with their numbers.
pub(super) fn segments(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = all_segments(dir)?;
    let surplus = found.len().saturating_sub(SEGMENTS_MAX);
    found.drain(..surplus);
    Ok(found)
}

fn all_segments(dir: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if let Some(number) = number_of(&path) {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn number_of(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let digits = name.strip_prefix("audit-")?.strip_suffix(".jsonl")?;
    let all_digits = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits.parse().ok()?;
    (all_digits && number <= NUMBER_MAX).then_some(number)
}

/// The writing end.
#[derive(Debug)]
pub(super) struct Segments {
    dir: PathBuf,
    bytes_max: u64,
    number: u64,
    file: File,
    bytes: u64,
    /// A write failed half-way: the next one goes to a new segment.
    torn: bool,
}

impl Segments {
    /// Begins a new segment behind the last one. `bytes_max` is [`SEGMENT_BYTES_MAX`], or less in
    /// tests.
    pub(super) fn open(dir: &Path, bytes_max: u64) -> io::Result<Self> {
        let last = all_segments(dir)?.last().map_or(0, |(number, _)| *number);
        let number = last.saturating_add(1);
        let file = create(dir, number)?;
        let segments = Self {
            dir: dir.to_owned(),
            bytes_max: bytes_max.min(SEGMENT_BYTES_MAX),
            number,
            file,
            bytes: 0,
            torn: false,
        };
        segments.remove_surplus()?;
        Ok(segments)
    }

    /// Writes one whole line.
    pub(super) fn write_line(&mut self, line: &[u8]) -> io::Result<()> {
        let len = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.torn || self.bytes.saturating_add(len) > self.bytes_max {
            self.rotate()?;
        }
        // Counted before the write: after a failure nobody knows how much of it got through.
        self.bytes = self.bytes.saturating_add(len);
        self.torn = true;
        self.file.write_all(line)?;
        self.torn = false;
        Ok(())
    }

    /// Brings what was written to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn rotate(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        let number = self.number.saturating_add(1);
        self.file = create(&self.dir, number)?;
        self.number = number;
        self.bytes = 0;
        self.torn = false;
        self.remove_surplus()
    }

    fn remove_surplus(&self) -> io::Result<()> {
        let found = all_segments(&self.dir)?;
        let surplus = found.len().saturating_sub(SEGMENTS_MAX);
        for (_, path) in found.iter().take(surplus) {
            fs::remove_file(path)?;
        }
        // The names of new and removed segments survive a loss of power as well.
        OpenOptions::new().read(true).open(&self.dir)?.sync_all()
    }
}

fn create(dir: &Path, number: u64) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(dir.join(format!("audit-{number:06}.jsonl")))
}
