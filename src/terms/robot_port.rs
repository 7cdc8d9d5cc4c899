//! The port to the robot for those who admit calls and ask for stops, but never move anything.

use std::fmt;

use futures::future::BoxFuture;

use super::{Posture, StopCause, StopKind};

/// The robot, as the executor and the operator's socket see it.
pub trait RobotPort: Send + Sync + fmt::Debug {
    /// Takes a new snapshot.
    fn posture(&self) -> Posture;

    /// Sets the latch word, wakes the safety thread and records who asked. Never waits. While a stop
    /// that is no weaker stands and is not over, the word joins it.
    ///
    /// Returns the epoch of the stop that stands: every earlier grant is void.
    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32;

    /// Waits until no motion call and no stop is under way; bounded by the robot file.
    ///
    /// Returns whether rest was confirmed.
    fn at_rest(&self) -> BoxFuture<'_, bool>;
}
