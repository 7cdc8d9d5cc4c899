//! What is wrong with a call's arguments: every problem at once, bounded, without any value.
//!
//! Names of keys are repeated, since a model cannot mend what it cannot find; values never are, since
//! they may be secrets.

use std::fmt;

use super::size::Excess;

/// Most problems that are told one by one; the others are counted.
const ISSUES_MAX: usize = 12;
/// Largest text of a report, bytes.
const TEXT_BYTES_MAX: usize = 4096;
/// Longest pointer or tool name that is repeated, characters. Ours are far below it.
const NAME_CHARS_MAX: usize = 120;
/// What ends a text that was cut, and a name in it.
const CUT: &str = "...";

/// What is wrong at one place. No variant holds a value of the call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// A member is required and absent.
    #[error("missing")]
    Missing,
    /// No member has this name.
    #[error("unknown")]
    Unknown,
    /// It is of another JSON type.
    #[error("must be {wanted}, found {found}")]
    Type {
        /// The permitted types.
        wanted: String,
        /// The type it has.
        found: &'static str,
    },
    /// It is none of the permitted values, which are listed.
    #[error("must be one of {0}")]
    Choice(String),
    /// It is not the one permitted value.
    #[error("must be {0}")]
    Constant(String),
    /// A number, a length or a count breaks its bound, which is named.
    #[error("{0}")]
    Bound(String),
    /// A text does not fit its pattern.
    #[error("does not fit the pattern {0}")]
    Pattern(String),
    /// It fits none of several permitted forms.
    #[error("fits none of the permitted forms")]
    NoForm,
    /// It fits more than one of several forms of which one is permitted.
    #[error("fits more than one of the permitted forms")]
    ManyForms,
    /// Nothing is permitted here.
    #[error("not permitted here")]
    Forbidden,
    /// A whole number is written with a fraction: JSON Schema takes it for an integer, tools do not.
    #[error("must be written without a decimal point")]
    Fraction,
    /// The arguments are too large or too deep to be read.
    #[error("{0}")]
    Excess(Excess),
    /// A number is outside its limit: found by the limits, told here.
    #[error("{0}")]
    Limit(String),
    /// It breaks a keyword that has no words of its own.
    #[error("breaks `{0}`")]
    Keyword(String),
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// JSON Pointer to the place, cut to 120 characters; empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong there.
    pub flaw: Flaw,
    /// What was probably meant.
    pub hint: Option<String>,
}

impl Issue {
    /// Names a problem at a JSON Pointer, which is cut to 120 characters.
    pub fn at(pointer: &str, flaw: Flaw) -> Self {
        Self {
            pointer: cut_chars(pointer),
            flaw,
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
        write!(f, "{place}: {}", self.flaw)?;
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
    /// Makes a report of one problem.
    pub fn of(tool: &str, issue: Issue) -> Self {
        Self::new(tool).with(issue)
    }

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
        if self.has_room() {
            self.issues.push(issue);
        } else {
            self.count(1);
        }
    }

    /// Counts problems that are not told one by one.
    pub(super) fn count(&mut self, more: usize) {
        self.more = self.more.saturating_add(more);
    }

    /// Returns whether one more problem would be told, and not only counted.
    pub(super) fn has_room(&self) -> bool {
        self.issues.len() < ISSUES_MAX
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
        if self.is_cut() {
            text.push('\n');
            text.push_str(CUT);
        }
        cut_bytes(text)
    }

    /// Whether a name in it is not told to its end. A name that ends like a cut one by itself is taken
    /// for one; nothing hangs on it.
    fn is_cut(&self) -> bool {
        let mut pointers = self.issues.iter().map(|issue| &issue.pointer);
        self.tool.ends_with(CUT) || pointers.any(|pointer| pointer.ends_with(CUT))
    }
}

pub(super) fn cut_chars(text: &str) -> String {
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
            report.push(Issue::at(&format!("/{index}"), Flaw::Missing));
        }
        let text = report.to_string();
        assert!(text.starts_with("t: 15 problems"), "{text}");
        assert!(text.ends_with("\n+3 more"), "{text}");
        assert_eq!(text.matches("\n- ").count(), 12);
    }

    #[test]
    fn a_later_look_adds_its_problems_and_says_none_twice() {
        let mut report = Report::new("t").with(Issue::at("/a", Flaw::Missing));
        let limit = |text: &str| Flaw::Limit(text.to_owned());
        report.also([
            Issue::at("/a", limit("must be 1")),
            Issue::at("/b", limit("must be 2")),
        ]);
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
            report.push(Issue::at(&"\u{e9}".repeat(500), Flaw::Missing).with_hint(hint));
        }
        let text = report.to_string();
        assert!(text.len() <= TEXT_BYTES_MAX, "{}", text.len());
        assert!(text.ends_with(CUT));
    }

    #[test]
    fn a_report_with_one_cut_name_ends_with_the_mark() {
        let long = "x".repeat(200);
        let report = Report::new("t").with(Issue::at(&long, Flaw::Unknown));
        assert!(report.to_string().ends_with("...: unknown\n..."));
    }
}
