//! `sim`: a scenario from start to judgement, on a dataflow or in this process.
//!
//! Scenario, operator, judge and summary are the same for both; what differs is where agent and robot
//! live. `dora` runs them as nodes of a real dataflow, `mock` runs the same parts under a virtual
//! clock.

#[cfg(feature = "embedded-daemon")]
mod dora;
mod evidence;
mod mock;
mod operator;
#[cfg(feature = "embedded-daemon")]
mod socket;
#[cfg(feature = "embedded-daemon")]
mod traces;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(feature = "dora")]
pub(super) use operator::Play;

use super::exit::AppError;
use super::requests::{SimBridge, SimRequest};
use super::settings::Settings;
use crate::config::{Scenario, toml_stems};
use crate::sim::Summary;

/// Rehearses a scenario.
///
/// # Errors
/// [`AppError::Usage`] for a scenario that is not there or that the bridge cannot play,
/// [`AppError::Config`] and [`AppError::Node`] for bad files, [`AppError::Internal`] when the run left
/// nothing to judge. A failed expectation is no error: the summary says so.
pub fn rehearse(
    settings: &Settings,
    request: &SimRequest,
    progress: impl Fn(&str) + Send + Clone + 'static,
) -> Result<Summary, AppError> {
    let scenario = load_scenario(settings, &request.scenario)?;
    let seed = request.seed.unwrap_or(scenario.seed);
    match request.bridge {
        SimBridge::Mock => mock::rehearse(settings, (scenario, seed), progress),
        #[cfg(feature = "embedded-daemon")]
        SimBridge::Dora => dora::rehearse(settings, (scenario, seed), progress),
        #[cfg(not(feature = "embedded-daemon"))]
        SimBridge::Dora => Err(AppError::Usage {
            problem: "this build has no embedded dora daemon".to_owned(),
            hint: format!("rehearse in process: sim {} --bridge mock", scenario.name),
        }),
    }
}

fn load_scenario(settings: &Settings, name: &str) -> Result<Scenario, AppError> {
    if name.contains('/') || name.ends_with(".toml") {
        return Ok(Scenario::load(Path::new(name))?);
    }
    let folder = settings.dataflows().join("scenarios");
    let path = folder.join(format!("{name}.toml"));
    if !path.is_file() {
        return Err(AppError::Usage {
            problem: format!("no scenario `{name}` in {}", folder.display()),
            hint: match toml_stems(&folder).as_slice() {
                [] => "run it where `tiers` and `dataflows` lie, or give --tiers".to_owned(),
                names => format!("scenarios here: {}; or give a path", names.join(", ")),
            },
        });
    }
    Ok(Scenario::load(&path)?)
}

/// The state folder of one run: the one given, else a new one that is removed afterwards.
#[derive(Debug)]
pub(super) struct RunFolder {
    path: PathBuf,
    is_ours: bool,
}

/// Counts the folders that this process made: several rehearsals may run in it.
static FOLDERS: AtomicU32 = AtomicU32::new(0);

impl RunFolder {
    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn open(settings: &Settings) -> Result<Self, AppError> {
        match settings.given_state() {
            Some(path) => Self::make(path.to_owned(), /* is_ours */ false),
            None => Self::fresh(),
        }
    }

    /// Makes a new one, whatever was given.
    pub(super) fn fresh() -> Result<Self, AppError> {
        let path = std::env::temp_dir().join(format!(
            "octos-edge-sim-{}-{}",
            std::process::id(),
            FOLDERS.fetch_add(1, Ordering::Relaxed)
        ));
        Self::make(path, /* is_ours */ true)
    }

    fn make(path: PathBuf, is_ours: bool) -> Result<Self, AppError> {
        let made = if is_ours {
            // A folder that is there already is somebody else's: refuse it.
            std::fs::create_dir(&path)
        } else {
            std::fs::create_dir_all(&path)
        };
        made.and_then(|()| std::fs::canonicalize(&path))
            .map(|path| Self { path, is_ours })
            .map_err(|error| AppError::State {
                folder: path.display().to_string(),
                problem: error.to_string(),
                hint: "give a folder that this user can write with --state".to_owned(),
            })
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if self.is_ours
            && let Err(error) = std::fs::remove_dir_all(&self.path)
        {
            tracing::warn!(%error, folder = %self.path.display(), "the run's folder was left behind");
        }
    }
}
