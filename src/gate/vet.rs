//! Faults of a robot file that show only when its goals meet its workspace.
//!
//! Everything that the file says without geometry was judged by `config` when it was read.

use super::fence::Fence;
use super::rules::fault;
use crate::config::{ArgDef, ConfigError, RobotFile, ToolDef};
use crate::terms::Kind;

/// Returns the goals of a tool that can not be judged, or can never be reached.
pub(super) fn goals(robot: &RobotFile, tool: &ToolDef) -> Vec<ConfigError> {
    let mut faults = second_goal(tool);
    let Some(workspace) = &robot.workspace else {
        return faults;
    };
    let fence = Fence::of(workspace);
    for (name, pose) in &tool.poses {
        let key = format!("poses.{name}");
        for problem in fence.objections([pose.x, pose.y, pose.z]) {
            let hint = "move the pose into the workspace, or remove it";
            faults.push(fault(tool, &key, problem, hint));
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

/// Reports a pose beside another pose or beside a target: the gate would judge one of the two.
fn second_goal(tool: &ToolDef) -> Vec<ConfigError> {
    let is_target = |arg: &ArgDef| arg.kind.and_then(Kind::target_axis).is_some();
    let targeted = tool.args.iter().any(is_target);
    let poses = tool.args.iter().filter(|arg| arg.one_of_poses);
    let surplus = poses.skip(usize::from(!targeted));
    let tell = |arg| {
        let problem = "a second goal of the same call".to_owned();
        arg_fault(tool, arg, problem, "give a call one target or one pose")
    };
    surplus.map(tell).collect()
}
