//! The snapshot of the robot on which a call is admitted.

use super::{Mono, RunState, StopCause};

/// What the robot last said of itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// When it arrived.
    pub at: Mono,
    /// Position in the frame of the workspace, m; `None` when the state has none.
    pub position: Option<[f64; 3]>,
    /// Speed, m/s; `None` when the state has none.
    pub speed: Option<f64>,
}

/// How the timer of the dataflow stands, where the dataflow gives this node one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphTimer {
    /// It ticks, or there is none.
    Ticks,
    /// It stands still: nobody may be left who tells that a node failed. No motion begins.
    Silent {
        /// For how long, ms.
        ms: u64,
    },
    /// It ticks again, but not for long enough. No motion begins yet.
    Back {
        /// For how long, ms.
        ms: u64,
        /// How long it must, ms.
        of_ms: u64,
    },
}

impl GraphTimer {
    /// Returns whether motion may begin.
    pub fn is_good(self) -> bool {
        match self {
            Self::Ticks => true,
            Self::Silent { .. } | Self::Back { .. } => false,
        }
    }
}

/// One consistent view of latch, run state and robot, taken anew for each admission.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a snapshot of independent facts, not a state"
)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Posture {
    /// When it was taken.
    pub now: Mono,
    /// The run state.
    pub run: RunState,
    /// The stop epoch.
    pub epoch: u32,
    /// Whether a stop is asked for and not yet over.
    pub stopping: bool,
    /// Whether the robot is latched.
    pub latched: bool,
    /// The cause of the last stop.
    pub cause: Option<StopCause>,
    /// Whether a robot answered at all and is not known to be gone.
    pub bridge_up: bool,
    /// The latest state; `None` before the first.
    pub reading: Option<Reading>,
    /// Whether a motion call holds the device.
    pub moving: bool,
    /// How often a person stopped the robot, or anybody latched it, in this life; wraps. A goal that
    /// was given before the last of them moves the robot no more.
    pub person_stops: u32,
    /// Whether what happens can be recorded.
    pub records: bool,
    /// How the timer of the dataflow stands.
    pub graph_timer: GraphTimer,
}

impl Posture {
    /// Makes the posture of a robot that is armed, fresh and at rest at `home`: what the examples
    /// of a robot file are judged on.
    pub fn at_rest(home: [f64; 3]) -> Self {
        Self {
            now: Mono::from_ms(1),
            run: RunState::Armed,
            epoch: 1,
            stopping: false,
            latched: false,
            cause: None,
            bridge_up: true,
            reading: Some(Reading {
                at: Mono::from_ms(1),
                position: Some(home),
                speed: Some(0.0),
            }),
            moving: false,
            person_stops: 0,
            records: true,
            graph_timer: GraphTimer::Ticks,
        }
    }
}
