//! The series are there from the start, are bounded, and count each fact once.

use std::collections::BTreeMap;

use super::*;
use crate::terms::{Reason, StopCause, StopKind};

fn rover() -> RobotLabels {
    let tools = [
        ("rover_go_to_pose", Some(Tier::SafeMotion)),
        ("rover_gripper_set", Some(Tier::FullActuation)),
        ("rover_stop", None),
    ];
    RobotLabels {
        ceiling: Some(Tier::SafeMotion),
        tools: tools.map(|(name, tier)| (name.to_owned(), tier)).into(),
    }
}

fn metrics() -> Metrics {
    Metrics::new(rover()).unwrap()
}

fn refused(tool: &str, reason: Reason, needed: Option<Tier>) -> Fact {
    Fact::Refused {
        call: "c1".to_owned(),
        tool: tool.to_owned(),
        reason,
        needed,
        effective: Tier::SafeMotion,
        rule: None,
        detail: String::new(),
    }
}

fn finished(tool: &str, robot: bool, outcome: &str) -> Fact {
    Fact::Finished {
        call: "c1".to_owned(),
        tool: tool.to_owned(),
        robot,
        outcome: outcome.to_owned(),
        detail: String::new(),
        took_ms: 30,
    }
}

#[track_caller]
fn has_line(metrics: &Metrics, line: &str) {
    let text = metrics.render();
    assert!(
        text.lines().any(|l| l == line),
        "no line `{line}` in\n{text}"
    );
}

/// The sample lines of one metric whose value is not 0.
fn counted(metrics: &Metrics, name: &str) -> Vec<String> {
    let text = metrics.render();
    text.lines()
        .filter(|line| line.starts_with(&format!("{name}{{")) && !line.ends_with(" 0"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn case_04_one_tier_refusal_is_one_line_of_the_old_counter_and_one_of_the_new() {
    let m = metrics();
    let fact = refused(
        "rover_gripper_set",
        Reason::RobotTierGate,
        Some(Tier::FullActuation),
    );
    m.apply(&fact);
    has_line(
        &m,
        r#"octos_tool_policy_denial_total{reason="robot_tier_gate",tier="full_actuation"} 1"#,
    );
    has_line(
        &m,
        r#"octos_edge_denial_total{reason="robot_tier_gate",tier="full_actuation"} 1"#,
    );
    has_line(
        &m,
        r#"octos_edge_tool_calls_total{tool="rover_gripper_set",outcome="denied"} 1"#,
    );
    assert_eq!(counted(&m, "octos_tool_policy_denial_total").len(), 1);
    assert_eq!(counted(&m, "octos_edge_denial_total").len(), 1);
}

#[test]
fn reasons_that_are_no_policy_leave_the_old_counter_alone() {
    let m = metrics();
    m.apply(&refused(
        "rover_go_to_pose",
        Reason::Workspace,
        Some(Tier::SafeMotion),
    ));
    assert_eq!(counted(&m, "octos_tool_policy_denial_total"), [""; 0]);
    has_line(
        &m,
        r#"octos_edge_denial_total{reason="workspace",tier="safe_motion"} 1"#,
    );
    has_line(&m, r#"octos_edge_limit_hits_total{kind="workspace"} 1"#);
}

#[test]
fn case_51_all_denial_series_are_there_from_the_start_with_0() {
    let m = metrics();
    let text = m.render();
    for reason in Reason::ALL {
        for tier in Tier::ALL.map(Tier::as_str).into_iter().chain(["none"]) {
            let line = format!("octos_edge_denial_total{{reason=\"{reason}\",tier=\"{tier}\"}} 0");
            assert!(text.contains(&line), "{line}");
        }
    }
    for name in ["octos_tool_policy_denial_total", "octos_edge_denial_total"] {
        assert_eq!(counted(&m, name), [""; 0]);
    }
}

#[test]
fn case_51_ten_thousand_unknown_names_add_no_series() {
    let m = metrics();
    let before = m.series();
    let mut random = fastrand::Rng::with_seed(51);
    for _ in 0..10_000 {
        let name: String = (0..12).map(|_| random.alphanumeric()).collect();
        m.apply(&refused(&name, Reason::UnknownTool, None));
    }
    assert_eq!(m.series(), before);
    has_line(
        &m,
        r#"octos_edge_tool_calls_total{tool="unknown",outcome="denied"} 10000"#,
    );
}

#[test]
fn case_51_a_robot_with_too_many_tools_for_500_series_is_refused() {
    let tools = |count: usize| RobotLabels {
        ceiling: None,
        tools: (0..count)
            .map(|n| (format!("tool_{n}"), Some(Tier::SafeMotion)))
            .collect::<BTreeMap<_, _>>(),
    };
    assert!(Metrics::new(tools(20)).is_ok());
    let error = Metrics::new(tools(200)).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("metric series for 200 robot tools exceed 500"),
        "{error}"
    );
}

#[test]
fn building_a_view_moves_the_gauge_and_no_counter() {
    let m = metrics();
    let hidden = |reason, count| Fact::ToolsHidden {
        reason,
        tier: Some(Tier::FullActuation),
        count,
    };
    m.apply(&hidden(Reason::RobotTierGate, 2));
    m.apply(&hidden(Reason::Busy, 9));
    has_line(
        &m,
        r#"octos_edge_tools_hidden{reason="robot_tier_gate",tier="full_actuation"} 2"#,
    );
    assert_eq!(counted(&m, "octos_edge_tools_hidden").len(), 1);
    assert_eq!(counted(&m, "octos_edge_denial_total"), [""; 0]);
}

#[test]
fn every_metric_is_described() {
    let text = metrics().scrape(&Readings::default());
    let typed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE "))
        .filter_map(|line| line.split(' ').next())
        .collect();
    for name in &typed {
        assert!(text.contains(&format!("# HELP {name} ")), "{name}");
        assert!(name.starts_with("octos_edge_") || *name == "octos_tool_policy_denial_total");
    }
    assert_eq!(typed.len(), family::ALL.len() + 2);
}

#[test]
fn calls_count_by_tool_for_the_robot_and_by_domain_for_others() {
    let m = metrics();
    m.apply(&finished("rover_go_to_pose", true, "done"));
    m.apply(&finished("rover_go_to_pose", true, "refused"));
    m.apply(&finished("read_file", false, "panicked"));
    assert_eq!(
        counted(&m, "octos_edge_tool_calls_total"),
        [
            r#"octos_edge_tool_calls_total{domain="other",outcome="error"} 1"#,
            r#"octos_edge_tool_calls_total{tool="rover_go_to_pose",outcome="ok"} 1"#,
        ]
    );
    has_line(
        &m,
        r#"octos_edge_tool_duration_seconds_bucket{tier="safe_motion",le="0.05"} 2"#,
    );
}

#[test]
fn loops_of_invalid_arguments_count_from_0() {
    let m = metrics();
    has_line(&m, "octos_edge_tool_input_loop_total 0");
    m.apply(&Fact::InputLoop {
        call: "c1".to_owned(),
        tool: "rover_go_to_pose".to_owned(),
        times: 3,
    });
    has_line(&m, "octos_edge_tool_input_loop_total 1");
}

#[test]
fn exactly_one_run_state_is_set() {
    let m = metrics();
    has_line(&m, r#"octos_edge_run_state{state="boot"} 1"#);
    m.apply(&Fact::RunStateChanged {
        from: RunState::Boot,
        to: RunState::Latched,
        cause: Some(StopCause::UncleanEnd),
    });
    let set = [r#"octos_edge_run_state{state="latched"} 1"#];
    assert_eq!(counted(&m, "octos_edge_run_state"), set);
    has_line(&m, r#"octos_edge_estop_latched{source="runtime"} 1"#);
    assert_eq!(counted(&m, "octos_edge_estop_latched").len(), 1);
}

#[test]
fn stops_count_by_kind_and_cause() {
    let m = metrics();
    m.apply(&Fact::StopBegun {
        what: StopKind::Stop,
        cause: StopCause::OperatorStop,
        epoch: 2,
    });
    m.apply(&Fact::Standstill { after_ms: 180 });
    has_line(
        &m,
        r#"octos_edge_stops_total{kind="stop",cause="operator_stop"} 1"#,
    );
    has_line(
        &m,
        r#"octos_edge_stop_duration_seconds_bucket{le="0.05"} 0"#,
    );
    has_line(&m, r#"octos_edge_stop_duration_seconds_bucket{le="0.2"} 1"#);
}

#[test]
fn equal_numbers_render_as_equal_bytes() {
    assert!(metrics().render() == metrics().render());
}

#[test]
fn no_message_and_no_latch_adds_a_series() {
    let m = metrics();
    let before = m.series();
    for fault in crate::terms::InputFault::ALL {
        for input in crate::terms::Input::ALL.map(Some).into_iter().chain([None]) {
            m.apply(&Fact::InputIgnored { input, fault });
        }
    }
    for cause in StopCause::ALL {
        m.apply(&Fact::RunStateChanged {
            from: RunState::Stopping,
            to: RunState::Latched,
            cause: Some(cause),
        });
        assert_eq!(counted(&m, "octos_edge_estop_latched").len(), 1, "{cause}");
    }
    assert_eq!(m.series(), before);
}

#[test]
fn what_the_model_was_shown_counts_in_buckets_of_tokens() {
    let m = metrics();
    let before = m.series();
    for tokens in [60, 256, 257] {
        m.apply(&Fact::SensorsShown {
            goal: 1,
            step: 1,
            digest: String::new(),
            tokens,
            readings: 5,
            stale: 0,
            absent: 0,
            left_out: 0,
        });
    }
    for (le, count) in [("64", 1), ("128", 1), ("256", 2), ("1024", 3), ("+Inf", 3)] {
        has_line(
            &m,
            &format!("octos_edge_sensor_context_tokens_bucket{{le=\"{le}\"}} {count}"),
        );
    }
    has_line(&m, "octos_edge_sensor_context_tokens_sum 573");
    assert_eq!(m.series(), before, "it was there from the start");
}
