//! `sim`: the main job.

use crate::app::{AppError, Exit, Settings, SimRequest, rehearse};

use super::print::{Printer, progress_line};

/// Arguments of `sim`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Name of a scenario in dataflows/scenarios, or a path to a scenario file.
    #[arg(default_value = "rover-gate")]
    scenario: String,
    /// Seed of the simulated robot [default: of the scenario].
    #[arg(long)]
    seed: Option<u64>,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let request = SimRequest {
        scenario: args.scenario.clone(),
        seed: args.seed,
    };
    let summary = rehearse(
        settings,
        &request,
        progress_line(settings.quiet() || printer.is_json()),
    )?;
    printer.result(&summary.to_text(), &summary);
    Ok(if summary.ok {
        Exit::Done
    } else {
        Exit::JobFailed
    })
}
