//! Case 59, for what is no file: every variable that the binary reads, and every key of a dataflow that it
//! reads itself, changes what it does. Rows about files are in `src/app/rehearse/mock/keys`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::process::Command;

use octos_edge::config::Environment;
use octos_edge::terms::Fact;
use serde_json::Value;

use crate::rig::{ARM, DRIVE, Run, Site, command, repo};

/// How a variable is seen to change something.
enum Proof {
    /// A look, with what it gives without the variable and with it. `SITE` in the value is the folder of
    /// the site.
    Look(
        &'static str,
        fn(&Site, &mut Command) -> String,
        [&'static str; 2],
    ),
    /// A test of this binary that gives the variable to a node. A name that is gone does not compile.
    Test(fn()),
    /// A test of the library, in this file: only a terminal shows it.
    Library(&'static str, &'static str),
}

const ENVIRONMENT: &str = include_str!("../../src/config/environment.rs");

fn variables() -> Vec<(&'static str, Proof)> {
    use Proof::{Library, Look, Test};
    let replayed = "SITE/session.json";
    vec![
        ("OCTOS_EDGE_TIERS", Look("SITE/strict", tools, ["\"safe_motion\"", "\"observe\""])),
        ("OCTOS_EDGE_BOARDS", Look("SITE/bench", boards, ["boards/sim.toml", "SITE/bench/sim.toml"])),
        ("OCTOS_EDGE_CONFIG", Look("SITE/deny.toml", explain, ["\"allowed\"", "\"refused\""])),
        ("OCTOS_EDGE_TIER", Look("observe", explain, ["\"allowed\"", "\"refused\""])),
        ("OCTOS_EDGE_METRICS", Look("9464", node, ["66", "64"])),
        ("OCTOS_EDGE_STATE", Look("SITE/other", audit, ["SITE/state", "SITE/other"])),
        ("OCTOS_EDGE_LOG_FORMAT", Look("json", log, ["text", "json"])),
        ("OCTOS_EDGE_LOG", Look("octos_edge=debug", debug, ["0 states", "some states"])),
        ("OCTOS_EDGE_MODEL", Look("scripted:dataflows/scenarios/rover-gate.toml", drives, ["stands", "drives"])),
        ("OCTOS_EDGE_JOURNAL", Test(crate::main_job::the_main_job_as_json_is_one_document_with_two_processes)),
        ("OCTOS_EDGE_HOME", Test(crate::second_robot::the_rehearsal_on_dora_hands_the_home_to_a_rover_that_reads_no_file)),
        ("ROBOT_ID", Look("rover-sim-001", replay_of_somebody, ["64", "0"])),
        ("USER", Look("ann", who, ["operator", "ann"])),
        ("STATE_DIRECTORY", Look("SITE/service", audit, ["SITE/home/.local/state/octos-edge", "SITE/service"])),
        ("XDG_STATE_HOME", Look("SITE/xdg", audit, ["SITE/home/.local/state/octos-edge", "SITE/xdg/octos-edge"])),
        ("HOME", Look("SITE/house", audit, ["SITE/home/.local/state/octos-edge", "SITE/house/.local/state/octos-edge"])),
        ("NO_COLOR", Library(ENVIRONMENT, "an_empty_no_color_is_none")),
        ("DORA_NODE_CONFIG", Look("run_config: {}", version, ["not started by dora", "dora 0.5 or older"])),
        ("DORA_TEST_WITH_INPUTS", Look(replayed, node, ["66", "0"])),
        ("DORA_TEST_WRITE_OUTPUTS_TO", Look("SITE/said.jsonl", said, ["outputs.jsonl", "said.jsonl"])),
        ("DORA_TEST_NO_OUTPUT_TIME_OFFSET", Look("1", times, ["times", "no times"])),
        ("DORA_WRITE_EVENTS_TO", Test(crate::replay::case_42_a_session_that_dora_recorded_is_answered_under_the_same_ids)),
    ]
}

/// A site with another folder of tiers, another of boards, a policy and a session.
fn furnished() -> Site {
    let site = Site::with_own_files();
    for (from, to) in [("tiers", "strict"), ("boards", "bench")] {
        let status = Command::new("cp")
            .arg("-r")
            .args([site.path(from), site.path(to)])
            .status();
        assert!(status.unwrap().success());
    }
    let ceiling = "max_tier = \"safe_motion\"";
    site.edit(
        "strict/robots/rover-sim.toml",
        ceiling,
        "max_tier = \"observe\"",
    );
    let policy = "schema = 1\n[policy]\ndeny = [\"rover_go_to_pose\"]\n";
    fs::write(site.path("deny.toml"), policy).unwrap();
    fs::copy(
        repo().join("tests/data/session.json"),
        site.path("session.json"),
    )
    .unwrap();
    site
}

/// The binary without any variable of ours.
fn bare(site: &Site) -> Command {
    let mut bare = command(site);
    for name in [
        "OCTOS_EDGE_LOG_FORMAT",
        "USER",
        "XDG_STATE_HOME",
        "NO_COLOR",
    ] {
        bare.env_remove(name);
    }
    bare.env("HOME", site.path("home"));
    bare
}

fn json(command: &mut Command, args: &[&str]) -> Value {
    let output = command.args(args).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

fn part<'v>(document: &'v Value, key: &str) -> &'v Value {
    document.get(key).unwrap()
}

fn tools(_: &Site, command: &mut Command) -> String {
    part(&json(command, &["tools"]), "ceiling").to_string()
}

fn boards(_: &Site, command: &mut Command) -> String {
    let report = json(command, &["check", "--list"]);
    let mut files = part(&report, "loaded").as_array().unwrap().iter();
    let board = files.find(|file| part(file, "kind") == "board").unwrap();
    part(board, "file").as_str().unwrap().to_owned()
}

fn explain(_: &Site, command: &mut Command) -> String {
    let args = ["explain", "rover_go_to_pose", r#"{"x": 1.0, "y": 0.0}"#];
    part(&json(command, &args), "verdict").to_string()
}

const NODE: [&str; 5] = ["node", "--robot", "rover-sim", "--board", "sim"];

/// The code with which a node ends that dora did not start.
fn node(_: &Site, command: &mut Command) -> String {
    let output = command
        .args(NODE)
        .env("ROBOT_ID", "rover-sim-001")
        .output()
        .unwrap();
    output.status.code().unwrap().to_string()
}

fn version(_: &Site, command: &mut Command) -> String {
    let output = command
        .args(NODE)
        .env("ROBOT_ID", "rover-sim-001")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let known = ["not started by dora", "dora 0.5 or older"];
    let found = known.iter().find(|part| text.contains(*part));
    found.map_or(text.clone(), |part| (*part).to_owned())
}

/// Where the audit is looked for.
fn audit(_: &Site, command: &mut Command) -> String {
    let error = json(command, &["audit", "verify"]);
    let error = part(&error, "error").as_str().unwrap();
    let folder = error.strip_prefix("state folder ").unwrap();
    folder.split("/robots").next().unwrap().to_owned()
}

/// What a replay of the session says on standard error and wrote into its outputs.
fn replay(site: &Site, command: &mut Command) -> (String, String) {
    let output = command
        .args(NODE)
        .env("ROBOT_ID", "rover-sim-001")
        .env("DORA_TEST_WITH_INPUTS", site.path("session.json"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let outputs = fs::read_to_string(site.path("outputs.jsonl")).unwrap_or_default();
    (String::from_utf8(output.stderr).unwrap(), outputs)
}

fn log(site: &Site, command: &mut Command) -> String {
    let (log, _) = replay(site, command);
    let first = log.lines().next().unwrap();
    let is_json = serde_json::from_str::<Value>(first).is_ok();
    if is_json { "json" } else { "text" }.to_owned()
}

fn debug(site: &Site, command: &mut Command) -> String {
    let (log, _) = replay(site, command);
    let some = log.contains("robot_state");
    if some { "some states" } else { "0 states" }.to_owned()
}

fn drives(site: &Site, command: &mut Command) -> String {
    let (_, said) = replay(site, command);
    let moves = said.contains("set_velocity");
    if moves { "drives" } else { "stands" }.to_owned()
}

fn said(site: &Site, command: &mut Command) -> String {
    replay(site, command);
    let names = ["outputs.jsonl", "said.jsonl"];
    let there = names.into_iter().filter(|name| site.path(name).exists());
    there.collect::<Vec<_>>().join(", ")
}

fn times(site: &Site, command: &mut Command) -> String {
    let (_, said) = replay(site, command);
    let times = said.contains("time_offset_secs");
    if times { "times" } else { "no times" }.to_owned()
}

/// The code of a replay whose robot has an id from nowhere else.
fn replay_of_somebody(site: &Site, command: &mut Command) -> String {
    let command = command
        .args(NODE)
        .env("DORA_TEST_WITH_INPUTS", site.path("session.json"));
    command.output().unwrap().status.code().unwrap().to_string()
}

/// Who says a word to a node.
fn who(site: &Site, command: &mut Command) -> String {
    fs::create_dir_all(site.robot_state()).unwrap();
    let node = UnixListener::bind(site.robot_state().join("control.sock")).unwrap();
    let heard = std::thread::spawn(move || {
        let (stream, _) = node.accept().unwrap();
        let mut word = String::new();
        BufReader::new(&stream).read_line(&mut word).unwrap();
        (&stream)
            .write_all(b"{\"answer\":\"done\",\"text\":\"so\"}\n")
            .unwrap();
        word
    });
    let output = command
        .args(["ctl", "disarm", "--robot-id", "rover-sim-001"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let word: Value = serde_json::from_str(&heard.join().unwrap()).unwrap();
    part(&word, "who").as_str().unwrap().to_owned()
}

#[test]
fn case_59_every_variable_changes_what_the_binary_does() {
    for (name, proof) in variables() {
        let (value, look, expected) = match proof {
            Proof::Look(value, look, expected) => (value, look, expected),
            Proof::Library(file, test) => {
                assert!(
                    file.contains(&format!("fn {test}()")),
                    "{name}: {test} is gone"
                );
                continue;
            }
            Proof::Test(test) => {
                assert!(std::ptr::fn_addr_eq(test, test), "{name}");
                continue;
            }
        };
        let seen = [None, Some(value)].map(|value| {
            let site = furnished();
            let folder = site.path("").display().to_string();
            let folder = folder.trim_end_matches('/');
            let mut command = bare(&site);
            // Where the state lies is asked of each variable by itself.
            if ["STATE_DIRECTORY", "XDG_STATE_HOME", "HOME"].contains(&name) {
                command.env_remove("OCTOS_EDGE_STATE");
            }
            if let Some(value) = value {
                command.env(name, value.replace("SITE", folder));
            }
            look(&site, &mut command).replace(folder, "SITE")
        });
        assert_eq!(seen, expected, "{name}");
    }
}

/// The names behind `[env: ` in the help of each command, and those that are read without an option.
#[test]
fn case_59_every_variable_has_a_row() {
    let site = Site::new();
    let mut read: BTreeSet<String> = Environment::NAMES.map(str::to_owned).into();
    let commands = [
        "sim",
        "run",
        "node",
        "mock-robot",
        "check",
        "explain",
        "tools",
        "ctl",
        "audit",
        "completions",
    ];
    for word in commands {
        let output = bare(&site).args([word, "--help"]).output().unwrap();
        let help = String::from_utf8(output.stdout).unwrap();
        let named = help.split("[env: ").skip(1);
        read.extend(named.map(|rest| rest.split(['=', ']']).next().unwrap().to_owned()));
    }
    let rows: BTreeSet<String> = variables()
        .into_iter()
        .map(|(name, _)| name.to_owned())
        .collect();
    assert_eq!(rows, read);
    let readme = fs::read_to_string(repo().join("README.md")).unwrap();
    let silent: Vec<&String> = read.iter().filter(|name| !readme.contains(*name)).collect();
    assert_eq!(
        silent,
        Vec::<&String>::new(),
        "README.md does not name them"
    );
}

#[test]
fn case_69_a_node_on_a_dataflow_says_once_that_a_restart_is_required_and_drives_on() {
    let site = Site::with_own_files();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    run.wait_moving();
    let ceiling = "linear_speed_mps = 0.25";
    site.edit("tiers/safe_motion.toml", ceiling, "linear_speed_mps = 0.24");
    let told = |fact: &Fact| matches!(fact, Fact::RestartRequired { .. });
    let fact = run.wait_fact("the edit is told", told);
    let Fact::RestartRequired { files } = fact else {
        panic!("{fact:?}");
    };
    assert!(
        matches!(files.as_slice(), [one] if one.ends_with("tiers/safe_motion.toml")),
        "{files:?}"
    );
    let status = json(&mut bare(&site), &["ctl", "status"]);
    assert_eq!(status["restart_required"], serde_json::json!(files));
    let end = bare(&site).args(["ctl", "end"]).output().unwrap();
    assert_eq!(end.status.code(), Some(0), "{end:?}");
    let ended = run.finish();
    let lines = ended
        .lines
        .iter()
        .filter(|line| line.text.contains("restart required"));
    assert_eq!(lines.count(), 1);
    assert_eq!(site.facts().into_iter().filter(told).count(), 1);
}

const FLOW: &str = "dataflows/rover-sim.yml";

/// Keys of a node of ours, each with an edit and what `check` makes of it.
const NODE_KEYS: [(&str, [&str; 2], &str); 7] = [
    (
        "id",
        ["- id: octos_edge", "- id: brain"],
        "source node `octos_edge` mapped to input `rover/cmd_request` does not exist",
    ),
    (
        "path",
        [
            "path: octos-edge\n    args: mock-robot",
            "path: rover\n    args: mock-robot",
        ],
        "octos_edge = node",
    ),
    (
        "args --robot",
        ["--robot rover-sim", "--robot rover-two"],
        "node `octos_edge`: --robot rover-two: no such robot file",
    ),
    (
        "args --board",
        ["--board sim", "--board bench"],
        "node `octos_edge`: --board bench: no such board file",
    ),
    (
        "env ROBOT_ID",
        [
            "env: { ROBOT_ID: rover-sim-001, OCTOS_EDGE_TIERS: ../tiers }\n    restart_policy: on-failure",
            "env: { OCTOS_EDGE_TIERS: ../tiers }\n    restart_policy: on-failure",
        ],
        "node `octos_edge`: no ROBOT_ID in its env, and the robot file fixes no id",
    ),
    (
        "inputs",
        ["      state: {", "      stat: {"],
        "node `octos_edge`: input `stat` is not one that this node reads: did you mean `state`?; node `octos_edge`: input `state` is missing (wired: capabilities, cmd_response, safety_event, stat, tick)",
    ),
    (
        "outputs",
        ["outputs: [cmd_request]", "outputs: []"],
        "node `octos_edge`: output `cmd_request` is missing (declared: none); output `octos_edge/cmd_request` mapped to input `rover/cmd_request` does not exist",
    ),
];

#[test]
fn case_59_every_key_of_a_dataflow_that_is_read_here_is_judged() {
    let said = |site: &Site| {
        let report = json(&mut bare(site), &["check", "--list"]);
        let faults = report["faults"].as_array().cloned().unwrap_or_default();
        let problems = faults
            .iter()
            .map(|fault| fault["problem"].as_str().unwrap().to_owned());
        let loaded = report["loaded"].as_array().cloned().unwrap_or_default();
        let flows = loaded.iter().filter(|file| file["kind"] == "dataflow");
        let flows = flows.map(|file| file["holds"].as_str().unwrap().to_owned());
        problems.chain(flows).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(
        said(&Site::with_own_files()),
        "octos_edge = node, rover = mock-robot"
    );
    for (key, [goes, comes], expected) in NODE_KEYS {
        let site = Site::with_own_files();
        site.edit(FLOW, goes, comes);
        assert_eq!(said(&site), expected, "{key}");
    }
    // The period of a timer tells when it is silent: seen by whoever attaches.
    let attach = include_str!("../../src/node/attach.rs");
    assert!(attach.contains("fn case_38_only_a_timer_of_the_dataflow_has_a_period()"));
}
