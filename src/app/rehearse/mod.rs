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

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

#[cfg(feature = "dora")]
pub(super) use operator::Play;
use tempfile::TempDir;

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
    ours: Option<TempDir>,
}

impl RunFolder {
    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn open(settings: &Settings) -> Result<Self, AppError> {
        let Some(path) = settings.given_state() else {
            return Self::fresh();
        };
        let made = std::fs::create_dir_all(path).and_then(|()| std::fs::canonicalize(path));
        let path = made.map_err(|error| not_made(path, &error))?;
        Ok(Self { path, ours: None })
    }

    /// Makes a new one, whatever was given. Its name is drawn: what an earlier run, or somebody
    /// else, left in the folder for temporary files does not stand in the way.
    pub(super) fn fresh() -> Result<Self, AppError> {
        let folder = std::env::temp_dir();
        let made = tempfile::Builder::new()
            .prefix("octos-edge-sim-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir();
        let made = made.and_then(|ours| Ok((std::fs::canonicalize(ours.path())?, ours)));
        let (path, ours) = made.map_err(|error| not_made(&folder, &error))?;
        Ok(Self {
            path,
            ours: Some(ours),
        })
    }
}

fn not_made(folder: &Path, error: &std::io::Error) -> AppError {
    AppError::State {
        folder: folder.display().to_string(),
        problem: error.to_string(),
        hint: "give a folder that this user can write with --state".to_owned(),
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.ours.take().map(TempDir::close) {
            tracing::warn!(%error, folder = %self.path.display(), "the run's folder was left behind");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_folder_is_new_private_and_gone_afterwards() {
        let (first, second) = (RunFolder::fresh().unwrap(), RunFolder::fresh().unwrap());
        let (path, other) = (first.path().to_owned(), second.path().to_owned());
        assert_ne!(path, other);
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        drop(first);
        assert!(!path.exists() && other.exists());
    }
}
