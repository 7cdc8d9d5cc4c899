//! Each refusal: the verdict, that nothing happened, and the fact that was recorded.

use serde_json::json;

use super::kit::{Does, Kit, call, go_to};
use crate::terms::{CallReport, Fact, Outcome, Reason, Refusal, Tier};

fn refusal(report: &CallReport) -> &Refusal {
    report.outcome.refusal().expect("a refusal")
}

/// Asserts that the call was refused, that no tool ran, and that exactly this was recorded.
fn nothing_but(kit: &Kit, report: &CallReport, reason: Reason) {
    let refused = refusal(report);
    assert_eq!(refused.reason, reason, "{refused:?}");
    assert_eq!(kit.notes.all(), Vec::<String>::new(), "nothing may happen");
    let fact = Fact::Refused {
        call: report.id.clone(),
        tool: report.tool.clone(),
        reason,
        needed: refused.needed,
        effective: refused.effective,
        rule: refused.rule.clone(),
        detail: refused.detail.clone(),
    };
    assert_eq!(kit.facts(), [fact], "counted once");
}

#[tokio::test(start_paused = true)]
async fn case_04_a_hidden_tool_called_by_its_exact_name_is_refused_with_the_tier_it_needs() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let hidden: u32 = turn.view.hidden().iter().map(|hidden| hidden.count).sum();
    assert!(hidden > 0);
    assert_eq!(kit.facts(), [], "making the list counts nothing");
    let open = call(
        "rover_gripper_set",
        json!({ "opening": 0.05, "force": 10.0 }),
    );
    let report = kit.executor.call(&turn, open).await;
    nothing_but(&kit, &report, Reason::RobotTierGate);
    assert_eq!(refusal(&report).needed, Some(Tier::FullActuation));
    assert_eq!(refusal(&report).effective, Tier::SafeMotion);
}

#[tokio::test(start_paused = true)]
async fn all_problems_of_the_arguments_are_told_in_one_report() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let bad = call("rover_go_to_pose", json!({ "x": "1.0", "z": 3.0 }));
    let report = kit.executor.call(&turn, bad).await;
    nothing_but(&kit, &report, Reason::Schema);
    let detail = &refusal(&report).detail;
    for place in ["/x", "/y", "/z"] {
        assert!(detail.contains(place), "{detail} does not name {place}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_number_out_of_range_stands_in_the_same_report_as_what_is_wrong_in_shape() {
    for (tool, args, places) in [
        (
            "rover_go_to_pose",
            json!({ "x": -99.0, "z": "inf" }),
            ["/x: must be -10 to 10 m", "/y: missing", "/z: unknown"],
        ),
        (
            "rover_set_velocity",
            json!({ "linear": 99, "angular": "NaN", "turbo": true }),
            [
                "/linear: must be -0.2 to 0.25 m/s (ceiling of safe_motion)",
                "/angular: must be number",
                "/turbo: unknown",
            ],
        ),
    ] {
        let kit = Kit::new();
        let turn = kit.turn(Tier::SafeMotion);
        let report = kit.executor.call(&turn, call(tool, args)).await;
        nothing_but(&kit, &report, Reason::Schema);
        let detail = &refusal(&report).detail;
        assert!(detail.contains("3 problems"), "{detail}");
        for place in places {
            assert!(detail.contains(place), "no `{place}` in: {detail}");
        }
        assert!(!detail.contains("99"), "a value is told: {detail}");
    }
}

#[tokio::test(start_paused = true)]
async fn case_11_words_for_numbers_and_arguments_that_are_no_object_are_refused() {
    for args in [
        json!({ "x": "NaN", "y": 0.0 }),
        json!({ "x": "inf", "y": 0.0 }),
        json!({ "x": [1.0], "y": 0.0 }),
        json!("just text"),
        json!(null),
        json!([]),
    ] {
        let kit = Kit::new();
        let turn = kit.turn(Tier::SafeMotion);
        let bad = call("rover_go_to_pose", args);
        let report = kit.executor.call(&turn, bad).await;
        nothing_but(&kit, &report, Reason::Schema);
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_that_are_too_large_or_too_deep_are_refused_before_they_are_read() {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    let wide = json!({ "x": "\u{1}".repeat(200_000) });
    for args in [deep, wide] {
        let kit = Kit::new();
        let turn = kit.turn(Tier::SafeMotion);
        let report = kit.executor.call(&turn, call("robot_state", args)).await;
        nothing_but(&kit, &report, Reason::Schema);
        assert!(refusal(&report).detail.len() < 200);
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_tool_gets_a_hint_from_the_visible_tools_only() {
    for (name, near) in [
        ("rover_goto_pose", Some("rover_go_to_pose")),
        ("rover_griper_set", None),
        ("etwas völlig anderes", None),
    ] {
        let kit = Kit::new();
        let turn = kit.turn(Tier::SafeMotion);
        let report = kit.executor.call(&turn, call(name, json!({}))).await;
        nothing_but(&kit, &report, Reason::UnknownTool);
        let hint = &refusal(&report).hint;
        assert!(
            near.is_none_or(|near| hint.contains(near)),
            "{name}: {hint}"
        );
        assert!(!hint.contains("gripper"), "{name}: {hint}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_made_up_name_is_cut_in_report_and_fact() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let flood = "ä".repeat(1_000_000);
    let report = kit.executor.call(&turn, call(&flood, json!({}))).await;
    assert_eq!(report.tool, "ä".repeat(80));
    assert_eq!(report.id, flood, "the id is the caller's");
    let facts = format!("{:?}", kit.facts());
    assert!(facts.len() < 2_000, "{} bytes", facts.len());
}

#[tokio::test(start_paused = true)]
async fn a_number_outside_its_limit_is_refused_and_nothing_is_sent() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let fast = call(
        "rover_set_velocity",
        json!({ "linear": 99.0, "angular": 0.0 }),
    );
    let report = kit.executor.call(&turn, fast).await;
    nothing_but(&kit, &report, Reason::Limit);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_needs_a_persons_word_is_refused_at_once() {
    let kit = Kit::new().asking();
    let turn = kit.turn(Tier::FullActuation);
    let open = call(
        "rover_gripper_set",
        json!({ "opening": 0.05, "force": 10.0 }),
    );
    let report = kit.executor.call(&turn, open).await;
    nothing_but(&kit, &report, Reason::ApprovalUnavailable);
}

#[tokio::test(start_paused = true)]
async fn a_target_outside_the_workspace_is_refused_by_the_admission() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(2.8, 2.4)).await;
    nothing_but(&kit, &report, Reason::Workspace);
}

#[tokio::test(start_paused = true)]
async fn case_16_a_motion_before_arming_is_refused_and_a_read_is_not() {
    let kit = Kit::new();
    kit.robot
        .change(|posture| posture.run = crate::terms::RunState::Disarmed);
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    nothing_but(&kit, &report, Reason::NotArmed);
    let read = kit
        .executor
        .call(&turn, call("robot_state", json!({})))
        .await;
    assert!(
        matches!(read.outcome, Outcome::Done { .. }),
        "{:?}",
        read.outcome
    );
}

#[tokio::test(start_paused = true)]
async fn a_refusal_behind_the_grant_is_recorded_once_as_refusal_and_once_as_end() {
    let kit = Kit::new().rover("rover_go_to_pose", Does::RefuseLate);
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    assert_eq!(refusal(&report).reason, Reason::LeaseExpired);
    let call = "rover_go_to_pose";
    assert_eq!(
        kit.fact_kinds(),
        [
            format!("granted {call}"),
            format!("finished {call} refused"),
            format!("refused {call} lease_expired"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_clamp_is_told_and_the_clamped_number_is_what_was_granted() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let turning = call(
        "rover_set_velocity",
        json!({ "linear": 0.1, "angular": 0.9 }),
    );
    let report = kit.executor.call(&turn, turning).await;
    let Outcome::Done { clamped, .. } = &report.outcome else {
        panic!("{:?}", report.outcome);
    };
    assert_eq!(clamped.len(), 1, "{clamped:?}");
    let facts = kit.facts();
    let Some(Fact::Granted { clamped: told, .. }) = facts.first() else {
        panic!("{facts:?}");
    };
    assert_eq!(told, clamped);
}

#[tokio::test(start_paused = true)]
async fn after_a_persons_stop_the_goal_moves_the_robot_no_more_but_may_still_look() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    kit.robot.change(|posture| posture.person_stops = 1);
    let report = kit.executor.call(&turn, go_to(1.0, 0.0)).await;
    nothing_but(&kit, &report, Reason::NotArmed);
    let look = kit
        .executor
        .call(&turn, call("robot_state", json!({})))
        .await;
    assert!(matches!(look.outcome, Outcome::Done { .. }), "{look:?}");
}
