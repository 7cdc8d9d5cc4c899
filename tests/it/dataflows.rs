//! Dataflows that do not wire what a node needs: named before anything starts.

use crate::rig::{Site, command};

const FLOW: &str = "dataflows/rover-sim.yml";

/// Runs `sim`, `run` and `check` on the dataflow; asserts what they say and how they end.
fn refused(site: &Site, problems: &[&str]) {
    let runs = [
        (&["sim", "dataflows/scenarios/rover-gate.toml"][..], 66),
        (&["run", FLOW], 66),
        (&["check"], 64),
    ];
    for (args, code) in runs {
        let output = command(site).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert_eq!(output.stdout, b"", "{args:?}");
        for problem in problems.iter().chain(&[FLOW]) {
            assert!(said.contains(problem), "{args:?}: no `{problem}` in {said}");
        }
    }
    assert!(!site.path("state").exists(), "nothing was started");
}

#[test]
fn case_39_a_dataflow_without_the_output_of_commands_is_refused() {
    let site = Site::new();
    site.edit(FLOW, "outputs: [cmd_request]", "outputs: [cmd_requests]");
    refused(
        &site,
        &["node `octos_edge`: output `cmd_request` is missing (declared: cmd_requests)"],
    );
}

#[test]
fn case_39_every_problem_of_every_node_stands_in_one_report() {
    let site = Site::new();
    site.edit(FLOW, "outputs: [cmd_request]", "outputs: []");
    site.edit(FLOW, "      state: {", "      stat: {");
    site.edit(FLOW, "      cmd_request: {", "      cmd_reqest: {");
    refused(
        &site,
        &[
            "node `octos_edge`: input `state` is missing",
            "node `octos_edge`: output `cmd_request` is missing (declared: none)",
            "node `octos_edge`: input `stat` is not one that this node reads",
            "node `rover`: input `cmd_request` is missing",
            "node `rover`: input `cmd_reqest` is not one that this node reads",
        ],
    );
}

#[test]
fn case_39_run_refuses_what_check_refuses_with_every_problem_before_anything_starts() {
    let site = Site::new();
    site.edit(FLOW, "--robot rover-sim --board sim", "--robot rover-sin");
    site.edit(
        FLOW,
        "mock-robot --seed 7",
        "mock-robot --robot mule --seed 7",
    );
    let problems = [
        "node `octos_edge`: --robot rover-sin: no such robot file",
        "node `octos_edge`: no --board in its args",
        "node `rover`: --robot mule: no such robot file",
    ];
    for (args, code) in [(&["run", FLOW][..], 66), (&["check"], 64)] {
        let output = command(&site).args(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        for problem in problems {
            assert!(said.contains(problem), "{args:?}: no `{problem}` in {said}");
        }
        assert!(said.contains("correct the node's args or env"), "{said}");
    }
    assert!(!site.path("state").exists(), "nothing was started");
}

#[test]
fn run_judges_the_files_that_the_nodes_name_and_tells_all_their_faults_with_those_of_the_dataflow()
{
    let site = Site::with_own_files();
    site.edit("boards/sim.toml", "jitter_ms = 500", "jitter_ms = 5001");
    site.edit("tiers/robots/rover-sim.toml", "max_tier =", "max_tear =");
    site.edit(
        FLOW,
        "mock-robot --seed 7",
        "mock-robot --robot mule --seed 7",
    );
    let output = command(&site).args(["run", FLOW]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{said}");
    for part in ["jitter_ms", "max_tear", "--robot mule: no such robot file"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert!(!site.path("state").exists(), "nothing was started");
}
