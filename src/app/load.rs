//! Loads what a node runs on: tiers, robot, board and policy, judged together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exit::AppError;
use super::fingerprint::Fingerprint;
use super::settings::Settings;
#[cfg(feature = "dora")]
use crate::board::Machine;
use crate::config::{Board, ConfigError, ConfigErrors, PolicyFile, RobotFile, Tiers, load_robot};
use crate::gate::{PolicyStack, RobotRules, check_policy, policy_warnings};
use crate::terms::Tier;

/// Everything a node runs on, immutable.
#[derive(Debug, Clone)]
pub(super) struct Installation {
    /// The four tiers.
    pub tiers: Tiers,
    /// The robot.
    pub robot: RobotFile,
    /// Its limits, compiled, with their examples passed.
    pub rules: Arc<RobotRules>,
    /// The board.
    pub board: Board,
    /// The policy, when a file was given.
    pub policy: Option<PolicyFile>,
    /// What the files were.
    pub files: Fingerprint,
}

impl Installation {
    /// Loads all of it.
    ///
    /// # Errors
    /// [`AppError::Config`] with every fault of every file.
    pub(super) fn load(settings: &Settings, robot: &str, board: &str) -> Result<Self, AppError> {
        let mut faults = Vec::new();
        let files = Fingerprint::of(files(settings, robot, board));
        let robot = keep(load_checked_robot(settings, robot), &mut faults);
        let board = keep(Board::load(&settings.boards(), board), &mut faults);
        let policy = match settings.config() {
            None => Some(None),
            Some(path) => keep(PolicyFile::load(path), &mut faults).map(Some),
        };
        if let (Some((_, robot, _)), Some(Some(policy))) = (&robot, &policy) {
            let names: Vec<&str> = robot.tools.iter().map(|tool| tool.name.as_str()).collect();
            faults.extend(check_policy(policy, &names));
            for warning in policy_warnings(policy, &names) {
                tracing::warn!("{warning}");
            }
        }
        ConfigErrors::none_or(faults)?;
        match (robot, board, policy) {
            (Some((tiers, robot, rules)), Some(board), Some(policy)) => Ok(Self {
                tiers,
                robot,
                rules,
                board,
                policy,
                files,
            }),
            _ => Err(AppError::Internal(
                "a file failed to load without a fault".to_owned(),
            )),
        }
    }

    /// Judges the machine by the board file.
    ///
    /// # Errors
    /// [`AppError::Board`] with everything that does not fit.
    #[cfg(feature = "dora")]
    pub(super) fn check_machine(&self) -> Result<(), AppError> {
        // A file that the kernel does not have is an empty one: the board says whether that matters.
        let compatible = std::fs::read("/proc/device-tree/compatible").unwrap_or_default();
        let meminfo = std::fs::read("/proc/meminfo").unwrap_or_default();
        let machine = Machine::of(&compatible, &String::from_utf8_lossy(&meminfo));
        match machine.misfits(&self.board) {
            misfits if misfits.is_empty() => Ok(()),
            misfits => Err(AppError::Board {
                board: self.board.id.clone(),
                misfits,
            }),
        }
    }

    /// Returns the policy in force: the robot file's ceiling, lowered by `tier` and by the policy
    /// file, with the tiers that ask a person.
    pub(super) fn policy(&self, tier: Option<Tier>) -> PolicyStack {
        let mut stack = PolicyStack::root(self.robot.max_tier).ask(&self.tiers);
        if let Some(tier) = tier {
            stack = stack.lowered(tier);
        }
        match &self.policy {
            Some(file) => stack.layer(&file.layer),
            None => stack,
        }
    }
}

/// Returns the files that a node with this robot on this board loads.
fn files(settings: &Settings, robot: &str, board: &str) -> Vec<PathBuf> {
    let tiers = Tier::ALL.iter().map(|tier| tier.as_str());
    let mut files: Vec<PathBuf> = tiers
        .map(|tier| settings.tiers().join(format!("{tier}.toml")))
        .collect();
    files.push(
        settings
            .tiers()
            .join("robots")
            .join(format!("{robot}.toml")),
    );
    files.push(settings.boards().join(format!("{board}.toml")));
    files.extend(settings.config().map(Path::to_owned));
    files
}

/// A robot with its tiers and its compiled limits.
pub(super) type CheckedRobot = (Tiers, RobotFile, Arc<RobotRules>);

/// Loads a robot file with the tier files, compiles its limits and runs its examples.
pub(super) fn load_checked_robot(
    settings: &Settings,
    name: &str,
) -> Result<CheckedRobot, ConfigErrors> {
    let (tiers, robot) = load_robot(settings.tiers(), name)?;
    match RobotRules::compile(&robot, &tiers) {
        Ok(rules) => Ok((tiers, robot, rules)),
        Err(faults) => {
            ConfigErrors::none_or(faults)?;
            // Unreachable in sense: a compile that fails names at least one fault.
            Err(ConfigErrors::unexplained())
        }
    }
}

/// Keeps what loaded; collects the faults of what did not.
pub(super) fn keep<T>(loaded: Result<T, ConfigErrors>, faults: &mut Vec<ConfigError>) -> Option<T> {
    match loaded {
        Ok(value) => Some(value),
        Err(errors) => {
            faults.extend(errors.into_faults());
            None
        }
    }
}
