//! `tiers/robots/<robot>.toml`: the arguments of a tool, but for their kinds.

use super::row::{ROVER, Row};
use super::site::VELOCITY;

const FLAG: &str = r#"{ tool = "robot_capabilities", args = { all = true } }"#;

fn linear(key: &'static str, to: &'static str) -> Row {
    Row::of(ROVER, key, to)
}

pub(super) fn rows() -> Vec<Row> {
    [types(), limits(), given_or_not()]
        .into_iter()
        .flatten()
        .collect()
}

/// A read with one argument of a type that the row changes.
fn typed(to: &'static str, given: &'static str) -> Row {
    Row::of(ROVER, "tool/robot_capabilities/args/all/type", to)
        .given(ROVER, "tool/robot_capabilities/args", given)
        .given(ROVER, "tool/robot_capabilities/refuse", "[ { all = [] } ]")
        .given(ROVER, "tool/robot_capabilities/allow", "[ {} ]")
}

fn types() -> Vec<Row> {
    vec![
        typed(
            "\"string\"",
            "{ all = { type = \"bool\", unit = \"none\", required = false } }",
        )
        .seen(|site| site.calls(&[FLAG]).outcomes(), "done", "schema"),
        typed(
            "\"u64\"",
            "{ all = { type = \"f64\", unit = \"none\", required = false } }",
        )
        .seen(
            |site| {
                let half = r#"{ tool = "robot_capabilities", args = { all = 0.5 } }"#;
                site.calls(&[half]).outcomes()
            },
            "done",
            "schema",
        ),
        typed(
            "\"i64\"",
            "{ all = { type = \"u64\", unit = \"none\", required = false } }",
        )
        .seen(
            |site| {
                let less = r#"{ tool = "robot_capabilities", args = { all = -1 } }"#;
                site.calls(&[less]).outcomes()
            },
            "schema",
            "done",
        ),
        Row::of(ROVER, "tool/rover_gripper_set/args/opening/unit", "\"cm\"").seen(
            |site| site.card("rover_gripper_set")["limits"][1].to_string(),
            "\"opening 0 to 0.08 m\"",
            "\"opening 0 to 0.08 cm\"",
        ),
        Row::of(
            ROVER,
            "tool/rover_gripper_set/args/opening/free",
            "\"how wide\"",
        )
        .seen(
            |site| {
                site.card("rover_gripper_set")["parameters"]["properties"]["opening"]["description"]
                    .to_string()
            },
            "\"width between the fingers; min and max are the mechanical stops: 0 to 0.08 m\"",
            "\"how wide: 0 to 0.08 m\"",
        ),
    ]
}

fn limits() -> Vec<Row> {
    const BACK: &str =
        r#"{ tool = "rover_set_velocity", args = { linear = -0.15, angular = 0.0 } }"#;
    const AHEAD: &str =
        r#"{ tool = "rover_set_velocity", args = { linear = 0.22, angular = 0.0 } }"#;
    const WHIRL: &str =
        r#"{ tool = "rover_set_velocity", args = { linear = 0.1, angular = 2.0 } }"#;
    vec![
        linear("tool/rover_set_velocity/args/linear/min", "-0.1").seen(
            |site| site.calls(&[BACK]).outcomes(),
            "done",
            "limit",
        ),
        linear("tool/rover_set_velocity/args/linear/max", "0.2").seen(
            |site| site.calls(&[AHEAD]).outcomes(),
            "done",
            "limit",
        ),
        linear("tool/rover_set_velocity/args/linear/max_step", "0.2").seen(
            |site| site.calls(&[AHEAD]).outcomes(),
            "done",
            "limit",
        ),
        linear(
            "tool/rover_set_velocity/args/angular/on_limit",
            "\"reject\"",
        )
        .seen(|site| site.calls(&[WHIRL]).outcomes(), "done", "limit"),
    ]
}

fn given_or_not() -> Vec<Row> {
    const LINEAR: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.1 } }"#;
    vec![
        linear("tool/rover_set_velocity/args/angular/required", "false")
            .along(ROVER, "tool/rover_set_velocity/refuse", "[ { linear = 99.0, angular = 0.0 } ]")
            .seen(|site| site.calls(&[LINEAR]).outcomes(), "schema", "done"),
        linear("tool/rover_set_velocity/args/quiet/const", "false")
            .given(
                ROVER,
                "tool/rover_set_velocity/args/quiet",
                "{ type = \"bool\", unit = \"none\", const = true }",
            )
            .seen(
                |site| site.calls(&[VELOCITY]).verb("set_velocity"),
                r#"set_velocity {"angular":0.0,"control_source":"octos-edge","linear":0.2,"quiet":true} 0"#,
                r#"set_velocity {"angular":0.0,"control_source":"octos-edge","linear":0.2,"quiet":false} 0"#,
            ),
        linear("tool/rover_go_to_pose/args/x/one_of", "\"poses\"").faulty("tool.rover_go_to_pose.poses: missing, and an argument names one…"),
    ]
}
