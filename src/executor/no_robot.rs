//! The robot of a process that has none: it cannot move, so it is always at rest.

use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt};

use crate::terms::{Clock, GraphTimer, Posture, RobotPort, RunState, StopCause, StopKind};

/// Stands where a robot would be.
#[derive(Debug, Clone)]
pub struct NoRobot {
    clock: Arc<dyn Clock>,
}

impl NoRobot {
    /// Makes the absent robot.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock }
    }
}

impl RobotPort for NoRobot {
    fn posture(&self) -> Posture {
        Posture {
            now: self.clock.now(),
            run: RunState::Disarmed,
            epoch: 0,
            stopping: false,
            latched: false,
            cause: None,
            bridge_up: false,
            reading: None,
            moving: false,
            person_stops: 0,
            records: true,
            graph_timer: GraphTimer::Ticks,
        }
    }

    fn stop(&self, _kind: StopKind, _cause: StopCause, _by: Option<&str>) -> u32 {
        0
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        future::ready(true).boxed()
    }
}
