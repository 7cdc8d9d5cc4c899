//! The facts of one call, as its tool sees them.

use tokio_util::sync::CancellationToken;

use crate::gate::{Grant, Permit};
use crate::terms::CallOrigin;

/// The context of one call. It owns the grant, so that a tool cannot outlive it.
#[derive(Debug)]
pub struct CallCx<'a> {
    id: &'a str,
    origin: CallOrigin,
    cancel: &'a CancellationToken,
    grant: Grant,
}

impl<'a> CallCx<'a> {
    /// Wraps a granted call.
    pub(crate) fn new(
        id: &'a str,
        origin: CallOrigin,
        cancel: &'a CancellationToken,
        grant: Grant,
    ) -> Self {
        Self {
            id,
            origin,
            cancel,
            grant,
        }
    }

    /// Takes the permission to move; `None` when this call does not move anything.
    pub fn into_permit(mut self) -> Option<Permit> {
        self.grant.take_permit()
    }

    /// Returns the call's id, as the caller gave it.
    pub fn id(&self) -> &str {
        self.id
    }

    /// Returns who asked.
    pub fn origin(&self) -> CallOrigin {
        self.origin
    }

    /// Returns the token that tells when the turn was cancelled. The call is dropped then, so a
    /// tool needs it only for work that it handed to others.
    pub fn cancel(&self) -> &CancellationToken {
        self.cancel
    }

    /// Returns the proof that this call passed.
    pub fn grant(&self) -> &Grant {
        &self.grant
    }
}
