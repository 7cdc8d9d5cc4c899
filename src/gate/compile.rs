//! From one `[[tool]]` of a robot file and the file of its tier to its rules.
//!
//! `config` has judged both files. Should a number of a moving tool have nothing that bounds it all
//! the same, its bound here is 0: what is not permitted in so many words does not move.

use std::sync::Arc;
use std::time::Duration;

use super::fence::Fence;
use super::goal::{Goal, Place};
use super::pace::{Rate, STEPS_MAX, Tempo};
use super::range::{Range, Step};
use super::rules::ToolRules;
use super::{shape, vet};
use crate::config::{
    ArgDef, ConfigError, EffectWord, RobotFile, TierProfile, Tiers, ToolDef, Verb,
};
use crate::terms::{Kind, Tier};

/// Compiles one tool.
///
/// # Errors
/// All its faults.
pub(super) fn tool(
    robot: &RobotFile,
    tiers: &Tiers,
    (index, tool): (u16, &ToolDef),
) -> Result<ToolRules, Vec<ConfigError>> {
    let Some(tier) = tool.tier.filter(|_| tool.effect != EffectWord::Stop) else {
        return Ok(stop(index, tool));
    };
    let profile = tiers.of(tier);
    let mut faults = vet::goals(robot, tool);
    let ranges = ranges(tool, profile, &mut faults);
    if !faults.is_empty() {
        return Err(faults);
    }
    let frame = robot
        .workspace
        .as_ref()
        .map_or("", |place| place.frame.as_str());
    let constant = |arg: &ArgDef| Some((arg.path.clone(), arg.constant.clone()?));
    Ok(ToolRules {
        schema: Arc::new(shape::schema(tool, &ranges, frame)),
        example: tool.allow.first().map(|example| example.args.clone()),
        ranges,
        constants: tool.args.iter().filter_map(constant).collect(),
        control_source: tool.control_source.clone(),
        place: place(robot, tool, profile),
        freshness_ms: tool.freshness_ms,
        lease: profile.lease.filter(|_| tool.effect.moves()),
        approval_ttl_ms: profile.approval.ttl_ms(),
        tempo: tempo(tool, profile),
        ..stop(index, tool)
    })
}

/// Returns the rules of a stop: none. No call of it is ever admitted, or needs to be.
fn stop(index: u16, tool: &ToolDef) -> ToolRules {
    ToolRules {
        index,
        name: tool.name.clone(),
        rule: tool.rule.clone(),
        tier: tool.tier,
        effect: tool.effect,
        sends: matches!(tool.verb, Verb::Wire(_)),
        schema: Arc::new(shape::nothing()),
        example: None,
        ranges: Vec::new(),
        constants: Vec::new(),
        control_source: None,
        place: None,
        freshness_ms: None,
        lease: None,
        approval_ttl_ms: None,
        hold_ms: tool.hold_ms,
        tempo: Tempo::default(),
    }
}

/// Returns the ranges of all numbers that a model gives.
fn ranges(tool: &ToolDef, profile: &TierProfile, faults: &mut Vec<ConfigError>) -> Vec<Range> {
    let numbers = tool.args.iter().filter(|arg| arg.kind_of.is_number());
    let mut slots = 0..STEPS_MAX;
    let mut range = |arg: &ArgDef| {
        let range = Range::of(arg, ceiling(tool, arg, profile))?;
        let Some(max) = arg.max_step else {
            return Ok(range);
        };
        match slots.next() {
            Some(slot) => range.with_step(Step { max, slot }),
            None => Err(format!("more than {STEPS_MAX} arguments have a max_step")),
        }
    };
    let mut ranges = Vec::new();
    for arg in numbers.filter(|arg| arg.constant.is_none()) {
        match range(arg) {
            Ok(range) => ranges.push(range),
            Err(problem) => {
                let hint = "widen min and max, or choose a tier with a higher ceiling";
                faults.push(vet::arg_fault(tool, arg, problem, hint));
            }
        }
    }
    ranges
}

/// Returns what bounds the magnitude of this argument besides its own range: the ceiling of the
/// tier for its kind. Targets and numbers with a reason to be `free` have none.
fn ceiling(tool: &ToolDef, arg: &ArgDef, profile: &TierProfile) -> Option<(Tier, f64)> {
    let bound = arg
        .kind
        .and_then(|kind| profile.ceilings.get(&kind).copied());
    let exempt = match arg.kind {
        Some(kind) => kind.target_axis().is_some(),
        None => arg.free.is_some(),
    };
    let must = tool.effect.moves() && !exempt;
    let bound = if must {
        Some(bound.unwrap_or(0.0))
    } else {
        bound
    };
    Some((profile.tier, bound?))
}

fn tempo(tool: &ToolDef, profile: &TierProfile) -> Tempo {
    let interval = Duration::try_from_secs_f64(tool.rate_per_s.recip()).ok();
    let interval_ns = interval.and_then(|interval| u64::try_from(interval.as_nanos()).ok());
    let motion_per_min = profile.motion_per_min.unwrap_or(0);
    Tempo {
        rate: Rate {
            interval_ns: interval_ns.unwrap_or(u64::MAX),
            burst: tool.burst,
        },
        motion_per_min: tool.effect.moves().then_some(motion_per_min),
    }
}

/// Returns where a moving tool may go; `None` for others, and for a robot without a workspace.
fn place(robot: &RobotFile, tool: &ToolDef, profile: &TierProfile) -> Option<Place> {
    let workspace = robot.workspace.as_ref().filter(|_| tool.effect.moves())?;
    let distance = profile.ceilings.get(&Kind::Distance).copied();
    Some(Place {
        fence: Arc::new(Fence::of(workspace)),
        max_age_ms: workspace.max_age_ms,
        distance_max_m: distance.unwrap_or(0.0),
        goal: goal(tool),
    })
}

fn goal(tool: &ToolDef) -> Option<Goal> {
    if let Some(arg) = tool.args.iter().find(|arg| arg.one_of_poses) {
        return Some(Goal::Named(arg.path.clone(), tool.poses.clone()));
    }
    let axis_of = |arg: &ArgDef| arg.kind.and_then(Kind::target_axis);
    let path = |axis| tool.args.iter().find(|arg| axis_of(arg) == Some(axis));
    let axes = [path(0), path(1), path(2)].map(|arg| Some(arg?.path.clone()));
    axes.iter().any(Option::is_some).then_some(Goal::Axes(axes))
}
