//! Drives the real binary: files in a folder of their own, a process that always ends, and what both
//! nodes left behind.
//!
//! A test waits for lines of the log and asserts the order of what happened, never when. The one
//! time that it knows is the hang guard.

mod line;
mod run;
mod site;
mod trail;

pub(crate) use line::Line;
pub(crate) use run::{Ended, Run, command, is_alive, signal};
pub(crate) use site::{ARM, Site, repo, verbs};
pub(crate) use trail::Trail;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_octos-edge");
