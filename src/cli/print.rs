//! Printing: results to stdout, progress and errors to stderr. A closed pipe ends nothing.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::app::{AppError, Exit, plain};

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
            out(&harmless(text.trim_end()));
        }
    }

    /// As [`Printer::result`], for a document that holds text of strangers: what could steer a terminal
    /// stands in it as `\u…`, which is the same text to whoever parses it.
    pub(super) fn foreign(&self, text: &str, document: &impl Serialize) {
        if !self.json {
            out(&harmless(text.trim_end()));
            return;
        }
        match serde_json::to_string_pretty(document) {
            Ok(json) => out(&spelled_out(&json)),
            Err(error) => err(&format!("error: the result is no JSON: {error}")),
        }
    }

    /// Prints one of several lines that a command tells while it goes on: as [`Printer::foreign`], each
    /// document in a line of its own. Returns whether it got out: whoever is not heard any more must know.
    pub(super) fn news(&self, text: &str, document: &impl Serialize) -> bool {
        let line = if self.json {
            // Plain data with text keys always has a JSON form.
            spelled_out(&serde_json::to_string(document).unwrap_or_default())
        } else {
            text.trim_end().to_owned()
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).is_ok()
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
            out(&spelled_out(&document.to_string()));
            return;
        }
        // An error names what was given, and that may be a stranger's text.
        err(&harmless(&format!("error: {error}")));
        for line in error.details() {
            err(&harmless(&line));
        }
        if !hint.is_empty() {
            err(&harmless(&format!("help: {hint}")));
        }
    }
}

/// Prints a wrong command line as one JSON document, to standard error as its text would be: nothing was
/// done, so there is no result. `error` has its lines without the word before them, `hint` what follows.
pub(super) fn usage_json(error: &clap::Error) {
    let text = error.render().to_string();
    let (problem, hint) = parts(&text);
    let document = serde_json::json!({
        "error": problem,
        "hint": hint,
        "exit": Exit::Usage.code(),
        "faults": [],
    });
    err(&document.to_string());
}

/// Cuts what clap says into what is wrong and the way out.
fn parts(text: &str) -> (String, String) {
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let mut paragraphs = text.split("\n\n");
    let problem = paragraphs.next().unwrap_or_default();
    let one_line = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    };
    let hint: Vec<String> = paragraphs
        .map(one_line)
        .filter(|part| !part.is_empty())
        .collect();
    (one_line(problem), hint.join("; "))
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

/// Returns a text, line for line, in which nothing steers a terminal.
fn harmless(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(plain).collect();
    lines.join("\n")
}

/// Spells out every character beyond ASCII, and the delete, of a JSON document. Outside of its texts it
/// has none, and the controls below the space are spelled out by whoever made it.
fn spelled_out(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() && c != '\u{7f}' {
            text.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

fn out(text: &str) {
    // A reader that went away is its own business: the job was done.
    drop(writeln!(io::stdout().lock(), "{text}"));
}

fn err(text: &str) {
    drop(writeln!(io::stderr().lock(), "{text}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_line_falls_apart_into_what_is_wrong_and_the_way_out() {
        let text = "error: unexpected argument '--fast' found\n\n  tip: a similar one exists: '--last'\n\n\
                    Usage: octos-edge sim [OPTIONS]\n\nFor more information, try '--help'.\n";
        let (problem, hint) = parts(text);
        assert_eq!(problem, "unexpected argument '--fast' found");
        assert_eq!(
            hint,
            "tip: a similar one exists: '--last'; Usage: octos-edge sim [OPTIONS]; \
             For more information, try '--help'."
        );
    }

    #[test]
    fn a_text_keeps_its_lines_and_steers_nothing() {
        let hostile = "error: \u{1b}[2J a\u{202e}b\r\nnext";
        assert_eq!(
            harmless(hostile),
            "error: \\u{1b}[2J a\\u{202e}b\\u{d}\nnext"
        );
    }

    #[test]
    fn a_document_of_strangers_is_ascii_and_means_the_same() {
        let hostile = "\u{1b}[2J\u{7f}\u{9b}\u{202e}é\u{1f600}\n";
        let document = serde_json::json!({ "text": hostile, "é": [1] });
        let text = spelled_out(&serde_json::to_string_pretty(&document).unwrap());
        assert!(
            text.chars().all(|c| c == '\n' || (' '..='~').contains(&c)),
            "{text}"
        );
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(read, document);
    }
}
