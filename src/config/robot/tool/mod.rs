//! The tools of a robot.
//!
//! A tool's numbers that it does not write itself are those of its tier. A stop has no tier and takes
//! no part in what tiers bound; its numbers are fixed and nothing reads them.

mod completion;
mod rules;
mod verb;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::arg::{ArgContext, ArgDef, arg};
use super::workspace::COORDINATE_M_MAX;
use crate::config::reader::{self, Node, Table, list, named, number, object, parsed, text, whole};
use crate::config::{CallDefaults, Place, TierProfile, Tiers};
use crate::terms::{Rule, Tier, ToolName};

pub use completion::Completion;
pub use verb::{EffectWord, Verb};

/// Most arguments of a tool.
const ARGS_MAX: usize = 64;
/// Most examples of a list.
const EXAMPLES_MAX: usize = 64;
/// Most named poses of a tool.
const POSES_MAX: usize = 256;
/// Longest short text (an id, a device, a name of a pose), bytes.
const SHORT_BYTES_MAX: usize = 64;
/// Longest sentence, bytes.
const SENTENCE_BYTES_MAX: usize = 400;

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

/// What the judgement of a tool must know of its robot.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolContext<'c> {
    /// The robot's name.
    pub(super) robot: &'c str,
    /// The tiers; `None` when their own files are at fault.
    pub(super) tiers: Option<&'c Tiers>,
    /// Whether the file has a workspace.
    pub(super) workspace: bool,
    /// Whether the file has a speed monitor.
    pub(super) monitor: bool,
}

/// A tool as it is written: `None` where a key is absent or at fault.
#[derive(Debug)]
struct Draft<'c> {
    name: Option<ToolName>,
    verb: Option<Verb>,
    id: Option<String>,
    why: Option<String>,
    describe: Option<String>,
    effect: Option<EffectWord>,
    tier: Option<Tier>,
    profile: Option<&'c TierProfile>,
    device: Option<String>,
    args: Option<Vec<ArgDef>>,
    allow: Option<Vec<Example>>,
    refuse: Option<Vec<Example>>,
    timeout_ms: Option<u32>,
    completion: Option<Completion>,
    freshness_ms: Option<u32>,
    rate_per_s: Option<f64>,
    burst: Option<u32>,
    hold_ms: Option<u32>,
    max_call_ms: Option<u32>,
    control_source: Option<String>,
    speed_bound: Option<SpeedBound>,
    poses: Option<BTreeMap<String, Pose>>,
}

/// The numbers of a stop. Nothing reads them: a stop waits for nothing and is never refused.
const OF_A_STOP: CallDefaults = CallDefaults {
    timeout_ms: 1_000,
    exclusive: false,
    rate_per_s: 100.0,
    burst: 1_000,
    freshness_ms: None,
};

/// The shape of a `[[tool]]`.
pub(super) fn tool(node: Node<'_>, context: ToolContext<'_>) -> Option<ToolDef> {
    node.table(|t| {
        let draft = draft(t, context);
        rules::judge(t, &draft, context);
        resolve(t.place(), draft, context)
    })
}

fn draft<'c>(t: &mut Table<'_>, context: ToolContext<'c>) -> Draft<'c> {
    let effect = t.must("effect", named(&EffectWord::ALL, EffectWord::as_str));
    let tier = t.may("tier", reader::tier);
    let profile = tier.and_then(|tier| Some(context.tiers?.of(tier)));
    let of_tool = ArgContext {
        effect,
        profile,
        workspace: context.workspace,
    };
    Draft {
        name: t.must("name", parsed(tool_name)),
        verb: t.must("verb", verb::verb),
        id: t.must("id", text(1..=SHORT_BYTES_MAX)),
        why: t.must("why", text(1..=SENTENCE_BYTES_MAX)),
        describe: t.must("describe", text(1..=SENTENCE_BYTES_MAX)),
        effect,
        tier,
        profile,
        device: t.may("device", text(1..=SHORT_BYTES_MAX)),
        args: t.may("args", |node| args(node, of_tool)),
        allow: t.may("allow", list(0..=EXAMPLES_MAX, example)),
        refuse: t.may("refuse", list(0..=EXAMPLES_MAX, example)),
        timeout_ms: t.may("timeout_ms", whole(1..=3_600_000)),
        completion: t.may("completion", completion::completion),
        freshness_ms: t.may("freshness_ms", whole(1..=60_000)),
        rate_per_s: t.may("rate_per_s", number(0.001..=100.0)),
        burst: t.may("burst", whole(1..=1000)),
        hold_ms: t.may("hold_ms", whole(50..=10_000)),
        max_call_ms: t.may("max_call_ms", whole(50..=600_000)),
        control_source: t.may("control_source", text(1..=SHORT_BYTES_MAX)),
        speed_bound: t.may("speed_bound", speed_bound),
        poses: t.may("poses", poses),
    }
}

/// Puts the tool together, with the numbers of its tier where it has none of its own.
fn resolve(place: Place, draft: Draft<'_>, context: ToolContext<'_>) -> Option<ToolDef> {
    let effect = draft.effect?;
    let defaults = match effect {
        EffectWord::Stop => OF_A_STOP,
        EffectWord::Observe | EffectWord::Move | EffectWord::Hold | EffectWord::Config => {
            draft.profile?.defaults
        }
    };
    Some(ToolDef {
        place,
        name: draft.name?,
        verb: draft.verb?,
        rule: Rule {
            id: Arc::from(draft.id?),
            why: Arc::from(draft.why?),
        },
        describe: draft.describe?,
        tier: draft.tier,
        effect,
        device: draft.device.unwrap_or_else(|| context.robot.to_owned()),
        args: draft.args.unwrap_or_default(),
        allow: draft.allow.unwrap_or_default(),
        refuse: draft.refuse.unwrap_or_default(),
        timeout_ms: draft.timeout_ms.unwrap_or(defaults.timeout_ms),
        exclusive: defaults.exclusive,
        completion: draft
            .completion
            .unwrap_or_else(|| Completion::usual(effect)),
        freshness_ms: draft.freshness_ms.or(defaults.freshness_ms),
        rate_per_s: draft.rate_per_s.unwrap_or(defaults.rate_per_s),
        burst: draft.burst.unwrap_or(defaults.burst),
        hold_ms: draft.hold_ms.unwrap_or(0),
        max_call_ms: draft.max_call_ms.unwrap_or(0),
        control_source: draft.control_source,
        speed_bound: draft.speed_bound,
        poses: draft.poses.unwrap_or_default(),
    })
}

/// Parses the name of a tool. A dot is written as `_`, as model providers accept no dots.
fn tool_name(written: &str) -> Result<ToolName, crate::terms::NameError> {
    ToolName::parse(&written.replace('.', "_"))
}

fn args(node: Node<'_>, context: ArgContext<'_>) -> Option<Vec<ArgDef>> {
    let entries = node.clone().entries()?;
    if entries.len() > ARGS_MAX {
        return node.unfit(&format!("at most {ARGS_MAX} arguments"));
    }
    let args: Vec<Option<ArgDef>> = entries
        .into_iter()
        .map(|(written, node)| arg(written, node, context))
        .collect();
    let mut args: Vec<ArgDef> = args.into_iter().collect::<Option<_>>()?;
    args.sort_by(|a, b| a.path.cmp(&b.path));
    rules::judge_paths(&node, &args);
    Some(args)
}

fn example(node: Node<'_>) -> Option<Example> {
    let place = node.place();
    Some(Example {
        place,
        args: object(node)?,
    })
}

fn speed_bound(node: Node<'_>) -> Option<SpeedBound> {
    node.table(|t| {
        let mps = t.must("mps", number(0.0..=100.0));
        let source = t.must("source", text(1..=SENTENCE_BYTES_MAX));
        Some(SpeedBound {
            mps: mps?,
            source: source?,
        })
    })
}

fn poses(node: Node<'_>) -> Option<BTreeMap<String, Pose>> {
    let entries = node.clone().entries()?;
    if entries.is_empty() || entries.len() > POSES_MAX {
        return node.unfit(&format!("1 to {POSES_MAX} named poses"));
    }
    let poses: Vec<_> = entries
        .into_iter()
        .map(|(name, node)| named_pose(name, node))
        .collect();
    poses.into_iter().collect()
}

fn named_pose(name: &str, node: Node<'_>) -> Option<(String, Pose)> {
    if name.is_empty() || name.len() > SHORT_BYTES_MAX || name.contains(char::is_control) {
        node.fault(
            "the name is empty, too long or not of one line",
            "name the place in short",
        );
        return None;
    }
    let coordinate = || number(-COORDINATE_M_MAX..=COORDINATE_M_MAX);
    node.table(|t| {
        let x = t.must("x", coordinate());
        let y = t.must("y", coordinate());
        let z = t.may("z", coordinate());
        let pose = Pose {
            x: x?,
            y: y?,
            z: z.unwrap_or(0.0),
        };
        Some((name.to_owned(), pose))
    })
}
