//! The gate: policy, limits and admission. The only maker of [`Grant`]s.
//!
//! Everything here is pure and total: no await, no input or output, no clock. The time of a decision
//! is the time of the [`Posture`](crate::terms::Posture) it is given. A call passes three questions, in
//! this order, and each of them only narrows:
//!
//! 1. [`PolicyStack::decide`]: may this tool be called at all, by its tier and by every layer?
//! 2. [`ToolRules::limit`]: do its numbers keep the limits of the robot file and of its tier?
//! 3. [`admit`]: does the robot, as it stands now, permit it? The answer is a [`Grant`].
//!
//! Stops pass none of them: [`PolicyStack::decide`] permits every stop, and [`Subject::of`] refuses
//! to make one the subject of an admission, since nothing may stand between a stop and its effect.

mod admission;
mod compile;
mod examples;
mod explain;
mod fence;
#[cfg(test)]
mod fixture;
mod goal;
mod grant;
mod index;
mod layer;
mod limit;
mod pace;
mod paths;
mod policy;
mod policy_check;
mod range;
mod robot_rules;
mod rules;
mod shape;
#[cfg(test)]
mod tests;
mod verdict;
mod vet;

pub use admission::{Admission, Lift, Subject, SubjectError, admit};
pub use explain::{Decider, NumberLimit, NumberOutcome};
pub use fence::Fence;
pub use grant::{Grant, Permit};
pub use limit::{Limited, Overrun};
pub use pace::{Pace, StepBase};
pub use policy::PolicyStack;
pub use policy_check::{check_policy, denied_stops, policy_warnings};
pub use robot_rules::RobotRules;
pub use rules::ToolRules;
pub use verdict::Verdict;
