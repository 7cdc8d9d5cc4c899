//! Exclusive scopes across turns: one call per scope at a time, whoever asks.
//!
//! Nobody waits here. Within a batch calls of one scope come one after another anyway; a call that
//! meets another turn's call is refused, so there is no queue to bound.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::terms::Access;

/// The scopes that are taken now: at most one per running call.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    taken: Mutex<BTreeSet<Arc<str>>>,
}

/// Another call holds the scope.
#[derive(Debug)]
pub(super) struct Taken;

/// A scope that a call holds; free again when dropped.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    scopes: &'a Scopes,
    name: Arc<str>,
}

impl Scopes {
    /// Takes the scope of an exclusive call; `None` for a shared one.
    pub(super) fn take(&self, access: &Access) -> Result<Option<Scope<'_>>, Taken> {
        let Access::Exclusive(name) = access else {
            return Ok(None);
        };
        if !self.lock().insert(name.clone()) {
            return Err(Taken);
        }
        Ok(Some(Scope {
            scopes: self,
            name: name.clone(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Arc<str>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        self.scopes.lock().remove(&self.name);
    }
}
