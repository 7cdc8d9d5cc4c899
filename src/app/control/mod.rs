//! The control socket: the operator's words to a running node, one JSON object a line.
//!
//! The server runs on plain threads, so that two busy async workers cannot delay a stop. It judges
//! its peer by the kernel's credentials: a process that descends from the runtime, or of which the
//! kernel says nothing, may only ask `status`, `stop` and `estop`.
//!
//! Invariants: a stop gets through, whoever floods the socket and whatever is wrong with its form;
//! connections, threads, lines and words a second have bounds; a child cannot take the place of
//! anybody else.

mod client;
#[cfg(any(feature = "dora", test))]
mod hear;
#[cfg(any(feature = "dora", test))]
mod peer;
mod remedy;
#[cfg(any(feature = "dora", test))]
mod server;
mod speaker;
mod words;

pub(super) use client::{ANSWER_WITHIN, Client, Trouble};
pub(super) use remedy::remedies;
#[cfg(feature = "dora")]
pub(super) use server::{Control, Holding, Server};
pub(super) use speaker::Speaker;
pub(super) use words::name_problem;
pub use words::{
    Answer, ElevationNews, ElevationStatus, GoalStatus, PendingApproval, Status, Word,
};
