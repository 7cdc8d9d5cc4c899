//! What must be said of a tool before its calls can be judged: kinds, goals, speeds, lease.

use super::compile::{ceiling, is_number};
use super::fence::Fence;
use super::rules::{fault, moves};
use crate::config::{ArgDef, ArgType, ConfigError, RobotFile, TierProfile, ToolDef};
use crate::terms::Kind;

/// Returns what the robot file and the file of the tool's tier leave open or contradict.
pub(super) fn tool(robot: &RobotFile, tool: &ToolDef, profile: &TierProfile) -> Vec<ConfigError> {
    let mut faults = Vec::new();
    if !profile.effects.contains(&tool.effect) {
        let problem = format!("the tier {} permits no tool of this effect", profile.tier);
        let hint = "choose another tier, or add the effect to the tier file";
        faults.push(fault(tool, "effect", problem, hint));
    }
    if tool.args.iter().any(|arg| arg.constant.is_none()) {
        for (key, missing) in [
            ("allow", tool.allow.is_empty()),
            ("refuse", tool.refuse.is_empty()),
        ] {
            if missing {
                let problem = "a tool with arguments needs an example".to_owned();
                faults.push(fault(
                    tool,
                    key,
                    problem,
                    "add arguments as a model would give them",
                ));
            }
        }
    }
    if moves(tool.effect) {
        faults.extend(
            tool.args
                .iter()
                .filter_map(|arg| unbounded(tool, arg, profile)),
        );
        faults.extend(goal(robot, tool, profile));
        faults.extend(speed(robot, tool, profile));
        if profile.lease.is_none() {
            let problem = format!("it moves, and the tier {} has no lease", profile.tier);
            faults.push(fault(tool, "tier", problem, "choose a tier for motion"));
        }
    }
    faults
}

/// Makes a fault at the place of one argument.
pub(super) fn arg_fault(tool: &ToolDef, arg: &ArgDef, problem: String, hint: &str) -> ConfigError {
    ConfigError {
        place: arg.place.clone(),
        ..fault(tool, &format!("args.{}", arg.written), problem, hint)
    }
}

/// Returns why nothing bounds this argument of a moving tool, `None` when something does.
fn unbounded(tool: &ToolDef, arg: &ArgDef, profile: &TierProfile) -> Option<ConfigError> {
    let at = |problem: String, hint| Some(arg_fault(tool, arg, problem, hint));
    if arg.kind_of == ArgType::String && arg.constant.is_none() {
        let named = arg.one_of_poses || arg.free.is_some();
        let problem = "a text of a moving tool may be a goal, and no pose bounds it".to_owned();
        return if named {
            None
        } else {
            at(problem, "set one_of = \"poses\", or free = \"why not\"")
        };
    }
    if !is_number(arg) {
        return None;
    }
    let Some(kind) = arg.kind else {
        let named = arg.free.is_some() || arg.constant.is_some();
        let problem = "a number of a moving tool, and no kind bounds it".to_owned();
        return if named {
            None
        } else {
            at(problem, "set kind, or free = \"why nothing bounds it\"")
        };
    };
    if arg.unit != kind.unit() {
        let problem = format!(
            "the unit is {}; {kind} is bounded in {}",
            arg.unit,
            kind.unit()
        );
        return at(problem, "write the argument in the unit of its kind");
    }
    let key = kind.ceiling_key()?;
    let Some((tier, bound)) = ceiling(arg, profile) else {
        let problem = format!("the tier {} has no ceiling {key}", profile.tier);
        return at(
            problem,
            "add the ceiling to the tier file, or choose another tier",
        );
    };
    let constant = arg
        .constant
        .as_ref()
        .map(|value| value.as_f64().unwrap_or(f64::NAN));
    if constant.is_some_and(|value| value.is_nan() || value.abs() > bound) {
        return at(
            format!("the constant is above {bound}, the ceiling of {tier}"),
            "lower it",
        );
    }
    None
}

/// Returns what is missing to judge where the tool goes.
fn goal(robot: &RobotFile, tool: &ToolDef, profile: &TierProfile) -> Vec<ConfigError> {
    let mut faults = Vec::new();
    let mut seen = Vec::new();
    for arg in &tool.args {
        let axis = arg.kind.and_then(Kind::target_axis);
        let goal = if arg.one_of_poses {
            Some(None)
        } else {
            axis.map(Some)
        };
        let Some(goal) = goal else {
            continue;
        };
        let clash = seen
            .iter()
            .any(|other: &Option<usize>| *other == goal || other.is_none() || goal.is_none());
        if clash {
            let problem = "a second goal of the same call".to_owned();
            faults.push(arg_fault(
                tool,
                arg,
                problem,
                "give each call one target or one pose",
            ));
        }
        seen.push(goal);
        if arg.one_of_poses && tool.poses.is_empty() {
            let problem = "it names poses, and the tool has none".to_owned();
            faults.push(arg_fault(tool, arg, problem, "write each place into poses"));
        }
    }
    if seen.is_empty() {
        return faults;
    }
    let Some(workspace) = &robot.workspace else {
        let problem = "it has a goal, and the robot has no workspace".to_owned();
        faults.push(fault(
            tool,
            "args",
            problem,
            "say in [workspace] where the robot may be",
        ));
        return faults;
    };
    if !profile.ceilings.contains_key(&Kind::Distance) {
        let problem = format!("it has a goal, and the tier {} no distance_m", profile.tier);
        faults.push(fault(
            tool,
            "tier",
            problem,
            "add the ceiling to the tier file",
        ));
    }
    let fence = Fence::of(workspace);
    for (name, pose) in &tool.poses {
        for problem in fence.objections([pose.x, pose.y, pose.z]) {
            let hint = "move the pose into the workspace, or remove it";
            faults.push(fault(tool, &format!("poses.{name}"), problem, hint));
        }
    }
    faults
}

/// Returns why the speed of the tool is unknown, or too high.
fn speed(robot: &RobotFile, tool: &ToolDef, profile: &TierProfile) -> Option<ConfigError> {
    let is_speed = |kind| {
        matches!(
            kind,
            Kind::LinearSpeed | Kind::AngularSpeed | Kind::JointSpeed
        )
    };
    let told = tool.args.iter().any(|arg| arg.kind.is_some_and(is_speed));
    let Some(bound) = &tool.speed_bound else {
        let problem = "it has no speed argument, and nothing bounds its speed".to_owned();
        let hint = "add speed_bound with its source, or watch the speed in [monitor]";
        let bounded = told || robot.monitor.is_some();
        return if bounded {
            None
        } else {
            Some(fault(tool, "speed_bound", problem, hint))
        };
    };
    let ceiling = profile
        .ceilings
        .get(&Kind::LinearSpeed)
        .copied()
        .unwrap_or(0.0);
    if bound.mps <= ceiling {
        return None;
    }
    let problem = format!(
        "{} m/s is above {ceiling} m/s, the ceiling of {}",
        bound.mps, profile.tier
    );
    Some(fault(
        tool,
        "speed_bound",
        problem,
        "slow the robot down, or choose another tier",
    ))
}
