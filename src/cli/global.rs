//! Options that every subcommand takes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, ValueEnum};

use crate::app::{AppError, LogFormat, Origin, Settings, SettingsRequest};

/// How the log is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Options that every subcommand takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Print one JSON document instead of text.
    #[arg(long, global = true)]
    pub(super) json: bool,
    /// Print no progress and log warnings only.
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
    /// How the log on stderr is written.
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        env = "OCTOS_EDGE_LOG_FORMAT",
        default_value = "text"
    )]
    log_format: Format,
    /// Folder of the tier files, with `robots/` below it [default: tiers].
    #[arg(long, global = true, value_name = "DIR", env = "OCTOS_EDGE_TIERS")]
    tiers: Option<PathBuf>,
    /// Folder of the board files [default: `boards` beside the tiers].
    #[arg(long, global = true, value_name = "DIR", env = "OCTOS_EDGE_BOARDS")]
    boards: Option<PathBuf>,
    /// Policy file; none means that only the robot file's ceiling applies.
    #[arg(long, global = true, value_name = "FILE", env = "OCTOS_EDGE_CONFIG")]
    config: Option<PathBuf>,
    /// Address at which a node serves its metrics to Prometheus, such as 127.0.0.1:9464; port 0 takes
    /// a free one. `public:0.0.0.0:9464` lets other machines read them. `run` and `sim` hand it to
    /// the agent's node [default: none].
    #[arg(long, global = true, value_name = "ADDR", env = "OCTOS_EDGE_METRICS")]
    metrics: Option<String>,
    /// Folder of latch, lock, audit and control socket
    /// [default: $STATE_DIRECTORY, else the user's state home + /octos-edge; `sim`: a new one].
    #[arg(long, global = true, value_name = "DIR", env = "OCTOS_EDGE_STATE")]
    state: Option<PathBuf>,
}

impl Global {
    /// Resolves the options against the environment.
    pub(super) fn settings(&self, matches: &ArgMatches) -> Result<Settings, AppError> {
        Settings::resolve(SettingsRequest {
            tiers: self.tiers.clone(),
            boards: self.boards.clone(),
            config: self.config.clone(),
            state: self.state.clone(),
            metrics: self.metrics.clone(),
            log_format: match self.log_format {
                Format::Text => LogFormat::Text,
                Format::Json => LogFormat::Json,
            },
            quiet: self.quiet,
            origins: origins(matches),
        })
    }
}

/// The options whose origin is told, as clap and as people name them.
const OPTIONS: [(&str, &str); 7] = [
    ("tiers", "tiers"),
    ("boards", "boards"),
    ("config", "config"),
    ("metrics", "metrics"),
    ("state", "state"),
    ("log_format", "log-format"),
    ("quiet", "quiet"),
];

/// Returns where each option got its value. A global option may stand behind the subcommand.
fn origins(matches: &ArgMatches) -> BTreeMap<&'static str, Origin> {
    let mut innermost = matches;
    while let Some((_, inner)) = innermost.subcommand() {
        innermost = inner;
    }
    let origin = |(id, name): (&str, &'static str)| {
        let source = innermost.value_source(id)?;
        let origin = if source == ValueSource::CommandLine {
            Origin::Flag
        } else if source == ValueSource::EnvVariable {
            Origin::Variable
        } else {
            Origin::BuiltIn
        };
        Some((name, origin))
    };
    OPTIONS.into_iter().filter_map(origin).collect()
}
