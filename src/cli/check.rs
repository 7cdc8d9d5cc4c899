//! `check`: every configuration file, all faults at once.

use crate::app::{AppError, Exit, Settings, check_all};

use super::print::Printer;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print each file that was loaded, not only how many.
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let report = check_all(settings)?;
    printer.result(&report.to_text(args.list), &report);
    Ok(Exit::Done)
}
