//! A disk in memory that can be full, read-only, unable to sync, and without power.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::super::disk::{Disk, DiskFile};

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::telemetry) enum Trouble {
    /// Nothing that grows has room; so many bytes of a line still get there.
    Full { short: usize },
    /// Nothing can be changed.
    ReadOnly,
    /// Writes work and syncs do not.
    NoSync,
}

#[derive(Debug, Clone, Default)]
struct Kept {
    bytes: Vec<u8>,
    /// What a loss of power leaves.
    synced: Vec<u8>,
    name_synced: bool,
}

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<String, Kept>,
    trouble: Option<Trouble>,
    /// Most bytes that one write takes.
    bite: Option<usize>,
}

/// The disk; a clone is the same disk.
#[derive(Debug, Clone, Default)]
pub(in crate::telemetry) struct FakeDisk(Arc<Mutex<State>>);

impl FakeDisk {
    pub(in crate::telemetry) fn trouble(&self, trouble: Option<Trouble>) {
        self.state().trouble = trouble;
    }

    /// Lets each write take a few bytes only.
    pub(super) fn bite(&self, bytes: usize) {
        self.state().bite = Some(bytes);
    }

    /// Returns what lies there.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let file = |(name, kept): (&String, &Kept)| (name.clone(), kept.bytes.clone());
        state.files.iter().map(file).collect()
    }

    /// Returns what a loss of power leaves at least, of each file whose name is on disk.
    pub(super) fn synced(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let kept = state.files.iter().filter(|(_, kept)| kept.name_synced);
        kept.map(|(name, kept)| (name.clone(), kept.synced.clone()))
            .collect()
    }

    /// Returns a file as it is.
    pub(in crate::telemetry) fn file(&self, name: &str) -> Vec<u8> {
        self.files().remove(name).unwrap()
    }

    /// Returns what a loss of power leaves of a file.
    pub(in crate::telemetry) fn synced_file(&self, name: &str) -> Vec<u8> {
        self.synced().remove(name).unwrap()
    }

    /// Makes a disk of these files.
    pub(super) fn of(files: BTreeMap<String, Vec<u8>>) -> Self {
        let disk = Self::default();
        let kept = |(name, bytes): (String, Vec<u8>)| {
            let kept = Kept {
                synced: bytes.clone(),
                bytes,
                name_synced: true,
            };
            (name, kept)
        };
        disk.state().files = files.into_iter().map(kept).collect();
        disk
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    fn changeable(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.trouble == Some(Trouble::ReadOnly) {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        Ok(state)
    }
}

impl Disk for FakeDisk {
    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        let state = self.state();
        let file = |(name, kept): (&String, &Kept)| (name.clone(), kept.bytes.len() as u64);
        Ok(state.files.iter().map(file).collect())
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        let state = self.state();
        let kept = state.files.get(name).ok_or(io::ErrorKind::NotFound)?;
        let end = kept.bytes.len().min(usize::try_from(bytes_max).unwrap());
        Ok(kept.bytes[..end].to_vec())
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.changeable()?;
        if state.files.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.files.insert(name.to_owned(), Kept::default());
        Ok(Box::new(FakeFile(self.clone(), name.to_owned())))
    }

    fn fixed(&self, name: &str, bytes: u64) -> io::Result<Box<dyn DiskFile>> {
        let len = usize::try_from(bytes).unwrap();
        let mut state = self.changeable()?;
        let kept = state.files.entry(name.to_owned()).or_default();
        if kept.bytes.len() < len {
            kept.bytes.resize(len, 0);
            kept.synced = kept.bytes.clone();
        }
        Ok(Box::new(FakeFile(self.clone(), name.to_owned())))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut state = self.changeable()?;
        let gone = state.files.remove(name).map(|_| ());
        gone.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut state = self.changeable()?;
        if state.trouble == Some(Trouble::NoSync) {
            return Err(io::Error::other("sync"));
        }
        for kept in state.files.values_mut() {
            kept.name_synced = true;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FakeFile(FakeDisk, String);

impl DiskFile for FakeFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.0.changeable()?;
        let (trouble, bite) = (state.trouble, state.bite);
        let kept = state
            .files
            .get_mut(&self.1)
            .ok_or(io::ErrorKind::NotFound)?;
        let at = usize::try_from(at).unwrap();
        let mut take = bytes.len().min(bite.unwrap_or(usize::MAX));
        let grows = at + take > kept.bytes.len();
        if let (Some(Trouble::Full { short }), true) = (trouble, grows) {
            take = take.min(short);
            // The next write finds no room at all: what a caller sees is a short write, then an error.
            state.trouble = Some(Trouble::Full { short: 0 });
            if take == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        let kept = state.files.get_mut(&self.1).unwrap();
        let end = at + take;
        if kept.bytes.len() < end {
            kept.bytes.resize(end, 0);
        }
        kept.bytes[at..end].copy_from_slice(&bytes[..take]);
        Ok(take)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.0.changeable()?;
        if state.trouble == Some(Trouble::NoSync) {
            return Err(io::Error::other("sync"));
        }
        if let Some(kept) = state.files.get_mut(&self.1) {
            kept.synced = kept.bytes.clone();
        }
        Ok(())
    }
}
