//! The one loop: a goal comes in, the agent takes a step, the model or the executor does its part,
//! and so on until the goal ends.
//!
//! It decides nothing: the agent says what comes next, the gate what may happen. What it does on its
//! own is to prove that it is alive. Every iteration raises the progress counter, and an iteration is
//! driven by something that came from outside: a state of the robot, a reply, a report. A lease
//! renews only while that counter rises; no timer of this room raises it, so a loop that hangs
//! cannot look alive.

mod handle;
mod pulse;
mod run;
#[cfg(test)]
mod tests;

pub use handle::{GOAL_BYTES_MAX, GOALS_MAX, GoalError, SpineHandle, SpineStatus, Taken};
pub use run::{Parts, REPLY_MS_MAX, Spine};
