//! What all calls of one turn have in common.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{Questions, Repeats};
use crate::catalog::ToolView;
use crate::terms::{Call, CallOrigin, Mono};

/// One turn of one caller.
#[derive(Debug, Clone)]
pub struct Turn {
    /// What it may see and call.
    pub view: Arc<ToolView>,
    /// Who calls.
    pub origin: CallOrigin,
    /// The caller's name, for the record of a stop; `None` when it has none.
    pub by: Option<String>,
    /// [`Posture::person_stops`](crate::terms::Posture) when what this turn pursues was asked for. Once
    /// it differs, the turn moves the robot no more.
    pub person_stops: u32,
    /// What it has asked a person.
    pub questions: Questions,
    /// Ends all calls of the turn, except stops.
    pub cancel: CancellationToken,
    /// The invalid calls of the turn so far. Copies of a turn share them.
    pub repeats: Repeats,
}

/// One call, with the moment it was asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) turn: &'a Turn,
    pub(super) call: &'a Call,
    pub(super) at: Mono,
    /// The stop epoch at that moment: a call that moves a robot is void once it has changed.
    pub(super) epoch: u32,
}
