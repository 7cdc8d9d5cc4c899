//! Calls that are refused: named, counted once, and nothing reaches the robot.

use octos_edge::sim::VerbClass;
use octos_edge::terms::{Fact, Reason, Tier};

use crate::rig::{ARM, Run, Site, Trail};

/// Runs a scenario to its end, which must be a good one, and asserts that nothing moved the robot.
fn refused(site: &Site, turns: &[&str], expect: &str) -> Vec<Fact> {
    let scenario = site.scenario(ARM, turns, expect);
    let ended = Run::sim(site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let facts = site.facts();
    let sent = |fact: &Fact| matches!(fact, Fact::CommandSent { .. } | Fact::Granted { .. });
    assert!(!facts.iter().any(sent), "{facts:#?}");
    for entry in site.journal() {
        let moves = matches!(
            entry,
            octos_edge::sim::JournalEntry::Verb {
                class: VerbClass::Motion,
                ..
            }
        );
        assert!(!moves, "{entry:?}");
    }
    facts
}

#[test]
fn a_hidden_tool_called_by_its_name_is_refused_and_counted_once() {
    let site = Site::new();
    let call = r#"{ tool = "rover_gripper_set", args = { opening = 0.05, force = 10.0 } }"#;
    let expect = r#"refused = [ { tool = "rover_gripper_set", reason = "robot_tier_gate",
        tier = "full_actuation", times = 1 } ]"#;
    let facts = refused(&site, &[call], expect);
    let is_refusal = |fact: &Fact| matches!(fact, Fact::Refused { .. });
    let is_goal = |fact: &Fact| matches!(fact, Fact::GoalBegun { .. });
    let mut start = facts.iter().take_while(|fact| !is_goal(fact));
    assert!(!start.any(is_refusal), "counted at the start: {facts:#?}");
    let mut trail = Trail::of(facts);
    trail.then("hidden at the start", |fact| {
        matches!(
            fact,
            Fact::ToolsHidden {
                reason: Reason::RobotTierGate,
                tier: Some(Tier::FullActuation),
                count: 1
            }
        )
    });
    trail.then("the goal", is_goal);
    let refusal = trail.then("the refusal", is_refusal);
    assert!(
        matches!(&refusal, Fact::Refused { tool, reason: Reason::RobotTierGate,
            needed: Some(Tier::FullActuation), effective: Tier::SafeMotion, .. }
            if tool == "rover_gripper_set"),
        "{refusal:?}"
    );
    trail.never("a second refusal", is_refusal);
}

#[test]
fn every_problem_of_the_arguments_stands_in_one_report_and_nothing_is_sent() {
    let site = Site::new();
    let calls = [
        // Far too fast, a word for a number, a word too many.
        r#"{ tool = "rover_set_velocity", args = { linear = 99.0, angular = "0.1", turbo = true } }"#,
        // All of it in one call: out of range, infinity as text, one missing, one too many.
        r#"{ tool = "rover_set_velocity", args = { linear = 99.0, speed = "inf" } }"#,
        r#"{ tool = "rover_go_to_pose", args = { x = "inf", z = 1.0 } }"#,
        // Nothing but the number too large.
        r#"{ tool = "rover_set_velocity", args = { linear = 99.0, angular = 0.0 } }"#,
    ];
    let expect = r#"refused = [
        { tool = "rover_set_velocity", reason = "schema", times = 2 },
        { tool = "rover_go_to_pose", reason = "schema" },
        { tool = "rover_set_velocity", reason = "limit" } ]"#;
    let facts = refused(&site, &calls, expect);
    let detail = |fact: &Fact| {
        let Fact::Refused { detail, .. } = fact else {
            return None;
        };
        Some(detail.clone())
    };
    let details: Vec<String> = facts.iter().filter_map(detail).collect();
    let wanted = [
        &[
            "3 problems",
            "/linear: must be -0.2 to 0.25 m/s (ceiling of safe_motion)",
            "/angular: must be number",
            "/turbo: unknown",
        ][..],
        &[
            "3 problems",
            "/linear: must be -0.2 to 0.25",
            "/angular: missing",
            "/speed: unknown",
        ],
        &[
            "3 problems",
            "/x: must be number",
            "/y: missing",
            "/z: unknown",
        ],
        &["`linear` is 99 m/s"],
    ];
    assert_eq!(details.len(), wanted.len(), "{details:#?}");
    for (detail, parts) in details.iter().zip(wanted) {
        for part in parts {
            assert!(detail.contains(part), "no `{part}` in: {detail}");
        }
    }
}
