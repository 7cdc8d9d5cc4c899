//! Recorded sessions: what `DORA_WRITE_EVENTS_TO` writes, and what the node says to it again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{Fact, StopCause};
use serde_json::Value;

use crate::rig::{Run, Site, command, repo, stop_for};

/// The scenario whose operator and model drive in some replays.
const MODEL: [&str; 2] = ["--model", "scripted:dataflows/scenarios/rover-gate.toml"];

/// The session that lies in the repository.
fn shipped() -> PathBuf {
    repo().join("tests/data/session.json")
}

/// Replays a session with the unmodified binary; returns how it ended and what it said.
fn replay(site: &Site, inputs: &Path, args: &[&str]) -> (Output, Option<Vec<u8>>) {
    let outputs = site.path("outputs.jsonl");
    if outputs.exists() {
        fs::remove_file(&outputs).unwrap();
    }
    let node = ["node", "--robot", "rover-sim", "--board", "sim"];
    let output = command(site)
        .args(node)
        .args(["--robot-id", "rover-sim-001"])
        .args(args)
        .env("OCTOS_EDGE_LOG", "warn,octos_edge=debug")
        .env("DORA_TEST_WITH_INPUTS", inputs)
        .env("DORA_TEST_WRITE_OUTPUTS_TO", &outputs)
        .output()
        .unwrap();
    (output, fs::read(outputs).ok())
}

/// Returns verb and id of each request.
fn requests(said: &[u8]) -> Vec<(String, String)> {
    let lines = said
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let request = |line: &[u8]| {
        let line: Value = serde_json::from_slice(line).unwrap();
        assert_eq!(text(&line, "/id"), "cmd_request");
        let payload: Value = serde_json::from_str(text(&line, "/data/0")).unwrap();
        let word = |path: &str| text(&payload, path).to_owned();
        (word("/verb"), word("/request_id"))
    };
    lines.map(request).collect()
}

fn text<'a>(value: &'a Value, path: &str) -> &'a str {
    value.pointer(path).unwrap().as_str().unwrap()
}

/// Returns the facts that the log of a replay tells.
fn facts(output: &Output) -> Vec<Fact> {
    let lines = std::str::from_utf8(&output.stderr).unwrap().lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let facts = lines.filter_map(|line| {
        let fact = line.pointer("/fields/fact")?.as_str()?;
        Some(serde_json::from_str(fact).unwrap())
    });
    facts.collect()
}

fn marked(site: &Site) {
    fs::create_dir_all(site.robot_state()).unwrap();
    fs::write(site.robot_state().join("armed.json"), "{}").unwrap();
}

#[test]
fn case_42_ten_replays_of_a_session_leave_the_same_bytes() {
    let site = Site::new();
    for model in [&[][..], &MODEL] {
        let runs: BTreeSet<Vec<u8>> = (0..10)
            .map(|_| {
                let (output, said) = replay(&site, &shipped(), model);
                assert_eq!(output.status.code(), Some(0), "{output:?}");
                assert_eq!(output.stdout, b"", "the outputs are in their file");
                said.unwrap()
            })
            .collect();
        assert_eq!(runs.len(), 1);
        let requests = requests(runs.first().unwrap());
        assert_eq!(requests[0].0, "robot.get_capabilities");
        let stop = requests
            .iter()
            .position(|(verb, _)| verb.ends_with(".stop"));
        let driven = requests
            .iter()
            .filter(|(verb, _)| verb.ends_with("set_velocity"));
        assert_eq!(driven.count(), if model.is_empty() { 0 } else { 4 });
        assert!(stop.is_some(), "the rover reports that it hit something");
    }
    assert!(
        !site.path("state").exists(),
        "no folder of a robot is touched"
    );
}

#[test]
fn case_42_a_changed_session_leaves_other_bytes() {
    let site = Site::new();
    let (_, said) = replay(&site, &shipped(), &MODEL);
    let text = fs::read_to_string(shipped()).unwrap();
    let quiet: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("safety_event\", \"data"))
        .collect();
    assert_eq!(quiet.len() + 1, text.lines().count());
    fs::write(site.path("quiet.json"), quiet.join("\n")).unwrap();
    let (output, other) = replay(&site, &site.path("quiet.json"), &MODEL);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_ne!(other, said);
    let told = |fact: &Fact| matches!(fact, Fact::RobotSafetyEvent { .. });
    assert!(!facts(&output).iter().any(told), "nothing was hit");
}

#[test]
fn case_42_after_an_unclean_end_a_replay_begins_with_the_stop_and_leaves_the_mark() {
    let site = Site::new();
    marked(&site);
    let (output, said) = replay(&site, &shipped(), &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(requests(&said.unwrap())[0].0, "vendor.octos.rover.stop");
    assert!(facts(&output).iter().any(stop_for(StopCause::UncleanEnd)));
    let left: Vec<_> = fs::read_dir(site.robot_state()).unwrap().collect();
    let [Ok(left)] = left.as_slice() else {
        panic!("no lock, socket or audit: {left:?}");
    };
    assert_eq!(left.file_name(), "armed.json");
}

#[test]
fn case_42_outputs_without_times_are_those_with_times_but_for_the_times() {
    let site = Site::new();
    let (_, with) = replay(&site, &shipped(), &[]);
    let inputs = site.path("session.json");
    fs::copy(shipped(), &inputs).unwrap();
    let output = command(&site)
        .args(["node", "--robot", "rover-sim", "--board", "sim"])
        .env("ROBOT_ID", "rover-sim-001")
        .env("DORA_TEST_WITH_INPUTS", &inputs)
        .env("DORA_TEST_NO_OUTPUT_TIME_OFFSET", "1")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let without = fs::read(site.path("outputs.jsonl")).unwrap();
    assert!(!without.windows(16).any(|part| part == b"time_offset_secs"));
    assert_eq!(requests(&without), requests(&with.unwrap()));
}

#[test]
fn a_wrong_session_ends_with_66_names_its_place_and_touches_no_file() {
    let event = |event: &str| format!(r#"{{ "id": "n", "events": [ {event} ] }}"#);
    let rows = [
        ("not json".to_owned(), "line 1 column 2: "),
        (
            event(r#"{ "type": "Halt", "time_offset_secs": 1 }"#),
            "events[0].type: found `\\\"Halt\\\"`; give Input, ",
        ),
        (
            event(r#"{ "type": "Stop" }"#),
            "events[0].time_offset_secs: it is missing",
        ),
        (
            event(r#"{ "type": "Stop", "time_offset_secs": -1 }"#),
            "found `-1`; give seconds",
        ),
        (
            event(r#"{ "type": "Stop", "time_offset_secs": NaN }"#),
            "line 1 column ",
        ),
        (
            " ".repeat(64 * 1024 * 1024 + 1),
            "larger than 67108864 bytes",
        ),
    ];
    let site = Site::new();
    let inputs = site.path("bad.json");
    for (text, problem) in rows {
        fs::write(&inputs, &text).unwrap();
        refused(&site, &inputs, problem);
    }
    refused(&site, &site.path("none.json"), "none.json: No such file");
    refused(&site, &site.path("tiers"), "tiers: Is a directory");
}

fn refused(site: &Site, inputs: &Path, problem: &str) {
    let (output, said) = replay(site, inputs, &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(66), "{text}");
    let problem = problem.replace("\\\"", "\"");
    let name = inputs.file_name().unwrap().to_str().unwrap();
    for part in [problem.as_str(), name, "DORA_WRITE_EVENTS_TO"] {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
    assert_eq!(said, None, "no outputs");
    assert!(!site.path("state").exists());
}

#[test]
fn a_payload_that_is_no_text_is_counted_and_changes_nothing() {
    let site = Site::new();
    let inputs = site.path("objects.json");
    let objects = r#"{ "id": "n", "events": [
      { "type": "Input", "id": "state", "time_offset_secs": 0.01, "data": { "estopped": true } },
      { "type": "Input", "id": "safety_event", "time_offset_secs": 0.02, "data": [1], "data_type": "Int8" },
      { "type": "Stop", "time_offset_secs": 0.03 } ] }"#;
    fs::write(&inputs, objects).unwrap();
    let (output, _) = replay(&site, &inputs, &[]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let facts = facts(&output);
    let ignored = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::InputIgnored { .. }));
    assert_eq!(ignored.count(), 2, "{facts:?}");
    assert!(!facts.iter().any(stop_for(StopCause::VendorEvent)));
}

#[test]
fn a_replay_serves_no_metrics() {
    let site = Site::new();
    let (output, said) = replay(&site, &shipped(), &["--metrics", "127.0.0.1:0"]);
    assert_eq!((output.status.code(), said), (Some(2), None));
}

#[test]
pub(crate) fn case_42_a_session_that_dora_recorded_is_answered_under_the_same_ids() {
    let site = Site::new();
    let recorded = site.path("recorded");
    let sim = [
        "sim",
        "dataflows/scenarios/rover-gate.toml",
        "--state",
        "state",
    ]
    .map(OsStr::new);
    let ended = Run::start_with(&site, &sim, &[("DORA_WRITE_EVENTS_TO", &recorded)]).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let live: Vec<(String, String)> = site
        .journal()
        .into_iter()
        .filter_map(|entry| {
            let JournalEntry::Verb {
                verb, request_id, ..
            } = entry
            else {
                return None;
            };
            Some((verb, request_id))
        })
        .collect();

    let (output, said) = replay(&site, &recorded.join("inputs-octos_edge.json"), &MODEL);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let again = requests(&said.unwrap());
    let first = |all: &[(String, String)], end: &str| {
        let found = all.iter().find(|(verb, _)| verb.ends_with(end));
        found.cloned().unwrap()
    };
    // Whether a life asks for the advert depends on who was there first.
    for verb in ["set_velocity", "rover.stop"] {
        assert_eq!(first(&again, verb), first(&live, verb));
    }
}

/// What clears a screen, turns letters round and begins a line anew.
const HOSTILE: &str = "a\u{1b}[2Jb\u{202e}c\u{9b}31m\rd";

/// Asserts that nothing in what a command printed steers a terminal.
fn assert_harmless(what: &str, output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).unwrap();
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steers), "{what}: {text:?}");
    }
}

#[test]
fn what_a_session_or_an_argument_says_steers_no_terminal() {
    let site = Site::new();
    let session = site.path("hostile.json");
    let document = serde_json::json!({ "id": "n", "events": [], "recording_status": {
        "state": "poisoned", "first_failure_event_index": 7, "first_failure_time_offset_secs": 1.0,
        "first_failure_error": HOSTILE, "additional_failures": 2 } });
    fs::write(&session, document.to_string()).unwrap();
    for args in [&[][..], &["--json"]] {
        let (output, _) = replay(&site, &session, args);
        assert_eq!(output.status.code(), Some(66));
        let said = [&output.stdout[..], &output.stderr].concat();
        assert!(String::from_utf8_lossy(&said).contains("incomplete from events[7] on"));
        assert_harmless("replay", &output);
    }
    let given = serde_json::json!({ "x": 1.0, HOSTILE: 1 }).to_string();
    for (tool, args) in [
        (HOSTILE, "{}"),
        ("rover_go_to_pose", given.as_str()),
        ("rover_go_to_pose", HOSTILE),
    ] {
        for json in [&[][..], &["--json"]] {
            let output = command(&site)
                .args(["explain", tool, args])
                .args(json)
                .output()
                .unwrap();
            assert_harmless("explain", &output);
            assert!(!output.stdout.is_empty() || !output.stderr.is_empty());
        }
    }
}
