//! Explanations of the shipped rover, and proof that they are those of the pipeline.

#![expect(clippy::disallowed_methods, reason = "writes a policy to be explained")]

use std::path::PathBuf;

use serde_json::json;

use super::*;
use crate::app::{LogFormat, SettingsRequest};

/// The files of this package; tests run in its folder.
fn settings(config: Option<&str>) -> Settings {
    Settings::resolve(SettingsRequest {
        tiers: None,
        boards: None,
        config: config.map(PathBuf::from),
        state: None,
        metrics: None,
        log_format: LogFormat::Text,
        quiet: true,
        origins: std::collections::BTreeMap::new(),
    })
    .unwrap()
}

fn request(tool: &str, args: &str, tier: Option<Tier>) -> ExplainRequest {
    ExplainRequest {
        tool: tool.to_owned(),
        args: args.to_owned(),
        robot: Some("rover-sim".to_owned()),
        tier,
    }
}

fn text(tool: &str, args: &str) -> String {
    let request = request(tool, args, None);
    explain(&settings(None), &request).unwrap().to_text()
}

#[test]
fn an_allowed_call_names_its_rule_and_what_it_needs() {
    let text = text("rover_set_velocity", r#"{"linear": 0.2, "angular": 0.0}"#);
    insta::assert_snapshot!("allowed", text);
}

#[test]
fn a_call_above_the_ceiling_names_both_sides() {
    let text = text("rover_gripper_set", r#"{"opening": 0.05, "force": 10}"#);
    insta::assert_snapshot!("tier_refusal", text);
}

#[test]
fn a_number_beyond_its_limit_names_range_unit_and_file() {
    let text = text("rover_set_velocity", r#"{"linear": 0.9, "angular": 0}"#);
    insta::assert_snapshot!("limit_refusal", text);
}

#[test]
fn a_number_below_its_own_bound_is_not_blamed_on_the_ceiling() {
    let request = request(
        "rover_set_velocity",
        r#"{"linear": -0.22, "angular": 0}"#,
        None,
    );
    let explanation = explain(&settings(None), &request).unwrap();
    let layers: Vec<&str> = explanation
        .decided_by
        .iter()
        .map(|rule| rule.layer.as_str())
        .collect();
    assert_eq!(layers, ["robot file"]);
}

#[test]
fn a_clamp_tells_what_would_be_sent() {
    let text = text("rover_set_velocity", r#"{"linear": 0.1, "angular": 2}"#);
    insta::assert_snapshot!("clamp", text);
}

#[test]
fn an_unknown_tool_gets_a_proposal() {
    insta::assert_snapshot!("unknown_tool", text("rover_set_velocty", "{}"));
}

#[test]
fn a_stop_is_always_allowed_whatever_its_arguments() {
    insta::assert_snapshot!("stop", text("rover_stop", r#"{"hard": [true]}"#));
}

#[test]
fn bad_arguments_are_reported_all_at_once() {
    let text = text("rover_go_to_pose", r#"{"x": "1", "why": 2}"#);
    insta::assert_snapshot!("schema_refusal", text);
}

#[test]
fn a_target_in_the_pit_is_refused_by_the_workspace() {
    let text = text("rover_go_to_pose", r#"{"x": 2.9, "y": 2.4}"#);
    insta::assert_snapshot!("workspace_refusal", text);
}

#[test]
fn json_carries_the_same() {
    let request = request(
        "rover_gripper_set",
        r#"{"opening": 0.05}"#,
        Some(Tier::Observe),
    );
    let explanation = explain(&settings(None), &request).unwrap();
    insta::assert_json_snapshot!("tier_refusal_json", explanation);
}

#[test]
fn a_policy_layer_is_named_with_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("octos-edge.toml");
    let policy = "schema = 1\n[policy]\ndeny = [\n  \"group:robot:safe_motion\",\n]\n";
    std::fs::write(&file, policy).unwrap();
    let file = file.display().to_string();
    let request = request("rover_go_to_pose", r#"{"x": 1, "y": 0}"#, None);
    let explanation = explain(&settings(Some(&file)), &request).unwrap();
    assert_eq!(explanation.effective, Tier::Observe);
    let first = explanation.decided_by.first().unwrap();
    assert_eq!(first.layer, "policy");
    assert_eq!(first.place, Some(format!("{file}:4")));
}

/// Only where the ceiling alone refuses: what a layer of the policy refuses, no elevation permits.
#[test]
fn an_elevation_is_named_where_it_would_permit_the_call_and_nowhere_else() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("octos-edge.toml");
    let policy = "schema = 1\n[policy]\ndeny = [\"rover_gripper_set\"]\n";
    std::fs::write(&file, policy).unwrap();
    let file = file.display().to_string();
    let way = |config: Option<&str>, tool: &str, args: &str, tier: Option<Tier>| {
        let explanation = explain(&settings(config), &request(tool, args, tier)).unwrap();
        explanation.operator_hint
    };
    let grip = r#"{"opening": 0.05, "force": 10}"#;
    let told = way(None, "rover_gripper_set", grip, None).unwrap();
    let word = "`octos-edge ctl elevate --tier full_actuation --tool rover_gripper_set --calls 1 --for 60s --why …`";
    assert!(told.ends_with(word), "{told}");
    assert_eq!(way(Some(&file), "rover_gripper_set", grip, None), None);
    let go = r#"{"x": 1, "y": 0}"#;
    let told = way(None, "rover_go_to_pose", go, Some(Tier::Observe)).unwrap();
    assert!(told.contains("--tier safe_motion"), "{told}");
    assert_eq!(way(None, "rover_go_to_pose", go, None), None, "permitted");
    assert_eq!(
        way(None, "rover_go_to_pose", r#"{"x": 9, "y": 0}"#, None),
        None
    );
    assert_eq!(way(None, "rover_fly", "{}", None), None);
}

/// Words that would teach a model to talk somebody into raising its tier.
#[test]
fn no_refusal_tells_the_model_how_a_tier_is_raised() {
    let paper = Paper::load(&settings(None), Some("rover-sim"), Some(Tier::Observe)).unwrap();
    let mut refused = 0;
    for def in &paper.book.robot.tools {
        let explanation = explained(&paper, def.name.as_str(), json!({}));
        if explanation.reason != Some(Reason::RobotTierGate) {
            continue;
        }
        refused += 1;
        let mut told = explanation.detail;
        told.extend(explanation.hint);
        let told = told.join("\n");
        for word in ["elevat", "octos-edge", "ctl", "ask ", "--"] {
            assert!(!told.contains(word), "`{word}` in {told}");
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn arguments_that_are_no_json_are_a_usage_error() {
    let error = explain(&settings(None), &request("rover_stop", "{x: 1}", None)).unwrap_err();
    assert_eq!(error.exit(), crate::app::Exit::Usage);
}

/// The oracle: every example of the robot file, at every tier, against the stages it must pass.
#[test]
fn explanations_agree_with_the_examples_that_ran_when_the_file_loaded() {
    let mut seen = 0;
    for tier in Tier::ALL {
        let paper = Paper::load(&settings(None), Some("rover-sim"), Some(tier)).unwrap();
        for def in &paper.book.robot.tools {
            let allowed = def.allow.iter().map(|example| (example, true));
            let refused = def.refuse.iter().map(|example| (example, false));
            for (example, passes) in allowed.chain(refused) {
                let explanation = explained(&paper, def.name.as_str(), json!(example.args));
                let gated = def.tier.is_some_and(|need| need > paper.view.effective());
                let expected = passes && !gated;
                let found = explanation.verdict == ExplainVerdict::Allowed;
                assert_eq!(found, expected, "{tier} {explanation:?}");
                assert_eq!(explanation.reason == Some(Reason::RobotTierGate), gated);
                seen += 1;
            }
        }
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn a_repair_is_told_where_nothing_moves_and_refused_where_something_does() {
    let explained = |tool: &str, args: &str| {
        let request = request(tool, args, None);
        explain(&settings(None), &request).unwrap()
    };
    let read = explained("safety_events", r#"{"since": "3"}"#);
    assert_eq!(read.verdict, ExplainVerdict::Allowed);
    let told = "/since: a text was read as an integer";
    assert_eq!(read.detail, [told]);
    assert!(
        read.to_text()
            .starts_with(&format!("allowed with a repair: {told}\n"))
    );
    let motion = explained("rover_go_to_pose", r#"{"x": "1", "y": 0.5}"#);
    assert_eq!(motion.reason, Some(Reason::Schema));
}
