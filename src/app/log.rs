//! Starts the log of the process, once its options are known to be right, and ends it.

use std::time::Duration;

use super::exit::AppError;
use super::settings::Settings;
use crate::telemetry::{LogHandle, LogPlan, TracingError, flush_log, install_tracing};

/// The last lines may take so long; who reads standard error may have stopped reading.
const LAST_LINES_WITHIN: Duration = Duration::from_millis(500);

/// Starts the log on stderr; the handle changes its level.
///
/// # Errors
/// [`AppError::Usage`] when `OCTOS_EDGE_LOG` is no filter.
pub(super) fn start_log(settings: &Settings) -> Result<LogHandle, AppError> {
    let plan = LogPlan {
        format: settings.log_format(),
        quiet: settings.quiet(),
        colour: settings.colour(),
        filter: settings.log_filter().unwrap_or_default().to_owned(),
    };
    install_tracing(&plan).map_err(|error| match error {
        TracingError::Filter { .. } => AppError::Usage {
            problem: error.to_string(),
            hint: "OCTOS_EDGE_LOG takes directives such as `debug` or `info,octos_edge=trace`"
                .to_owned(),
        },
        TracingError::Installed(_) | TracingError::Thread(_) => {
            AppError::Internal(error.to_string())
        }
    })
}

/// Brings the last lines of the log out, before the process ends in order.
pub fn end_log() {
    // What is not out by then is lost: the process ends all the same.
    let _all_out: bool = flush_log(LAST_LINES_WITHIN);
}
