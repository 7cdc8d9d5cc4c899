//! Broken board, scenario and policy files.

use super::{Edit, reports};
use crate::config::tests::{BOARD, BOARD_FILE, POLICY, POLICY_FILE, SCENARIO, SCENARIO_FILE};
use crate::config::{Board, PolicyFile, Scenario};

#[test]
fn a_broken_board_file_says_why() {
    let edits: &[Edit] = &[
        ("another id than the file", "id = \"sim\"", "id = \"pi-5\""),
        ("no threads", "tokio_workers = 2", "tokio_workers = 0"),
        (
            "a tick too slow",
            "safety_tick_ms = 10",
            "safety_tick_ms = 51",
        ),
        (
            "a lock-up before a late tick",
            "lockup_ms = 1000",
            "lockup_ms = 500",
        ),
        (
            "facts of later releases",
            "id = \"sim\"",
            "id = \"sim\"\nbackend = \"sim\"\npins = []",
        ),
        (
            "an unknown key in the system",
            "jitter_ms = 500",
            "jitter_ms = 500, cores = 2",
        ),
        ("no system", "system = {", "sistem = {"),
    ];
    let report = reports(BOARD, edits, |text| {
        Board::parse(BOARD_FILE, text).map(drop)
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_broken_scenario_file_says_why() {
    let edits: &[Edit] = &[
        (
            "another name than the file",
            "name = \"rover-gate\"",
            "name = \"gate\"",
        ),
        (
            "a robot that is a path",
            "robot = \"rover-sim\"",
            "robot = \"../rover\"",
        ),
        (
            "a dataflow that is a path",
            "dataflow = \"rover-sim.yml\"",
            "dataflow = \"/etc/x.yml\"",
        ),
        ("a negative seed", "seed = 7", "seed = -7"),
        ("no end", "limit_s = 30", "limit_s = 3601"),
        (
            "an empty goal",
            "goal = \"Drive to the mark, open the gripper, come to rest.\"",
            "goal = \"\"",
        ),
        ("answers", "answers = []", "answers = [\"approve\"]"),
        (
            "a condition that is none",
            "when = { moved_m = 0.8 }",
            "when = { moved_m = 0.8, after_ms = 5 }",
        ),
        (
            "a moment that is none",
            "when = \"ready\"",
            "when = \"read\"",
        ),
        ("an order that is none", "do = \"stop\"", "do = \"halt\""),
        (
            "a stop for a time",
            "do = \"stop\"",
            "for_s = 3, do = \"stop\"",
        ),
        ("an arming for ever", ", for_s = 30", ""),
        (
            "a call without arguments",
            ", args = { x = 1.5, y = 0.0 } }",
            "}",
        ),
        ("a list that is a table", "call = []", "call = {}"),
        (
            "an unknown reason",
            "reason = \"robot_tier_gate\"",
            "reason = \"tier_gate\"",
        ),
        ("an unknown asker", "by = \"operator\"", "by = \"fleet\""),
        (
            "a truth value that is a number",
            "standstill = true",
            "standstill = 1",
        ),
        ("a range upside down", "x = [0.3, 1.5]", "x = [1.5, 0.3]"),
        (
            "a range of three",
            "y = [-0.2, 0.2]",
            "y = [-0.2, 0.2, 0.3]",
        ),
        (
            "an unknown state",
            "end_state = \"armed\"",
            "end_state = \"rearmed\"",
        ),
    ];
    let report = reports(SCENARIO, edits, |text| {
        Scenario::parse(SCENARIO_FILE, text).map(drop)
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_broken_policy_file_says_why() {
    let edits: &[Edit] = &[
        (
            "an unknown tier",
            "group:robot:safe_motion",
            "group:robot:fast",
        ),
        ("a later group", "group:robot:safe_motion", "group:search"),
        ("a pattern", "=rover_stop", "rover_*"),
        ("a name that is none", "=rover_stop", "=rover stop"),
        ("a number", "\"=rover_stop\"", "7"),
        ("a later key", "[policy]", "[policy]\nask = []"),
        (
            "a later section",
            "[policy]",
            "[model]\nname = \"x\"\n[policy]",
        ),
        ("a later layer", "deny =", "profile = {}\ndeny ="),
        ("an unknown key", "deny =", "dney = []\nblock ="),
    ];
    let report = reports(POLICY, edits, |text| {
        PolicyFile::parse(POLICY_FILE, text).map(drop)
    });
    insta::assert_snapshot!(report);
}
