//! `dataflows/scenarios/<name>.toml`: a tier that the operator raises, and the terminal that holds it.

use super::row::{FULL, PLAY, Row};
use super::site::{GRIP, Site};
use crate::terms::Fact;

/// Raises the tier for the gripper, as the second thing that the operator does.
const RAISED: &str = r#"{ when = "ready", operator = { do = "elevate", why = "a test", tier = "full_actuation", tools = ["rover_gripper_set"], calls = 3, for_s = 60 } }"#;
/// The same, for a tool of the highest tier.
const RELEASED: &str = r#"{ when = "ready", operator = { do = "elevate", why = "a test", tier = "full_actuation", tools = ["robot_release_control"], calls = 3, for_s = 60 } }"#;

pub(super) fn rows() -> Vec<Row> {
    let row = |path: &'static str, to: &'static str| {
        gripping(Row::of(PLAY, path, to)).given(PLAY, "event/1", RAISED)
    };
    let outcomes = |site: &Site| site.rehearse().outcomes();
    vec![
        gripping(Row::of(PLAY, "event/1/operator/do", "\"elevate\""))
            .given(PLAY, "event/1/when", "\"ready\"")
            .along(PLAY, "event/1/operator/tier", "\"full_actuation\"")
            .along(PLAY, "event/1/operator/tools", "[\"rover_gripper_set\"]")
            .along(PLAY, "event/1/operator/calls", "3")
            .along(PLAY, "event/1/operator/for_s", "60")
            .seen(outcomes, "robot_tier_gate", "done"),
        Row::of(PLAY, "event/1/operator/do", "\"hang_up\"")
            .along(PLAY, "event/1/operator/why", "")
            .seen(
                |site| site.rehearse().operator(),
                "met: so they were",
                "not met: hang_up: no terminal is open",
            ),
        row("event/1/operator/tier", "\"safe_motion\"").seen(outcomes, "done", "robot_tier_gate"),
        row("event/1/operator/tier", "\"observe\"").seen(outcomes, "done", "robot_tier_gate"),
        Row::of(PLAY, "event/1/operator/tier", "\"emergency_override\"")
            .given(PLAY, "event/1", RELEASED)
            .seen(
                |site| site.rehearse().operator(),
                "not met: elevate refused: `robot_release_control` needs the tier \
                 emergency_override, above full_actuation",
                "met: so they were",
            ),
        row("event/1/operator/tools", "[\"robot_release_control\"]").seen(
            outcomes,
            "done",
            "robot_tier_gate",
        ),
        row("event/1/operator/calls", "5").seen(left, "2", "4"),
    ]
}

/// The model uses the gripper, which is above the ceiling, and nobody is asked.
fn gripping(row: Row) -> Row {
    row.given(FULL, "approval", "{ mode = \"never\" }")
        .given(PLAY, "turn/0/call/0", GRIP)
}

/// The calls that are left behind the first one.
fn left(site: &Site) -> String {
    let used = |fact: &Fact| {
        if let Fact::ElevationUsed { left, .. } = fact {
            Some(left.to_string())
        } else {
            None
        }
    };
    site.rehearse().first(used).unwrap_or_default()
}
