//! From one `[[tool]]` of a robot file and the file of its tier to its rules.
//!
//! Nothing is guessed: what a tier file does not say, a tool that needs it does not get, and the
//! robot does not load. Faults of one file alone are found by `config`; here are those that need
//! both files, and once more those on which the limits rest.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::fence::Fence;
use super::goal::{Goal, Place};
use super::pace::{MOTION_PER_MIN_MAX, Rate, STEPS_MAX, Tempo};
use super::range::{Range, Step};
use super::rules::{ToolRules, fault, moves};
use super::{shape, vet};
use crate::config::{
    ArgDef, ArgType, ConfigError, EffectWord, RobotFile, TierProfile, Tiers, ToolDef, Verb,
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
    if tool.effect == EffectWord::Stop {
        return Ok(stop(index, tool));
    }
    let Some(tier) = tool.tier else {
        let problem = "a tool that is no stop has no tier".to_owned();
        return Err(vec![fault(
            tool,
            "tier",
            problem,
            "give it one of the four tiers",
        )]);
    };
    let profile = tiers.of(tier);
    let mut faults = vet::tool(robot, tool, profile);
    let ranges = keep(&mut faults, ranges(tool, profile)).unwrap_or_default();
    let frame = robot
        .workspace
        .as_ref()
        .map_or("", |place| place.frame.as_str());
    let schema = shape::schema(tool, &ranges, frame).map_err(|found| {
        let misfit = |(arg, problem): (&ArgDef, String)| {
            vet::arg_fault(
                tool,
                arg,
                problem,
                "give each argument a path of its own, without gaps",
            )
        };
        found.into_iter().map(misfit).collect()
    });
    let schema = keep(&mut faults, schema);
    let tempo = keep(&mut faults, tempo(tool, profile));
    let (Some(schema), Some(tempo), true) = (schema, tempo, faults.is_empty()) else {
        return Err(faults);
    };
    let constant = |arg: &ArgDef| Some((arg.path.clone(), arg.constant.clone()?));
    Ok(ToolRules {
        schema: Arc::new(schema),
        ranges,
        constants: tool.args.iter().filter_map(constant).collect(),
        control_source: tool.control_source.clone(),
        place: place(robot, tool, profile),
        freshness_ms: tool.freshness_ms,
        lease: profile.lease.filter(|_| moves(tool.effect)),
        tempo,
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
        schema: Arc::new(json!({
            "type": "object", "properties": {}, "additionalProperties": false,
        })),
        ranges: Vec::new(),
        constants: Vec::new(),
        control_source: None,
        place: None,
        freshness_ms: None,
        lease: None,
        hold_ms: tool.hold_ms,
        tempo: Tempo {
            rate: Rate {
                interval_ns: 0,
                burst: 1,
            },
            motion_per_min: None,
        },
    }
}

fn keep<T>(faults: &mut Vec<ConfigError>, made: Result<T, Vec<ConfigError>>) -> Option<T> {
    made.map_err(|found| faults.extend(found)).ok()
}

fn ranges(tool: &ToolDef, profile: &TierProfile) -> Result<Vec<Range>, Vec<ConfigError>> {
    let mut ranges = Vec::new();
    let mut faults = Vec::new();
    let mut slots = 0..STEPS_MAX;
    for arg in tool
        .args
        .iter()
        .filter(|arg| is_number(arg) && arg.constant.is_none())
    {
        let made = Range::of(arg, ceiling(arg, profile)).and_then(|range| match arg.max_step {
            None => Ok(range),
            Some(max) => match slots.next() {
                Some(slot) => range.with_step(Step { max, slot }),
                None => Err(format!("more than {STEPS_MAX} arguments have a max_step")),
            },
        });
        match made {
            Ok(range) => ranges.push(range),
            Err(problem) => {
                let hint = "widen min and max, or choose a tier with a higher ceiling";
                faults.push(vet::arg_fault(tool, arg, problem, hint));
            }
        }
    }
    if faults.is_empty() {
        Ok(ranges)
    } else {
        Err(faults)
    }
}

pub(super) fn is_number(arg: &ArgDef) -> bool {
    match arg.kind_of {
        ArgType::F64 | ArgType::U64 | ArgType::I64 => true,
        ArgType::Bool | ArgType::String => false,
    }
}

/// Returns the ceiling that the tier sets for the kind of this argument.
pub(super) fn ceiling(arg: &ArgDef, profile: &TierProfile) -> Option<(Tier, f64)> {
    let bound = profile.ceilings.get(&arg.kind?)?;
    Some((profile.tier, *bound))
}

fn tempo(tool: &ToolDef, profile: &TierProfile) -> Result<Tempo, Vec<ConfigError>> {
    let interval = Duration::try_from_secs_f64(tool.rate_per_s.recip()).ok();
    let interval = interval.and_then(|interval| u64::try_from(interval.as_nanos()).ok());
    let Some(interval_ns) = interval.filter(|_| tool.rate_per_s > 0.0 && tool.burst > 0) else {
        let problem = format!(
            "a rate of {} per s, {} at once",
            tool.rate_per_s, tool.burst
        );
        return Err(vec![fault(
            tool,
            "rate_per_s",
            problem,
            "both must be above 0",
        )]);
    };
    let rate = Rate {
        interval_ns,
        burst: tool.burst,
    };
    if !moves(tool.effect) {
        return Ok(Tempo {
            rate,
            motion_per_min: None,
        });
    }
    match profile
        .motion_per_min
        .filter(|max| (1..=MOTION_PER_MIN_MAX).contains(max))
    {
        Some(max) => Ok(Tempo {
            rate,
            motion_per_min: Some(max),
        }),
        None => {
            let problem = format!(
                "it moves, and the tier {} has no motion_per_min from 1 to {MOTION_PER_MIN_MAX}",
                profile.tier
            );
            Err(vec![fault(
                tool,
                "tier",
                problem,
                "say in the tier file how often it may move",
            )])
        }
    }
}

/// Returns where a moving tool may go; `None` for others, and for a robot without a workspace.
fn place(robot: &RobotFile, tool: &ToolDef, profile: &TierProfile) -> Option<Place> {
    let workspace = robot.workspace.as_ref().filter(|_| moves(tool.effect))?;
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
