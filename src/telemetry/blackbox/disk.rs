//! What the box asks of a disk, and the folder that answers.
//!
//! The trait is the seam through which tests let a disk be full, read-only, slow to take a line or
//! without power. It promises what Linux promises: a write may be short, bytes that were not synced may
//! vanish, and so may the names of files until [`Disk::sync_names`].

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Neither follows a link nor waits for the other end of a pipe.
const PLAIN: i32 = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .bits()
    .cast_signed();

/// Files that are looked at in one folder; a folder with more is not one of ours.
const FILES_MAX: usize = 16_384;

/// A folder of files.
pub(in crate::telemetry) trait Disk: Send + fmt::Debug {
    /// Returns the names and sizes of the files; names that are no UTF-8 are not ours.
    fn list(&self) -> io::Result<Vec<(String, u64)>>;
    /// Reads at most `bytes_max` bytes of a file.
    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>>;
    /// Makes a file that does not exist, to be appended to.
    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>>;
    /// Opens a file of fixed size, made of zeros when it is missing or shorter.
    fn fixed(&self, name: &str, bytes: u64) -> io::Result<Box<dyn DiskFile>>;
    /// Removes a file.
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Brings names of files that were made and removed to the disk.
    fn sync_names(&self) -> io::Result<()>;
}

/// An open file.
pub(in crate::telemetry) trait DiskFile: Send + fmt::Debug {
    /// Writes some of `bytes` at `at`, where a file that grows ends, and returns how many.
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize>;
    /// Brings what was written to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

/// Writes all of `bytes` at `at`. On an error nobody knows how many of them got there.
pub(super) fn write_all(file: &mut dyn DiskFile, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = match file.write_at(at, bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => written,
        };
        bytes = bytes.get(written..).unwrap_or_default();
        at = at.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// A folder of the machine.
#[derive(Debug)]
pub(in crate::telemetry) struct Folder {
    dir: PathBuf,
}

impl Folder {
    pub(in crate::telemetry) fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
        }
    }

    /// Opens a regular file of this very name. A pipe of that name is not waited for, and a link is not
    /// followed: what it points at is not ours.
    fn open(&self, options: &mut OpenOptions, name: &str) -> io::Result<File> {
        let opened = options.custom_flags(PLAIN).open(self.dir.join(name));
        let opened = opened.map_err(|error| named(name, error.kind(), &error.to_string()))?;
        if opened.metadata()?.is_file() {
            return Ok(opened);
        }
        let what = "it is no regular file";
        Err(named(name, io::ErrorKind::InvalidInput, what))
    }
}

/// Of a file that is in the way, somebody must know which one.
fn named(name: &str, kind: io::ErrorKind, what: &str) -> io::Error {
    io::Error::new(kind, format!("`{name}`: {what}"))
}

impl Disk for Folder {
    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir)?.take(FILES_MAX) {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            match entry.metadata() {
                Ok(meta) => found.push((name, meta.len())),
                // Removed meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let file = self.open(OpenOptions::new().read(true), name)?;
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(self.dir.join(name))?;
        Ok(Box::new(Opened(file)))
    }

    fn fixed(&self, name: &str, bytes: u64) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = self.open(&mut options, name)?;
        let len = file.metadata()?.len();
        let mut file = Opened(file);
        if len < bytes {
            // Written, not only reserved: a disk that is full later must have these blocks.
            let missing = usize::try_from(bytes - len).unwrap_or(0);
            write_all(&mut file, len, &vec![0; missing])?;
            file.sync()?;
        }
        Ok(Box::new(file))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.dir.join(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        OpenOptions::new().read(true).open(&self.dir)?.sync_all()
    }
}

#[derive(Debug)]
struct Opened(File);

impl DiskFile for Opened {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        self.0.write_at(bytes, at)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
