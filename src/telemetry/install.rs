//! The log: structured lines on standard error.
//!
//! A reader that went away (a closed pipe), one that stands still (a full pipe) or a full disk behind a
//! redirect must not stop a robot's runtime: a line never waits, see `log_lines`, and errors of writing
//! one are dropped. [`flush_log`] brings the last lines out at an orderly end.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::reload;
use tracing_subscriber::util::SubscriberInitExt as _;

use super::log_lines::LogLines;

/// The lines of this process, as its subscriber is one for the process.
static LINES: OnceLock<LogLines> = OnceLock::new();

/// How log lines look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

impl LogFormat {
    /// Returns the word of the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// What to log, and how.
#[derive(Debug, Clone, Default)]
pub struct LogPlan {
    /// How lines look.
    pub format: LogFormat,
    /// Only warnings and errors, unless `filter` says otherwise.
    pub quiet: bool,
    /// Coloured, when it goes to a terminal.
    pub colour: bool,
    /// Directives such as `info,octos_edge=debug`; empty for the default.
    pub filter: String,
}

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub enum TracingError {
    /// The filter is not a list of directives.
    #[error("log filter `{filter}` is not a list of directives")]
    Filter {
        /// The filter as it was written.
        filter: String,
        /// What the parser said.
        source: tracing_subscriber::filter::ParseError,
    },
    /// A log was installed before.
    #[error("a log is installed already")]
    Installed(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The thread that writes could not be started.
    #[error("could not start the log thread")]
    Thread(#[source] io::Error),
}

/// Changes the level of a log that runs.
pub struct LogHandle {
    usual: EnvFilter,
    reload: Box<dyn Fn(EnvFilter) -> bool + Send>,
}

impl fmt::Debug for LogHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogHandle")
            .field("usual", &self.usual)
            .finish_non_exhaustive()
    }
}

impl LogHandle {
    /// Sets the level to `error`, `warn`, `info`, `debug` or `trace`; `None` is the usual filter.
    /// Returns whether it was set.
    pub fn set_level(&self, level: Option<&str>) -> bool {
        let filter = match level {
            None => self.usual.clone(),
            Some(word) => match word.parse::<tracing::Level>() {
                Ok(level) => EnvFilter::new(format!("warn,octos_edge={level}")),
                Err(_) => return false,
            },
        };
        (self.reload)(filter)
    }
}

/// Installs the log of this process.
///
/// # Errors
/// [`TracingError`] when the filter does not parse, when a log was installed before, or when the system
/// has no thread left.
pub fn install_tracing(plan: &LogPlan) -> Result<LogHandle, TracingError> {
    let usual = filter(plan)?;
    let writer = LogLines::start(io::stderr(), tell_dropped).map_err(TracingError::Thread)?;
    let (layer, handle) = reload::Layer::new(usual.clone());
    let lines = tracing_subscriber::fmt::layer()
        .with_target(false)
        .with_writer(writer.clone());
    let registry = tracing_subscriber::registry().with(layer);
    let installed = match plan.format {
        LogFormat::Json => {
            // Nested, as dora reads it: of a flat event its daemon keeps the message alone.
            let lines = lines.json().with_current_span(false);
            registry.with(lines).try_init()
        }
        LogFormat::Text => {
            let colour = plan.colour && io::stderr().is_terminal();
            let lines = lines.compact().with_ansi(colour);
            registry.with(lines).try_init()
        }
    };
    installed.map_err(|error| TracingError::Installed(Box::new(error)))?;
    // A second one is refused above.
    drop(LINES.set(writer));
    Ok(LogHandle {
        usual,
        reload: Box::new(move |filter| handle.reload(filter).is_ok()),
    })
}

/// Waits until every line that was said is written, at most `within`; returns whether it is. Without a
/// log there is nothing to wait for.
pub fn flush_log(within: Duration) -> bool {
    LINES.get().is_none_or(|lines| lines.flush(within))
}

fn tell_dropped(lines: u64) {
    tracing::warn!(lines, "log lines were dropped: nobody read standard error");
}

fn filter(plan: &LogPlan) -> Result<EnvFilter, TracingError> {
    let directives = match (plan.filter.trim(), plan.quiet) {
        ("", true) => "warn",
        // Libraries are heard when something is wrong.
        ("", false) => "warn,octos_edge=info",
        (written, _) => written,
    };
    EnvFilter::builder()
        .parse(directives)
        .map_err(|source| TracingError::Filter {
            filter: directives.to_owned(),
            source,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_is_none_is_named() {
        let plan = LogPlan {
            filter: "octos_edge=loud".to_owned(),
            ..LogPlan::default()
        };
        let error = filter(&plan).unwrap_err();
        assert_eq!(
            error.to_string(),
            "log filter `octos_edge=loud` is not a list of directives"
        );
    }

    #[test]
    fn quiet_leaves_warnings_and_a_written_filter_wins() {
        let quiet = LogPlan {
            quiet: true,
            ..LogPlan::default()
        };
        assert_eq!(filter(&quiet).unwrap().to_string(), "warn");
        let written = LogPlan {
            quiet: true,
            filter: "debug".to_owned(),
            ..LogPlan::default()
        };
        assert_eq!(filter(&written).unwrap().to_string(), "debug");
    }
}
