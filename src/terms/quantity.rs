//! Quantity kinds: what a number of a motion tool measures, and in which unit.

use std::fmt;
use std::str::FromStr;

/// What a numeric argument of a motion tool measures. The tier's ceilings bound it by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Speed along a line, m/s. Bounded in magnitude by `linear_speed_mps`.
    LinearSpeed,
    /// Speed of turning, rad/s. Bounded in magnitude by `angular_speed_radps`.
    AngularSpeed,
    /// Speed of a joint, rad/s. Bounded in magnitude by `joint_speed_radps`.
    JointSpeed,
    /// Force at a tool, N. Bounded by `force_n`.
    Force,
    /// Force between gripper fingers, N. Bounded by `gripper_force_n`.
    GripperForce,
    /// A distance to travel, m. Bounded in magnitude by `distance_m`.
    Distance,
    /// A height above the floor, m. Bounded by `height_m`.
    Height,
    /// A duration, ms. Bounded by `duration_ms`.
    Duration,
    /// The x of a target on the map, m. Bounded by the workspace and by `distance_m`.
    TargetX,
    /// The y of a target on the map, m. Bounded by the workspace and by `distance_m`.
    TargetY,
    /// The z of a target on the map, m. Bounded by the workspace and by `distance_m`.
    TargetZ,
}

impl Kind {
    /// All kinds, in the order of their documentation.
    pub const ALL: [Self; 11] = [
        Self::LinearSpeed,
        Self::AngularSpeed,
        Self::JointSpeed,
        Self::Force,
        Self::GripperForce,
        Self::Distance,
        Self::Height,
        Self::Duration,
        Self::TargetX,
        Self::TargetY,
        Self::TargetZ,
    ];

    /// The kinds that a tier file bounds by a ceiling of their own.
    pub const CEILINGS: [Self; 8] = [
        Self::LinearSpeed,
        Self::AngularSpeed,
        Self::JointSpeed,
        Self::Force,
        Self::GripperForce,
        Self::Distance,
        Self::Height,
        Self::Duration,
    ];

    /// Returns the word of the robot file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LinearSpeed => "linear_speed",
            Self::AngularSpeed => "angular_speed",
            Self::JointSpeed => "joint_speed",
            Self::Force => "force",
            Self::GripperForce => "gripper_force",
            Self::Distance => "distance",
            Self::Height => "height",
            Self::Duration => "duration",
            Self::TargetX => "target_x",
            Self::TargetY => "target_y",
            Self::TargetZ => "target_z",
        }
    }

    /// Returns the unit in which an argument of this kind is written.
    pub fn unit(self) -> &'static str {
        match self {
            Self::LinearSpeed => "m/s",
            Self::AngularSpeed | Self::JointSpeed => "rad/s",
            Self::Force | Self::GripperForce => "N",
            Self::Distance | Self::Height | Self::TargetX | Self::TargetY | Self::TargetZ => "m",
            Self::Duration => "ms",
        }
    }

    /// Returns the key of the ceiling in a tier file, `None` for targets.
    pub fn ceiling_key(self) -> Option<&'static str> {
        match self {
            Self::LinearSpeed => Some("linear_speed_mps"),
            Self::AngularSpeed => Some("angular_speed_radps"),
            Self::JointSpeed => Some("joint_speed_radps"),
            Self::Force => Some("force_n"),
            Self::GripperForce => Some("gripper_force_n"),
            Self::Distance => Some("distance_m"),
            Self::Height => Some("height_m"),
            Self::Duration => Some("duration_ms"),
            Self::TargetX | Self::TargetY | Self::TargetZ => None,
        }
    }

    /// Returns the axis of a target (0 = x, 1 = y, 2 = z), `None` for other kinds.
    pub fn target_axis(self) -> Option<usize> {
        match self {
            Self::TargetX => Some(0),
            Self::TargetY => Some(1),
            Self::TargetZ => Some(2),
            Self::LinearSpeed
            | Self::AngularSpeed
            | Self::JointSpeed
            | Self::Force
            | Self::GripperForce
            | Self::Distance
            | Self::Height
            | Self::Duration => None,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is no quantity kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown quantity kind `{found}`")]
pub struct KindError {
    /// The word as it was written.
    pub found: String,
}

impl FromStr for Kind {
    type Err = KindError;

    fn from_str(text: &str) -> Result<Self, KindError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| KindError {
                found: text.to_owned(),
            })
    }
}
