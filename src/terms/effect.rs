//! What a tool does to the world, as a value that the gate, the executor and the audit can read.

use std::fmt;
use std::sync::Arc;

use super::Tier;

/// The name of a thing that moves as one: motion on one device is exclusive.
///
/// Written in the robot file (`device`), by default the robot's own name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device(Arc<str>);

impl Device {
    /// Makes a device of this name. The robot file has checked it.
    pub fn new(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How an actuating tool moves its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Motion {
    /// Goes to a goal and ends there by itself.
    Move,
    /// A velocity-like command that expires by itself unless it is repeated.
    Hold,
    /// Changes how the robot is set up; moves nothing by itself.
    Config,
}

/// What a call of a tool does to the world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Reads only. For a robot tool the tier says who may read.
    Observe {
        /// The tier of a robot tool; `None` for tools that belong to no robot.
        tier: Option<Tier>,
    },
    /// Changes files, processes, memory or messages, but no robot.
    Mutate,
    /// Changes a robot.
    Actuate {
        /// The tier the call needs, from the robot file alone.
        tier: Tier,
        /// The device it moves.
        device: Device,
        /// How it moves it.
        motion: Motion,
    },
    /// Ends motion. Needs no tier, no arming and no lease, and waits for nothing.
    Stop {
        /// The device it stops.
        device: Device,
        /// Whether it also latches.
        kind: super::StopKind,
    },
}

impl Effect {
    /// Returns the tier that a call of this effect needs, `None` when no tier applies.
    pub fn needed_tier(&self) -> Option<Tier> {
        match self {
            Self::Observe { tier } => *tier,
            Self::Actuate { tier, .. } => Some(*tier),
            Self::Mutate | Self::Stop { .. } => None,
        }
    }

    /// Returns whether a call of this effect ends motion, and so bypasses the pipeline.
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Stop { .. })
    }

    /// Returns whether arguments that are almost right may be mended instead of refused. Never for what
    /// moves, configures or stops a robot: there the caller must mean what it writes.
    pub fn mends_arguments(&self) -> bool {
        match self {
            Self::Observe { .. } | Self::Mutate => true,
            Self::Actuate { .. } | Self::Stop { .. } => false,
        }
    }

    /// Returns the word of the robot file for this effect.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Observe { .. } => "observe",
            Self::Mutate => "mutate",
            Self::Actuate {
                motion: Motion::Move,
                ..
            } => "move",
            Self::Actuate {
                motion: Motion::Hold,
                ..
            } => "hold",
            Self::Actuate {
                motion: Motion::Config,
                ..
            } => "config",
            Self::Stop { .. } => "stop",
        }
    }
}
