//! `check`: every configuration file, all faults at once; what is resolved; what may be written.

use crate::app::{AppError, Exit, Settings, check_all, check_and_print, file_schema};

use super::print::Printer;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print each file that was loaded, not only how many.
    #[arg(long)]
    list: bool,
    /// Print every resolved setting with where it came from.
    #[arg(long)]
    print: bool,
    /// Print the JSON Schema of a kind of file (tier, robot, board, scenario, policy), or of all of
    /// them, and check nothing.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "all",
          conflicts_with_all = ["list", "print"])]
    schema: Option<String>,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    if let Some(kind) = &args.schema {
        let schema = file_schema(Some(kind.as_str()).filter(|kind| *kind != "all"))?;
        printer.result(&format!("{schema:#}"), &schema);
        return Ok(Exit::Done);
    }
    let report = if args.print {
        check_and_print(settings)?
    } else {
        check_all(settings)?
    };
    printer.result(&report.to_text(args.list), &report);
    Ok(Exit::Done)
}
