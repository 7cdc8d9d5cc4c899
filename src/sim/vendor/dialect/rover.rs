//! The dialect of the built-in rover: what `mock-robot` speaks when it is given no robot file.
//!
//! `tiers/robots/rover-sim.toml` is its robot file, and a test holds both against each other.

use super::{
    Answers, CAPABILITIES, DeadMan, Dialect, ESTOP, Form, HEARTBEAT, Meaning, MotionForm, Param,
    Part, RELEASE, Role, SELF_TEST, Says, Words,
};
use crate::config::ArgType;
use crate::robot::codec::HeartbeatField;
use crate::sim::rover::SPEED_MAX_MPS;

/// Drives with two speeds for a moment.
pub(in crate::sim::vendor) const DRIVE: &str = "vendor.octos.rover.set_velocity";
/// Goes to a point.
pub(in crate::sim::vendor) const GO_TO_POSE: &str = "vendor.octos.rover.go_to_pose";
/// Opens or closes the gripper.
pub(in crate::sim::vendor) const GRIPPER_SET: &str = "vendor.octos.rover.gripper_set";
/// Asks where the rover is.
pub(in crate::sim::vendor) const GET_POSE: &str = "vendor.octos.rover.get_pose";
/// Brakes.
pub(in crate::sim::vendor) const STOP: &str = "vendor.octos.rover.stop";

/// A velocity lasts this long unless it is repeated, ms.
const VELOCITY_MS: u64 = 500;
/// Without a heartbeat for longer than this an armed rover stops itself, ms.
pub(super) const DEAD_MAN_MS: u32 = 1000;

impl Dialect {
    /// Returns the dialect of the built-in rover. It tells its dead-man at the top level of the advert,
    /// as robots in the field do.
    pub fn rover() -> Self {
        let mut rover = Self {
            verbs: Vec::new(),
            says: Says::rover(),
            dead_man: Some(DeadMan {
                after_ms: DEAD_MAN_MS,
                told: Some(HeartbeatField::TopLevel),
            }),
            model: "rover".to_owned(),
        };
        let estop = form(Meaning::Estop, [Param::reason()]);
        let release = form(Meaning::Release, [Param::control_source()]);
        rover.add(HEARTBEAT, Form::bare(Meaning::Heartbeat));
        rover.add(ESTOP, estop);
        rover.add(RELEASE, release);
        rover.add(CAPABILITIES, Form::bare(Meaning::Capabilities));
        let speeds = [
            number("angular", Role::Turn),
            number("linear", Role::Forward),
        ];
        let drive = motion(
            Part::Velocity {
                lives_ms: VELOCITY_MS,
            },
            Answers::AtOnce,
            None,
        );
        rover.add(DRIVE, form(drive, with_source(speeds)));
        let point = [number("x", Role::TargetX), number("y", Role::TargetY)];
        let words = Words {
            slot: 0,
            start: "following".to_owned(),
            ok: "arrived".to_owned(),
            passes: false,
        };
        let go = motion(
            Part::Goal { mps: SPEED_MAX_MPS },
            Answers::AtOnce,
            Some(words),
        );
        rover.add(GO_TO_POSE, form(go, with_source(point)));
        let fingers = [
            number("force", Role::Force),
            number("opening", Role::Opening),
        ];
        let set = motion(Part::Gripper, Answers::WhenDone, None);
        rover.add(GRIPPER_SET, form(set, fingers));
        rover.add(GET_POSE, Form::bare(Meaning::Pose));
        rover.add(STOP, Form::bare(Meaning::Stop));
        rover.add(SELF_TEST, Form::bare(Meaning::SelfTest));
        rover
    }
}

fn number(key: &str, role: Role) -> Param {
    Param::top(key, (ArgType::F64, role))
}

fn with_source(params: impl IntoIterator<Item = Param>) -> Vec<Param> {
    params
        .into_iter()
        .chain([Param::control_source()])
        .collect()
}

fn motion(part: Part, answers: Answers, words: Option<Words>) -> Meaning {
    Meaning::Motion(MotionForm {
        part,
        answers,
        words,
    })
}

fn form(meaning: Meaning, params: impl IntoIterator<Item = Param>) -> Form {
    Form {
        meaning,
        params: params.into_iter().collect(),
    }
}
