//! What the loaded files were, to say later whether they are still the same.
//!
//! A running node reads none of them again: limits that change under a moving robot would be worse
//! than old ones. It only says that a restart would change something.

use std::path::{Path, PathBuf};

use crate::terms::{Fact, FactSink};

/// Files with the hashes of their bytes; `None` for one that cannot be read.
#[derive(Debug, Clone, Default)]
pub(super) struct Fingerprint(Vec<(PathBuf, Option<blake3::Hash>)>);

impl Fingerprint {
    /// Takes the hashes of these files, before they are loaded: an edit in between shows later.
    pub(super) fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let with_hash = |file: PathBuf| {
            let hash = hash(&file);
            (file, hash)
        };
        Self(files.into_iter().map(with_hash).collect())
    }

    /// Returns the files that are not what they were.
    pub(super) fn changed(&self) -> Vec<String> {
        let changed = self.0.iter().filter(|(file, was)| hash(file) != *was);
        changed
            .map(|(file, _)| file.display().to_string())
            .collect()
    }

    /// Answers a request to reload: says which files a restart would read anew.
    pub(super) fn tell(&self, sink: &dyn FactSink) {
        let files = self.changed();
        if files.is_empty() {
            tracing::info!("reload asked for: no file has changed");
            return;
        }
        tracing::warn!(
            files = files.join(", "),
            "restart required: files have changed"
        );
        sink.raise(Fact::RestartRequired { files });
    }
}

fn hash(file: &Path) -> Option<blake3::Hash> {
    // Loaders bound what they read; a file that grew beyond that has changed all the same.
    let bytes = std::fs::read(file).ok()?;
    Some(blake3::hash(&bytes))
}
