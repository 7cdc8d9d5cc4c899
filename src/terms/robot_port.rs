//! The port to the robot for those who admit calls and ask for stops, but never move anything.

use std::fmt;

use futures::future::BoxFuture;

use super::{Posture, StopCause, StopKind};

/// The robot, as the executor and the operator's socket see it.
pub trait RobotPort: Send + Sync + fmt::Debug {
    /// Takes a new snapshot.
    fn posture(&self) -> Posture;

    /// Sets the latch word, wakes the safety thread and records who asked. Never waits.
    ///
    /// Returns the epoch that the stop began: every earlier grant is void.
    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32;

    /// Waits until no motion call and no stop is under way; bounded by the robot file.
    ///
    /// Returns whether rest was confirmed.
    fn at_rest(&self) -> BoxFuture<'_, bool>;
}
