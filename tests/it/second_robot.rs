//! A second robot, with verbs, arguments, state and heartbeat field of its own: it is rehearsed from its
//! files alone, and `check` leads through every key that was forgotten.

use std::ffi::OsStr;
use std::fs;

use octos_edge::sim::{JournalEntry, VerbClass};
use octos_edge::terms::Fact;
use serde_json::Value;

use crate::rig::{Run, Site, command};

const ROBOT: &str = "tiers/robots/crawler.toml";
const FLOW: &str = "dataflows/crawler.yml";
const SCENARIO: &str = "dataflows/scenarios/crawler-yard.toml";

/// Keys of the file that may be left out, with the table they stand in: each has a default in
/// `tiers/README.md`.
const MAY_BE_LEFT_OUT: [(&str, &str); 9] = [
    ("", "advert_unknown"),
    ("[[stop.steps]]", "retry_empty"),
    ("[[workspace.keep_out]]", "name"),
    ("[[tool]]", "control_source"),
    ("[[tool]]", "completion"),
    // Its verb is watched by [monitor].
    ("[[tool]]", "speed_bound"),
    ("[tool.args]", "min"),
    ("[tool.args]", "max"),
    ("[tool.args]", "required"),
];

/// Tables that may be left out as a whole.
const TABLES_LEFT_OUT: [&str; 3] = ["[release]", "[tool.speed_bound]", "[tool.completion]"];

/// Runs the crawler's scenario; asserts that it went well, and returns its summary.
fn rehearse(site: &Site, more: &[&str]) -> Value {
    let args = ["sim", "crawler-yard", "--json"].iter().chain(more);
    let args: Vec<&OsStr> = args.map(OsStr::new).collect();
    let ended = Run::start(site, &args).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let summary: Value = serde_json::from_str(&ended.out).unwrap();
    let at = |path: &str| summary.pointer(path).unwrap_or(&Value::Null);
    assert_eq!(at("/ok"), true, "{summary}");
    assert_eq!(at("/calls/refused/robot_tier_gate"), 1);
    let by_operator = |stop: &&Value| stop.get("by") == Some(&"operator".into());
    let mut stops = at("/stops").as_array().unwrap().iter();
    let stop = stops.find(by_operator).unwrap();
    let standstill = stop.get("standstill_after_ms");
    assert!(standstill.is_some_and(Value::is_u64), "{stop}");
    assert_eq!(*at("/path/start"), serde_json::json!([1.0, -0.5]));
    summary
}

#[test]
fn a_second_robot_is_rehearsed_in_process_from_its_files_alone() {
    let site = Site::crawler();
    let summary = rehearse(&site, &["--bridge", "mock"]);
    let again = rehearse(&site, &["--bridge", "mock"]);
    assert_eq!(summary["trace"], again["trace"]);
    let other = rehearse(&site, &["--bridge", "mock", "--seed", "12"]);
    assert_ne!(summary["trace"], other["trace"]);
}

#[test]
fn a_second_robot_is_rehearsed_on_dora_and_hears_its_own_verbs_only() {
    let site = Site::crawler();
    rehearse(&site, &[]);
    let mut heard = Vec::new();
    for entry in site.journal() {
        if let JournalEntry::Verb {
            verb, class, code, ..
        } = entry
        {
            assert!(
                code == "0" || code == "pending",
                "{verb} was answered {code}"
            );
            heard.push((verb, class));
        }
    }
    let has = |verb: &str, class| heard.contains(&(verb.to_owned(), class));
    assert!(
        has("vendor.acme.base.drive", VerbClass::Motion),
        "{heard:?}"
    );
    assert!(has("vendor.acme.base.nav.visit", VerbClass::Motion));
    assert!(has("vendor.acme.base.nav.goto", VerbClass::Motion));
    assert!(has("vendor.acme.base.halt", VerbClass::Stop));
    assert!(has("vendor.acme.base.yield", VerbClass::Other));
    assert!(
        !heard
            .iter()
            .any(|(verb, _)| verb.contains("octos") || verb.contains("claw"))
    );
    let told = |fact: &Fact| {
        matches!(
            fact,
            Fact::Advert {
                deadman_ms: Some(800),
                ..
            }
        )
    };
    assert!(site.facts().iter().any(told), "the nested field was read");
}

#[test]
fn a_simulated_robot_that_cannot_speak_to_its_agent_is_named_before_anything_starts() {
    let rows = [
        (
            "mock-robot --robot crawler",
            "mock-robot",
            "without --robot crawler",
        ),
        (
            "mock-robot --robot crawler",
            "mock-robot --robot rover",
            "--robot rover",
        ),
    ];
    for (goes, comes, part) in rows {
        let site = Site::crawler();
        site.edit(FLOW, goes, comes);
        for (args, code) in [
            (&["sim", SCENARIO][..], 66),
            (&["run", FLOW], 66),
            (&["check"], 64),
        ] {
            let output = command(&site).args(args).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
            let hint = "correct the node's args or env";
            for part in [part, "node `base`", FLOW, hint] {
                assert!(said.contains(part), "{args:?}: no `{part}` in {said}");
            }
        }
        assert!(!site.path("state").exists(), "nothing was started");
    }
}

#[test]
fn a_tool_that_a_planar_base_does_not_understand_ends_a_rehearsal_with_64_and_passes_check() {
    let site = Site::crawler();
    let tool = "\n[[tool]]\nname = \"wave\"\nverb = \"vendor.acme.arm.wave\"\nid = \"AC-09\"\n\
                why = \"A wave is slow.\"\ntier = \"safe_motion\"\neffect = \"move\"\n\
                describe = \"Wave the arm\"\n";
    let text = fs::read_to_string(site.path(ROBOT)).unwrap();
    fs::write(site.path(ROBOT), format!("{text}{tool}")).unwrap();
    let line = text.lines().count() + 2;
    let check = command(&site).arg("check").output().unwrap();
    assert_eq!(check.status.code(), Some(0), "a real robot may know it");
    let mock_robot = [
        "mock-robot",
        "--robot",
        "crawler",
        "--robot-id",
        "crawler-1",
    ];
    let sim = ["sim", "crawler-yard"];
    for args in [
        &sim[..],
        &["sim", "crawler-yard", "--bridge", "mock"],
        &mock_robot,
    ] {
        let output = command(&site).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{args:?}: {said}");
        for part in [
            format!("{ROBOT}:{line}: tool.wave: "),
            "vendor.acme.arm.wave".to_owned(),
            "octos-edge run".to_owned(),
        ] {
            assert!(said.contains(&part), "{args:?}: no `{part}` in {said}");
        }
    }
    assert!(!site.path("state").exists(), "nothing was started");
}

#[test]
pub(crate) fn the_rehearsal_on_dora_hands_the_home_to_a_rover_that_reads_no_file() {
    let site = Site::with_own_files();
    let home = "home = [0.0, 0.0, 0.0]";
    site.edit(
        "tiers/robots/rover-sim.toml",
        home,
        "home = [-0.5, 0.25, 0.0]",
    );
    let expect = "end_pose = { x = [-0.5, -0.5], y = [0.25, 0.25] }";
    let scenario = site.scenario("", &[], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
}

/// One line of the file that says a key.
struct Line {
    number: usize,
    /// The table it stands in, as its head is written.
    table: String,
    key: String,
}

fn lines_of(text: &str) -> Vec<Line> {
    let mut table = String::new();
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            table = line.to_owned();
        } else if let Some((key, _)) = line.split_once(" = ") {
            lines.push(Line {
                number,
                table: table.clone(),
                key: key.to_owned(),
            });
        }
    }
    lines
}

/// Writes the file without some lines; returns the exit code and the faults of `check`.
fn check_without(site: &Site, text: &str, gone: impl Fn(usize) -> bool) -> (i32, Vec<Value>) {
    let kept = text
        .lines()
        .enumerate()
        .filter(|(number, _)| !gone(*number));
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    fs::write(site.path(ROBOT), kept.join("\n")).unwrap();
    let output = command(site).args(["check", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let faults = report.get("faults").and_then(Value::as_array);
    let faults = faults.cloned().unwrap_or_default();
    (output.status.code().unwrap(), faults)
}

/// Whether a fault of the robot file names a key, as its own place or as what is missing.
fn names(fault: &Value, key: &str) -> bool {
    let text = |member: &str| fault.get(member).unwrap().as_str().unwrap().to_owned();
    let quoted = format!("`{key}`");
    let own = text("key").rsplit('.').next() == Some(key);
    text("file") == ROBOT
        && (own || text("problem").contains(&quoted) || text("hint").contains(&quoted))
}

#[test]
fn check_leads_through_each_forgotten_key() {
    let site = Site::crawler();
    let text = fs::read_to_string(site.path(ROBOT)).unwrap();
    let lines = lines_of(&text);
    assert!(lines.len() > 90, "only {}", lines.len());
    for line in lines {
        let (code, faults) = check_without(&site, &text, |number| number == line.number);
        let table = match line.table.starts_with("[tool.args.") {
            true => "[tool.args]",
            false => &line.table,
        };
        let what = format!("line {} of {}: `{}`", line.number + 1, line.table, line.key);
        if MAY_BE_LEFT_OUT.contains(&(table, line.key.as_str())) {
            assert_eq!((code, faults.len()), (0, 0), "{what}: {faults:#?}");
            continue;
        }
        assert_eq!(code, 64, "{what} is missed by nobody");
        let found = faults.iter().any(|fault| names(fault, &line.key));
        assert!(found, "{what} is not named: {faults:#?}");
        assert!(
            faults.iter().all(|fault| fault["hint"] != ""),
            "{what}: {faults:#?}"
        );
    }
}

#[test]
fn check_leads_through_each_forgotten_table() {
    let site = Site::crawler();
    let text = fs::read_to_string(site.path(ROBOT)).unwrap();
    let all: Vec<&str> = text.lines().collect();
    let mut tried = 0;
    for (from, head) in all.iter().enumerate() {
        let path = head
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        // Arguments and poses have names of the robot's own: examples miss those.
        let own = |path: &&str| {
            !["[", "tool.args", "tool.poses"]
                .iter()
                .any(|p| path.starts_with(p))
        };
        let Some(path) = path.filter(own) else {
            continue;
        };
        tried += 1;
        let rest = all.iter().skip(from + 1);
        let length = rest.take_while(|line| !line.starts_with('[')).count();
        let (code, faults) = check_without(&site, &text, |n| (from..=from + length).contains(&n));
        if TABLES_LEFT_OUT.contains(head) {
            assert_eq!((code, faults.len()), (0, 0), "{head}: {faults:#?}");
            continue;
        }
        assert_eq!(code, 64, "{head} is missed by nobody");
        // By its own path, by that of a key in it, or as what a tool needs: `[monitor]`.
        let needed = format!("[{}]", path.split('.').next().unwrap());
        let found = faults.iter().any(|fault| {
            let key = fault["key"].as_str().unwrap();
            key.starts_with(path) || fault["hint"].as_str().unwrap().contains(&needed)
        });
        assert!(found, "{head} is not named: {faults:#?}");
    }
    assert!(tried >= 8, "only {tried}");
}
