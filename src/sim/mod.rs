//! The rehearsal: a simulated robot, the person in the scenario, and the judge of what came of it.
//!
//! Nothing here permits or refuses a call, and nothing here is between the runtime and a real robot.
//! The robot is a peer: it sees the envelope only, keeps a journal of its own, and behaves as badly
//! as vendor nodes do.

mod body;
mod bridge;
mod clock;
mod faults;
mod journal;
mod judge;
mod link;
mod losses;
mod operator;
mod rover;
mod stops;
mod summary;
#[cfg(test)]
mod tests;
mod vendor;

pub use body::{Body, Rhythm};
pub use bridge::MockBridge;
pub use clock::VirtualClock;
pub use faults::{FaultSeen, Faults};
pub use journal::{Journal, JournalEntry, JournalError, VerbClass, read_journal};
pub use judge::{Evidence, Verdict, clock_offset_ms, judge};
pub use link::{Fate, FateRule, MockRobot, MockWire, Way};
pub use losses::Loss;
pub use operator::{Operator, Progress, Status};
pub use rover::{Drive, GRIPPER_SPEED_MPS, Placement, Rover, SPEED_MAX_MPS};
pub use stops::{StopSeen, stops};
pub use summary::{CallSeen, Calls, Denial, Path, RunFacts, Summary};
pub use vendor::{Dialect, Frame, Vendor, VendorPlan};
