//! `sim`: the main job.

use crate::app::{AppError, Exit, Settings, SimBridge, SimRequest, rehearse};

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
    /// Where agent and robot live: in a real dataflow, or in this process under a virtual clock.
    #[arg(long, value_enum, default_value_t = Bridge::Dora)]
    bridge: Bridge,
}

/// The values of `--bridge`.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Bridge {
    /// Two nodes of a dataflow on a daemon in this process.
    Dora,
    /// The same parts in this process; the same seed gives the same trace.
    Mock,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let request = SimRequest {
        scenario: args.scenario.clone(),
        seed: args.seed,
        bridge: match args.bridge {
            Bridge::Dora => SimBridge::Dora,
            Bridge::Mock => SimBridge::Mock,
        },
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
