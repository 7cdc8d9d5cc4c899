//! `octos-edge.toml`.

use super::row::{POLICY, Row};
use super::site::{GO, WHERE};

pub(super) fn rows() -> Vec<Row> {
    let rule = |path: &'static str, to: &'static str| Row::of(POLICY, path, to);
    vec![
        rule("schema", "2").faulty("schema: found `2`, needs `1`, the only schema of this release"),
        rule("policy/allow", "[]").seen(
            |site| site.calls(&[WHERE]).outcomes(),
            "done",
            "policy_deny",
        ),
        rule("policy/allow", "[\"group:robot:observe\"]").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "done, robot_tier_gate",
        ),
        rule("policy/allow", "[\"=rover_go_to_pose\"]").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "policy_deny, done",
        ),
        rule("policy/deny", "[\"rover_go_to_pose\"]").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "done, policy_deny",
        ),
        rule("policy/deny", "[\"group:robot:safe_motion\"]").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "done, robot_tier_gate",
        ),
    ]
}
