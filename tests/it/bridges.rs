//! The two bridges of `sim`: what happens in the real dataflow happens in process too, in the same
//! order.

use std::ffi::OsStr;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::rig::{Run, Site, repo};

/// A scenario that takes longer on dora, whose clock is the real one, is played there by hand.
const LIMIT_S_MAX: i64 = 60;

/// Returns the shipped scenarios that dora can play in a test: no faults, and short.
fn shipped() -> Vec<PathBuf> {
    let folder = fs::read_dir(repo().join("dataflows/scenarios")).unwrap();
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| {
        let text = fs::read_to_string(file).unwrap();
        let scenario: toml::Table = text.parse().unwrap();
        let limit_s = scenario.get("limit_s").and_then(toml::Value::as_integer);
        !scenario.contains_key("fault") && limit_s.is_some_and(|limit_s| limit_s <= LIMIT_S_MAX)
    });
    files.sort();
    files
}

/// Plays a scenario; returns what must not depend on the bridge, each list in its order.
fn story(scenario: &str, bridge: &str) -> Value {
    let site = Site::new();
    let args = ["sim", scenario, "--bridge", bridge, "--json", "--quiet"].map(OsStr::new);
    let ended = Run::start(&site, &args).finish();
    assert_eq!(ended.code, Some(0), "{bridge}: {}", ended.out);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    let part = |pointer: &str| summary.pointer(pointer).unwrap().clone();
    assert_eq!(part("/bridge"), bridge);
    let of = |pointer: &str, keys: &[&str]| -> Vec<Value> {
        let entry = |entry: &Value| keys.iter().map(|key| entry.get(key).cloned()).collect();
        part(pointer)
            .as_array()
            .unwrap()
            .iter()
            .map(entry)
            .collect()
    };
    let mut verdicts = of("/expectations", &["name", "ok"]);
    // Processes are there on dora only.
    verdicts.retain(|verdict| verdict.get(0).unwrap() != "nodes");
    // On dora a drive may end while the rover still rolls by some mm/s, which is a stop of the call's own.
    let mut stops = of("/stops", &["kind", "cause", "by"]);
    stops.retain(|stop| stop.get(1).unwrap() != "deadline");
    json!({
        "calls": of("/calls/list", &["tool", "outcome", "reason", "tier"]),
        "refused": part("/calls/refused"),
        "denials": part("/denials"),
        "stops": stops,
        "verdicts": verdicts,
    })
}

#[test]
fn case_57_dora_and_mock_give_the_same_verdicts_in_the_same_order() {
    let scenarios = shipped();
    assert!(!scenarios.is_empty());
    for file in scenarios {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let (dora, mock) = (story(name, "dora"), story(name, "mock"));
        assert_eq!(dora, mock, "{name}");
        assert!(!dora["calls"].as_array().unwrap().is_empty());
        assert!(!dora["stops"].as_array().unwrap().is_empty());
    }
}
