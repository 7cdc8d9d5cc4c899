//! The pipeline: from a call that somebody asked for to the one report about it.
//!
//! resolve → decide → bound size → check arguments → slot → limits → approval → admit → run →
//! cut → facts. Each stage is a small function; the first that refuses answers. A stop leaves at
//! *resolve*, before anything that could refuse, wait or fail.
//!
//! Invariants: every request gets exactly one report, in the order of the requests; nothing here
//! returns an error or panics, whatever a tool does. Each call raises `Granted` and `Finished`, or
//! `Refused`, or `Finished` alone when it was cancelled before its grant; a stop raises none of
//! them, since the robot's port raises `StopAsked`. A call that a check behind the grant refused
//! raises `Refused` besides, so that each refusal is counted once. Invalid arguments that come a third
//! time in one turn raise `InputLoop` besides.
//!
//! Not here yet: hooks, preflight, redaction and the ledger arrive with the rooms that bring them.

mod admission;
mod approval;
mod batch;
mod cut;
mod lift;
mod no_robot;
mod pipeline;
mod preview;
mod questions;
mod record;
mod refuse;
mod repeats;
mod run;
mod scopes;
mod stages;
#[cfg(test)]
mod tests;
mod turn;

pub use batch::CALLS_MAX;
pub use no_robot::NoRobot;
pub use pipeline::{Executor, Ports, SLOTS};
pub use preview::{Passing, Preview, Stage, preview};
pub use questions::{QUESTIONS_PER_MINUTE_MAX, QUESTIONS_PER_TURN_MAX, Questions};
pub use repeats::Repeats;
pub use turn::Turn;
