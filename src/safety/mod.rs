//! Latch, run state, lease, stop sequence: what stands between a permitted command and the robot.
//!
//! The heart is [`Core`], a pure state machine. [`SafetyStep`] feeds it from atomics and fixed queues
//! and puts its decisions into effect; a plain thread on a robot and a virtual clock in a rehearsal
//! drive the same step. After construction nothing here allocates, locks or waits for anybody, and
//! every queue has its length and its overflow rule in `queue`.
//!
//! This room does not know how a robot is addressed, what a tool is called or who may do what: it
//! knows indices, epochs and times. It is not a rated safety function.

#![deny(clippy::arithmetic_side_effects)]

mod calls;
mod checks;
mod core;
mod elevation;
mod graph;
mod latch;
mod lateness;
mod lease;
mod observed;
mod order;
mod out;
mod pace;
mod plan;
mod queue;
mod sequence;
mod shared;
mod step;
mod thread;

#[cfg(test)]
mod tests;

pub use calls::{CallEnd, CallNote, Calls};
pub use checks::FailedChecks;
pub use core::{Core, Pass};
pub use elevation::{Elevations, Opening, Stands};
pub use graph::GraphSeen;
pub use latch::{Latch, LatchWord};
pub use lateness::{LATENESS_BOUNDS_US, Lateness, LatenessCounts};
pub use observed::{AnswerClass, Observed, Seen, Signs, StopAnswer, VerbAnswer};
pub use order::{Order, OrderEntry, OrderPort};
pub use out::{SafetyOut, TickInput, TickOut};
pub use plan::{Boot, DEADMAN_MS_MIN, STEPS_MAX, SafetyPlan, StepPlan};
pub use queue::{
    COMMAND_SLOTS, EVENT_SLOTS, ORDER_SLOTS, OUT_SLOTS, QueueMeter, Receiver, Sender, queue,
};
pub use sequence::{PEER_WAIT_MS, QUICK_FOR_MS, RELEASE_WAIT_MS, REPEAT_MS, SLOW_REPEAT_MS};
pub use shared::{Shared, Standing, StopSent};
pub use step::{Links, SafetyPorts, SafetyStep};
pub use thread::{Supervisor, run_safety};
