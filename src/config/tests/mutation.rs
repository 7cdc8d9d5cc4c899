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

proptest! {
    #![proptest_config(Config { cases: 200, failure_persistence: None, ..Config::default() })]

    #[test]
    fn changed_bytes_of_any_file_load_or_are_refused_with_a_line(changes in changes()) {
        for nth in 0..TIERS.len() {
            let mut texts = TIERS.map(|text| text.as_bytes().to_vec());
            texts[nth] = changed(TIERS[nth], &changes);
            let [observe, safe, full, emergency] = &texts;
            loads_or_is_placed(Tiers::parse_bytes([observe, safe, full, emergency]).done());
        }
        let robot = changed(ROVER, &changes);
        loads_or_is_placed(RobotFile::parse_bytes(ROVER_FILE, &robot, Some(&tiers())).done());
        let board = changed(BOARD, &changes);
        loads_or_is_placed(Board::parse_bytes(BOARD_FILE, &board).done());
        let scenario = changed(SCENARIO, &changes);
        loads_or_is_placed(Scenario::parse_bytes(SCENARIO_FILE, &scenario).done());
        let policy = changed(POLICY, &changes);
        loads_or_is_placed(PolicyFile::parse_bytes(POLICY_FILE, &policy).done());
    }
}
