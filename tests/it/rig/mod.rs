//! Drives the real binary: files in a folder of their own, a process that always ends, and what both
//! nodes left behind.
//!
//! A test waits for lines of the log and asserts the order of what happened, never when. The one
//! time that it knows is the hang guard. Order between facts of different threads is no promise: what
//! safety and sender did is recorded a moment after what agent and operator did.

mod facts;
mod line;
mod run;
mod site;
mod trail;

pub(crate) use facts::{
    enters, is_armed, is_clean_end, is_first_verb, is_motion, is_standstill, is_start, stop_for,
};
pub(crate) use line::Line;
pub(crate) use run::{Ended, Run, command, is_alive, signal};
pub(crate) use site::{ARM, Site, repo, verbs};
pub(crate) use trail::Trail;

/// The binary under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_octos-edge");

/// A call for a drive that takes longer than a test.
pub(crate) const DRIVE: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;

/// A call that moves nothing.
pub(crate) const LOOK: &str = r#"{ tool = "rover_get_pose", args = {} }"#;
