//! Dataflows: do the nodes of this binary name what exists, and do they fit each other? `check` and `run`
//! ask the same.

#[cfg(feature = "embedded-daemon")]
mod judge;

use std::path::Path;

use super::settings::Settings;
use super::simulated;
use crate::config::{ConfigError, Place, RobotFile, toml_stems};
use crate::node::{Dataflow, OwnNode};

#[cfg(feature = "embedded-daemon")]
pub(super) use judge::judge;

/// What a dataflow may name.
#[derive(Debug)]
pub(super) struct Known<'a> {
    /// The robots that loaded.
    pub(super) robots: &'a [RobotFile],
    /// All robot files, those with faults of their own too.
    pub(super) files: Vec<String>,
    /// All board files.
    pub(super) boards: Vec<String>,
}

impl<'a> Known<'a> {
    /// Looks below the folders of `settings`.
    pub(super) fn below(settings: &Settings, robots: &'a [RobotFile]) -> Self {
        Self {
            robots,
            files: toml_stems(&settings.tiers().join("robots")),
            boards: toml_stems(&settings.boards()),
        }
    }

    fn robot(&self, name: &str) -> Option<&RobotFile> {
        self.robots.iter().find(|robot| robot.robot == name)
    }
}

/// Returns what would keep the nodes of a dataflow from serving, as far as their args and env say.
pub(super) fn problems(flow: &Dataflow, known: &Known<'_>) -> Vec<String> {
    let own = flow.own_nodes();
    let of = |word| own.iter().filter(move |node| node.subcommand() == word);
    let agents = of("node").flat_map(|node| agent_problems(node, known));
    let driven = of("node").find_map(|node| known.robot(node.flag("--robot")?));
    let simulated = of("mock-robot").flat_map(|node| mock_robot_problems(node, driven, known));
    agents.chain(simulated).collect()
}

/// Returns a problem of a dataflow as a fault of its file.
pub(super) fn fault(path: &Path, problem: String, hint: &str) -> ConfigError {
    ConfigError {
        place: Place {
            file: path.display().to_string().into(),
            line: 0,
        },
        key: "nodes".to_owned(),
        problem,
        hint: hint.to_owned(),
    }
}

/// The way out of what [`problems`] returns.
pub(super) const MISFIT_HINT: &str = "correct the node's args or env";

/// Returns what would keep a simulated robot from serving the agent that drives `driven`.
fn mock_robot_problems(
    node: &OwnNode,
    driven: Option<&RobotFile>,
    known: &Known<'_>,
) -> Vec<String> {
    let spoken = node.flag("--robot");
    if let Some(name) = spoken
        && !known.files.iter().any(|file| file == name)
    {
        return vec![format!(
            "node `{}`: --robot {name}: no such robot file",
            node.id
        )];
    }
    let mut problems: Vec<String> = driven
        .into_iter()
        .flat_map(|robot| simulated::problems(node, robot))
        .collect();
    let fixed = spoken.and_then(|name| known.robot(name)?.id.as_ref());
    if fixed.is_none() && !has_robot_id(node) {
        problems.push(format!("node `{}`: no ROBOT_ID in its env", node.id));
    }
    problems
}

/// Returns what would keep an agent's node from coming up, as far as its args and env say.
fn agent_problems(node: &OwnNode, known: &Known<'_>) -> Vec<String> {
    let mut problems = Vec::new();
    let mut problem = |text: String| problems.push(format!("node `{}`: {text}", node.id));
    match node.flag("--robot") {
        None => problem("no --robot in its args".to_owned()),
        Some(name) if !known.files.iter().any(|file| file == name) => {
            problem(format!("--robot {name}: no such robot file"));
        }
        Some(name) => {
            let robot = known.robot(name);
            if robot.is_some_and(|robot| robot.id.is_none()) && !has_robot_id(node) {
                problem("no ROBOT_ID in its env, and the robot file fixes no id".to_owned());
            }
        }
    }
    match node.flag("--board") {
        None => problem("no --board in its args".to_owned()),
        Some(name) if !known.boards.iter().any(|board| board == name) => {
            problem(format!("--board {name}: no such board file"));
        }
        Some(_) => {}
    }
    problems
}

fn has_robot_id(node: &OwnNode) -> bool {
    node.flag("--robot-id").is_some() || node.env.contains_key("ROBOT_ID")
}
