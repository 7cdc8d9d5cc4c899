//! `audit verify`, `show` and `export` on a black box that lies on disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use octos_edge::telemetry::{Metrics, Recorder, RecorderPlan, RobotLabels};
use octos_edge::terms::{Clock, Fact, FactSink as _, Mono, StopCause, StopKind};
use serde_json::Value;

use crate::rig::{Site, command};

/// Stands still in May 2026.
#[derive(Debug)]
struct Still;

impl Clock for Still {
    fn now(&self) -> Mono {
        Mono::from_ms(7)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_777_636_800)
    }
}

/// What a person at a terminal must never get as it is.
const HOSTILE: &str = "\u{1b}[2J\u{9b}31m\u{202e}nna\r\n";

/// Leaves one life in the audit of the site's robot, and returns the folder.
fn live(site: &Site) -> PathBuf {
    let dir = site.robot_state().join("audit");
    fs::create_dir_all(&dir).unwrap();
    let recorder = begin(&dir);
    let sink = recorder.sink();
    for epoch in 1..4 {
        sink.raise(Fact::StopAsked {
            what: StopKind::Stop,
            cause: StopCause::OperatorStop,
            epoch,
            by: Some("ann".to_owned()),
        });
    }
    sink.raise(Fact::GoalBegun {
        goal: 1,
        digest: "d1".to_owned(),
        by: HOSTILE.to_owned(),
        peer: None,
    });
    recorder.finish().unwrap();
    dir
}

fn begin(dir: &Path) -> Recorder {
    Recorder::start(RecorderPlan {
        bytes_max: 256 * 1024 * 1024,
        dir: dir.to_owned(),
        clock: Arc::new(Still),
        metrics: Arc::new(Metrics::new(RobotLabels::default()).unwrap()),
    })
    .unwrap()
}

/// Runs `audit` with these words; returns its code and what it printed.
fn audit(site: &Site, args: &[&str]) -> (i32, String) {
    let output = command(site).arg("audit").args(args).output().unwrap();
    let mut said = String::from_utf8(output.stdout).unwrap();
    said.push_str(&String::from_utf8(output.stderr).unwrap());
    (output.status.code().unwrap(), said)
}

fn json(site: &Site, args: &[&str]) -> (i32, Value) {
    let (code, said) = audit(site, &[args, &["--json"]].concat());
    (code, serde_json::from_str(&said).unwrap())
}

fn assert_says(said: &str, parts: &[&str]) {
    for part in parts {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
}

#[test]
fn case_49_verify_ends_with_0_on_a_whole_log_and_with_1_on_a_changed_one_and_names_the_place() {
    let site = Site::new();
    let dir = live(&site);
    let (code, said) = audit(&site, &["verify"]);
    assert_eq!(code, 0, "{said}");
    assert_says(
        &said,
        &["safety  records 1 to 4 in 1 file", "WHOLE", "head"],
    );

    let path = dir.join("safety-000001.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"epoch\":2", "\"epoch\":9", 1)).unwrap();
    let (code, said) = audit(&site, &["verify"]);
    assert_eq!(code, 1, "{said}");
    assert_says(
        &said,
        &[
            "fault: safety-000001.jsonl:3: this line was changed",
            "BROKEN: 1 fault",
        ],
    );
    let (code, found) = json(&site, &["verify"]);
    assert_eq!(code, 1);
    let fault = &found["faults"][0];
    assert_eq!(
        (
            found["ok"].as_bool(),
            fault["file"].as_str(),
            fault["line"].as_u64()
        ),
        (Some(false), Some("safety-000001.jsonl"), Some(3))
    );
}

#[test]
fn verify_holds_a_log_against_a_hash_that_was_kept_elsewhere() {
    let site = Site::new();
    live(&site);
    let (_, found) = json(&site, &["verify"]);
    let head = found["chains"][0]["head"]["hash"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(audit(&site, &["verify", "--holds", &head]).0, 0);
    let other = "ab".repeat(32);
    let (code, said) = audit(&site, &["verify", "--holds", &other]);
    assert_eq!(code, 1);
    assert_says(&said, &[&other, "made anew"]);
    assert_eq!(audit(&site, &["verify", "--holds", "AB"]).0, 2);
}

#[test]
fn a_log_that_a_node_writes_meanwhile_is_whole() {
    let site = Site::new();
    let dir = live(&site);
    let recorder = begin(&dir);
    recorder.sink().raise(Fact::SendFailed);
    // Whatever of it has been written.
    let (code, said) = audit(&site, &["verify"]);
    assert_eq!(code, 0, "{said}");
    recorder.finish().unwrap();
    assert_eq!(audit(&site, &["verify"]).0, 0);
}

#[test]
fn show_tells_a_kind_that_is_none_and_takes_a_time_as_people_write_it() {
    let site = Site::new();
    live(&site);
    let (code, said) = audit(&site, &["show", "--kind", "stop_askd"]);
    assert_eq!(code, 2, "{said}");
    let parts = [
        "no kind of record is named `stop_askd`",
        "did you mean `stop_asked`?",
        "run_state_changed",
    ];
    assert_says(&said, &parts);
    // A kind of which there is no record is found nowhere, and that is no error.
    let (code, said) = audit(&site, &["show", "--kind", "graph_lost"]);
    assert_eq!(code, 0, "{said}");
    assert_says(&said, &["0 of 0 records that fit"]);
    let (_, said) = audit(&site, &["show", "--kind", "goal_begun"]);
    assert_says(&said, &["1 of 1 record that fits"]);
    // All records are of noon, in UTC.
    for (since, found) in [
        ("2026-05-01 12:00", 7),
        ("2026-05-01 12:01", 0),
        ("2026-05-01 14:00+02:00", 7),
        ("2026-05-01 14:01 +0200", 0),
        ("2026-05-01", 7),
    ] {
        let (code, document) = json(&site, &["show", "--since", since]);
        assert_eq!((code, &document["found"]), (0, &found.into()), "{since}");
    }
    assert_eq!(audit(&site, &["show", "--since", "noon"]).0, 2);
}

#[test]
fn show_filters_and_lets_nothing_steer_the_terminal() {
    let site = Site::new();
    live(&site);
    let (code, said) = audit(&site, &["show"]);
    assert_eq!(code, 0, "{said}");
    assert_says(
        &said,
        &[
            "2026-05-01T12:00:00.000Z  safety  stop_asked",
            "what=stop  ",
            "black box begun",
            "7 of 7 records that fit, of rover-sim-001",
            "\\u001b[2J",
            "\\u{202e}",
        ],
    );
    let (_, document) = json(&site, &["show", "--kind", "goal_begun"]);
    assert_eq!(document["records"][0]["fact"]["by"], HOSTILE);
    for json in [&[][..], &["--json"]] {
        let (_, said) = audit(&site, &[&["show"], json].concat());
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!said.contains(steers), "{said:?}");
    }
    let rows = [
        (&["--class", "audit"][..], 2),
        (&["--kind", "stop_asked"], 3),
        (&["--last", "2"], 2),
        (&["--since", "2026-05-01T12:00:00Z"], 7),
        (&["--since", "2026-05-01T12:00:01Z"], 0),
    ];
    for (filter, count) in rows {
        let (code, found) = json_of(&site, filter);
        assert_eq!(
            (code, found["records"].as_array().unwrap().len()),
            (0, count),
            "{filter:?}"
        );
    }
    for bad in [
        &["--last", "0"][..],
        &["--since", "soon"],
        &["--class", "x"],
    ] {
        assert_eq!(audit(&site, &[&["show"], bad].concat()).0, 2, "{bad:?}");
    }
}

fn json_of(site: &Site, filter: &[&str]) -> (i32, Value) {
    json(site, &[&["show"], filter].concat())
}

#[test]
fn export_writes_every_record_as_it_is_and_replaces_a_file_only_with_force() {
    let site = Site::new();
    let dir = live(&site);
    let file = site.path("box.jsonl");
    let name = file.to_str().unwrap();
    let (code, said) = audit(&site, &["export", name]);
    assert_eq!(code, 0, "{said}");
    let text = fs::read_to_string(&file).unwrap();
    let (first, records) = text.split_once('\n').unwrap();
    let first: Value = serde_json::from_str(first).unwrap();
    assert_eq!(first["octos_edge_audit"], 1);
    assert_eq!(first["ok"], true);
    let read = |class: &str| fs::read_to_string(dir.join(format!("{class}-000001.jsonl"))).unwrap();
    assert_eq!(records, ["safety", "audit", "trace"].map(read).concat());

    let (code, said) = audit(&site, &["export", name]);
    assert_eq!(code, 2, "{said}");
    assert_says(&said, &["exists", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), text, "it is as it was");
    // A broken log is exported as well, and told.
    let path = dir.join("trace-000001.jsonl");
    fs::write(&path, read("trace") + "rubbish\n").unwrap();
    let (code, said) = audit(&site, &["export", name, "--force"]);
    assert_eq!(code, 1, "{said}");
    let text = fs::read_to_string(&file).unwrap();
    assert_says(&text, &["\"ok\":false", "{\"unreadable\":{"]);
    let inside = dir.join("safety-000009.jsonl");
    assert_eq!(audit(&site, &["export", inside.to_str().unwrap()]).0, 2);
    assert!(!inside.exists());
}

#[test]
fn an_export_with_force_follows_no_link_and_leaves_nothing_beside_its_file() {
    let site = Site::new();
    live(&site);
    let (link, other) = (site.path("link.jsonl"), site.path("other"));
    fs::write(&other, "mine").unwrap();
    std::os::unix::fs::symlink(&other, &link).unwrap();
    let (code, said) = audit(&site, &["export", link.to_str().unwrap(), "--force"]);
    assert_eq!(code, 2, "{said}");
    assert_says(&said, &["link.jsonl is no ordinary file"]);
    assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    // Whatever lies where another export had its part is in nobody's way.
    let file = site.path("box.jsonl");
    fs::write(&file, "old").unwrap();
    for _ in 0..2 {
        let (code, said) = audit(&site, &["export", file.to_str().unwrap(), "--force"]);
        assert_eq!(code, 0, "{said}");
    }
    let names = fs::read_dir(site.path("")).unwrap();
    let parts = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().ends_with(".part")
    });
    assert_eq!(parts.count(), 0);
}

#[test]
fn without_an_audit_the_state_folder_is_wrong_and_of_two_robots_one_must_be_named() {
    let site = Site::new();
    let (code, said) = audit(&site, &["verify"]);
    assert_eq!(code, 64, "{said}");
    assert_says(&said, &["no audit lies there", "--state"]);
    let dir = live(&site);
    let other = site.path("state/robots/rover-2/audit");
    fs::create_dir_all(&other).unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), other.join(entry.file_name())).unwrap();
    }
    let (code, said) = audit(&site, &["show"]);
    assert_eq!(code, 2, "{said}");
    assert_says(&said, &["rover-2, rover-sim-001"]);
    assert_eq!(audit(&site, &["verify", "--robot-id", "rover-2"]).0, 0);
    assert_eq!(audit(&site, &["verify", "--robot-id", "rover-3"]).0, 64);
}

/// The program of the docs, run by Python where there is one.
#[test]
fn the_documented_check_agrees() {
    let site = Site::new();
    let dir = live(&site);
    let source = include_str!("../../src/telemetry/blackbox/chain.rs");
    let program: Vec<&str> = source
        .lines()
        .skip_while(|line| !line.contains("```python"))
        .skip(1)
        .take_while(|line| !line.contains("```"))
        .map(|line| line.strip_prefix("//!").unwrap())
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let check = |path: &Path| {
        std::process::Command::new("python3")
            .args(["-c", &program.join("\n")])
            .arg(path)
            .output()
    };
    let path = dir.join("safety-000001.jsonl");
    // No Python, nothing to compare with.
    let Ok(output) = check(&path) else {
        return;
    };
    let (_, found) = json(&site, &["verify"]);
    let head = found["chains"][0]["head"]["hash"].as_str().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.trim(), head, "{:?}", output.stderr);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"epoch\":2", "\"epoch\":9", 1)).unwrap();
    let output = check(&path).unwrap();
    assert!(!output.status.success());
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("line 3: changed")
    );
}
