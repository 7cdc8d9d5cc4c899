//! `tiers/robots/<robot>.toml`: the robot itself, its dead-man, its release and its monitor.

use super::row::{ROVER, Row, SAFE};
use super::site::{ARM, GO, GRIP, Play, Site, Speaks};
use crate::app::parts::Mind;
use crate::sim::JournalEntry;
use crate::terms::Fact;

const RELEASE: &str = r#"{ tool = "robot_release_control", args = {} }"#;
/// Signs of life get lost on the way.
const MUTE: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = { moved_m = 0.2 }, do = "lose_requests", verb = "robot.heartbeat", count = 1000 } ]"#;

pub(super) fn rows() -> Vec<Row> {
    [what_it_is(), deadman(), release(), monitor()]
        .into_iter()
        .flatten()
        .collect()
}

fn what_it_is() -> Vec<Row> {
    let tier = |to: &'static str| Row::of(ROVER, "max_tier", to);
    vec![
        Row::of(ROVER, "schema", "2")
            .faulty("schema: found `2`, needs `1`, the only schema of this release"),
        Row::of(ROVER, "robot", "\"rover\"")
            .faulty("robot: found the text \"rover\", needs the name of its file, `rover-sim`"),
        Row::of(ROVER, "id", "\"rover-7\"").seen(
            |site| {
                let seen = site.calls(&[]);
                let id = |fact: &Fact| {
                    if let Fact::Started { robot_id, .. } = fact {
                        Some(robot_id.clone())
                    } else {
                        None
                    }
                };
                seen.first(id).unwrap()
            },
            "rover-sim-001",
            "rover-7",
        ),
        Row::of(ROVER, "title", "\"A lawn mower\"").seen(
            prompt,
            "Robot: Simulated two-wheel rover with a gripper",
            "Robot: A lawn mower",
        ),
        tier("\"observe\"").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "robot_tier_gate",
        ),
        tier("\"full_actuation\"").seen(
            |site| site.calls(&[GRIP]).outcomes(),
            "robot_tier_gate",
            "approval_unavailable",
        ),
        tier("\"emergency_override\"").seen(
            |site| site.calls(&[RELEASE]).outcomes(),
            "robot_tier_gate",
            "approval_unavailable",
        ),
        Row::of(ROVER, "advert_unknown", "\"report\"").seen(
            |site| {
                let seen = site.calls(&[]);
                seen.count(|fact| matches!(fact, Fact::AdvertUnknown { count: 1 }))
                    .to_string()
            },
            "0",
            "1",
        ),
    ]
}

/// What the model is told about the robot.
fn prompt(site: &Site) -> String {
    let prompt = Mind::of(&site.load().unwrap(), None).system();
    let mut lines = prompt.lines();
    lines
        .find(|line| line.starts_with("Robot:"))
        .unwrap()
        .to_owned()
}

fn deadman() -> Vec<Row> {
    vec![
        Row::of(ROVER, "deadman/source", "\"fixed\"").seen(
            armed_by_a_robot_that_tells_no_time,
            "not met: arm refused: …",
            "met: so they were",
        ),
        Row::of(ROVER, "deadman/source", "\"none\"")
            .faulty("deadman: source is `none`, and a tool moves the robot"),
        Row::of(ROVER, "deadman/fixed_ms", "400").seen(
            |site| {
                let seen = site.happens(MUTE, &[GO]);
                let silent = seen.journal.iter().find_map(|entry| {
                    if let JournalEntry::DeadMan { silent_ms, .. } = entry {
                        Some(*silent_ms)
                    } else {
                        None
                    }
                });
                format!("fires after {} ms", silent.unwrap() / 100 * 100)
            },
            "fires after 1000 ms",
            "fires after 400 ms",
        ),
        Row::of(ROVER, "deadman/waive", "true")
            .faulty("deadman.waive: found `true`, needs `false`"),
    ]
}

/// Whether the operator can arm a robot whose advert says nothing about its dead-man.
fn armed_by_a_robot_that_tells_no_time(site: &Site) -> String {
    let mute = Play {
        happens: ARM,
        speaks: Speaks::Mute,
        ..Play::default()
    };
    site.plays(&mute, &[]).operator()
}

fn release() -> Vec<Row> {
    vec![
        Row::of(ROVER, "release", "").seen(
            |site| site.calls(&[GO]).verb("robot."),
            r#"robot.release_control {"control_source":"octos-edge"} 0"#,
            "",
        ),
        Row::of(ROVER, "release/verb", "\"robot.let_go\"").seen(
            |site| site.calls(&[GO]).verb("robot."),
            r#"robot.release_control {"control_source":"octos-edge"} 0"#,
            r#"robot.let_go {"control_source":"octos-edge"} 0"#,
        ),
        Row::of(
            ROVER,
            "release/args",
            "{ control_source = \"octos-edge\", quiet = true }",
        )
        .seen(
            |site| site.calls(&[GO]).verb("robot."),
            r#"robot.release_control {"control_source":"octos-edge"} 0"#,
            r#"robot.release_control {"control_source":"octos-edge","quiet":true} 0"#,
        ),
    ]
}

fn monitor() -> Vec<Row> {
    // The rover drives faster than its file says.
    let fast = |path: &'static str, to: &'static str| {
        Row::of(ROVER, path, to)
            .given(SAFE, "ceilings/linear_speed_mps", "0.15")
            .given(ROVER, "tool/rover_go_to_pose/speed_bound/mps", "0.1")
            .given(
                ROVER,
                "tool/rover_set_velocity/allow",
                "[ { linear = 0.1, angular = 0.0 } ]",
            )
    };
    vec![
        fast("monitor", "").seen(too_fast, "is stopped", "goes on"),
        Row::of(ROVER, "monitor/speed/stream", "\"odometry\"")
            .faulty("monitor.speed.stream: found the text \"odometry\", needs `state`"),
        fast("monitor/speed/path", "\"pace\"").seen(too_fast, "is stopped", "goes on"),
        Row::of(ROVER, "monitor/speed/unit", "\"km/h\"")
            .faulty("monitor.speed.unit: found the text \"km/h\", needs `m/s`"),
        fast("monitor/speed/factor", "2.0").seen(too_fast, "is stopped", "goes on"),
    ]
}

/// Whether the built-in rover, which drives as it likes, is stopped for its speed.
fn too_fast(site: &Site) -> String {
    let stops = site.rover(ARM, &[GO]).stops();
    let stopped = stops.contains("overspeed");
    if stopped { "is stopped" } else { "goes on" }.to_owned()
}
