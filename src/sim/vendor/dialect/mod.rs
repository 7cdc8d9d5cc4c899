//! How a simulated robot is spoken to: its verbs with their parameters, and where its state says what.
//!
//! A dialect is data. [`Dialect::rover`] is that of the built-in rover, [`Dialect::of`] learns one from a
//! robot file, and both are spoken by the same code. Nothing is looked for in the name of a verb: what it
//! means follows from its effect and from the kinds of its arguments.
//!
//! As strict as vendors are: an unknown verb, an unknown key, a missing key or a wrong type is
//! `INVALID_PARAMS`. What is said here permits nothing: the gate of the runtime judges by the file.
//!
//! Glossary: a *form* is one way to write the parameters of a verb (two tools may share a verb); a *role*
//! is what a parameter means to the body.

mod fit;
mod learn;
mod rover;
mod says;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::{ArgType, EffectWord, JsonPath, RobotFile, Verb};
use crate::robot::codec::{HeartbeatField, verb};
use crate::sim::journal::VerbClass;

#[cfg(test)]
pub(super) use rover::{DRIVE, GET_POSE, GO_TO_POSE, GRIPPER_SET, STOP};
pub(super) use says::{Activity, Phase, Says, Seen, Words};

/// Sign of life of the controller.
pub(super) const HEARTBEAT: &str = verb::HEARTBEAT;
/// Asks for the advert.
pub(super) const CAPABILITIES: &str = verb::GET_CAPABILITIES;
/// Emergency stop: latched until the robot's process is restarted. Every simulated robot has it, as
/// every vendor of the envelope does.
pub(super) const ESTOP: &str = "robot.estop";
/// Gives up control and disarms the dead-man.
pub(super) const RELEASE: &str = "robot.release_control";
/// Adverted, as vendors do, but of no use to a runtime: no robot file has it.
pub(super) const SELF_TEST: &str = "vendor.octos.rover.self_test";

/// How a robot is spoken to.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialect {
    /// In the order of the advert, each verb once. At most some hundreds: a robot file has 256 tools.
    verbs: Vec<(String, Vec<Form>)>,
    says: Says,
    dead_man: Option<DeadMan>,
    /// What the advert calls the robot.
    model: String,
}

/// The robot's own dead-man.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeadMan {
    /// Without a heartbeat for longer than this an armed robot stops itself, ms.
    pub(super) after_ms: u32,
    /// Where the advert says so; `None` when it does not.
    pub(super) told: Option<HeartbeatField>,
}

/// One way to write the parameters of a verb.
#[derive(Debug, Clone, PartialEq)]
struct Form {
    meaning: Meaning,
    params: Vec<Param>,
}

/// What the robot does about a verb.
#[derive(Debug, Clone, PartialEq)]
enum Meaning {
    Heartbeat,
    Capabilities,
    SelfTest,
    Pose,
    Stop,
    Estop,
    Release,
    /// Answered, and that is all: a setting that a planar base does not have.
    Nothing,
    Motion(MotionForm),
}

#[derive(Debug, Clone, PartialEq)]
struct MotionForm {
    part: Part,
    answers: Answers,
    words: Option<Words>,
}

/// What moves, and what bounds it beyond the parameters.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// Wheels, with speeds that last this long unless repeated, ms.
    Velocity { lives_ms: u64 },
    /// Wheels, to a point, at most this fast, m/s.
    Goal { mps: f64 },
    /// Fingers.
    Gripper,
}

/// When a motion is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    /// As soon as it is queued.
    AtOnce,
    /// When it is done or was stopped.
    WhenDone,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
struct Param {
    path: JsonPath,
    kind: ArgType,
    required: bool,
    /// The only value that fits.
    constant: Option<Value>,
    role: Role,
}

/// What a parameter means to the body.
#[derive(Debug, Clone, PartialEq)]
enum Role {
    /// Checked, and then of no use.
    Plain,
    /// Speed along the heading, m/s; several add up, as a base without lateral motion has one heading.
    Forward,
    /// Speed of turning, rad/s; several add up.
    Turn,
    /// Of a point to go to, m.
    TargetX,
    /// Of a point to go to, m.
    TargetY,
    /// How far to go along the heading, m; a negative one turns the base round.
    Ahead,
    /// Largest speed on the way to a point, m/s.
    SpeedLimit,
    /// The name of a point to go to.
    Place(BTreeMap<String, [f64; 2]>),
    /// Width between the fingers, m.
    Opening,
    /// Force between the fingers, N; it changes nothing.
    Force,
    /// Who controls the robot.
    Source,
    /// Why it is stopped.
    Reason,
}

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
    Nothing,
    Motion(Motion),
}

/// An order that moves something.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Motion {
    pub(super) deed: Deed,
    /// Who gives the order, for verbs that say so.
    pub(super) source: Option<String>,
    pub(super) answers: Answers,
    /// What the state says about it, where it has words of its own.
    pub(super) words: Option<Words>,
}

/// What to move, and how far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Deed {
    Velocity {
        linear: f64,
        angular: f64,
        lives_ms: u64,
    },
    Goal {
        to: [f64; 2],
        mps: f64,
    },
    Ahead {
        m: f64,
        mps: f64,
    },
    Gripper {
        opening: f64,
    },
}

impl Dialect {
    /// Returns the dialect with the dead-man time at another place of the advert; one that the advert
    /// does not tell stays untold.
    #[must_use]
    pub fn with_heartbeat_field(mut self, field: HeartbeatField) -> Self {
        if let Some(dead_man) = &mut self.dead_man {
            dead_man.told = dead_man.told.map(|_| field);
        }
        self
    }

    /// Returns the verbs that a robot file sends and this dialect does not know, each once.
    pub fn lacks(&self, robot: &RobotFile) -> Vec<String> {
        let tools = robot.tools.iter().filter_map(|tool| match &tool.verb {
            Verb::Wire(verb) => Some(verb),
            Verb::Stop | Verb::Estop | Verb::State | Verb::SafetyEvents => None,
        });
        let steps = robot.stop.steps.iter().map(|step| &step.call.verb);
        let sent = tools
            .chain(steps)
            .chain(robot.release.iter().map(|r| &r.verb));
        let mut lacking: Vec<String> = sent
            .filter(|verb| self.forms(verb).is_none())
            .map(|verb| verb.to_string())
            .collect();
        lacking.sort();
        lacking.dedup();
        lacking
    }

    /// Returns all verbs, in the order of the advert.
    pub(super) fn verbs(&self) -> impl Iterator<Item = &str> {
        self.verbs.iter().map(|(verb, _)| verb.as_str())
    }

    pub(super) fn says(&self) -> &Says {
        &self.says
    }

    /// Returns what the advert calls the robot.
    pub(super) fn model(&self) -> &str {
        &self.model
    }

    pub(super) fn dead_man(&self) -> Option<DeadMan> {
        self.dead_man
    }

    /// What a verb means, whether or not its parameters fit.
    pub(super) fn class(&self, verb: &str) -> VerbClass {
        let forms = self.forms(verb).unwrap_or_default();
        let any = |fits: fn(&Meaning) -> bool| forms.iter().any(|form| fits(&form.meaning));
        if any(|meaning| matches!(meaning, Meaning::Stop | Meaning::Estop)) {
            VerbClass::Stop
        } else if any(|meaning| matches!(meaning, Meaning::Motion(_))) {
            VerbClass::Motion
        } else {
            VerbClass::Other
        }
    }

    /// Parses verb and parameters; the error is the text beside `INVALID_PARAMS`.
    pub(super) fn parse(&self, verb: &str, params: &Map<String, Value>) -> Result<Order, String> {
        let forms = self.forms(verb).ok_or("unknown verb")?;
        let body = Value::Object(params.clone());
        let mut problem = None;
        for form in forms {
            match form.read(&body) {
                Ok(order) => return Ok(order),
                // Of several forms the first is told: it is that of the first tool in the file.
                Err(text) => drop(problem.get_or_insert(text)),
            }
        }
        Err(problem.unwrap_or_default())
    }

    fn forms(&self, verb: &str) -> Option<&[Form]> {
        let known = self.verbs.iter().find(|(known, _)| known == verb);
        known.map(|(_, forms)| forms.as_slice())
    }

    /// Adds a form of a verb; one that is there already adds nothing.
    fn add(&mut self, verb: &str, form: Form) {
        match self.verbs.iter_mut().find(|(known, _)| known == verb) {
            Some((_, forms)) if forms.contains(&form) => {}
            Some((_, forms)) => forms.push(form),
            None => self.verbs.push((verb.to_owned(), vec![form])),
        }
    }
}

impl Form {
    /// A form without parameters.
    fn bare(meaning: Meaning) -> Self {
        Self {
            meaning,
            params: Vec::new(),
        }
    }
}

impl Param {
    /// A parameter at the top level.
    fn top(key: &str, (kind, role): (ArgType, Role)) -> Self {
        Self {
            path: JsonPath(vec![crate::config::PathStep::Key(key.to_owned())]),
            kind,
            required: true,
            constant: None,
            role,
        }
    }

    fn optional(self) -> Self {
        Self {
            required: false,
            ..self
        }
    }

    /// The one that every vendor calls by this name.
    fn control_source() -> Self {
        Self::top("control_source", (ArgType::String, Role::Source))
    }

    fn reason() -> Self {
        Self::top("reason", (ArgType::String, Role::Reason)).optional()
    }
}

/// Returns whether a tool of this effect repeats its command.
fn repeats(effect: EffectWord) -> bool {
    match effect {
        EffectWord::Hold => true,
        EffectWord::Observe | EffectWord::Move | EffectWord::Config | EffectWord::Stop => false,
    }
}
