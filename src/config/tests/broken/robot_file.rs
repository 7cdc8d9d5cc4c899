//! Broken robot files: everything but the tools.

use super::{Edit, reports};
use crate::config::RobotFile;
use crate::config::tests::{ROVER, ROVER_FILE, tiers};

#[test]
fn a_broken_robot_file_says_why() {
    let edits: &[Edit] = &[
        (
            "another name than the file",
            "robot = \"rover-sim\"",
            "robot = \"rover-two\"",
        ),
        (
            "an unknown highest tier",
            "max_tier = \"safe_motion\"",
            "max_tier = \"safe-motion\"",
        ),
        (
            "goals from the dataflow",
            "advert_unknown",
            "operator_input = \"instruction\"\nadvert_unknown",
        ),
        ("an unknown word", "\"ignore\"", "\"ignored\""),
        ("a waived dead-man", "waive = false", "waive = true"),
        (
            "no dead-man at all",
            "source = \"advert\"",
            "source = \"none\"",
        ),
        ("a dead-man too slow", "fixed_ms = 1000", "fixed_ms = 60000"),
        (
            "a verb without a dot",
            "\"robot.release_control\", args",
            "\"release\", args",
        ),
        (
            "no stop",
            "steps = [ { verb = \"vendor.octos.rover.stop\", args = {}, wait_ms = 200 },\n          { verb = \"robot.estop\", args = { reason = \"octos-edge\" }, retry_empty = true, wait_ms = 200 } ]",
            "steps = []",
        ),
        (
            "a wait too short",
            "args = {}, wait_ms = 200",
            "args = {}, wait_ms = 10",
        ),
        (
            "a truth value in quotes",
            "retry_empty = true",
            "retry_empty = \"true\"",
        ),
        (
            "another stream",
            "standstill = { stream = \"state\"",
            "standstill = { stream = \"status\"",
        ),
        (
            "no path",
            "path = \"nav_status\", any_of",
            "path = \"nav status\", any_of",
        ),
        (
            "home outside",
            "home = [0.0, 0.0, 0.0]",
            "home = [9.0, 0.0, 0.0]",
        ),
        (
            "home in the pit",
            "home = [0.0, 0.0, 0.0]",
            "home = [2.9, 2.4, 0.0]",
        ),
        (
            "home without a height",
            "home = [0.0, 0.0, 0.0]",
            "home = [0.0, 0.0]",
        ),
        (
            "a box inside out",
            "-2.0, -2.0, 0.0, 4.0, 4.0, 0.0",
            "4.0, -2.0, 0.0, -2.0, 4.0, 0.0",
        ),
        (
            "two corners",
            "[[2.0, 2.0], [3.0, 2.0], [3.0, 3.0]]",
            "[[2.0, 2.0], [3.0, 2.0]]",
        ),
        (
            "corners in a line",
            "[[2.0, 2.0], [3.0, 2.0], [3.0, 3.0]]",
            "[[2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]",
        ),
        (
            "box and polygon",
            "{ polygon = ",
            "{ box = [0, 0, 0, 1, 1, 0], polygon = ",
        ),
        (
            "a coordinate that is no number",
            "[3.0, 3.0]], name",
            "[3.0, nan]], name",
        ),
        (
            "a speed by differences",
            "unit = \"m/s\", factor",
            "derive = \"difference\", unit = \"m/s\", factor",
        ),
        ("a factor under one", "factor = 1.2", "factor = 0.9"),
        (
            "a target without a workspace",
            "[workspace]",
            "[work_space]",
        ),
    ];
    let tiers = tiers();
    let report = reports(ROVER, edits, |text| {
        RobotFile::parse(ROVER_FILE, text, &tiers).map(drop)
    });
    insta::assert_snapshot!(report);
}
