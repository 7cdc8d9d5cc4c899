//! `run`: any dora dataflow on a daemon inside this process.

use std::path::PathBuf;
use std::time::Duration;

use crate::app::{AppError, Exit, RunRequest, Settings, run_file};

use super::print::{Printer, progress_line};

/// Arguments of `run`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The dataflow.
    file: PathBuf,
    /// Stop the dataflow after this time, such as `20s` or `2min`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    stop_after: Option<Duration>,
}

/// Parses a time of at least a millisecond and at most a day.
fn time(text: &str) -> Result<Duration, String> {
    let bound = Duration::from_millis(1)..=Duration::from_secs(24 * 60 * 60);
    match humantime::parse_duration(text) {
        Ok(time) if bound.contains(&time) => Ok(time),
        Ok(_) => Err("1ms to 24h".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let request = RunRequest {
        file: args.file.clone(),
        stop_after: args.stop_after,
    };
    let end = run_file(
        settings,
        &request,
        progress_line(settings.quiet() || printer.is_json()),
    )?;
    printer.result(&end.to_text(), &end);
    Ok(if end.passed() {
        Exit::Done
    } else {
        Exit::JobFailed
    })
}
