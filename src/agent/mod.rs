//! The loop of one goal without I/O: an event goes in, a step comes out.
//!
//! The room asks no model, runs no tool and reads no clock: the spine does, and tells it what came
//! of it. It decides only whether to go on. Invariants: a goal always ends, because its steps, its
//! time, its motions, its repeats and its conversation are bounded; and every call of a reply that
//! could be a stop is handed out, whatever budget is spent.

mod budget;
mod conversation;
mod guard;
mod prompt;
mod sensors;
mod step;
#[cfg(test)]
mod tests;

pub use budget::Limits;
pub use prompt::system_prompt;
pub use sensors::SensorContext;
pub use step::{Agent, AgentEvent, AgentStep, End};
