//! The verbs of the simulated rover and their parameters, as strict as vendors are: an unknown verb,
//! an unknown key, a missing key or a wrong type is `INVALID_PARAMS`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::sim::journal::VerbClass;
use crate::sim::rover::OPENING_MAX_M;

/// Sign of life of the controller.
pub(super) const HEARTBEAT: &str = "robot.heartbeat";
/// Emergency stop: latched until the robot's process is restarted.
pub(super) const ESTOP: &str = "robot.estop";
/// Gives up control and disarms the dead-man.
pub(super) const RELEASE: &str = "robot.release_control";
/// Asks for the advert.
pub(super) const CAPABILITIES: &str = "robot.get_capabilities";
/// Drives with two speeds for a moment.
pub(super) const SET_VELOCITY: &str = "vendor.octos.rover.set_velocity";
/// Goes to a point.
pub(super) const GO_TO_POSE: &str = "vendor.octos.rover.go_to_pose";
/// Opens or closes the gripper.
pub(super) const GRIPPER_SET: &str = "vendor.octos.rover.gripper_set";
/// Asks where the rover is.
pub(super) const GET_POSE: &str = "vendor.octos.rover.get_pose";
/// Brakes.
pub(super) const STOP: &str = "vendor.octos.rover.stop";
/// Adverted, as vendors do, but of no use to a runtime: no robot file has it.
pub(super) const SELF_TEST: &str = "vendor.octos.rover.self_test";

/// All verbs of the advert.
pub(super) const ALL: [&str; 10] = [
    HEARTBEAT,
    ESTOP,
    RELEASE,
    CAPABILITIES,
    SET_VELOCITY,
    GO_TO_POSE,
    GRIPPER_SET,
    GET_POSE,
    STOP,
    SELF_TEST,
];

/// Goals farther than this from the origin are refused, m. Chosen: a large hall.
const GOAL_MAX_M: f64 = 100.0;
/// Largest speeds that may be asked for, m/s and rad/s.
const SPEED_ASKED_MAX: f64 = 5.0;
/// Largest force of the gripper, N.
const FORCE_MAX_N: f64 = 60.0;
/// Longest text in a parameter, bytes.
const TEXT_BYTES_MAX: usize = 128;

/// A request whose parameters fit.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Order {
    Heartbeat,
    Capabilities,
    SelfTest,
    Pose,
    Stop,
    Estop { reason: String },
    Release,
    Motion(Motion),
}

/// An order that moves something.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Motion {
    Velocity(Velocity),
    Goal(Goal),
    Gripper(Gripper),
}

impl Motion {
    /// Who gives the order; the gripper does not ask.
    pub(super) fn source(&self) -> Option<&str> {
        match self {
            Self::Velocity(velocity) => Some(&velocity.control_source),
            Self::Goal(goal) => Some(&goal.control_source),
            Self::Gripper(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Velocity {
    pub(super) linear: f64,
    pub(super) angular: f64,
    control_source: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Goal {
    pub(super) x: f64,
    pub(super) y: f64,
    control_source: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gripper {
    pub(super) opening: f64,
    force: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    #[serde(default)]
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    control_source: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What a verb means, whether or not its parameters fit.
pub(super) fn class(verb: &str) -> VerbClass {
    match verb {
        SET_VELOCITY | GO_TO_POSE | GRIPPER_SET => VerbClass::Motion,
        STOP | ESTOP => VerbClass::Stop,
        _ => VerbClass::Other,
    }
}

/// Parses verb and parameters; the error is the text beside `INVALID_PARAMS`.
pub(super) fn parse(verb: &str, params: &Map<String, Value>) -> Result<Order, String> {
    let plain = |order| read::<Nothing>(params).map(|Nothing {}| order);
    match verb {
        HEARTBEAT => plain(Order::Heartbeat),
        CAPABILITIES => plain(Order::Capabilities),
        SELF_TEST => plain(Order::SelfTest),
        GET_POSE => plain(Order::Pose),
        STOP => plain(Order::Stop),
        ESTOP => {
            let Reason { reason } = read(params)?;
            short("reason", &reason)?;
            Ok(Order::Estop { reason })
        }
        RELEASE => {
            let Source { control_source } = read(params)?;
            short("control_source", &control_source)?;
            Ok(Order::Release)
        }
        SET_VELOCITY => {
            let velocity: Velocity = read(params)?;
            short("control_source", &velocity.control_source)?;
            within(
                "linear",
                velocity.linear,
                (-SPEED_ASKED_MAX, SPEED_ASKED_MAX),
            )?;
            within(
                "angular",
                velocity.angular,
                (-SPEED_ASKED_MAX, SPEED_ASKED_MAX),
            )?;
            Ok(Order::Motion(Motion::Velocity(velocity)))
        }
        GO_TO_POSE => {
            let goal: Goal = read(params)?;
            short("control_source", &goal.control_source)?;
            within("x", goal.x, (-GOAL_MAX_M, GOAL_MAX_M))?;
            within("y", goal.y, (-GOAL_MAX_M, GOAL_MAX_M))?;
            Ok(Order::Motion(Motion::Goal(goal)))
        }
        GRIPPER_SET => {
            let gripper: Gripper = read(params)?;
            within("opening", gripper.opening, (0.0, OPENING_MAX_M))?;
            within("force", gripper.force, (0.0, FORCE_MAX_N))?;
            Ok(Order::Motion(Motion::Gripper(gripper)))
        }
        _ => Err("unknown verb".to_owned()),
    }
}

fn read<T: DeserializeOwned>(params: &Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(params.clone())).map_err(|error| error.to_string())
}

fn within(name: &str, value: f64, (min, max): (f64, f64)) -> Result<(), String> {
    if (min..=max).contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} is outside {min} to {max}"))
    }
}

fn short(name: &str, text: &str) -> Result<(), String> {
    if text.len() <= TEXT_BYTES_MAX {
        Ok(())
    } else {
        Err(format!("{name} is longer than {TEXT_BYTES_MAX} bytes"))
    }
}
