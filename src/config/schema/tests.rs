//! The schemas are true: what loads is valid, what is plainly wrong is not, and every key is in both.

use std::collections::BTreeSet;

use super::places::{place_of, places};
use super::*;
use crate::config::reader::watched;
use crate::config::tests::samples::{edits, of_kind};
use crate::config::{Board, PolicyFile, RobotFile, Scenario, Tiers};

fn json(text: &str) -> Value {
    toml::from_str(text).unwrap()
}

fn validator(kind: FileKind) -> jsonschema::Validator {
    jsonschema::options().build(&kind.schema()).unwrap()
}

fn load(kind: FileKind, (file, text): &(String, String)) {
    let tiers = || {
        let [a, b, c, d] = of_kind(FileKind::Tier).try_into().unwrap();
        Tiers::parse([&a.1, &b.1, &c.1, &d.1]).unwrap_or_else(|faults| panic!("{faults}"))
    };
    let loaded = match kind {
        FileKind::Tier => return drop(tiers()),
        FileKind::Robot => RobotFile::parse(file, text, &tiers()).map(drop),
        FileKind::Board => Board::parse(file, text).map(drop),
        FileKind::Scenario => Scenario::parse(file, text).map(drop),
        FileKind::Policy => PolicyFile::parse(file, text).map(drop),
    };
    loaded.unwrap_or_else(|faults| panic!("{faults}"));
}

#[test]
fn every_schema_is_a_schema() {
    for kind in FileKind::ALL {
        assert!(kind.schema().is_object(), "{}", kind.as_str());
        assert!(
            jsonschema::meta::is_valid(&kind.schema()),
            "{}",
            kind.as_str()
        );
    }
}

#[test]
fn what_loads_is_valid() {
    for kind in FileKind::ALL {
        let validator = validator(kind);
        for sample in of_kind(kind) {
            load(kind, &sample);
            let faults: Vec<String> = validator
                .iter_errors(&json(&sample.1))
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(faults.is_empty(), "{}: {faults:?}", sample.0);
        }
    }
}

/// All edits are refused by the reader; the snapshot lists those that only the reader sees.
#[test]
fn broken_files_are_invalid_but_for_what_a_schema_cannot_say() {
    let mut missed = Vec::new();
    let mut caught = 0_u32;
    for (kind, title, text) in edits() {
        // What is no TOML is no matter of a schema.
        let Ok(value) = toml::from_str::<Value>(&text) else {
            continue;
        };
        if validator(kind).is_valid(&value) {
            missed.push(format!("{}: {title}", kind.as_str()));
        } else {
            caught += 1;
        }
    }
    assert!(caught > 90, "{caught}");
    insta::assert_snapshot!("only_the_reader_sees", missed.join("\n"));
}

#[test]
fn every_key_of_the_reader_is_in_the_schema_and_the_reverse() {
    for kind in FileKind::ALL {
        let asked = watched(|| of_kind(kind).iter().for_each(|sample| load(kind, sample)));
        let mut seen = BTreeSet::new();
        for path in asked {
            let Some(place) = place_of(kind, &path) else {
                // Other kinds are read on the way: a robot needs its tiers.
                assert_eq!(kind, FileKind::Robot, "{path} is not in the schema");
                assert!(place_of(FileKind::Tier, &path).is_some(), "{path}");
                continue;
            };
            seen.insert(place);
        }
        let known: BTreeSet<String> = places(kind).into_keys().collect();
        assert_eq!(
            known.difference(&seen).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "{}: keys that the reader never asks for",
            kind.as_str()
        );
    }
}

#[test]
fn a_listing_tells_lines_and_built_in_values() {
    let board = "schema = 1\nid = \"sim\"\n\n[system]\ntokio_workers = 2\nsafety_tick_ms = 10\nlockup_ms = 1000\njitter_ms = 500\n";
    let list = listing::settings(FileKind::Board, "boards/sim.toml", board.as_bytes()).unwrap();
    let rows: Vec<String> = list
        .iter()
        .map(|one| {
            let place = one
                .place
                .as_ref()
                .map_or("built-in".to_owned(), ToString::to_string);
            format!("{} = {} ({place})", one.key, one.value)
        })
        .collect();
    assert_eq!(
        rows,
        [
            "id = \"sim\" (boards/sim.toml:2)",
            "schema = 1 (boards/sim.toml:1)",
            "system.jitter_ms = 500 (boards/sim.toml:8)",
            "system.lockup_ms = 1000 (boards/sim.toml:7)",
            "system.safety_tick_ms = 10 (boards/sim.toml:6)",
            "system.tokio_workers = 2 (boards/sim.toml:5)",
            "system.ram_min_mb = 0 (built-in)",
            "system.blackbox_max_mb = 256 (built-in)",
            "match = [] (built-in)",
        ]
    );
}

/// A built-in value of the schema is the one that the reader uses.
#[test]
fn writing_a_built_in_value_changes_nothing() {
    let board = "schema = 1\nid = \"sim\"\nsystem = { tokio_workers = 2, safety_tick_ms = 10, lockup_ms = 1000, jitter_ms = 500 }\n";
    let written = board
        .replace("id =", "match = []\nid =")
        .replace("{ ", "{ ram_min_mb = 0, blackbox_max_mb = 256, ");
    let file = "boards/sim.toml";
    assert_eq!(
        Board::parse(file, board).unwrap(),
        Board::parse(file, &written).unwrap()
    );
    let robot = &of_kind(FileKind::Robot)[0];
    let [a, b, c, d] = of_kind(FileKind::Tier).try_into().unwrap();
    let tiers = Tiers::parse([&a.1, &b.1, &c.1, &d.1]).unwrap();
    let parse = |text: &str| RobotFile::parse(&robot.0, text, &tiers).unwrap();
    for (short, long) in [
        ("advert_unknown = \"ignore\" ", "# nothing "),
        (
            "args = {}, wait_ms = 200",
            "args = {}, retry_empty = false, wait_ms = 200",
        ),
        (
            "max = 0.5, max_step = 0.3 }",
            "max = 0.5, max_step = 0.3, required = true, on_limit = \"reject\" }",
        ),
    ] {
        assert!(robot.1.contains(short), "{short}");
        assert_eq!(
            parse(&robot.1),
            parse(&robot.1.replace(short, long)),
            "{long}"
        );
    }
}
