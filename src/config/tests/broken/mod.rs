//! Broken files: a good text, one edit, and the whole report in a snapshot.
//!
//! An `.edits` file holds the edits of one good text, each as `## what is wrong`, then the text that
//! goes (`-`) and the text that comes (`+`). The snapshots are the specification of the reports: file,
//! line, key, what was found and what is allowed, and the way out.

use std::fmt::Write as _;

use super::{
    BOARD, BOARD_FILE, EMERGENCY_OVERRIDE, FAULTS, FAULTS_FILE, FULL_ACTUATION, OBSERVE, POLICY,
    POLICY_FILE, ROVER, ROVER_FILE, SAFE_MOTION, SCENARIO, SCENARIO_FILE, TIERS, tiers,
};
use crate::config::{Board, ConfigErrors, PolicyFile, RobotFile, Scenario, Tiers};

/// Breaks `good` by each edit and returns all reports, after judging what each must have.
fn reports(good: &str, edits: &str, load: impl Fn(&str) -> Result<(), ConfigErrors>) -> String {
    load(good).unwrap_or_else(|faults| panic!("the good text is broken:\n{faults}"));
    let mut all = String::new();
    for edit in edits.split("## ").skip(1) {
        let edit = edit.trim_end();
        let goes = part(edit, '-');
        assert_eq!(
            good.matches(&goes).count(),
            1,
            "must edit one place: {edit}"
        );
        let Err(faults) = load(&good.replace(&goes, &part(edit, '+'))) else {
            panic!("loads: {edit}");
        };
        for fault in faults.faults() {
            assert!(fault.place.line > 0, "{fault} has no line");
            assert!(!fault.hint.is_empty(), "{fault} has no way out");
            assert!(
                !fault.problem.ends_with('.'),
                "{fault} ends with a full stop"
            );
        }
        writeln!(all, "## {edit}\n\n{faults}\n").unwrap();
    }
    all
}

/// Returns the lines of an edit that begin with `sign`, without it.
pub(super) fn part(edit: &str, sign: char) -> String {
    let lines: Vec<&str> = edit
        .lines()
        .filter_map(|line| line.strip_prefix(sign))
        .collect();
    lines.join("\n")
}

/// Loads the four tier files with another text for one of them.
fn with_tier(nth: usize) -> impl Fn(&str) -> Result<(), ConfigErrors> {
    move |text| {
        let mut texts = TIERS;
        texts[nth] = text;
        Tiers::parse(texts).map(drop)
    }
}

fn robot(text: &str) -> Result<(), ConfigErrors> {
    RobotFile::parse(ROVER_FILE, text, &tiers()).map(drop)
}

#[test]
fn broken_tier_files_say_why() {
    let safe_motion = reports(SAFE_MOTION, include_str!("safe_motion.edits"), with_tier(1));
    insta::assert_snapshot!("safe_motion", safe_motion);
    let observe = reports(OBSERVE, include_str!("observe.edits"), with_tier(0));
    insta::assert_snapshot!("observe", observe);
    let full = reports(
        FULL_ACTUATION,
        include_str!("full_actuation.edits"),
        with_tier(2),
    );
    insta::assert_snapshot!("full_actuation", full);
    let emergency = reports(
        EMERGENCY_OVERRIDE,
        include_str!("emergency_override.edits"),
        with_tier(3),
    );
    insta::assert_snapshot!("emergency_override", emergency);
}

#[test]
fn broken_robot_files_say_why() {
    insta::assert_snapshot!("robot", reports(ROVER, include_str!("robot.edits"), robot));
}

#[test]
fn broken_tools_say_why() {
    insta::assert_snapshot!("tool", reports(ROVER, include_str!("tool.edits"), robot));
}

#[test]
fn broken_arguments_say_why() {
    insta::assert_snapshot!(
        "argument",
        reports(ROVER, include_str!("argument.edits"), robot)
    );
}

#[test]
fn broken_board_files_say_why() {
    let load = |text: &str| Board::parse(BOARD_FILE, text).map(drop);
    insta::assert_snapshot!("board", reports(BOARD, include_str!("board.edits"), load));
}

#[test]
fn broken_scenario_files_say_why() {
    let load = |text: &str| Scenario::parse(SCENARIO_FILE, text).map(drop);
    insta::assert_snapshot!(
        "scenario",
        reports(SCENARIO, include_str!("scenario.edits"), load)
    );
}

#[test]
fn broken_faults_say_why() {
    let load = |text: &str| Scenario::parse(FAULTS_FILE, text).map(drop);
    insta::assert_snapshot!("fault", reports(FAULTS, include_str!("fault.edits"), load));
}

#[test]
fn broken_policy_files_say_why() {
    let load = |text: &str| PolicyFile::parse(POLICY_FILE, text).map(drop);
    insta::assert_snapshot!(
        "policy",
        reports(POLICY, include_str!("policy.edits"), load)
    );
}
