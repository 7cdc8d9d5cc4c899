//! Judges a dataflow and all that its nodes name, before `run` starts anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{Known, MISFIT_HINT, agent_problems, fault, mock_robot_problems};
use crate::app::exit::AppError;
use crate::app::load::{Rulebook, keep, load_checked_robot};
use crate::app::settings::Settings;
use crate::config::{Board, ConfigError, ConfigErrors, RobotFile};
use crate::node::{Dataflow, NodeError, OwnNode};
use crate::sim::Dialect;

/// Judges a dataflow and every file that its nodes of this binary name, as `check` would. `folder` is that of
/// the dataflow: paths in it begin there, unless an option of this command goes before them.
///
/// # Errors
/// [`AppError::Config`] with every fault of every file, those of the dataflow among them;
/// [`AppError::Node`] when only the dataflow has some.
pub(in crate::app) fn judge(
    flow: &Dataflow,
    settings: &Settings,
    folder: &Path,
) -> Result<(), AppError> {
    let given = settings.given_to_nodes()?;
    let own = flow.own_nodes();
    let mut judged = Judged::default();
    for node in &own {
        let settings = settings_of(node, settings, (&given, folder));
        judged.load(node, &settings);
    }
    for node in &own {
        let settings = settings_of(node, settings, (&given, folder));
        judged.fit(node, &own, &settings);
    }
    judged.done(flow.path())
}

/// What was found.
#[derive(Debug, Default)]
struct Judged {
    robots: Vec<RobotFile>,
    faults: Vec<ConfigError>,
    problems: Vec<String>,
}

impl Judged {
    /// Loads the files that a node names and that are there.
    fn load(&mut self, node: &OwnNode, settings: &Settings) {
        let known = Known::below(settings, &[]);
        let is_there = |name: &&str| known.files.iter().any(|file| file == name);
        let robot = node.flag("--robot").filter(is_there);
        if node.subcommand() == "mock-robot" {
            let loaded = robot.and_then(|name| {
                let (_, robot, _) = keep(load_checked_robot(settings, name), &mut self.faults)?;
                keep(Dialect::of(&robot), &mut self.faults).map(|_| robot)
            });
            return self.robots.extend(loaded);
        }
        let book = robot.and_then(|name| Rulebook::read(settings, name, &mut self.faults));
        self.robots.extend(book.map(|book| book.robot));
        let board = node.flag("--board");
        if let Some(board) = board.filter(|name| known.boards.iter().any(|file| file == name)) {
            keep(Board::load(&settings.boards(), board), &mut self.faults);
        }
    }

    /// Judges a node beside the others.
    fn fit(&mut self, node: &OwnNode, own: &[OwnNode], settings: &Settings) {
        let known = Known::below(settings, &self.robots);
        let problems = if node.subcommand() == "mock-robot" {
            let mut agents = own.iter().filter(|node| node.subcommand() == "node");
            let driven = agents.find_map(|agent| known.robot(agent.flag("--robot")?));
            mock_robot_problems(node, driven, &known)
        } else {
            agent_problems(node, &known)
        };
        self.problems.extend(problems);
    }

    fn done(self, path: &Path) -> Result<(), AppError> {
        let Self {
            faults, problems, ..
        } = self;
        // Two nodes that name one file find its faults twice.
        let mut once: Vec<ConfigError> = Vec::new();
        for fault in faults {
            let said = fault.to_string();
            if !once.iter().any(|other| other.to_string() == said) {
                once.push(fault);
            }
        }
        let file = path.display().to_string();
        if once.is_empty() && !problems.is_empty() {
            return Err(NodeError::Misfit { file, problems }.into());
        }
        let own = problems
            .into_iter()
            .map(|problem| fault(path, problem, MISFIT_HINT));
        Ok(ConfigErrors::none_or(
            once.into_iter().chain(own).collect(),
        )?)
    }
}

/// Returns the settings under which a node of the dataflow will run: its own options go first, then what
/// this command hands to it, then its env.
fn settings_of(
    node: &OwnNode,
    settings: &Settings,
    (given, folder): (&BTreeMap<String, String>, &Path),
) -> Settings {
    let place = |flag: &str, variable: &str| -> Option<PathBuf> {
        let said = node.flag(flag).or_else(|| {
            let given = given.get(variable).map(String::as_str);
            given.or_else(|| node.env.get(variable).map(String::as_str))
        })?;
        Some(folder.join(said))
    };
    let tiers = place("--tiers", "OCTOS_EDGE_TIERS");
    settings.with_folders(
        tiers.unwrap_or_else(|| folder.join("tiers")),
        place("--boards", "OCTOS_EDGE_BOARDS"),
        place("--config", "OCTOS_EDGE_CONFIG"),
    )
}
