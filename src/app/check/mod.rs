//! `check`: every configuration file of an installation, all faults in one report.

use std::path::{Path, PathBuf};

use serde::Serialize;

mod print;
#[cfg(test)]
mod tests;

use super::exit::AppError;
#[cfg(feature = "dora")]
use super::flow::{self, Known};
use super::load::{keep, load_checked_robot};
use super::settings::Settings;
use crate::config::{
    Board, ConfigError, ConfigErrors, FileKind, Place, PolicyFile, RobotFile, Scenario, Tiers,
    toml_stems,
};
use crate::gate::{check_policy, denied_stops};
use crate::terms::{Tier, counted};

pub use print::PrintedSetting;

/// What was loaded.
#[derive(Debug, Clone, Default, Serialize)]
pub struct CheckReport {
    /// The files, by their kind.
    pub loaded: Vec<CheckedFile>,
    /// Every setting with where it came from; only when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Vec<PrintedSetting>>,
}

/// One file that was loaded without a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedFile {
    /// `tier`, `robot`, `board`, `scenario`, `dataflow` or `policy`.
    pub kind: &'static str,
    /// The file or folder.
    pub file: String,
    /// What it holds, for people.
    pub holds: String,
}

impl CheckReport {
    /// Returns the report for people.
    pub fn to_text(&self, list: bool) -> String {
        let mut text = String::new();
        if list {
            for file in &self.loaded {
                text.push_str(&format!(
                    "{:<9} {}  ({})\n",
                    file.kind, file.file, file.holds
                ));
            }
        }
        if let Some(settings) = &self.settings {
            text.push_str(&print::to_text(settings));
        }
        let files = counted(self.loaded.len(), "file");
        text.push_str(&format!("{files}, no fault"));
        text
    }

    fn add(&mut self, kind: &'static str, file: impl AsRef<Path>, holds: String) {
        self.loaded.push(CheckedFile {
            kind,
            file: file.as_ref().display().to_string(),
            holds,
        });
    }
}

/// Loads every file as [`check_all`] does, and lists every setting with where it came from.
///
/// # Errors
/// As for [`check_all`].
pub fn check_and_print(settings: &Settings) -> Result<CheckReport, AppError> {
    let mut report = check_all(settings)?;
    report.settings = Some(print::print(settings)?);
    Ok(report)
}

/// Returns the JSON Schema of one kind of file, or of all kinds by their names.
///
/// # Errors
/// [`AppError::Usage`] for a word that is no kind of file.
pub fn file_schema(kind: Option<&str>) -> Result<serde_json::Value, AppError> {
    let Some(word) = kind else {
        let all = FileKind::ALL.map(|kind| (kind.as_str().to_owned(), kind.schema()));
        return Ok(serde_json::Value::Object(all.into_iter().collect()));
    };
    let found = FileKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    found.map(FileKind::schema).ok_or_else(|| AppError::Usage {
        problem: format!("no kind of file is named `{word}`"),
        hint: format!("kinds: {}", FileKind::ALL.map(FileKind::as_str).join(", ")),
    })
}

/// Loads every file below the folders of `settings`.
///
/// # Errors
/// [`AppError::Config`] with every fault; a faulty dataflow is one of them.
pub fn check_all(settings: &Settings) -> Result<CheckReport, AppError> {
    let mut report = CheckReport::default();
    let mut faults = Vec::new();
    let loaded = check_tiers_and_robots(settings, &mut report, &mut faults);
    check_boards(settings, &mut report, &mut faults);
    let robots = toml_stems(&settings.tiers().join("robots"));
    check_scenarios(settings, &robots, (&mut report, &mut faults));
    check_dataflows(settings, &loaded, (&mut report, &mut faults));
    if let Some(path) = settings.config()
        && let Some(policy) = keep(PolicyFile::load(path), &mut faults)
    {
        faults.extend(policy_faults(&policy, &loaded));
        report.add("policy", path, format!("layer `{}`", policy.layer.name));
    }
    ConfigErrors::none_or(faults)?;
    Ok(report)
}

/// One policy may serve every robot here: a denied name must be a tool of one of them.
fn policy_faults(policy: &PolicyFile, robots: &[RobotFile]) -> Vec<ConfigError> {
    let tools = robots.iter().flat_map(|robot| &robot.tools);
    let names: Vec<&str> = tools.map(|tool| tool.name.as_str()).collect();
    let mut faults = check_policy(policy, &names);
    for robot in robots {
        faults.extend(denied_stops(policy, robot));
    }
    faults
}

/// Returns the robots that loaded.
fn check_tiers_and_robots(
    settings: &Settings,
    report: &mut CheckReport,
    faults: &mut Vec<ConfigError>,
) -> Vec<RobotFile> {
    if let Some(tiers) = keep(Tiers::load(settings.tiers()), faults) {
        for tier in Tier::ALL {
            let file = settings.tiers().join(format!("{tier}.toml"));
            report.add("tier", file, tiers.of(tier).title.clone());
        }
    }
    let mut robots = Vec::new();
    for name in toml_stems(&settings.tiers().join("robots")) {
        if let Some((_, robot, _)) = keep(load_checked_robot(settings, &name), faults) {
            let examples: usize = robot
                .tools
                .iter()
                .map(|tool| tool.allow.len() + tool.refuse.len())
                .sum();
            let holds = format!(
                "{} up to {}, {} passed",
                counted(robot.tools.len(), "tool"),
                robot.max_tier,
                counted(examples, "example")
            );
            report.add("robot", &*robot.place.file, holds);
            robots.push(robot);
        }
    }
    robots
}

fn check_boards(settings: &Settings, report: &mut CheckReport, faults: &mut Vec<ConfigError>) {
    for name in toml_stems(&settings.boards()) {
        if let Some(board) = keep(Board::load(&settings.boards(), &name), faults) {
            let holds = format!("safety tick {} ms", board.safety_tick_ms);
            report.add("board", &*board.place.file, holds);
        }
    }
}

fn check_scenarios(
    settings: &Settings,
    robots: &[String],
    (report, faults): (&mut CheckReport, &mut Vec<ConfigError>),
) {
    let folder = settings.dataflows().join("scenarios");
    for name in toml_stems(&folder) {
        let path = folder.join(format!("{name}.toml"));
        let Some(scenario) = keep(Scenario::load(&path), faults) else {
            continue;
        };
        let fault = |key: &str, problem: String, hint: String| ConfigError {
            place: Place {
                file: scenario.place.file.clone(),
                line: 0,
            },
            key: key.to_owned(),
            problem,
            hint,
        };
        if !robots.contains(&scenario.robot) {
            faults.push(fault(
                "robot",
                format!("no robot file `{}`", scenario.robot),
                format!("robot files here: {}", robots.join(", ")),
            ));
        }
        if !settings.dataflows().join(&scenario.dataflow).is_file() {
            faults.push(fault(
                "dataflow",
                format!(
                    "no file `{}` in {}",
                    scenario.dataflow,
                    settings.dataflows().display()
                ),
                "name a dataflow of this folder".to_owned(),
            ));
        }
        let holds = format!(
            "{}, {}",
            counted(scenario.turns.len(), "turn"),
            counted(scenario.events.len(), "event")
        );
        report.add("scenario", &path, holds);
    }
}

#[cfg(feature = "dora")]
fn check_dataflows(
    settings: &Settings,
    robots: &[RobotFile],
    (report, faults): (&mut CheckReport, &mut Vec<ConfigError>),
) {
    let known = Known::below(settings, robots);
    for path in dataflow_files(&settings.dataflows()) {
        match crate::node::Dataflow::read(&path) {
            Ok(flow) => {
                let problems = flow::problems(&flow, &known).into_iter();
                faults.extend(problems.map(|text| flow::fault(&path, text, flow::MISFIT_HINT)));
                let own = flow.own_nodes().into_iter();
                let nodes: Vec<_> = own
                    .map(|node| format!("{} = {}", node.id, node.subcommand()))
                    .collect();
                report.add("dataflow", &path, nodes.join(", "));
            }
            Err(error) => {
                let problems = error.problems().into_iter();
                faults.extend(problems.map(|text| {
                    let hint = error.hint_of(&text);
                    flow::fault(&path, text, &hint)
                }));
            }
        }
    }
}

#[cfg(not(feature = "dora"))]
fn check_dataflows(
    settings: &Settings,
    _: &[RobotFile],
    _: (&mut CheckReport, &mut Vec<ConfigError>),
) {
    for path in dataflow_files(&settings.dataflows()) {
        tracing::warn!(file = %path.display(), "not checked: this build has no dora");
    }
}

/// Dataflows of one folder, at most this many.
const DATAFLOWS_MAX: usize = 256;

fn dataflow_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|end| end == "yml" || end == "yaml")
        })
        .take(DATAFLOWS_MAX)
        .collect();
    files.sort();
    files
}
