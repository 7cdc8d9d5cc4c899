//! The summary takes its numbers from facts and journal, and its text fits a terminal.

use super::*;
use crate::sim::judge::judge;
use crate::sim::tests::{facts, journal, scenario};

fn summary() -> Summary {
    let (facts, journal, scenario) = (facts(), journal(), scenario());
    let evidence = Evidence {
        facts: &facts,
        journal: &journal,
        offset_ms: -500,
        unfired: &[],
    };
    let verdicts = judge(&scenario, &evidence);
    let run = RunFacts {
        bridge: "mock",
        seed: 7,
        total_ms: 9300,
        wall_ms: 40,
        trace: Some("ab12"),
        faults: &[],
        metrics: concat!(
            "# HELP octos_edge_denial_total x\n",
            "octos_edge_denial_total{reason=\"busy\",tier=\"none\"} 0\n",
            "octos_edge_denial_total{reason=\"robot_tier_gate\",tier=\"full_actuation\"} 1\n",
        ),
    };
    Summary::of(&scenario, &evidence, verdicts, run)
}

#[test]
fn numbers_come_from_facts_and_journal() {
    let summary = summary();
    assert!(summary.ok);
    assert_eq!(summary.robot_pid, Some(43));
    assert_eq!(summary.calls.accepted, 1);
    assert_eq!(
        summary.calls.refused,
        BTreeMap::from([(Reason::RobotTierGate, 1)])
    );
    assert_eq!(summary.calls.outcomes.get("cancelled"), Some(&1));
    assert_eq!(summary.calls.list.len(), 3);
    assert_eq!(summary.denials[0].tier, Some(Tier::FullActuation));
    assert_eq!(summary.motions_at_robot, 2);
    assert_eq!(summary.metrics.len(), 1);
    assert_eq!(summary.path.end, Some([0.83, 0.01]));
}

#[test]
fn json_names_reasons_and_tiers_as_the_metrics_do() {
    let json = serde_json::to_value(summary()).unwrap();
    assert_eq!(json["denials"][0]["reason"], "robot_tier_gate");
    assert_eq!(json["denials"][0]["tier"], "full_actuation");
    assert_eq!(json["calls"]["refused"]["robot_tier_gate"], 1);
    assert_eq!(json["stops"][1]["by"], "operator");
    assert_eq!(json["expectations"][0]["name"], "goal");
}

#[test]
fn a_path_is_thinned_and_keeps_its_ends() {
    let places: Vec<[f64; 2]> = (0..5000).map(|n| [f64::from(n), 0.0]).collect();
    let thin = thinned(&places);
    assert!(thin.len() <= POINTS_MAX, "{}", thin.len());
    assert_eq!(thin.first(), places.first());
    assert_eq!(thin.last(), places.last());
}

#[test]
fn the_text_fits_100_columns_and_says_what_matters() {
    let mut summary = summary();
    summary.calls.list[1].detail = "long ".repeat(200);
    summary.path.points = (0..80)
        .map(|n| [f64::from(n) * 0.02, (f64::from(n) * 0.1).sin() * 0.4])
        .collect();
    let text = summary.to_text();
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    for word in [
        "PASSED",
        "calls: 1 accepted, refused: 1 robot_tier_gate",
        "operator",
        "120 ms",
        "to (0.83, 0.01), 2 motion commands",
        "S start",
    ] {
        assert!(text.contains(word), "no {word} in\n{text}");
    }
}

#[test]
fn a_failed_expectation_is_named_in_the_text() {
    let mut summary = summary();
    summary.ok = false;
    summary.expectations[1].ok = false;
    let text = summary.to_text();
    assert!(text.starts_with("FAILED  rover-gate"), "{text}");
    assert!(text.contains("NOT MET"), "{text}");
}

#[test]
fn a_robot_that_stands_is_drawn_as_well() {
    let path = Path {
        start: Some([1.0, 1.0]),
        end: Some([1.0, 1.0]),
        length_m: 0.0,
        points: vec![[1.0, 1.0]],
    };
    let map = map::draw(&path).unwrap();
    assert_eq!(map.matches('E').count(), 2, "{map}");
    assert_eq!(map::draw(&Path::default()), None);
}

#[test]
fn the_tier_is_told_for_a_refusal_by_tier_and_for_no_other() {
    let mut summary = summary();
    let text = summary.to_text();
    assert!(text.contains("robot_tier_gate, needs"), "{text}");
    for call in &mut summary.calls.list {
        call.reason = call.reason.map(|_| Reason::Rate);
    }
    let text = summary.to_text();
    assert!(text.contains("rate") && !text.contains("needs"), "{text}");
}
