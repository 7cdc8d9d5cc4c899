//! Files of every kind: the shipped ones, fuller ones, and broken ones.

use super::broken::part;
use super::{
    BOARD, BOARD_FILE, POLICY, POLICY_FILE, ROVER, ROVER_FILE, SCENARIO, SCENARIO_FILE, TIERS,
};
use crate::config::FileKind;
use crate::terms::Tier;

/// A tool that names places: the shipped rover has none.
const NAMED_GOAL: &str = r#"
[[tool]]
name = "rover_go_home"
verb = "vendor.octos.rover.go_home"
id = "RV-90"
why = "A named goal has its pose in this file."
tier = "safe_motion"
effect = "move"
describe = "Drive to a named place"
device = "wheels"
timeout_ms = 20000
rate_per_s = 0.5
burst = 1
freshness_ms = 400
speed_bound = { mps = 0.2, source = "test" }
poses = { dock = { x = 0.5, y = 0.5 }, shelf = { x = 1.0, y = -1.0, z = 0.0 } }
allow = [ { place = "dock" } ]
refuse = [ { place = "moon" } ]
[tool.args]
place = { type = "string", unit = "none", one_of = "poses" }
mode = { type = "u64", unit = "none", const = 3 }
"#;

/// Every fault, and an event at each kind of moment.
const EVENTS: &str = r#"
[[event]]
when = { after_ms = 1000 }
operator = { do = "estop", why = "test" }
[[event]]
when = { answered = 2 }
operator = { do = "arm", why = "test", for_s = 5 }
[[event]]
when = "ready"
operator = { do = "elevate", why = "test", tier = "full_actuation", tools = ["rover_gripper_set"], calls = 2, for_s = 5 }
[[event]]
when = { answered = 3 }
operator = { do = "hang_up" }
[[fault]]
when = "ready"
do = "lose_requests"
count = 3
verb = "robot.estop"
[[fault]]
when = { after_ms = 5 }
do = "lose_states"
per_mille = 100
[[fault]]
when = "ready"
do = "late_answers"
by_ms = 20
[[fault]]
when = "ready"
do = "frozen_agent"
for_ms = 20
[[fault]]
when = "ready"
do = "drift"
x = 1.0
y = -1.0
"#;

/// The shipped files of a kind, and fuller ones, each with its name.
pub(in crate::config) fn of_kind(kind: FileKind) -> Vec<(String, String)> {
    let one = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    match kind {
        FileKind::Tier => Tier::ALL
            .into_iter()
            .zip(TIERS)
            .map(|(tier, text)| one(&format!("tiers/{tier}.toml"), text))
            .collect(),
        FileKind::Robot => {
            let full = ROVER.replace("robot = \"rover-sim\"", "robot = \"full\"\nid = \"full-1\"");
            vec![
                one(ROVER_FILE, ROVER),
                one("tiers/robots/full.toml", &format!("{full}{NAMED_GOAL}")),
            ]
        }
        FileKind::Board => vec![one(BOARD_FILE, BOARD)],
        FileKind::Policy => vec![one(POLICY_FILE, POLICY)],
        FileKind::Scenario => {
            let full = SCENARIO.replace("name = \"rover-gate\"", "name = \"full\"");
            vec![
                one(SCENARIO_FILE, SCENARIO),
                one("dataflows/scenarios/full.toml", &format!("{full}{EVENTS}")),
            ]
        }
    }
}

/// Every edit of `broken/`: the kind of its file, its title, and the broken text.
pub(in crate::config) fn edits() -> Vec<(FileKind, String, String)> {
    let [observe, safe, full, emergency] = TIERS;
    let all = [
        (
            FileKind::Tier,
            observe,
            include_str!("broken/observe.edits"),
        ),
        (
            FileKind::Tier,
            safe,
            include_str!("broken/safe_motion.edits"),
        ),
        (
            FileKind::Tier,
            full,
            include_str!("broken/full_actuation.edits"),
        ),
        (
            FileKind::Tier,
            emergency,
            include_str!("broken/emergency_override.edits"),
        ),
        (FileKind::Robot, ROVER, include_str!("broken/robot.edits")),
        (FileKind::Robot, ROVER, include_str!("broken/tool.edits")),
        (
            FileKind::Robot,
            ROVER,
            include_str!("broken/argument.edits"),
        ),
        (FileKind::Board, BOARD, include_str!("broken/board.edits")),
        (
            FileKind::Scenario,
            SCENARIO,
            include_str!("broken/scenario.edits"),
        ),
        (
            FileKind::Policy,
            POLICY,
            include_str!("broken/policy.edits"),
        ),
    ];
    let mut broken = Vec::new();
    for (kind, good, edits) in all {
        for edit in edits.split("## ").skip(1) {
            let edit = edit.trim_end();
            let title = edit.lines().next().unwrap_or_default().to_owned();
            broken.push((
                kind,
                title,
                good.replace(&part(edit, '-'), &part(edit, '+')),
            ));
        }
    }
    broken
}
