//! Exit codes, where a command ends before anything is driven.

use std::ffi::OsStr;

use octos_edge::terms::{Fact, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{
    ARM, DRIVE, Line, Run, Site, Trail, command, enters, is_clean_end, is_start, stop_for,
};

/// Runs a command; asserts its code and that it says each part on standard error.
fn says(site: &Site, args: &[&str], code: i32, parts: &[&str]) {
    let output = command(site).args(args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    for part in parts {
        assert!(said.contains(part), "{args:?}: no `{part}` in {said}");
    }
}

#[test]
fn a_wrong_command_line_ends_with_2_and_help_with_0() {
    let site = Site::new();
    let rows = [
        (&[][..], 2, "Usage"),
        (&["fly"], 2, "fly"),
        (&["sim", "--fast"], 2, "--fast"),
        (&["run"], 2, "<FILE>"),
        (&["run", "x.yml", "--stop-after", "0ms"], 2, "1ms to 24h"),
        (&["node", "--robot", "rover-sim"], 2, "--board"),
        (&["ctl", "arm", "--why", "x", "--for-s", "0"], 2, "for-s"),
        (&["--help"], 0, ""),
        (&["--version"], 0, ""),
    ];
    for (args, code, part) in rows {
        says(&site, args, code, &[part]);
    }
}

#[test]
fn a_word_to_nobody_ends_with_1_and_says_where_it_looked() {
    let parts = ["state/robots", "--state"];
    says(&Site::new(), &["ctl", "status"], 1, &parts);
}

#[test]
fn an_unknown_scenario_ends_with_2_and_names_the_known_ones() {
    let parts = ["no scenario `rover-gat`", "rover-gate"];
    says(&Site::new(), &["sim", "rover-gat"], 2, &parts);
}

#[test]
fn a_broken_tier_file_ends_every_command_with_64_and_names_file_line_and_key() {
    let site = Site::with_own_files();
    site.edit(
        "tiers/safe_motion.toml",
        "rate_per_s = 1.0",
        "rate_per_s = 0.0",
    );
    let parts = ["tiers/safe_motion.toml:6: defaults.rate_per_s: ", "help: "];
    for args in [
        &["sim"][..],
        &["check"],
        &["node", "--robot", "rover-sim", "--board", "sim"],
    ] {
        says(&site, args, 64, &parts);
    }
    let output = command(&site).args(["check", "--json"]).output().unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["exit"], 64);
    let faults = document["faults"].as_array().unwrap();
    let mut faults = faults.iter();
    let fault = faults.find(|fault| fault["file"] == "tiers/safe_motion.toml");
    let fault = fault.unwrap();
    assert_eq!(fault["line"], 6);
    assert_eq!(fault["key"], "defaults.rate_per_s");
}

/// Runs a command that must end with `code` and print one JSON document on standard output.
fn printed(site: &Site, args: &[&str], code: i32) -> serde_json::Value {
    let output = command(site).args(args).arg("--json").output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn an_explained_call_ends_with_1_when_it_would_be_refused_and_so_does_one_of_no_tool() {
    let site = Site::new();
    let point = r#"{"x": 1.0, "y": 0.0}"#;
    let rows = [
        (&["explain", "rover_go_to_pose", point][..], 0, "allowed"),
        (&["explain", "rover_stop"], 0, "stop"),
        (&["explain", "rover_gripper_set", "{}"], 1, "refused"),
        (&["explain", "rover_go_to_pse", point], 1, "refused"),
    ];
    for (args, code, verdict) in rows {
        assert_eq!(printed(&site, args, code)["verdict"], verdict, "{args:?}");
    }
    let unknown = printed(&site, &["explain", "rover_go_to_pse"], 1);
    assert_eq!(unknown["reason"], "unknown_tool");
    assert_eq!(unknown["hint"], "did you mean `rover_go_to_pose`?");
}

#[test]
fn a_tier_above_the_ceiling_is_said_to_be_lowered() {
    let site = Site::new();
    let explain = ["explain", "rover_go_to_pose", r#"{"x": 1.0, "y": 0.0}"#];
    let lowered = |tier: &str| {
        let args = [&explain[..], &["--tier", tier]].concat();
        printed(&site, &args, 0)["lowered"].clone()
    };
    let told = "--tier full_actuation was lowered to safe_motion, the max_tier of tiers/robots/rover-sim.toml:5";
    assert_eq!(lowered("full_actuation"), told);
    assert_eq!(lowered("safe_motion"), serde_json::Value::Null);
    let args = [&explain[..], &["--tier", "full_actuation"]].concat();
    let output = command(&site).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(told), "{text}");
}

#[test]
fn a_wrong_command_line_with_json_is_one_json_object_on_standard_error() {
    let site = Site::new();
    for args in [
        &["sim", "--fast", "--json"][..],
        &["--json"],
        &["--json", "fly"],
    ] {
        let output = command(&site).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(output.stdout, b"", "{args:?}");
        let document: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!(document["exit"], 2, "{args:?}");
        assert!(
            !document["error"].as_str().unwrap().is_empty(),
            "{document}"
        );
    }
    let output = command(&site)
        .args(["sim", "--fast", "--json"])
        .output()
        .unwrap();
    let document: serde_json::Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(document["error"], "unexpected argument '--fast' found");
    assert!(
        document["hint"]
            .as_str()
            .unwrap()
            .contains("Usage: octos-edge sim")
    );
}

#[test]
fn a_node_that_dora_did_not_start_ends_with_66() {
    let node = [
        "node",
        "--robot",
        "rover-sim",
        "--board",
        "sim",
        "--robot-id",
        "r-1",
    ];
    let parts = ["not started by dora", "octos-edge run"];
    says(&Site::new(), &node, 66, &parts);
    says(
        &Site::new(),
        &["mock-robot", "--robot-id", "r-1"],
        66,
        &parts,
    );
}

#[test]
fn case_67_a_second_agent_of_the_same_robot_ends_with_75_and_the_first_serves_on() {
    let site = Site::new();
    let flow = "dataflows/rover-sim.yml";
    let inputs = "      cmd_response: { source: rover/cmd_response }
      capabilities: { source: rover/capabilities }
      state: { source: rover/state }
      safety_event: { source: rover/safety_event }";
    let second = format!(
        "  - id: second\n    path: octos-edge\n    args: node --robot rover-sim --board sim\n    \
         env: {{ ROBOT_ID: rover-sim-001, OCTOS_EDGE_TIERS: ../tiers }}\n    inputs:\n{inputs}\n    \
         outputs: [cmd_request]\n  - id: rover\n"
    );
    site.edit(flow, "  - id: rover\n", &second);
    // Whoever comes second is refused, and stays so.
    site.edit(flow, "restart_policy: on-failure", "restart_policy: never");
    let mut run = Run::start(&site, &["run", flow].map(OsStr::new));
    let serves = |line: &Line| line.tells(enters(RunState::Disarmed));
    let refused = |line: &Line| line.text.contains("exited with code 75");
    run.wait_all("one serves, one is refused", vec![&serves, &refused]);
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    for part in [
        ": exited with code 75",
        "another octos-edge holds robot `rover-sim-001`",
    ] {
        assert_eq!(
            ended.out.matches(part).count(),
            1,
            "`{part}`: {}",
            ended.out
        );
    }
    let lives = site.facts().into_iter().filter(is_start);
    assert_eq!(lives.count(), 1, "the second began to serve");
}

#[test]
fn a_rehearsal_in_the_state_folder_of_a_running_one_ends_with_75_and_disturbs_nobody() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    let (agent, _) = run.wait_moving();
    let holder = format!("another octos-edge holds robot `rover-sim-001` (process {agent})");
    says(&site, &["sim"], 75, &[&holder]);
    let end = command(&site).args(["ctl", "end"]).output().unwrap();
    assert_eq!(end.status.code(), Some(0), "{end:?}");
    run.finish();
    let mut trail = Trail::of(site.facts());
    trail.then("moving", enters(RunState::Moving));
    let stop = trail.then("a stop", |f| matches!(f, Fact::StopBegun { .. }));
    assert!(stop_for(StopCause::Shutdown)(&stop), "{stop:?}");
    trail.then("the agent's end", is_clean_end);
}
