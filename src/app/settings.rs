//! Where the files of an installation lie, resolved once from options and environment.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::exit::AppError;
use crate::config::Environment;
#[cfg(feature = "dora")]
use crate::config::ReplayFiles;
use crate::telemetry::{ListenAddr, LogFormat};

/// Where the tier files lie unless something else is said.
const TIERS: &str = "tiers";

/// What the command line says; everything else follows.
#[derive(Debug, Clone)]
pub struct SettingsRequest {
    /// Folder of the tier files; `None` is `tiers`.
    pub tiers: Option<PathBuf>,
    /// Folder of the board files.
    pub boards: Option<PathBuf>,
    /// Policy file.
    pub config: Option<PathBuf>,
    /// State folder.
    pub state: Option<PathBuf>,
    /// Where metrics are served, as it was written. Judged by those who serve them: a bad address
    /// must not keep a stop from being said.
    pub metrics: Option<String>,
    /// How the log is written.
    pub log_format: LogFormat,
    /// Whether only warnings are logged.
    pub quiet: bool,
    /// Where each option got its value, by its long name; those that are not here are built in.
    pub origins: BTreeMap<&'static str, Origin>,
}

/// Where an option got its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From the command line.
    Flag,
    /// From its variable.
    Variable,
    /// Nobody gave one.
    BuiltIn,
}

/// Where the files of an installation lie.
#[derive(Debug, Clone)]
pub struct Settings {
    request: SettingsRequest,
    environment: Environment,
}

impl Settings {
    /// Resolves the options against the environment of the process.
    ///
    /// # Errors
    /// None today; files are judged by those who load them.
    pub fn resolve(request: SettingsRequest) -> Result<Self, AppError> {
        Ok(Self {
            request,
            environment: Environment::read(),
        })
    }

    /// Returns the folder of the tier files.
    pub fn tiers(&self) -> &Path {
        self.request.tiers.as_deref().unwrap_or(Path::new(TIERS))
    }

    /// Returns the folders, the file and the address that were given, as the variables that hand them to a node,
    /// with absolute paths. What was not given is left to the dataflow.
    ///
    /// # Errors
    /// [`AppError::Usage`] when one that must be there is not, [`AppError::Metrics`] as for
    /// [`Settings::metrics`].
    pub fn given_to_nodes(&self) -> Result<BTreeMap<String, String>, AppError> {
        let request = &self.request;
        let mut env = BTreeMap::new();
        for (name, path) in [
            ("OCTOS_EDGE_TIERS", &request.tiers),
            ("OCTOS_EDGE_BOARDS", &request.boards),
            ("OCTOS_EDGE_CONFIG", &request.config),
        ] {
            let Some(path) = path else { continue };
            let absolute = std::fs::canonicalize(path).map_err(|error| AppError::Usage {
                problem: format!("{}: {error}", path.display()),
                hint: format!("it was given with {name} or its option"),
            })?;
            env.insert(name.to_owned(), absolute.display().to_string());
        }
        if let Some(state) = &request.state {
            // The node makes the folder; only its way there is made absolute.
            let absolute = std::path::absolute(state).unwrap_or_else(|_| state.clone());
            env.insert(
                "OCTOS_EDGE_STATE".to_owned(),
                absolute.display().to_string(),
            );
        }
        let format = self.log_format().as_str().to_owned();
        env.insert("OCTOS_EDGE_LOG_FORMAT".to_owned(), format);
        env.extend(self.metrics_variable()?);
        Ok(env)
    }

    /// Returns the same settings with the folders and the policy of somebody else: those of a node in a
    /// dataflow.
    #[cfg(feature = "embedded-daemon")]
    pub(super) fn with_folders(
        &self,
        tiers: PathBuf,
        boards: Option<PathBuf>,
        config: Option<PathBuf>,
    ) -> Self {
        let mut settings = self.clone();
        settings.request.tiers = Some(tiers);
        settings.request.boards = boards;
        settings.request.config = config;
        settings
    }

    /// Returns the folder of the board files: the one given, else `boards` beside the tiers.
    pub fn boards(&self) -> PathBuf {
        self.request
            .boards
            .clone()
            .unwrap_or_else(|| self.beside_tiers("boards"))
    }

    /// Returns the folder of the dataflows, beside the tiers.
    pub fn dataflows(&self) -> PathBuf {
        self.beside_tiers("dataflows")
    }

    /// Returns the policy file, when one was given.
    pub fn config(&self) -> Option<&Path> {
        self.request.config.as_deref()
    }

    /// Returns the state folder that was given on the command line or by `OCTOS_EDGE_STATE`.
    pub fn given_state(&self) -> Option<&Path> {
        self.request.state.as_deref()
    }

    /// Returns the state folder: given, of the service manager, or of the user.
    ///
    /// # Errors
    /// [`AppError::State`] when there is none of the three.
    pub fn state(&self) -> Result<PathBuf, AppError> {
        self.environment
            .state_folder(self.request.state.clone())
            .ok_or_else(|| AppError::State {
                folder: "(none)".to_owned(),
                problem: "neither --state, STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set"
                    .to_owned(),
                hint: "give one with --state or OCTOS_EDGE_STATE".to_owned(),
            })
    }

    /// Returns where metrics are served; `None` when nobody asked for them.
    ///
    /// # Errors
    /// [`AppError::Metrics`] when the text is no address, or one that other machines can reach and
    /// does not say so.
    pub fn metrics(&self) -> Result<Option<ListenAddr>, AppError> {
        // A variable that is set to nothing is one that is not set.
        let written = self.request.metrics.as_deref();
        let written = written.filter(|text| !text.is_empty());
        let parsed = written.map(|text| text.parse::<ListenAddr>());
        parsed.transpose().map_err(|error| AppError::Metrics {
            problem: error.to_string(),
            hint: error.hint(),
        })
    }

    /// Returns the variable that tells a node where to serve its metrics, when somebody asked.
    ///
    /// # Errors
    /// As for [`Settings::metrics`].
    pub fn metrics_variable(&self) -> Result<Option<(String, String)>, AppError> {
        let address = self.metrics()?;
        Ok(address.map(|address| ("OCTOS_EDGE_METRICS".to_owned(), address.to_string())))
    }

    /// Returns the recorded session that a node replays instead of serving a robot.
    #[cfg(feature = "dora")]
    pub(super) fn replay(&self) -> Option<&ReplayFiles> {
        self.environment.replay.as_ref()
    }

    /// Returns the folder into which the nodes of a dataflow write what they heard, absolute.
    #[cfg(feature = "embedded-daemon")]
    pub(super) fn record_to(&self) -> Option<PathBuf> {
        let folder = self.environment.record_to.as_ref()?;
        Some(std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
    }

    /// Returns whether only warnings are logged and no progress is printed.
    pub fn quiet(&self) -> bool {
        self.request.quiet
    }

    /// Returns how the log is written.
    pub fn log_format(&self) -> LogFormat {
        self.request.log_format
    }

    /// Returns whether terminals may be coloured: `NO_COLOR` says no.
    pub fn colour(&self) -> bool {
        !self.environment.no_colour
    }

    /// Returns where an option got its value, by its long name.
    pub fn origin(&self, option: &str) -> Origin {
        let origin = self.request.origins.get(option).copied();
        origin.unwrap_or(Origin::BuiltIn)
    }

    /// Returns where metrics are served, as it was written.
    pub fn metrics_written(&self) -> Option<&str> {
        self.request.metrics.as_deref()
    }

    /// Returns the variable that gives the state folder when the option does not.
    pub fn state_variable(&self) -> Option<&'static str> {
        self.environment.state_folder_from()
    }

    /// Returns the filter of the log: `OCTOS_EDGE_LOG`, else what the default gives.
    pub fn log_filter(&self) -> Option<&str> {
        self.environment.log.as_deref()
    }

    /// Makes the settings of a quiet run on the tier files below a folder, with all else built in.
    #[cfg(test)]
    pub(super) fn of_tests(root: &Path) -> Self {
        Self {
            request: SettingsRequest {
                tiers: Some(root.join(TIERS)),
                boards: None,
                config: None,
                state: None,
                metrics: None,
                log_format: LogFormat::Text,
                quiet: true,
                origins: BTreeMap::new(),
            },
            environment: Environment::default(),
        }
    }

    /// The same, with this policy file.
    #[cfg(test)]
    pub(super) fn with_config(mut self, file: PathBuf) -> Self {
        self.request.config = Some(file);
        self
    }

    /// Returns what dora tells a node that it starts.
    #[cfg(feature = "dora")]
    pub fn dora_node_config(&self) -> Option<&str> {
        self.environment.dora_node_config.as_deref()
    }

    fn beside_tiers(&self, name: &str) -> PathBuf {
        match self.tiers().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.join(name),
            Some(_) | None => PathBuf::from(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::Exit;

    fn metrics(text: Option<&str>) -> Result<Option<ListenAddr>, AppError> {
        let settings = Settings::resolve(SettingsRequest {
            tiers: None,
            boards: None,
            config: None,
            state: None,
            metrics: text.map(str::to_owned),
            log_format: LogFormat::Text,
            quiet: false,
            origins: BTreeMap::new(),
        });
        settings.unwrap().metrics()
    }

    #[test]
    fn metrics_are_off_unless_asked_for_and_open_to_others_only_in_so_many_words() {
        assert_eq!(metrics(None).unwrap(), None);
        assert_eq!(metrics(Some("")).unwrap(), None);
        assert!(metrics(Some("127.0.0.1:0")).unwrap().is_some());
        assert!(metrics(Some("public:0.0.0.0:9464")).unwrap().is_some());
        for bad in ["0.0.0.0:9464", "9464"] {
            let error = metrics(Some(bad)).unwrap_err();
            assert_eq!(error.exit(), Exit::Config, "{bad}");
            assert!(
                error.hint().contains("127.0.0.1:9464"),
                "{bad}: {}",
                error.hint()
            );
        }
    }
}
