//! Whether something is where a loss of power cannot take it: asked for, then looked at.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells whether what was raised before it was asked for is on disk.
#[derive(Debug, Clone, Default)]
pub struct Keeping(Option<Arc<AtomicBool>>);

impl Keeping {
    /// Nothing has to be waited for: there is no disk.
    pub fn without_disk() -> Self {
        Self(None)
    }

    /// Not yet; whoever holds the other end sets it. One that is dropped unset stays a no.
    pub fn asked() -> (Self, Arc<AtomicBool>) {
        let done = Arc::new(AtomicBool::new(false));
        (Self(Some(Arc::clone(&done))), done)
    }

    /// Returns whether it is on disk.
    pub fn is_kept(&self) -> bool {
        self.0
            .as_ref()
            .is_none_or(|done| done.load(Ordering::Acquire))
    }
}
