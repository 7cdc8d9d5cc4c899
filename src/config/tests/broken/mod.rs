//! Tables of broken files: a good text, one edit, and the whole report in a snapshot.
//!
//! The snapshots are the specification of the reports: file, line, key, what was found and what is
//! allowed, and the way out.

mod other_files;
mod robot_file;
mod tier_files;
mod tools;

use std::fmt::Write as _;

use crate::config::ConfigErrors;

/// One edit of a good text: what is wrong with it, the text to replace (there once), and by what.
type Edit = (&'static str, &'static str, &'static str);

/// Breaks `good` by each edit and returns all reports, after judging what each must have.
fn reports(good: &str, edits: &[Edit], load: impl Fn(&str) -> Result<(), ConfigErrors>) -> String {
    load(good).unwrap_or_else(|faults| panic!("the good text is broken:\n{faults}"));
    let mut all = String::new();
    for (title, from, to) in edits {
        assert_eq!(
            good.matches(from).count(),
            1,
            "`{title}` must edit one place"
        );
        let Err(faults) = load(&good.replace(from, to)) else {
            panic!("`{title}` loads");
        };
        for fault in faults.faults() {
            assert!(fault.place.line > 0, "`{title}`: {fault} has no line");
            assert!(!fault.hint.is_empty(), "`{title}`: {fault} has no way out");
            assert!(
                !fault.problem.ends_with('.'),
                "`{title}`: {fault} ends with a full stop"
            );
        }
        writeln!(all, "## {title}\n{faults}\n").unwrap();
    }
    all
}
