//! No file makes the reader panic, and what it refuses it can place.

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::{
    BOARD, BOARD_FILE, POLICY, POLICY_FILE, ROVER, ROVER_FILE, SCENARIO, SCENARIO_FILE, TIERS,
    tiers,
};
use crate::config::{Board, ConfigErrors, PolicyFile, RobotFile, Scenario, Tiers};

/// A change of a text: where, how many bytes go, and which come.
type Change = (prop::sample::Index, usize, Vec<u8>);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let syntax = prop::sample::select(b"\n\"'[]{}=.,#-0e_ \\\xff\x00".to_vec());
    let byte = prop_oneof![syntax, any::<u8>()];
    let change = (
        any::<prop::sample::Index>(),
        0..4_usize,
        prop::collection::vec(byte, 0..4),
    );
    prop::collection::vec(change, 1..4)
}

fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, gone, come) in changes {
        let start = at.index(bytes.len());
        let end = bytes.len().min(start + gone);
        bytes.splice(start..end, come.iter().copied());
    }
    bytes
}

fn loads_or_is_placed<T>(outcome: Result<T, ConfigErrors>) {
    if let Err(faults) = outcome {
        assert!(!faults.faults().is_empty());
        for fault in faults.faults() {
            assert!(fault.place.line > 0, "{fault} has no line");
            assert!(!fault.hint.is_empty(), "{fault} has no way out");
        }
    }
}

/// Values of all types, good for hardly any key.
const VALUES: &[&str] = &[
    "nan",
    "-inf",
    "-1",
    "1e308",
    "9223372036854775807",
    "9223372036854775808",
    "\"\"",
    "\"x\"",
    "true",
    "[]",
    "[[]]",
    "[1, \"1\"]",
    "{}",
    "{ a = 1 }",
    "[{ a = { b = [{}] } }]",
    "2026-01-01",
];

/// Replaces the value of one line, or the whole line, or repeats it.
fn with_other_line(text: &str, at: prop::sample::Index, value: &str, how: u8) -> Vec<u8> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let nth = at.index(lines.len());
    let key = lines[nth].split('=').next().unwrap_or_default().to_owned();
    match how {
        0 => lines[nth] = format!("{key} = {value}"),
        1 => drop(lines.remove(nth)),
        2 => lines.insert(nth, format!("x_{nth} = {value}")),
        _ => lines.insert(nth, lines[nth].clone()),
    }
    lines.join("\n").into_bytes()
}

fn all_load_or_are_placed(change: impl Fn(&str) -> Vec<u8>) {
    for nth in 0..TIERS.len() {
        let mut texts = TIERS.map(|text| text.as_bytes().to_vec());
        texts[nth] = change(TIERS[nth]);
        let [observe, safe, full, emergency] = &texts;
        loads_or_is_placed(Tiers::parse_bytes([observe, safe, full, emergency]).done());
    }
    loads_or_is_placed(RobotFile::parse_bytes(ROVER_FILE, &change(ROVER), Some(&tiers())).done());
    loads_or_is_placed(Board::parse_bytes(BOARD_FILE, &change(BOARD)).done());
    loads_or_is_placed(Scenario::parse_bytes(SCENARIO_FILE, &change(SCENARIO)).done());
    loads_or_is_placed(PolicyFile::parse_bytes(POLICY_FILE, &change(POLICY)).done());
}

proptest! {
    #![proptest_config(Config { cases: 100, failure_persistence: None, ..Config::default() })]

    #[test]
    fn changed_bytes_of_any_file_load_or_are_refused_with_a_line(changes in changes()) {
        all_load_or_are_placed(|text| changed(text, &changes));
    }

    #[test]
    fn changed_lines_of_any_file_load_or_are_refused_with_a_line(
        at in any::<prop::sample::Index>(),
        value in prop::sample::select(VALUES),
        how in 0..4_u8,
    ) {
        all_load_or_are_placed(|text| with_other_line(text, at, value, how));
    }
}
