//! Starts the log of the process, once its options are known to be right.

use super::exit::AppError;
use super::settings::Settings;
use crate::telemetry::{LogHandle, LogPlan, TracingError, install_tracing};

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
        TracingError::Installed(_) => AppError::Internal(error.to_string()),
    })
}
