//! Learns a dialect from a robot file: what each verb means follows from the effect of its tool and from
//! the kinds of its arguments, at whatever path they stand.
//!
//! | Tool | Arguments | The simulated base |
//! |---|---|---|
//! | `hold` | `linear_speed`, `angular_speed` | drives; lateral speeds count along the heading |
//! | `move` | `target_x` and `target_y`, `one_of = "poses"`, or `distance` | goes there, no faster than `linear_speed` and `speed_bound` say |
//! | `move` | `gripper_force`, or a `free` number of metres | sets the fingers; without an opening it closes them |
//! | `observe` | any | answers with what it sees of itself |
//! | `config` | any | releases when it is the verb of `release`, else answers and changes nothing |
//!
//! The verbs of `[stop]` brake, `robot.estop` also latches. A moving tool in which none of this is found
//! is a fault here, though not for `check`: a real robot may well understand it.

use serde_json::{Map, Value};

use super::{
    Answers, CAPABILITIES, DeadMan, Dialect, ESTOP, Form, HEARTBEAT, Meaning, MotionForm, Param,
    Part, RELEASE, Role, SELF_TEST, Says, repeats,
};
use crate::config::{
    ArgDef, ArgType, Completion, ConfigError, ConfigErrors, Deadman, DeadmanSource, EffectWord,
    JsonPath, PathStep, RobotFile, ToolDef, Verb, VerbCall,
};
use crate::robot::codec::HeartbeatField;
use crate::sim::rover::SPEED_MAX_MPS;
use crate::terms::Kind;

/// A command of a hold lives this much longer than the file says, ms: a careful file stays below what
/// the vendor does.
const HOLD_SLACK_MS: u64 = 100;

impl Dialect {
    /// Learns the dialect of a robot. Its dead-man fires after `deadman.fixed_ms`, and is told in the
    /// advert's `safety` when the file looks for it there; [`Dialect::with_heartbeat_field`] moves it.
    ///
    /// # Errors
    /// Every moving tool in which a planar base finds nothing that it understands, and paths of the state
    /// that one state cannot hold; each with file, line and the way out.
    pub fn of(robot: &RobotFile) -> Result<Self, ConfigErrors> {
        let mut faults = Vec::new();
        let mut dialect = Self {
            verbs: Vec::new(),
            says: Says::of(robot, &mut faults),
            dead_man: dead_man(robot.deadman),
            model: robot.robot.clone(),
        };
        let estop = Form {
            meaning: Meaning::Estop,
            params: vec![Param::reason()],
        };
        dialect.add(HEARTBEAT, Form::bare(Meaning::Heartbeat));
        dialect.add(ESTOP, estop);
        if let Some(call) = &robot.release {
            dialect.add(&call.verb, fixed(Meaning::Release, call));
        }
        dialect.add(CAPABILITIES, Form::bare(Meaning::Capabilities));
        let mut tools: Vec<&ToolDef> = robot.tools.iter().collect();
        tools.sort_by_key(|tool| tool.place.line);
        for tool in tools {
            let Verb::Wire(verb) = &tool.verb else {
                continue;
            };
            match dialect.meaning(tool, verb, robot) {
                Some(meaning) => {
                    let params = params(tool, &meaning);
                    dialect.add(verb, Form { meaning, params });
                }
                None => faults.push(not_understood(tool, verb)),
            }
        }
        for step in &robot.stop.steps {
            let meaning = match *step.call.verb == *ESTOP {
                true => Meaning::Estop,
                false => Meaning::Stop,
            };
            dialect.add(&step.call.verb, fixed(meaning, &step.call));
        }
        dialect.add(SELF_TEST, Form::bare(Meaning::SelfTest));
        ConfigErrors::none_or(faults)?;
        Ok(dialect)
    }

    fn meaning(&self, tool: &ToolDef, verb: &str, robot: &RobotFile) -> Option<Meaning> {
        let releases = robot.release.as_ref().map_or(RELEASE, |call| &call.verb);
        match tool.effect {
            EffectWord::Observe if verb == CAPABILITIES => Some(Meaning::Capabilities),
            EffectWord::Observe => Some(Meaning::Pose),
            EffectWord::Config if verb == releases => Some(Meaning::Release),
            // A stop has no verb of its own, so it does not come here.
            EffectWord::Config | EffectWord::Stop => Some(Meaning::Nothing),
            EffectWord::Move | EffectWord::Hold => Some(Meaning::Motion(MotionForm {
                part: part(tool)?,
                answers: answers(tool),
                words: self.says.words(&tool.completion, robot),
            })),
        }
    }
}

fn dead_man(file: Deadman) -> Option<DeadMan> {
    let told = match file.source {
        DeadmanSource::Advert => Some(HeartbeatField::Safety),
        DeadmanSource::Fixed => None,
        DeadmanSource::None => return None,
    };
    Some(DeadMan {
        after_ms: file.fixed_ms,
        told,
    })
}

/// What a tool moves; `None` when its arguments say nothing to a planar base.
fn part(tool: &ToolDef) -> Option<Part> {
    let has = |kinds: &[Kind]| {
        let mut args = tool.args.iter();
        args.any(|arg| arg.kind.is_some_and(|kind| kinds.contains(&kind)))
    };
    if repeats(tool.effect) {
        let lives_ms = u64::from(tool.hold_ms).saturating_add(HOLD_SLACK_MS);
        let speeds = [Kind::LinearSpeed, Kind::AngularSpeed];
        return has(&speeds).then_some(Part::Velocity { lives_ms });
    }
    let goes =
        has(&[Kind::TargetX, Kind::Distance]) || tool.args.iter().any(|arg| arg.one_of_poses);
    if goes {
        let bound = tool
            .speed_bound
            .as_ref()
            .map_or(SPEED_MAX_MPS, |bound| bound.mps);
        return Some(Part::Goal {
            mps: bound.min(SPEED_MAX_MPS),
        });
    }
    let sets = has(&[Kind::GripperForce]) || tool.args.iter().any(is_opening);
    sets.then_some(Part::Gripper)
}

/// A gripper's answer and a goal's come when the file waits for them.
fn answers(tool: &ToolDef) -> Answers {
    match &tool.completion {
        Completion::Done => Answers::WhenDone,
        Completion::Accepted | Completion::State { .. } => Answers::AtOnce,
    }
}

fn params(tool: &ToolDef, meaning: &Meaning) -> Vec<Param> {
    let mut opened = false;
    let mut params: Vec<Param> = Vec::with_capacity(tool.args.len());
    for arg in &tool.args {
        let role = match meaning {
            Meaning::Motion(motion) => role(tool, arg, (&motion.part, &mut opened)),
            Meaning::Heartbeat
            | Meaning::Capabilities
            | Meaning::SelfTest
            | Meaning::Pose
            | Meaning::Stop
            | Meaning::Estop
            | Meaning::Release
            | Meaning::Nothing => Role::Plain,
        };
        params.push(Param {
            path: arg.path.clone(),
            kind: arg.kind_of,
            required: arg.required || arg.constant.is_some(),
            constant: arg.constant.clone(),
            role,
        });
    }
    params.extend(tool.control_source.iter().map(|_| Param::control_source()));
    params
}

/// What an argument means. Of several openings the first one counts.
fn role(tool: &ToolDef, arg: &ArgDef, (part, opened): (&Part, &mut bool)) -> Role {
    if arg.one_of_poses {
        let places = tool.poses.iter();
        return Role::Place(
            places
                .map(|(name, at)| (name.clone(), [at.x, at.y]))
                .collect(),
        );
    }
    match (part, arg.kind) {
        (Part::Velocity { .. }, Some(Kind::LinearSpeed)) => Role::Forward,
        (Part::Velocity { .. }, Some(Kind::AngularSpeed)) => Role::Turn,
        (Part::Goal { .. }, Some(Kind::TargetX)) => Role::TargetX,
        (Part::Goal { .. }, Some(Kind::TargetY)) => Role::TargetY,
        (Part::Goal { .. }, Some(Kind::Distance)) => Role::Ahead,
        (Part::Goal { .. }, Some(Kind::LinearSpeed)) => Role::SpeedLimit,
        (Part::Gripper, Some(Kind::GripperForce)) => Role::Force,
        (Part::Gripper, None) if is_opening(arg) && !*opened => {
            *opened = true;
            Role::Opening
        }
        (Part::Velocity { .. } | Part::Goal { .. } | Part::Gripper, _) => Role::Plain,
    }
}

/// A number of metres that no ceiling bounds: the width between fingers.
fn is_opening(arg: &ArgDef) -> bool {
    arg.free.is_some() && arg.unit == "m" && arg.kind_of.is_number()
}

fn not_understood(tool: &ToolDef, verb: &str) -> ConfigError {
    let (effect, needs) = match repeats(tool.effect) {
        true => ("hold", "`linear_speed` or `angular_speed`"),
        false => (
            "move",
            "`target_x` and `target_y`, `distance`, one_of = \"poses\", `gripper_force` or a `free` number of m",
        ),
    };
    ConfigError {
        place: tool.place.clone(),
        key: format!("tool.{}", tool.name),
        problem: format!("the simulated base finds nothing that it understands in `{verb}`"),
        hint: format!(
            "it understands a `{effect}` by {needs}: give an argument that kind, or rehearse with \
             your vendor's simulator in a dataflow of its own: octos-edge run"
        ),
    }
}

/// The form of a verb whose parameters the file fixes: other values of their types fit too. A stop is
/// also understood without them.
fn fixed(meaning: Meaning, call: &VerbCall) -> Form {
    let required = meaning == Meaning::Release;
    let mut params = Vec::new();
    leaves(&call.args, &mut Vec::new(), &mut params);
    for param in &mut params {
        param.required = required;
    }
    if meaning == Meaning::Estop
        && let Some(text) = params
            .iter_mut()
            .find(|param| param.kind == ArgType::String)
    {
        text.role = Role::Reason;
    }
    Form { meaning, params }
}

/// The values of nested tables, each with its way. The file bounds them to 1024 bytes of JSON.
fn leaves(args: &Map<String, Value>, way: &mut Vec<PathStep>, params: &mut Vec<Param>) {
    for (key, value) in args {
        way.push(PathStep::Key(key.clone()));
        match value {
            Value::Object(inner) if !inner.is_empty() => leaves(inner, way, params),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => params.push(leaf(way, value)),
        }
        way.pop();
    }
}

/// A list or an empty table is taken whole, as it is written.
fn leaf(way: &[PathStep], value: &Value) -> Param {
    let (kind, constant) = match value {
        Value::Bool(_) => (ArgType::Bool, None),
        Value::Number(_) => (ArgType::F64, None),
        Value::String(_) => (ArgType::String, None),
        Value::Null | Value::Array(_) | Value::Object(_) => (ArgType::String, Some(value.clone())),
    };
    let role = match (way, value) {
        ([PathStep::Key(key)], Value::String(_)) if key == "control_source" => Role::Source,
        (_, _) => Role::Plain,
    };
    Param {
        path: JsonPath(way.to_vec()),
        kind,
        required: true,
        constant,
        role,
    }
}
