//! Printing: results to stdout, progress and errors to stderr. A closed pipe ends nothing.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::app::AppError;

/// Where a command prints.
#[derive(Debug)]
pub(super) struct Printer {
    json: bool,
}

impl Printer {
    pub(super) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Returns whether the result is to be one JSON document.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Prints the result of the command.
    pub(super) fn result(&self, text: &str, document: &impl Serialize) {
        if self.json {
            match serde_json::to_string_pretty(document) {
                Ok(json) => out(&json),
                Err(error) => err(&format!("error: the result is no JSON: {error}")),
            }
        } else {
            out(text.trim_end());
        }
    }

    /// Prints why the command ends, and the way out.
    pub(super) fn error(&self, error: &AppError) {
        let hint = error.hint();
        if self.json {
            let document = serde_json::json!({
                "error": error.to_string(),
                "hint": hint,
                "exit": error.exit().code(),
                "faults": error.faults(),
            });
            out(&document.to_string());
            return;
        }
        err(&format!("error: {error}"));
        for line in error.details() {
            err(&line);
        }
        if !hint.is_empty() {
            err(&format!("help: {hint}"));
        }
    }
}

/// Returns a closure that prints progress from another thread.
pub(super) fn progress_line(quiet: bool) -> impl Fn(&str) + Send + Clone + 'static {
    move |line| {
        if !quiet {
            err(line);
        }
    }
}

/// Prints what is odd but stops nothing.
pub(super) fn warning(text: &str) {
    err(&format!("warning: {text}"));
}

fn out(text: &str) {
    // A reader that went away is its own business: the job was done.
    drop(writeln!(io::stdout().lock(), "{text}"));
}

fn err(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}
