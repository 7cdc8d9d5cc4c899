//! `tiers/robots/<robot>.toml`: the kinds of quantities. Each is bounded by a ceiling of its own.

use super::row::{FULL, ROVER, Row, SAFE};
use super::site::GRIP;

pub(super) fn rows() -> Vec<Row> {
    let mut rows = bounded();
    rows.extend(targets());
    rows
}

/// The gripper's number of 30 is within the ceiling of its kind, 40, and beyond that of the other.
fn bounded() -> Vec<Row> {
    let kinds = [
        ("ceilings/linear_speed_mps", "\"linear_speed\"", "\"m/s\""),
        (
            "ceilings/angular_speed_radps",
            "\"angular_speed\"",
            "\"rad/s\"",
        ),
        ("ceilings/joint_speed_radps", "\"joint_speed\"", "\"rad/s\""),
        ("ceilings/force_n", "\"force\"", "\"N\""),
        ("ceilings/distance_m", "\"distance\"", "\"m\""),
        ("ceilings/height_m", "\"height\"", "\"m\""),
        ("ceilings/duration_ms", "\"duration\"", "\"ms\""),
    ];
    let row = |(ceiling, kind, unit): (&'static str, &'static str, &'static str)| {
        Row::of(ROVER, "tool/rover_gripper_set/args/force/kind", kind)
            .given(FULL, ceiling, "20.0")
            .given(SAFE, "ceilings/duration_ms", "20.0")
            .given(FULL, "approval", "{ mode = \"never\" }")
            .given(ROVER, "max_tier", "\"full_actuation\"")
            .along(ROVER, "tool/rover_gripper_set/args/force/unit", unit)
            .seen(|site| site.calls(&[GRIP]).outcomes(), "done", "limit")
    };
    kinds.into_iter().map(row).collect()
}

/// Axes that are changed for one another lead to another place: out of the pit, which lies beside the
/// diagonal, and to a height that the workspace does not have.
fn targets() -> Vec<Row> {
    const PIT: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.6, y = 2.2 } }"#;
    const HIGH: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0, z = 0.9 } }"#;
    vec![
        Row::of(ROVER, "tool/rover_go_to_pose/args/x/kind", "\"target_y\"")
            .along(ROVER, "tool/rover_go_to_pose/args/y/kind", "\"target_x\"")
            .given(SAFE, "ceilings/distance_m", "5.0")
            .given(
                ROVER,
                "tool/rover_go_to_pose/refuse",
                "[ { x = 9.0, y = 9.0 } ]",
            )
            .seen(|site| site.calls(&[PIT]).outcomes(), "workspace", "done"),
        Row::of(ROVER, "tool/rover_go_to_pose/args/z/kind", "\"target_z\"")
            .given(SAFE, "ceilings/height_m", "5.0")
            .given(FULL, "ceilings/height_m", "5.0")
            .given(
                ROVER,
                "tool/rover_go_to_pose/args/z",
                "{ type = \"f64\", unit = \"m\", kind = \"height\" }",
            )
            .given(
                ROVER,
                "workspace/keep_in/0/box",
                "[-2.0, -2.0, -0.5, 4.0, 4.0, 0.5]",
            )
            .given(
                ROVER,
                "tool/rover_go_to_pose/allow",
                "[ { x = 1.0, y = 0.5, z = 0.0 } ]",
            )
            .seen(|site| site.calls(&[HIGH]).outcomes(), "done", "workspace"),
    ]
}
