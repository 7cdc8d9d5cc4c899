//! `tiers/robots/<robot>.toml`: the tools, but for their arguments.

use super::row::{OBSERVE, OVERRIDE, ROVER, Row};
use super::site::{ARM, GO, NEAR, STOP, Seen, VELOCITY, WHERE};
use crate::terms::{Fact, counted};

/// A question of the safety events, whatever the tool is.
const EVENTS: &str = r#"{ tool = "robot_state", args = { since = 1 } }"#;
const CAPABILITIES: &str = r#"{ tool = "robot_capabilities", args = {} }"#;
const RELEASE: &str = r#"{ tool = "robot_release_control", args = {} }"#;
const HOME: &str = r#"{ tool = "rover_go_to_pose", args = { place = "dock" } }"#;

/// `rover_go_to_pose` with named places in place of coordinates.
const PLACE: &str = "{ place = { type = \"string\", unit = \"none\", one_of = \"poses\" } }";

pub(super) fn rows() -> Vec<Row> {
    [
        names(),
        effects(),
        tiers(),
        examples(),
        pace(),
        holds(),
        completion(),
        places(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn go(path: &'static str, to: &'static str) -> Row {
    Row::of(ROVER, path, to)
}

fn names() -> Vec<Row> {
    vec![
        go("tool/rover_go_to_pose/name", "\"rover_walk\"").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "unknown_tool",
        ),
        go("tool/rover_get_pose/verb", "\"vendor.octos.rover.where\"").seen(
            |site| site.calls(&[WHERE]).verbs()[0].clone(),
            "get_pose {} 0",
            "where {} 0",
        ),
        go("tool/robot_state/verb", "\"@safety_events\"")
            .along(
                ROVER,
                "tool/robot_state/args",
                "{ since = { type = \"u64\", unit = \"none\", min = 0, max = 9, required = false } }",
            )
            .seen(|site| site.calls(&[EVENTS]).outcomes(), "schema", "done"),
        // `@stop` may be said again at once; `@estop` latches.
        go("tool/rover_stop/verb", "\"@estop\"").seen(
            |site| site.calls(&[STOP]).end_state(),
            "armed",
            "latched",
        ),
        go("tool/rover_go_to_pose/id", "\"GO-1\"").seen(
            |site| rule(&site.calls(&[r#"{ tool = "rover_go_to_pose", args = { x = 9.0, y = 0.0 } }"#])),
            "RV-02",
            "GO-1",
        ),
        go("tool/rover_go_to_pose/why", "\"Because.\"").seen(
            |site| site.explain("rover_go_to_pose", "{\"x\": 1, \"y\": 0}").decided_by[0].rule.clone(),
            "RV-02: A pose goal has no speed argument: the rover's own limit bounds it, the monitor watches it.",
            "RV-02: Because.",
        ),
        go("tool/rover_go_to_pose/describe", "\"Walk\"").seen(
            |site| site.card("rover_go_to_pose")["description"].to_string(),
            "\"Drive to a point on the map, in metres\"",
            "\"Walk\"",
        ),
        // What was thought out for the success of the first is not run on the same device. On another it
        // is, and finds a robot that still stops.
        go("tool/rover_go_to_pose/device", "\"wheels\"")
            .given(ROVER, "tool/rover_go_to_pose/timeout_ms", "1000")
            .seen(
                |site| site.calls(&[&format!("{GO}, {VELOCITY}")]).outcomes(),
                "timeout, cancelled",
                "timeout, busy",
            ),
        go("tool/rover_go_to_pose/control_source", "").seen(
            |site| site.calls(&[GO]).verb("go_to_pose"),
            r#"go_to_pose {"control_source":"octos-edge","x":1.5,"y":0.0} 0"#,
            r#"go_to_pose {"x":1.5,"y":0.0} 0"#,
        ),
    ]
}

/// The rule by which the first call was refused.
fn rule(seen: &Seen) -> String {
    let rule = seen.first(|fact| {
        if let Fact::Refused { rule, .. } = fact {
            rule.clone()
        } else {
            None
        }
    });
    rule.unwrap_or_default()
}

fn effects() -> Vec<Row> {
    vec![
        // What moves must be armed; what reads must not.
        go("tool/robot_capabilities/effect", "\"config\"")
            .given(
                ROVER,
                "tool/robot_capabilities/tier",
                "\"emergency_override\"",
            )
            .given(ROVER, "max_tier", "\"emergency_override\"")
            .given(OVERRIDE, "approval", "{ mode = \"never\" }")
            .given(OVERRIDE, "effects", "[\"observe\", \"config\"]")
            .seen(
                |site| site.happens("", &[CAPABILITIES]).outcomes(),
                "done",
                "not_armed",
            ),
        go("tool/rover_set_velocity/effect", "\"move\"")
            .along(ROVER, "tool/rover_set_velocity/hold_ms", "")
            .along(ROVER, "tool/rover_set_velocity/max_call_ms", "")
            .seen(
                |site| commands(&site.rover(ARM, &[VELOCITY])),
                "15 commands",
                "1 command",
            ),
        go("tool/rover_stop/effect", "\"observe\"")
            .along(ROVER, "tool/rover_stop/verb", "\"@state\"")
            .along(ROVER, "tool/rover_stop/tier", "\"observe\"")
            .seen(|site| site.calls(&[STOP]).stops(), "model_stop", ""),
    ]
}

fn tiers() -> Vec<Row> {
    let needs = |to: &'static str| go("tool/rover_go_to_pose/tier", to);
    vec![
        needs("\"full_actuation\"").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "robot_tier_gate",
        ),
        go("tool/robot_release_control/tier", "\"observe\"")
            .along(OBSERVE, "effects", "[\"observe\", \"config\"]")
            .seen(
                |site| site.calls(&[RELEASE]).outcomes(),
                "robot_tier_gate",
                "done",
            ),
    ]
}

fn examples() -> Vec<Row> {
    vec![
        go("tool/rover_go_to_pose/allow", "[ { x = 9.0, y = 0.0 } ]").faulty(
            "tool.rover_go_to_pose.allow[0]: the example must pass, and workspace refuses it…",
        ),
        go("tool/rover_go_to_pose/refuse", "[ { x = 1.0, y = 0.0 } ]")
            .faulty("tool.rover_go_to_pose.refuse[0]: the example must be refused, and it passes"),
        go(
            "tool/rover_get_pose/args",
            "{ frame = { type = \"string\", unit = \"none\" } }",
        )
        .along(
            ROVER,
            "tool/rover_get_pose/allow",
            "[ { frame = \"map\" } ]",
        )
        .along(ROVER, "tool/rover_get_pose/refuse", "[ {} ]")
        .seen(|site| site.calls(&[WHERE]).outcomes(), "done", "schema"),
    ]
}

fn pace() -> Vec<Row> {
    vec![
        go("tool/rover_go_to_pose/timeout_ms", "3000").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "timeout",
        ),
        go("tool/rover_go_to_pose/rate_per_s", "100.0").seen(
            |site| site.calls(&[NEAR, NEAR, NEAR]).outcomes(),
            "done, done, rate",
            "done, done, done",
        ),
        go("tool/rover_go_to_pose/burst", "1").seen(
            |site| site.calls(&[NEAR, NEAR]).outcomes(),
            "done, done",
            "done, rate",
        ),
        go("tool/rover_go_to_pose/freshness_ms", "1").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "done, stale_state",
        ),
    ]
}

fn holds() -> Vec<Row> {
    vec![
        go("tool/rover_set_velocity/hold_ms", "1000").seen(
            |site| commands(&site.calls(&[VELOCITY])),
            "15 commands",
            "6 commands",
        ),
        go("tool/rover_set_velocity/max_call_ms", "1000").seen(
            |site| site.calls(&[VELOCITY]).end(),
            "0.6, 0.0",
            "0.2, 0.0",
        ),
        // Without the monitor the bound is what stands for the speed.
        go("tool/rover_go_to_pose/speed_bound", "")
            .given(ROVER, "monitor", "")
            .faulty(
                "tool.rover_go_to_pose.speed_bound: missing: a `move` tool without a speed argument needs it",
            ),
        go("tool/rover_go_to_pose/speed_bound/mps", "0.1").seen(
            |site| format!("{:.1} s", took_s(&site.calls(&[GO]))),
            "6.5 s",
            "14.8 s",
        ),
        go("tool/rover_go_to_pose/speed_bound/source", "\"a guess\"").seen(
            |site| {
                let needs = site.explain("rover_go_to_pose", "{\"x\": 1, \"y\": 0}").needs;
                let mut needs = needs.into_iter();
                needs.find(|need| need.contains("m/s")).unwrap_or_default()
            },
            "a robot that moves at most 0.25 m/s by itself (source: mock-robot, constant SPEED_MAX_MPS)",
            "a robot that moves at most 0.25 m/s by itself (source: a guess)",
        ),
    ]
}

fn commands(seen: &Seen) -> String {
    let sent = seen.count(|fact| matches!(fact, Fact::CommandSent { moves: true, .. }));
    counted(sent, "command")
}

fn took_s(seen: &Seen) -> f64 {
    let took = seen.summary.calls.list[0].took_ms.unwrap();
    f64::from(u32::try_from(took).unwrap()) / 1000.0
}

fn completion() -> Vec<Row> {
    vec![
        // The built-in rover answers when it sets out: the call is over then, and what moves is stopped.
        go("tool/rover_go_to_pose/completion", "\"done\"").seen(
            |site| site.rover(ARM, &[GO]).end(),
            "1.5, 0.0",
            "0.0, 0.0",
        ),
        go("tool/rover_go_to_pose/completion/state", "\"mode\"").seen(
            |site| site.rover(ARM, &[NEAR]).outcomes(),
            "done",
            "timeout",
        ),
        go("tool/rover_go_to_pose/completion/start", "[\"rolling\"]").seen(
            |site| site.rover(ARM, &[NEAR]).outcomes(),
            "done",
            "timeout",
        ),
        go("tool/rover_go_to_pose/completion/ok", "[\"there\"]").seen(
            |site| site.rover(ARM, &[NEAR]).outcomes(),
            "done",
            "timeout",
        ),
        go("tool/rover_go_to_pose/completion/fail", "[\"arrived\"]")
            .along(ROVER, "tool/rover_go_to_pose/completion/ok", "[\"there\"]")
            .seen(|site| site.rover(ARM, &[NEAR]).outcomes(), "done", "failed"),
    ]
}

fn places() -> Vec<Row> {
    let named = |path: &'static str, to: &'static str| {
        go(path, to)
            .given(ROVER, "tool/rover_go_to_pose/args", PLACE)
            .given(
                ROVER,
                "tool/rover_go_to_pose/poses",
                "{ dock = { x = 1.0, y = 0.0 } }",
            )
            .given(
                ROVER,
                "tool/rover_go_to_pose/allow",
                "[ { place = \"dock\" } ]",
            )
            .given(
                ROVER,
                "tool/rover_go_to_pose/refuse",
                "[ { place = \"moon\" } ]",
            )
    };
    vec![
        named("tool/rover_go_to_pose/poses", "{ shelf = { x = 1.0, y = 0.0 } }")
            .along(ROVER, "tool/rover_go_to_pose/allow", "[ { place = \"shelf\" } ]")
            .seen(|site| site.calls(&[HOME]).outcomes(), "done", "schema"),
        named("tool/rover_go_to_pose/poses/dock/x", "0.5").seen(
            |site| site.calls(&[HOME]).end(),
            "1.0, 0.0",
            "0.5, 0.0",
        ),
        named("tool/rover_go_to_pose/poses/dock/y", "0.5").seen(
            |site| site.calls(&[HOME]).end(),
            "1.0, 0.0",
            "1.0, 0.5",
        ),
        named("tool/rover_go_to_pose/poses/dock/z", "2.0")
            .given(ROVER, "workspace/keep_in/0/box", "[-2.0, -2.0, -1.0, 4.0, 4.0, 1.0]")
            .faulty(
                "tool.rover_go_to_pose.poses.dock: the target lies in no permitted area, 0.2 m inside its border",
            ),
    ]
}
