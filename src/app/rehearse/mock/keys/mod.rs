//! Case 59: every key of every configuration file changes the running robot.
//!
//! A [`Row`] sets one key of a shipped file to another value and says what is seen of it before and
//! after: what the robot does in a run in this process, what a call is told, what the model is shown, or
//! the fault that keeps the file from loading. Both answers stand in the row, so a key that changes
//! something else than it says fails as well. The coverage test walks the schemas that `check --schema`
//! prints and names every key, and every word of a closed set, that no row speaks of.
//!
//! What is no file has a table of its own: variables and dataflows in `tests/it/keys.rs`.
#![cfg(feature = "dora")] // boards are judged by a node

mod arguments;
mod board;
mod events;
mod expect;
mod faults;
mod kinds;
mod policy;
mod raised;
mod restart;
mod robot;
mod row;
mod scenario;
mod sensors;
mod site;
mod stops;
mod tiers;
mod tools;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use row::Row;
use site::Site;

use crate::config::{FileKind, places};

/// The rows of all files.
fn all() -> Vec<Row> {
    [
        tiers::rows(),
        robot::rows(),
        stops::rows(),
        workspace::rows(),
        sensors::rows(),
        tools::rows(),
        arguments::rows(),
        kinds::rows(),
        board::rows(),
        policy::rows(),
        scenario::rows(),
        events::rows(),
        raised::rows(),
        faults::rows(),
        expect::rows(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Looks at the rows on all cores; each row is a folder of its own.
#[test]
fn case_59_every_row_sees_what_its_key_does() {
    let rows = all();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(found) = row.judge() {
                        wrong.lock().unwrap().push(found);
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn case_59_every_key_and_every_word_of_the_schemas_has_a_row() {
    let mut seen: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for row in all() {
        let place = row
            .place()
            .unwrap_or_else(|| panic!("{}: no such key", row.name()));
        seen.entry((row.kind().as_str(), place))
            .or_default()
            .extend(row.words());
    }
    let mut missing = Vec::new();
    for kind in FileKind::ALL {
        for (place, what) in places(kind) {
            let at = (kind.as_str(), place);
            match seen.get(&at) {
                None if what.is_frame => {}
                None => missing.push(format!("{}: {}", at.0, at.1)),
                Some(words) => {
                    let silent = what.words.difference(words);
                    missing.extend(silent.map(|word| format!("{}: {} = {word}", at.0, at.1)));
                }
            }
        }
    }
    assert!(
        missing.is_empty(),
        "keys that no row changes:\n{}",
        missing.join("\n")
    );
}

/// A table that must be there has no row: without it the file does not load, and its keys have theirs.
#[test]
fn case_59_a_key_that_must_be_there_is_missed_by_its_name() {
    for kind in FileKind::ALL {
        let schema = kind.schema();
        for key in schema["required"].as_array().unwrap() {
            // Rows are written with the tests; this one is not.
            let key: &'static str = Box::leak(key.as_str().unwrap().to_owned().into_boxed_str());
            let site = Site::new(&[(row::file_of(kind), key, "")]);
            let faults = site.faults();
            let named = format!("{key}: missing");
            assert!(
                faults.contains(&named),
                "{}: {key}: {faults}",
                kind.as_str()
            );
        }
    }
}

#[test]
fn a_row_that_sees_nothing_or_something_else_fails() {
    let row = |becomes| {
        let row = Row::of(row::SAFE, "title", "\"Slowly\"");
        row.seen(
            |site| site.check("safe_motion.toml"),
            "Slow, bounded, reversible motion",
            becomes,
        )
    };
    assert_eq!(row("Slowly").judge(), Ok(()));
    let wrong = row("Fast").judge().unwrap_err();
    assert!(wrong.contains("becomes `Slowly`, not `Fast`"), "{wrong}");
    let same = Row::of(row::SAFE, "title", "\"Slowly\"");
    let blind = same.seen(|_| "x".to_owned(), "x", "x").judge();
    assert!(blind.unwrap_err().contains("changes nothing"));
}
