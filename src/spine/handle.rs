//! What others may ask of the spine: take a goal, say how it goes, end.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::terms::{Mono, RobotPort, SocketPeer};

/// So many goals wait at most; a further one is refused.
pub const GOALS_MAX: usize = 8;
/// Longest text of a goal, bytes.
pub const GOAL_BYTES_MAX: usize = 16_384;

/// A goal that was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// So many goals are waiting already.
    #[error("{max} goals are waiting already")]
    Busy {
        /// The bound of the queue.
        max: usize,
    },
    /// The text is too long.
    #[error("goal of {found} bytes exceeds {max}")]
    TooLong {
        /// Its bytes.
        found: usize,
        /// The bound.
        max: usize,
    },
    /// The spine has ended.
    #[error("the agent has ended")]
    Ended,
}

/// How the current or last goal goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpineStatus {
    /// Its number; 0 before the first.
    pub goal: u32,
    /// Whether it is still pursued.
    pub running: bool,
    /// How many of its calls were answered.
    pub answered: u32,
    /// How often the model was asked.
    pub steps: u32,
    /// Why the last goal ended; `None` before the first end.
    pub last_end: Option<String>,
    /// When the current or last goal began.
    pub began: Mono,
}

/// A goal that was taken, and what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Its number.
    pub number: u32,
    /// The goal that is under way, and for how long, ms.
    pub running: Option<(u32, u64)>,
    /// Goals that wait before it.
    pub ahead: u32,
}

/// One goal on its way to the spine.
#[derive(Debug)]
pub(super) struct Goal {
    pub(super) number: u32,
    pub(super) text: String,
    pub(super) by: String,
    pub(super) peer: Option<SocketPeer>,
    /// How often a person had stopped the robot when it was given.
    pub(super) person_stops: u32,
}

/// The spine, as others see it.
#[derive(Debug, Clone)]
pub struct SpineHandle {
    goals: mpsc::Sender<Goal>,
    given: Arc<Mutex<u32>>,
    status: watch::Receiver<SpineStatus>,
    robot: Arc<dyn RobotPort>,
    shutdown: CancellationToken,
}

impl SpineHandle {
    pub(super) fn new(
        goals: mpsc::Sender<Goal>,
        status: watch::Receiver<SpineStatus>,
        (robot, shutdown): (Arc<dyn RobotPort>, CancellationToken),
    ) -> Self {
        Self {
            goals,
            given: Arc::default(),
            status,
            robot,
            shutdown,
        }
    }

    /// Gives a goal and returns its number and place. Goals are pursued one after another. `by` is who
    /// gives it, with the process that said so.
    ///
    /// # Errors
    /// [`GoalError`] when too many are waiting, the text is too long or the spine has ended.
    pub fn goal(
        &self,
        text: &str,
        (by, peer): (&str, Option<SocketPeer>),
    ) -> Result<Taken, GoalError> {
        let (found, max) = (text.len(), GOAL_BYTES_MAX);
        if found > max {
            return Err(GoalError::TooLong { found, max });
        }
        if self.shutdown.is_cancelled() {
            return Err(GoalError::Ended);
        }
        let room = self.goals.try_reserve().map_err(|error| match error {
            mpsc::error::TrySendError::Full(()) => GoalError::Busy { max: GOALS_MAX },
            mpsc::error::TrySendError::Closed(()) => GoalError::Ended,
        })?;
        // The lock makes the order of the numbers the order of the queue.
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        *given = given.saturating_add(1);
        let posture = self.robot.posture();
        // Room is taken already, so one of those that wait is this one.
        let ahead = self.waiting().saturating_sub(1);
        let running = {
            let status = self.status.borrow();
            let age_ms = posture.now.ms_since(status.began);
            status.running.then_some((status.goal, age_ms))
        };
        room.send(Goal {
            number: *given,
            text: text.to_owned(),
            by: by.to_owned(),
            peer,
            person_stops: posture.person_stops,
        });
        Ok(Taken {
            number: *given,
            running,
            ahead,
        })
    }

    /// Returns how many goals wait to be begun.
    pub fn waiting(&self) -> u32 {
        let (max, free) = (self.goals.max_capacity(), self.goals.capacity());
        u32::try_from(max.saturating_sub(free)).unwrap_or(u32::MAX)
    }

    /// Returns how the current or last goal goes.
    pub fn status(&self) -> SpineStatus {
        self.status.borrow().clone()
    }

    /// Returns the status as a stream of its changes.
    pub fn status_changes(&self) -> watch::Receiver<SpineStatus> {
        self.status.clone()
    }

    /// Ends the spine: the current turn is cancelled, waiting goals are dropped, each
    /// with a fact of its own. Returns at once.
    pub fn shutdown(&self) {
        self.shutdown.cancel();
    }
}
