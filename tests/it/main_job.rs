//! The main job: `sim` drives a rover in a real dataflow, and tells what came of it.

use std::ffi::OsStr;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::Fact;
use serde_json::Value;

use crate::rig::{ARM, Ended, Run, Site};

/// The line by which older dashboards count the refused call.
const DENIAL: &str =
    r#"octos_tool_policy_denial_total{reason="robot_tier_gate",tier="full_actuation"} 1"#;

fn main_job(site: &Site, args: &[&str]) -> Ended {
    let args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
    Run::start(site, &args).finish()
}

#[test]
fn the_main_job_passes_and_its_text_tells_path_calls_denial_and_stop() {
    let ended = main_job(&Site::new(), &["sim"]);
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let head = ended.out.lines().next().unwrap();
    assert!(head.starts_with("PASSED  rover-gate  11 of 11"), "{head}");
    assert!(head.ends_with(" s"), "no total time: {head}");
    for part in [
        "\ncalls: 2 accepted, refused: 1 robot_tier_gate\n",
        " m from (0.00, 0.00) to (0.",
        "S start  E end",
    ] {
        assert!(ended.out.contains(part), "no `{part}` in\n{}", ended.out);
    }
    assert!(ended.out.lines().any(|line| line.trim() == DENIAL));
    let mut lines = ended.out.lines();
    let stop = lines.find(|line| line.starts_with("│ stop ┆ operator_stop ┆ operator ┆"));
    let standstill = stop.unwrap().trim_end_matches(['│', ' ']);
    assert!(standstill.ends_with(" ms"), "no standstill: {standstill}");
}

#[test]
pub(crate) fn the_main_job_as_json_is_one_document_with_two_processes() {
    let site = Site::new();
    let ended = main_job(
        &site,
        &[
            "sim",
            "rover-gate",
            "--json",
            "--seed",
            "11",
            "--state",
            "state",
        ],
    );
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    let started = site.facts().into_iter().find_map(|fact| {
        let Fact::Started { pid, .. } = fact else {
            return None;
        };
        Some(pid)
    });
    assert_eq!(summary["agent_pid"], started.unwrap());
    let JournalEntry::Start { pid, .. } = site.journal()[0] else {
        panic!("a journal begins with its start");
    };
    assert_eq!(summary["robot_pid"], pid);
    assert_ne!(summary["agent_pid"], summary["robot_pid"]);
    assert_eq!(
        (&summary["ok"], &summary["seed"]),
        (&true.into(), &11.into())
    );
    assert_eq!(summary["calls"]["accepted"], 2);
    assert_eq!(summary["calls"]["refused"]["robot_tier_gate"], 1);
    let denial = serde_json::json!({
        "reason": "robot_tier_gate", "tier": "full_actuation", "count": 1,
    });
    assert_eq!(summary["denials"], Value::Array(vec![denial]));
    let stops = summary["stops"].as_array().unwrap();
    let stop = stops.iter().find(|stop| stop["by"] == "operator").unwrap();
    assert!(stop["standstill_after_ms"].is_u64(), "{stop}");
    let [x, _] = [0, 1].map(|axis| summary["path"]["end"][axis].as_f64().unwrap());
    assert!(
        (0.8..=1.5).contains(&x),
        "the stop came before the mark: {x}"
    );
    for verdict in summary["expectations"].as_array().unwrap() {
        assert_eq!(verdict["ok"], true, "{verdict}");
    }
}

#[test]
fn a_scenario_with_a_wrong_expectation_ends_with_1_and_names_it() {
    let site = Site::new();
    let call = r#"{ tool = "rover_get_pose", args = {} }"#;
    let expect = "refused = []\nend_pose = { x = [5.0, 6.0] }\nend_state = \"armed\"";
    let scenario = site.scenario(ARM, &[call], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert!(ended.out.starts_with("FAILED  test"), "{}", ended.out);
    let missed: Vec<&str> = ended
        .out
        .lines()
        .filter(|line| line.contains("NOT MET"))
        .collect();
    let [line] = missed.as_slice() else {
        panic!("one expectation is wrong, not {missed:?}");
    };
    for part in ["end_pose.x", "5 to 6 m", "0.00 m"] {
        assert!(line.contains(part), "no `{part}` in {line}");
    }
}
