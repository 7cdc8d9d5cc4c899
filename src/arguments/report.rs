//! What is wrong with a call's arguments: every problem at once, bounded, without any value.
//!
//! Names of keys are repeated, since a model cannot mend what it cannot find; values never are, since
//! they may be secrets.

use std::fmt;

/// Most problems that are told one by one; the others are counted.
const ISSUES_MAX: usize = 12;
/// Largest text of a report, bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Longest pointer or tool name that is repeated, characters. Ours are far below it.
const NAME_CHARS_MAX: usize = 120;
/// What ends a text that was cut.
const CUT: &str = "...";

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// JSON Pointer to the place; empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// What was probably meant.
    pub hint: Option<String>,
}

impl Issue {
    /// Names a problem at a JSON Pointer, which is cut to 120 characters.
    pub fn at(pointer: &str, message: impl Into<String>) -> Self {
        Self {
            pointer: cut_chars(pointer),
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn with_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() {
            "(arguments)"
        } else {
            &self.pointer
        };
        write!(f, "{place}: {}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// All problems of one call's arguments. At least one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct Report {
    /// The tool that was called, cut to 120 characters.
    pub tool: String,
    /// The problems, 1 to 12.
    pub issues: Vec<Issue>,
    /// How many more there are.
    pub more: usize,
}

impl Report {
    pub(super) fn new(tool: &str) -> Self {
        Self {
            tool: cut_chars(tool),
            issues: Vec::new(),
            more: 0,
        }
    }

    pub(super) fn with(mut self, issue: Issue) -> Self {
        self.push(issue);
        self
    }

    /// Adds what a later look at the same arguments found. A place that has a problem already keeps it
    /// alone.
    pub fn also(&mut self, found: impl IntoIterator<Item = Issue>) {
        for issue in found {
            if self
                .issues
                .iter()
                .all(|known| known.pointer != issue.pointer)
            {
                self.push(issue);
            }
        }
    }

    pub(super) fn push(&mut self, issue: Issue) {
        if self.issues.len() < ISSUES_MAX {
            self.issues.push(issue);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.issues.is_empty()
    }

    fn text(&self) -> String {
        let total = self.issues.len().saturating_add(self.more);
        let word = if total == 1 { "problem" } else { "problems" };
        let mut text = format!("{}: {total} {word} with the arguments", self.tool);
        for issue in &self.issues {
            text.push_str(&format!("\n- {issue}"));
        }
        if self.more > 0 {
            text.push_str(&format!("\n+{} more", self.more));
        }
        cut_bytes(text)
    }
}

fn cut_chars(text: &str) -> String {
    match text.char_indices().nth(NAME_CHARS_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}{CUT}", text.get(..end).unwrap_or_default()),
    }
}

fn cut_bytes(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX.saturating_sub(CUT.len())));
        text.push_str(CUT);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twelve_problems_are_told_and_the_others_counted() {
        let mut report = Report::new("t");
        for index in 0..15 {
            report.push(Issue::at(&format!("/{index}"), "missing"));
        }
        let text = report.to_string();
        assert!(text.starts_with("t: 15 problems"), "{text}");
        assert!(text.ends_with("\n+3 more"), "{text}");
        assert_eq!(text.matches("\n- ").count(), 12);
    }

    #[test]
    fn a_later_look_adds_its_problems_and_says_none_twice() {
        let mut report = Report::new("t").with(Issue::at("/a", "missing"));
        report.also([Issue::at("/a", "must be 1"), Issue::at("/b", "must be 2")]);
        assert_eq!(
            report.to_string(),
            "t: 2 problems with the arguments\n- /a: missing\n- /b: must be 2"
        );
    }

    #[test]
    fn long_text_is_cut_on_a_character_boundary() {
        let mut report = Report::new(&"\u{e9}".repeat(500));
        for _ in 0..12 {
            let hint = Some("\u{20ac}".repeat(400));
            report.push(Issue::at(&"\u{e9}".repeat(500), "missing").with_hint(hint));
        }
        let text = report.to_string();
        assert!(text.len() <= TEXT_BYTES_MAX, "{}", text.len());
        assert!(text.ends_with(CUT));
    }
}
