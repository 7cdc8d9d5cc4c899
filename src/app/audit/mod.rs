//! `audit`: verify, show and export the black box of a robot, also while its node writes it.
//!
//! Nothing here writes into the folder of the box, and no lock is taken: whoever may read the files may
//! look. What comes from records is a stranger's text: it reaches a terminal only through [`plain()`].

mod export;
mod since;
mod text;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;

use super::clock::SystemClock;
use super::exit::AppError;
use super::settings::Settings;
use super::state::{audit_folder, robot_folder, robots_in};
use crate::telemetry::{
    RecordHash, Selection, SelectionFilter, Verification, record_kinds, select_records,
    verify_records,
};
use crate::terms::{Clock as _, FactClass, RobotId, nearest};

pub use crate::terms::plain;
pub use export::{ExportReport, export_audit};
pub use since::Since;

/// Which records to show.
#[derive(Debug, Clone)]
pub struct ShowRequest {
    /// Whose; `None` takes the only one.
    pub robot: Option<RobotId>,
    /// From when on.
    pub since: Option<Since>,
    /// Only this class.
    pub class: Option<FactClass>,
    /// Only this kind.
    pub kind: Option<String>,
    /// At most so many, the newest.
    pub last: usize,
}

/// What became of verifying.
#[derive(Debug, Clone, Serialize)]
pub struct VerifyReport {
    /// The robot.
    pub robot_id: String,
    /// The folder of its black box.
    pub folder: String,
    /// What was found.
    #[serde(flatten)]
    pub verification: Verification,
}

/// Records to be shown.
#[derive(Debug, Clone, Serialize)]
pub struct ShowReport {
    /// The robot.
    pub robot_id: String,
    /// What was picked.
    #[serde(flatten)]
    pub selection: Selection,
}

/// Verifies the chains of a robot. Each of `holds` must be the hash of one of its records.
///
/// # Errors
/// [`AppError::Usage`] when it is not clear which robot is meant, [`AppError::State`] when it has no
/// audit, or one that cannot be read. A broken chain is no error but a report.
pub fn verify_audit(
    settings: &Settings,
    robot: Option<&RobotId>,
    holds: &[RecordHash],
) -> Result<VerifyReport, AppError> {
    let (robot, folder) = audit_of(settings, robot)?;
    let verification = verify_records(&folder, holds).map_err(|error| bad(&folder, &error))?;
    Ok(VerifyReport {
        robot_id: robot.to_string(),
        folder: folder.display().to_string(),
        verification,
    })
}

/// Picks records of a robot.
///
/// # Errors
/// As [`verify_audit`], and [`AppError::Usage`] when a kind was asked for that is none: neither this build
/// writes it, nor is there a record of it.
pub fn show_audit(settings: &Settings, request: &ShowRequest) -> Result<ShowReport, AppError> {
    let (robot, folder) = audit_of(settings, request.robot.as_ref())?;
    let since = request.since.as_ref().map(|since| match since {
        Since::At(at) => *at,
        Since::Ago(ago) => SystemClock::start()
            .wall()
            .checked_sub(*ago)
            .unwrap_or(SystemTime::UNIX_EPOCH),
    });
    let filter = SelectionFilter {
        since: since.map(|at| humantime::format_rfc3339_millis(at).to_string()),
        class: request.class,
        kind: request.kind.clone(),
        last: request.last,
    };
    let selection = select_records(&folder, &filter).map_err(|error| bad(&folder, &error))?;
    if let Some(kind) = request.kind.as_deref().filter(|_| selection.found == 0) {
        known_kind(kind)?;
    }
    Ok(ShowReport {
        robot_id: robot.to_string(),
        selection,
    })
}

/// Judges a kind of which there is no record: a misspelt one is told, not found nowhere.
fn known_kind(kind: &str) -> Result<(), AppError> {
    if record_kinds().any(|known| known == kind) {
        return Ok(());
    }
    let mut kinds: Vec<&str> = record_kinds().collect();
    kinds.sort_unstable();
    let near = nearest(kind, kinds.iter().copied());
    let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
    Err(AppError::Usage {
        problem: format!("no kind of record is named `{}`", plain(kind)),
        hint: format!("{near}kinds: {}", kinds.join(", ")),
    })
}

/// Finds the folder of a robot's black box. Without an id there must be one robot with an audit.
fn audit_of(settings: &Settings, robot: Option<&RobotId>) -> Result<(RobotId, PathBuf), AppError> {
    let state = settings.state()?;
    let of = |robot: &RobotId| audit_folder(&robot_folder(&state, robot));
    if let Some(robot) = robot {
        let folder = of(robot);
        return if folder.is_dir() {
            Ok((robot.clone(), folder))
        } else {
            Err(none_in(&folder))
        };
    }
    let mut known = robots_in(&state);
    known.retain(|robot| of(robot).is_dir());
    match known.as_slice() {
        [] => Err(none_in(&state.join("robots"))),
        [only] => Ok((only.clone(), of(only))),
        many => {
            let names: Vec<&str> = many.iter().map(RobotId::as_str).collect();
            Err(AppError::Usage {
                problem: format!("{} robots have an audit", many.len()),
                hint: format!("name one with --robot-id: {}", names.join(", ")),
            })
        }
    }
}

fn none_in(folder: &Path) -> AppError {
    AppError::State {
        folder: folder.display().to_string(),
        problem: "no audit lies there".to_owned(),
        hint:
            "give the state folder of the node with --state; a node makes an audit when it starts"
                .to_owned(),
    }
}

fn bad(folder: &Path, error: &std::io::Error) -> AppError {
    AppError::State {
        folder: folder.display().to_string(),
        problem: format!("the audit cannot be read: {error}"),
        hint: "read it as the user of the node".to_owned(),
    }
}
