//! What the loaded files were, to say whether they are still the same.
//!
//! A running node reads none of them again: limits that change under a moving robot would be worse
//! than old ones. It looks at them once a second and says, once for each file, that a restart would
//! change something; `status` says it for as long as it is true. Their bytes are compared, as times say
//! too little: an edit within the same tick of the disk's clock would hide. Whatever lies at a path now
//! (nothing, a folder, a pipe, a flood) is no regular file of a loadable size, and is not read.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::terms::{Fact, FactSink};

/// A larger file is not read again: no loader would take it. As large as the loader reads.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Files with what they were when they were loaded. Clones share what was seen and told since.
#[derive(Debug, Clone, Default)]
pub(super) struct Fingerprint(Arc<Mutex<Vec<Watched>>>);

/// One file.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    was: Content,
    is: Content,
    /// Whether it was told that it is no longer what it was.
    told: bool,
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Bytes(blake3::Hash),
    /// Nothing.
    Gone,
    /// Something that no loader would read.
    Unreadable,
}

impl Fingerprint {
    /// Takes the hashes of these files, before they are loaded: an edit in between shows later.
    pub(super) fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let watched = |path: PathBuf| {
            let was = content(&path);
            Watched {
                path,
                was,
                is: was,
                told: false,
            }
        };
        let files = files.into_iter().map(watched).collect();
        Self(Arc::new(Mutex::new(files)))
    }

    /// Looks at the files and tells those that are no longer what they were, each once.
    pub(super) fn watch(&self, sink: &dyn FactSink) {
        let mut files = self.lock();
        let mut fresh = Vec::new();
        for file in files.iter_mut() {
            file.is = content(&file.path);
            if file.has_changed() && !file.told {
                fresh.push(file.name());
            }
            // One that is again what it was and is edited once more is told once more.
            file.told = file.has_changed();
        }
        drop(files);
        if !fresh.is_empty() {
            tell(fresh, sink);
        }
    }

    /// Answers a request to reload: says which files a restart would read anew.
    pub(super) fn answer(&self, sink: &dyn FactSink) {
        let mut files = self.lock();
        for file in files.iter_mut() {
            file.is = content(&file.path);
            file.told = file.has_changed();
        }
        drop(files);
        match self.changed() {
            none if none.is_empty() => tracing::info!("reload asked for: no file has changed"),
            changed => tell(changed, sink),
        }
    }

    /// Returns the files that were not what they were at the last look, each with what became of it.
    /// Reads nothing.
    pub(super) fn changed(&self) -> Vec<String> {
        let files = self.lock();
        let changed = files.iter().filter(|file| file.has_changed());
        changed.map(Watched::name).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn has_changed(&self) -> bool {
        self.is != self.was
    }

    fn name(&self) -> String {
        let path = self.path.display();
        match self.is {
            Content::Bytes(_) => path.to_string(),
            Content::Gone => format!("{path} (gone)"),
            Content::Unreadable => format!("{path} (cannot be read)"),
        }
    }
}

fn tell(files: Vec<String>, sink: &dyn FactSink) {
    tracing::warn!(
        files = files.join(", "),
        "restart required: files have changed, and until then the old ones count; \
         `octos-edge check` says whether the new ones load"
    );
    sink.raise(Fact::RestartRequired { files });
}

fn content(path: &Path) -> Content {
    match hash(path) {
        Ok(Some(hash)) => Content::Bytes(hash),
        Ok(None) => Content::Unreadable,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Content::Gone,
        Err(_) => Content::Unreadable,
    }
}

/// Returns the hash of a file; `None` for what is no regular file of a loadable size.
#[expect(
    clippy::disallowed_methods,
    reason = "reads again what the loaders have read, to compare it"
)]
fn hash(path: &Path) -> io::Result<Option<blake3::Hash>> {
    // Asked before opening: to open a pipe would wait for its writer.
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)?
        .take(FILE_BYTES_MAX.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(Some(blake3::hash(&bytes)))
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the tests edit files of their own"
)]
mod tests {
    use super::*;

    /// Keeps what is told.
    #[derive(Debug, Default)]
    struct Told(Mutex<Vec<Vec<String>>>);

    impl FactSink for Told {
        fn raise(&self, fact: Fact) {
            if let Fact::RestartRequired { files } = fact {
                self.0.lock().unwrap().push(files);
            }
        }
    }

    impl Told {
        fn take(&self) -> Vec<Vec<String>> {
            std::mem::take(&mut *self.0.lock().unwrap())
        }
    }

    fn two() -> (tempfile::TempDir, [PathBuf; 2], Fingerprint) {
        let dir = tempfile::tempdir().unwrap();
        let files = ["a.toml", "b.toml"].map(|name| dir.path().join(name));
        for file in &files {
            std::fs::write(file, "old").unwrap();
        }
        let prints = Fingerprint::of(files.clone());
        (dir, files, prints)
    }

    #[test]
    fn case_69_each_file_is_told_once_and_listed_until_it_is_again_what_it_was() {
        let (_dir, [a, b], prints) = two();
        let told = Told::default();
        prints.watch(&told);
        assert!(told.take().is_empty() && prints.changed().is_empty());
        std::fs::write(&a, "new").unwrap();
        for _ in 0..3 {
            prints.watch(&told);
        }
        let [a_name, b_name] = [&a, &b].map(|file| file.display().to_string());
        assert_eq!(told.take(), [vec![a_name.clone()]], "once");
        // Half-written, and then whole: it stays the one change.
        std::fs::write(&a, "").unwrap();
        prints.watch(&told);
        std::fs::write(&a, "newer").unwrap();
        std::fs::write(&b, "new").unwrap();
        prints.watch(&told);
        assert_eq!(told.take(), [vec![b_name.clone()]]);
        assert_eq!(prints.changed(), [a_name.clone(), b_name.clone()]);
        std::fs::write(&a, "old").unwrap();
        prints.watch(&told);
        assert_eq!(prints.changed(), [b_name]);
        std::fs::write(&a, "new").unwrap();
        prints.watch(&told);
        assert_eq!(told.take(), [vec![a_name]], "a new edit");
    }

    #[test]
    fn case_69_a_file_that_is_gone_or_no_file_any_more_is_told_with_what_became_of_it() {
        let (_dir, [a, b], prints) = two();
        let told = Told::default();
        std::fs::remove_file(&a).unwrap();
        std::fs::remove_file(&b).unwrap();
        // Nobody waits for the writer of a pipe.
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &b,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR,
            0,
        )
        .unwrap();
        prints.watch(&told);
        let expected = [
            format!("{} (gone)", a.display()),
            format!("{} (cannot be read)", b.display()),
        ];
        assert_eq!(told.take(), [expected.to_vec()]);
        std::fs::create_dir(&a).unwrap();
        prints.watch(&told);
        assert_eq!(
            prints.changed()[0],
            format!("{} (cannot be read)", a.display())
        );
        assert!(told.take().is_empty(), "told already");
    }

    #[test]
    fn case_69_a_reload_is_answered_each_time_and_the_next_look_repeats_nothing() {
        let (_dir, [a, _], prints) = two();
        let told = Told::default();
        std::fs::write(&a, "new").unwrap();
        prints.answer(&told);
        prints.watch(&told);
        prints.answer(&told);
        assert_eq!(told.take().len(), 2);
    }

    #[test]
    fn a_flood_is_not_read() {
        let (_dir, [a, _], prints) = two();
        let file = std::fs::OpenOptions::new().write(true).open(&a).unwrap();
        // A hole: it takes no room, and reading it would take a while.
        file.set_len(1 << 40).unwrap();
        prints.watch(&Told::default());
        assert_eq!(
            prints.changed(),
            [format!("{} (cannot be read)", a.display())]
        );
    }
}
