//! The control socket: the operator's words to a running node, one JSON object a line.
//!
//! The server runs on plain threads, so that two busy async workers cannot delay a stop. It judges
//! its peer by the kernel's credentials: a process that descends from the runtime may only ask
//! `status`, `stop` and `estop`.

mod client;
#[cfg(feature = "dora")]
mod peer;
#[cfg(feature = "dora")]
mod server;
mod words;

pub(super) use client::Client;
#[cfg(feature = "dora")]
pub(super) use server::{Control, Server};
pub use words::{Answer, GoalStatus, Status, Word};
