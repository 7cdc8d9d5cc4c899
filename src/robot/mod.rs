//! The bridge to one robot: the vendor envelope over a wire, and the parts on both sides of it.
//!
//! [`assemble()`] puts together what a robot needs: [`Bridge`] for the async side, [`Inbox`] for the
//! thread that receives, [`Outbox`] for the thread that sends, the safety step between them. What is
//! permitted is not decided here: a motion needs a permit of the gate, and leaves only past the tick
//! and the last check. What the robot says is data.

mod advert;
mod assemble;
mod bridge;
pub mod codec;
mod completion;
mod describe;
mod ids;
mod inbox;
mod motion;
mod outbox;
mod pending;
mod plan;
mod reading;
mod record;
mod senses;
mod told;
mod view;

#[cfg(test)]
mod tests;

pub use assemble::{Parts, QueueMeters, Setup, assemble};
pub use bridge::Bridge;
pub use describe::{Described, Shape, describe};
pub use ids::{Asked, Ids};
pub use inbox::{Heard, Inbox};
pub use motion::MotionEnd;
pub use outbox::Outbox;
pub use pending::{Answer, PENDING_MAX};
pub use plan::{Names, UNREADABLE_LATCH, raised_ceilings_mps, safety_plan, speed_ceiling_mps};
pub use reading::Inside;
pub use record::{EventTap, fact_of};
pub use senses::RobotSenses;
pub use view::{NOTES_MAX, Pulse, SafetyNote, StateView};
