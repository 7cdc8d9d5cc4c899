//! The robot file `tiers/robots/<robot>.toml`: the bridge mapping, and the one place that gives a
//! robot tool its tier, arguments, limits and examples.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::Place;
use crate::terms::{Kind, RobotId, Rule, Tier, ToolName};

/// One step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// A member of an object.
    Key(String),
    /// An element of an array, 0 to 63.
    Index(u32),
}

/// A path into a JSON value, written `pose.position[0]`. At least one step, at most 8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonPath(pub Vec<PathStep>);

impl JsonPath {
    /// Returns the value at this path, `None` when there is none.
    pub fn find<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(root, |value, step| match step {
            PathStep::Key(key) => value.get(key),
            PathStep::Index(index) => value.get(usize::try_from(*index).ok()?),
        })
    }
}

/// The word after `effect =`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectWord {
    /// Reads.
    Observe,
    /// Goes to a goal and ends by itself.
    Move,
    /// Velocity-like: expires unless repeated.
    Hold,
    /// Changes the set-up.
    Config,
    /// Ends motion.
    Stop,
}

/// What a call of a tool does on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Sends this dotted verb.
    Wire(Arc<str>),
    /// `@stop`: runs the stop sequence.
    Stop,
    /// `@estop`: the same, and latches.
    Estop,
    /// `@state`: answers from the latest state; sends nothing.
    State,
    /// `@safety_events`: answers from the received safety events; sends nothing.
    SafetyEvents,
}

/// A verb with constant parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct VerbCall {
    /// The dotted verb.
    pub verb: Arc<str>,
    /// Its parameters.
    pub args: Map<String, Value>,
}

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgType {
    /// A finite number.
    F64,
    /// A whole number from 0.
    U64,
    /// A whole number.
    I64,
    /// `true` or `false`.
    Bool,
    /// A text; with `one_of = "poses"` one of the tool's named poses.
    String,
}

/// What happens to a number outside its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLimit {
    /// The call is refused.
    Reject,
    /// The nearest permitted number is sent, and the model is told.
    Clamp,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgDef {
    /// Where it is written.
    pub place: Place,
    /// Its path in the parameters.
    pub path: JsonPath,
    /// The path as it is written in the file.
    pub written: String,
    /// Its type.
    pub kind_of: ArgType,
    /// Its unit, as written; `none` for a bare number.
    pub unit: String,
    /// What it measures: for numbers of motion tools, unless `free` or `constant`.
    pub kind: Option<Kind>,
    /// The reason why no ceiling bounds it.
    pub free: Option<String>,
    /// Smallest permitted number.
    pub min: Option<f64>,
    /// Largest permitted number.
    pub max: Option<f64>,
    /// Largest change from the last accepted number of the same tool; counts from 0 after any stop.
    pub max_step: Option<f64>,
    /// Whether it must be given.
    pub required: bool,
    /// A constant that is sent whatever the model says; the model does not see the argument.
    pub constant: Option<Value>,
    /// What happens outside the limit.
    pub on_limit: OnLimit,
    /// Whether the text must be one of the tool's named poses.
    pub one_of_poses: bool,
}

/// When a call is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// When the robot accepted it.
    Accepted,
    /// When the robot answered.
    Done,
    /// When the state says so. `ok` and `fail` count only after `start` was seen.
    State {
        /// Path into the state.
        path: JsonPath,
        /// Words that say that it has begun.
        start: Vec<String>,
        /// Words that say that it succeeded.
        ok: Vec<String>,
        /// Words that say that it failed.
        fail: Vec<String>,
    },
}

/// How fast a tool without a speed argument can move, and where the number comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedBound {
    /// m/s.
    pub mps: f64,
    /// Where the number comes from.
    pub source: String,
}

/// Example arguments, run when the file loads.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// Where it is written.
    pub place: Place,
    /// The arguments.
    pub args: Map<String, Value>,
}

/// A named place, in the frame of the workspace.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose {
    /// m.
    pub x: f64,
    /// m.
    pub y: f64,
    /// m; 0 when not written.
    pub z: f64,
}

/// One tool of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDef {
    /// Where it is written: the line of its `[[tool]]`.
    pub place: Place,
    /// The name.
    pub name: ToolName,
    /// What it does on the wire.
    pub verb: Verb,
    /// `id` and `why`.
    pub rule: Rule,
    /// For the model.
    pub describe: String,
    /// The tier it needs; `None` for a stop, and only for a stop.
    pub tier: Option<Tier>,
    /// The effect.
    pub effect: EffectWord,
    /// The device it moves; the robot's name unless written.
    pub device: String,
    /// The arguments, in the order of their paths.
    pub args: Vec<ArgDef>,
    /// Arguments that must pass unchanged.
    pub allow: Vec<Example>,
    /// Arguments that must be refused.
    pub refuse: Vec<Example>,
    /// Time from grant to deadline, ms. Own or of the tier.
    pub timeout_ms: u32,
    /// Whether calls run alone. Of the tier.
    pub exclusive: bool,
    /// When it is done.
    pub completion: Completion,
    /// Largest age of the state at admission, ms. Own or of the tier.
    pub freshness_ms: Option<u32>,
    /// Calls per second. Own or of the tier.
    pub rate_per_s: f64,
    /// Calls at once. Own or of the tier.
    pub burst: u32,
    /// For a hold: how long one command lives, ms.
    pub hold_ms: u32,
    /// For a hold: how long a call repeats it, ms.
    pub max_call_ms: u32,
    /// Sent as `control_source`, for verbs that take it.
    pub control_source: Option<String>,
    /// Bound of the speed of a tool that has no speed argument.
    pub speed_bound: Option<SpeedBound>,
    /// Named poses.
    pub poses: BTreeMap<String, Pose>,
}

/// One step of the stop sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct StopStep {
    /// The verb with its parameters.
    pub call: VerbCall,
    /// Whether a refusal as `INVALID_PARAMS` is answered by the verb without parameters.
    pub retry_empty: bool,
    /// How long the step may take before the next one begins, ms, 50 to 5000.
    pub wait_ms: u32,
}

/// How standstill is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// Path into the state.
    pub path: JsonPath,
    /// Words that say that it stands still.
    pub any_of: Vec<String>,
    /// Not confirmed within this time: escalate and latch, ms, 100 to 10 000.
    pub within_ms: u32,
}

/// How the robot is stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct StopPlan {
    /// Tried in order; 1 to 8 steps, the last one is repeated when standstill is not confirmed.
    pub steps: Vec<StopStep>,
    /// How standstill is recognised.
    pub standstill: Standstill,
}

/// An area of the map.
#[derive(Debug, Clone, PartialEq)]
pub enum Area {
    /// An axis-aligned box: smallest corner, largest corner, m. Equal z bounds mean any height.
    Box {
        /// Smallest x, y, z.
        min: [f64; 3],
        /// Largest x, y, z.
        max: [f64; 3],
        /// A name for messages; empty when none.
        name: String,
    },
    /// A polygon in x and y, m, 3 to 64 corners; any height.
    Polygon {
        /// The corners, in either direction.
        corners: Vec<[f64; 2]>,
        /// A name for messages; empty when none.
        name: String,
    },
}

/// Where the robot may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Workspace {
    /// Name of the frame, told to the model.
    pub frame: String,
    /// Path of the position in the state: an array of 2 or 3 numbers, m.
    pub position: JsonPath,
    /// A position older than this is unknown, ms.
    pub max_age_ms: u32,
    /// Where the examples start, m.
    pub home: [f64; 3],
    /// A target must lie in one of these.
    pub keep_in: Vec<Area>,
    /// A target must lie in none of these.
    pub keep_out: Vec<Area>,
    /// Distance to keep from every border, m.
    pub margin_m: f64,
}

/// Watches the observed speed.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedMonitor {
    /// Path of the speed in the state, m/s.
    pub path: JsonPath,
    /// Above this factor times the ceiling of linear speed the robot is stopped, 1.0 to 2.0.
    pub factor: f64,
}

/// Where the dead-man time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadmanSource {
    /// The advert; `fixed_ms` bounds from above what it may claim.
    Advert,
    /// `fixed_ms`, whatever the advert says.
    Fixed,
    /// The robot has none: motion only with `waive`.
    None,
}

/// The robot's dead-man.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadman {
    /// Where its time comes from.
    pub source: DeadmanSource,
    /// The time, or its upper bound, ms, 150 to 10 000.
    pub fixed_ms: u32,
    /// Whether motion is permitted without a dead-man.
    pub waive: bool,
}

/// What to do about adverted verbs that the file lacks. They are no tools either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AdvertUnknown {
    /// Nothing.
    Ignore,
    /// Record how many there are.
    Report,
}

/// One robot.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotFile {
    /// The file.
    pub place: Place,
    /// Its name, the file's stem.
    pub robot: String,
    /// The robot's id, when the file fixes it; else `ROBOT_ID` gives it.
    pub id: Option<RobotId>,
    /// One line for people.
    pub title: String,
    /// The only grant of a ceiling.
    pub max_tier: Tier,
    /// Adverted verbs that the file lacks.
    pub advert_unknown: AdvertUnknown,
    /// The dead-man.
    pub deadman: Deadman,
    /// How control is released after standstill; `None` when the robot has no such verb.
    pub release: Option<VerbCall>,
    /// How it is stopped.
    pub stop: StopPlan,
    /// Where it may be; `None` only when no tool has a target.
    pub workspace: Option<Workspace>,
    /// Watches the observed speed.
    pub monitor: Option<SpeedMonitor>,
    /// Its tools, sorted by name. At most 256.
    pub tools: Vec<ToolDef>,
}
