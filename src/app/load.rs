//! Loads what a node runs on: tiers, robot, board and policy, judged together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::exit::AppError;
use super::fingerprint::Fingerprint;
use super::settings::Settings;
#[cfg(feature = "dora")]
use crate::board::Machine;
use crate::config::{Board, ConfigError, ConfigErrors, PolicyFile, RobotFile, Tiers, load_robot};
use crate::gate::{PolicyStack, RobotRules, check_policy, denied_stops, policy_warnings};
#[cfg(feature = "dora")]
use crate::terms::RobotId;
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
        let book = Rulebook::read(settings, robot, &mut faults);
        let board = keep(Board::load(&settings.boards(), board), &mut faults);
        ConfigErrors::none_or(faults)?;
        match (book, board) {
            (Some(book), Some(board)) => {
                for warning in &book.warnings {
                    tracing::warn!("{warning}");
                }
                Ok(Self {
                    tiers: book.tiers,
                    robot: book.robot,
                    rules: book.rules,
                    board,
                    policy: book.policy,
                    files,
                })
            }
            (_, _) => Err(without_fault()),
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
        stack(&self.robot, &self.tiers, self.policy.as_ref(), tier)
    }

    /// Returns the robot's id: of its file, or given.
    ///
    /// # Errors
    /// [`AppError::Config`] when there is none, or two that differ.
    #[cfg(feature = "dora")]
    pub(super) fn robot_id(&self, given: Option<&RobotId>) -> Result<RobotId, AppError> {
        match (&self.robot.id, given) {
            (Some(fixed), Some(given)) if fixed != given => Err(self.id_fault(
                format!("the file fixes `{fixed}`, the dataflow gives `{given}`"),
                "remove one of the two, or make them equal",
            )),
            (Some(id), _) | (None, Some(id)) => Ok(id.clone()),
            (None, None) => Err(self.id_fault(
                "the robot has no id".to_owned(),
                "set ROBOT_ID in the env of the node, or `id` in the robot file",
            )),
        }
    }

    #[cfg(feature = "dora")]
    pub(super) fn id_fault(&self, problem: String, hint: &str) -> AppError {
        let fault = ConfigError {
            place: self.robot.place.clone(),
            key: "id".to_owned(),
            problem,
            hint: hint.to_owned(),
        };
        match ConfigErrors::none_or(vec![fault]) {
            Err(errors) => errors.into(),
            Ok(()) => without_fault(),
        }
    }
}

/// What decides over the calls of one robot: everything but the machine it runs on.
#[derive(Debug, Clone)]
pub(super) struct Rulebook {
    /// The four tiers.
    pub tiers: Tiers,
    /// The robot.
    pub robot: RobotFile,
    /// Its limits, compiled, with their examples passed.
    pub rules: Arc<RobotRules>,
    /// The policy, when a file was given.
    pub policy: Option<PolicyFile>,
    /// What is odd about the policy and yet harmless.
    pub warnings: Vec<String>,
}

impl Rulebook {
    /// Loads all of it.
    ///
    /// # Errors
    /// [`AppError::Config`] with every fault of every file.
    pub(super) fn load(settings: &Settings, robot: &str) -> Result<Self, AppError> {
        let mut faults = Vec::new();
        let book = Self::read(settings, robot, &mut faults);
        ConfigErrors::none_or(faults)?;
        book.ok_or_else(without_fault)
    }

    /// Loads what there is of it, and adds the faults of all files to `faults`.
    pub(super) fn read(
        settings: &Settings,
        robot: &str,
        faults: &mut Vec<ConfigError>,
    ) -> Option<Self> {
        let robot = keep(load_checked_robot(settings, robot), faults);
        let policy = match settings.config() {
            None => Some(None),
            Some(path) => keep(PolicyFile::load(path), faults).map(Some),
        };
        let (tiers, robot, rules) = robot?;
        let policy = policy?;
        let mut warnings = Vec::new();
        if let Some(policy) = &policy {
            let names: Vec<&str> = robot.tools.iter().map(|tool| tool.name.as_str()).collect();
            faults.extend(check_policy(policy, &names));
            faults.extend(denied_stops(policy, &robot));
            warnings = policy_warnings(policy, &names);
        }
        Some(Self {
            tiers,
            robot,
            rules,
            policy,
            warnings,
        })
    }

    /// Returns the policy in force, as [`Installation::policy`] does.
    pub(super) fn policy(&self, tier: Option<Tier>) -> PolicyStack {
        stack(&self.robot, &self.tiers, self.policy.as_ref(), tier)
    }
}

fn stack(
    robot: &RobotFile,
    tiers: &Tiers,
    policy: Option<&PolicyFile>,
    tier: Option<Tier>,
) -> PolicyStack {
    let mut stack = PolicyStack::root(robot.max_tier).ask(tiers);
    if let Some(tier) = tier {
        stack = stack.lowered(tier);
    }
    match policy {
        Some(file) => stack.layer(&file.layer),
        None => stack,
    }
}

fn without_fault() -> AppError {
    AppError::Internal("a file failed to load without a fault".to_owned())
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
