//! `tiers/robots/<robot>.toml`: where the robot may be.

use super::row::{ROVER, Row};
use super::site::{ARM, GO, Site};
use crate::sim::JournalEntry;

/// Into the pit of the shipped file.
const PIT: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.6, y = 2.2 } }"#;
/// Within reach, 0.3 m inside the border of the shipped file.
const BORDER: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.0, y = -1.7 } }"#;

pub(super) fn rows() -> Vec<Row> {
    let mut rows = what_is_seen();
    rows.extend(areas());
    rows
}

fn what_is_seen() -> Vec<Row> {
    vec![
        Row::of(ROVER, "workspace", "")
            .faulty("tool.rover_go_to_pose.args.x.kind: `target_x` needs a [workspace]…"),
        Row::of(ROVER, "workspace/frame", "\"hall\"").seen(
            |site| {
                site.card("rover_go_to_pose")["parameters"]["properties"]["x"]["description"]
                    .to_string()
            },
            "\"target x: -10 to 10 m, in the frame `map` and inside the workspace\"",
            "\"target x: -10 to 10 m, in the frame `hall` and inside the workspace\"",
        ),
        Row::of(ROVER, "workspace/source/stream", "\"odometry\"")
            .faulty("workspace.source.stream: found the text \"odometry\", needs `state`"),
        Row::of(ROVER, "workspace/source/path", "\"place\"").seen(
            |site| {
                let outcomes = site.rover(ARM, &[GO]).outcomes();
                if outcomes == "done" {
                    "drives"
                } else {
                    "stands"
                }
                .to_owned()
            },
            "drives",
            "stands",
        ),
        Row::of(ROVER, "workspace/source/max_age_ms", "1").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "not_armed",
        ),
        Row::of(ROVER, "workspace/home", "[1.0, 0.5, 0.0]").seen(start, "0, 0.0", "1, 0.5"),
    ]
}

fn areas() -> Vec<Row> {
    let area = |path: &'static str, to: &'static str| Row::of(ROVER, path, to);
    vec![
        area(
            "workspace/keep_in",
            "[ { box = [-1.0, -1.0, 0.0, 1.3, 1.0, 0.0] } ]",
        )
        .seen(|site| site.calls(&[GO]).outcomes(), "done", "workspace"),
        area(
            "workspace/keep_in/0/box",
            "[-1.0, -1.0, 0.0, 1.3, 1.0, 0.0]",
        )
        .seen(|site| site.calls(&[GO]).outcomes(), "done", "workspace"),
        area(
            "workspace/keep_in/0/polygon",
            "[[-1.0, -1.0], [1.4, -1.0], [1.4, 1.0], [-1.0, 1.0]]",
        )
        .given(
            ROVER,
            "workspace/keep_in/0",
            "{ polygon = [[-1.0, -1.0], [4.0, -1.0], [4.0, 1.0], [-1.0, 1.0]] }",
        )
        .seen(|site| site.calls(&[GO]).outcomes(), "done", "workspace"),
        area("workspace/keep_in/0/name", "\"yard\"")
            .seen(
                |site| site.calls(&[BORDER]).refusal(),
                "the target lies in no permitted area, 0.5 m inside its border",
                "the target lies in no permitted area (`yard`), 0.5 m inside its border",
            )
            .given(ROVER, "workspace/margin_m", "0.5"),
        area("workspace/keep_out", "").seen(
            |site| site.calls(&[PIT]).refusal(),
            "the target lies in the forbidden area `pit`…",
            "the target is 3.41 m from the robot, permitted are 3 m",
        ),
        area(
            "workspace/keep_out/0/box",
            "[1.2, -0.5, 0.0, 1.9, 0.5, 0.0]",
        )
        .given(
            ROVER,
            "workspace/keep_out/0",
            "{ box = [3.0, 3.0, 0.0, 4.0, 4.0, 0.0] }",
        )
        .seen(|site| site.calls(&[GO]).outcomes(), "done", "workspace"),
        area(
            "workspace/keep_out/0/polygon",
            "[[1.2, -0.5], [1.9, -0.5], [1.9, 0.5]]",
        )
        .seen(|site| site.calls(&[GO]).outcomes(), "done", "workspace"),
        area("workspace/keep_out/0/name", "\"stairs\"").seen(
            |site| site.calls(&[PIT]).refusal(),
            "the target lies in the forbidden area `pit`…",
            "the target lies in the forbidden area `stairs`…",
        ),
        area("workspace/margin_m", "0.5").seen(
            |site| site.calls(&[BORDER]).outcomes(),
            "done",
            "workspace",
        ),
    ]
}

/// Where the simulated robot begins.
fn start(site: &Site) -> String {
    let seen = site.calls(&[GO]);
    let place = seen.journal.iter().find_map(JournalEntry::place);
    let [x, y] = place.unwrap();
    format!("{x:.0}, {y:.1}")
}
