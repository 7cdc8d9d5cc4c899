//! The robot file `tiers/robots/<robot>.toml`: the bridge mapping, and the one place that gives a
//! robot tool its tier, arguments, limits and examples.
//!
//! The examples are read here and run by `gate`, which knows schema and limits.

mod arg;
mod cross;
mod json_path;
mod sensors;
mod stop;
mod tool;
mod watch;
mod workspace;

use std::collections::BTreeMap;
use std::path::Path;

use super::reader::{self, Node, Parsed, Source, Table, parsed, schema, stem_of, text, tier};
use super::{ConfigErrors, Place, Tiers, file};
use crate::terms::{RobotId, Tier};

pub use arg::{ArgDef, ArgType, OnLimit};
pub use json_path::{JsonPath, PathError, PathStep};
pub use sensors::{SensorDef, Sensors};
pub use stop::{Standstill, StopPlan, StopStep, VerbCall};
pub use tool::{Completion, EffectWord, Example, Pose, SpeedBound, ToolDef, Verb};
pub use watch::{AdvertUnknown, Deadman, DeadmanSource, SpeedMonitor};
pub use workspace::{Area, Workspace};

const GUIDE: &str = "tiers/README.md";
/// Most tools of a robot: a command names its tool by an index of 16 bits, and metrics by a label.
const TOOLS_MAX: usize = 256;
/// Longest title, bytes.
const TITLE_BYTES_MAX: usize = 200;

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
    /// Where it is written.
    pub max_tier_at: Place,
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
    /// What the model is shown of its state.
    pub sensors: Sensors,
    /// Its tools, sorted by name. At most 256.
    pub tools: Vec<ToolDef>,
}

impl RobotFile {
    /// Returns where a simulated robot begins, x and y, m: the home of the workspace, else the origin.
    pub fn home(&self) -> [f64; 2] {
        let [x, y, _] = self.workspace.as_ref().map_or([0.0; 3], |space| space.home);
        [x, y]
    }

    /// Loads `<dir>/robots/<name>.toml`, where `dir` is the folder of the tier files.
    ///
    /// # Errors
    /// Every fault of the file, or of the name.
    pub fn load(dir: &Path, name: &str, tiers: &Tiers) -> Result<Self, ConfigErrors> {
        Self::read(dir, name, Some(tiers)).done()
    }

    /// Parses the text of a robot file; the robot's name is the stem of `file`.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(file: &str, text: &str, tiers: &Tiers) -> Result<Self, ConfigErrors> {
        Self::parse_bytes(file, text.as_bytes(), Some(tiers)).done()
    }

    pub(crate) fn read(dir: &Path, name: &str, tiers: Option<&Tiers>) -> Parsed<Self> {
        match file::read_named(&dir.join("robots"), name, "robot") {
            Ok((file, bytes)) => Self::parse_bytes(&file, &bytes, tiers),
            Err(fault) => Parsed::failed(fault),
        }
    }

    /// Parses a file. Without `tiers` (their own files are at fault) everything is judged that needs
    /// no tier, and no robot comes of it.
    pub(crate) fn parse_bytes(file: &str, bytes: &[u8], tiers: Option<&Tiers>) -> Parsed<Self> {
        let source = Source {
            file,
            bytes,
            guide: GUIDE,
        };
        reader::read(source, |root| root.table(|t| robot(t, file, tiers)))
    }
}

/// Loads the tier files and a robot file: the faults of all five in one report.
///
/// # Errors
/// Every fault of the five files.
pub fn load_robot(dir: &Path, name: &str) -> Result<(Tiers, RobotFile), ConfigErrors> {
    both(Tiers::read(dir), |tiers| RobotFile::read(dir, name, tiers))
}

/// Joins the outcome of the tier files with that of a robot file that is judged by them.
pub(super) fn both(
    tiers: Parsed<Tiers>,
    robot: impl FnOnce(Option<&Tiers>) -> Parsed<RobotFile>,
) -> Result<(Tiers, RobotFile), ConfigErrors> {
    let sound = tiers.value.as_ref().filter(|_| tiers.faults.is_empty());
    let mut robot = robot(sound);
    robot.faults.extend(tiers.faults);
    let robot = robot.done()?;
    let tiers = tiers.value.ok_or_else(ConfigErrors::unexplained)?;
    Ok((tiers, robot))
}

fn robot(t: &mut Table<'_>, file: &str, tiers: Option<&Tiers>) -> Option<RobotFile> {
    t.must("schema", schema);
    let robot = t.must("robot", stem_of(file));
    let id = t.may("id", parsed(RobotId::parse));
    let title = t.must("title", text(1..=TITLE_BYTES_MAX));
    let max_tier = t.must("max_tier", tier);
    let advert_unknown = t.may("advert_unknown", watch::advert_unknown);
    let deadman = t.must("deadman", watch::deadman);
    let mut places = cross::Places::default();
    let release = t.may("release", |node| {
        places.release = Some(node.clone());
        stop::verb_call(node)
    });
    let stop = t.must("stop", |node| {
        places.stop = Some(node.clone());
        stop::stop_plan(node)
    });
    let workspace = t.may("workspace", |node| {
        places.workspace = Some(node.clone());
        workspace::workspace(node)
    });
    let monitor = t.may("monitor", |node| {
        places.monitor = Some(node.clone());
        watch::monitor(node)
    });
    let context = tool::ToolContext {
        robot: robot.as_deref().unwrap_or_default(),
        tiers,
        workspace: t.has("workspace"),
        monitor: t.has("monitor"),
    };
    let mut movers = cross::Movers::default();
    let tools = t.must("tool", |node| tools(node, context, &mut movers));
    let sensors = t.may("sensors", |node| sensors::sensors(node, tools.as_deref()));
    t.later(
        "operator_input",
        "goals that arrive through a dataflow come later",
    );
    if let (Some(deadman), Some(tools)) = (deadman, &tools) {
        judge_deadman(t, deadman, tools);
    }
    cross::judge_stop(&places, &movers, (stop.as_ref(), release.as_ref()));
    if let (Some(stop), Some(tools)) = (&stop, &tools) {
        cross::judge_words(&places, stop, tools);
        cross::judge_paths(&places, (stop, workspace.as_ref(), monitor.as_ref()), tools);
    }
    Some(RobotFile {
        place: t.file(),
        robot: robot?,
        id,
        title: title?,
        max_tier: max_tier?,
        max_tier_at: t.place_of("max_tier"),
        advert_unknown: advert_unknown.unwrap_or(AdvertUnknown::Ignore),
        deadman: deadman?,
        release,
        stop: stop?,
        workspace,
        monitor,
        sensors: sensors.unwrap_or_default(),
        tools: tools?,
    })
}

fn tools<'d>(
    node: Node<'d>,
    context: tool::ToolContext<'_>,
    movers: &mut cross::Movers<'d>,
) -> Option<Vec<ToolDef>> {
    let nodes = node.clone().items()?;
    if nodes.is_empty() || nodes.len() > TOOLS_MAX {
        return node.unfit(&format!("1 to {TOOLS_MAX} tools"));
    }
    let nodes: Vec<Node<'d>> = nodes
        .into_iter()
        .map(|node| match node.peek("name") {
            Some(name) => node.called(format!("tool.{}", reader::key_of(name))),
            None => node,
        })
        .collect();
    judge_names(&nodes);
    judge_ids(&nodes);
    *movers = cross::judge_effects(&nodes);
    if !nodes.iter().any(|node| node.peek("effect") == Some("stop")) {
        let hint = "add a [[tool]] with verb = \"@stop\" and effect = \"stop\"";
        node.fault("no tool stops the robot", hint);
    }
    let tools: Vec<Option<ToolDef>> = nodes
        .into_iter()
        .map(|node| tool::tool(node, context))
        .collect();
    let mut tools: Vec<ToolDef> = tools.into_iter().collect::<Option<_>>()?;
    tools.sort_by(|a, b| a.name.cmp(&b.name));
    Some(tools)
}

/// Reports names that are one and the same once dots are written as `_`.
fn judge_names(nodes: &[Node<'_>]) {
    let mut seen: BTreeMap<String, &Node<'_>> = BTreeMap::new();
    let verb = |node: &Node<'_>| reader::quote(node.peek("verb").unwrap_or("none"));
    for node in nodes {
        let Some(name) = node.peek("name") else {
            continue;
        };
        match seen.get(&name.replace('.', "_")) {
            Some(first) => {
                let other = reader::quote(first.peek("name").unwrap_or_default());
                let problem = format!(
                    "`{}` (verb `{}`) has the same name as `{other}` (verb `{}`) of line {}",
                    reader::quote(name),
                    verb(node),
                    verb(first),
                    first.place().line,
                );
                node.fault(problem, "rename one; `.` counts as `_`");
            }
            None => drop(seen.insert(name.replace('.', "_"), node)),
        }
    }
}

/// Reports rule ids that two tools share.
fn judge_ids(nodes: &[Node<'_>]) {
    let mut seen: BTreeMap<&str, &Node<'_>> = BTreeMap::new();
    for node in nodes {
        let Some(id) = node.peek("id") else { continue };
        match seen.get(id) {
            Some(first) => {
                let line = first.place().line;
                let problem = format!("the id `{}` is that of line {line}", reader::quote(id));
                node.fault(problem, "give every tool an id of its own");
            }
            None => drop(seen.insert(id, node)),
        }
    }
}

/// Reports a robot that has tools that move and could never move.
fn judge_deadman(t: &Table<'_>, deadman: Deadman, tools: &[ToolDef]) {
    let moves = tools.iter().any(|tool| tool.effect.moves());
    match deadman.source {
        DeadmanSource::None if moves && !deadman.waive => t.fault(
            "deadman",
            "source is `none`, and a tool moves the robot",
            "name the robot's dead-man, or remove the tools that move",
        ),
        DeadmanSource::Advert | DeadmanSource::Fixed | DeadmanSource::None => {}
    }
}
