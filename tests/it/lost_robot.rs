//! A robot whose node dies while it drives.

use octos_edge::terms::{Fact, PeerEvent, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{
    ARM, DRIVE, Line, Run, Site, Trail, enters, is_armed, is_clean_end, is_first_verb, signal,
    stop_for,
};

const FLOW: &str = "dataflows/rover-sim.yml";

/// Lets a second rover share the dataflow and keep one input of the agent open: otherwise dora ends an
/// agent that has lost its only peer within milliseconds, and what is seen here would be a race.
fn add_bystander(site: &Site) {
    let bystander = "  - id: bystander\n    path: octos-edge\n    args: mock-robot\n    \
        env: { ROBOT_ID: rover-sim-002 }\n    inputs:\n      \
        cmd_request: { source: octos_edge/cmd_request }\n    \
        outputs: [cmd_response, capabilities, state, safety_event]\n  - id: rover\n";
    site.edit(FLOW, "  - id: rover\n", bystander);
    site.edit(
        FLOW,
        "source: rover/safety_event",
        "source: bystander/safety_event",
    );
}

#[test]
fn case_35_a_killed_robot_node_fails_its_call_at_once_and_the_agent_is_armed_no_more() {
    let site = Site::new();
    add_bystander(&site);
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    let (_, rover) = run.wait_moving();
    signal(rover, Signal::KILL);
    let answered = |line: &Line| line.tells(|f| matches!(f, Fact::Finished { .. }));
    let stops = |line: &Line| line.tells(|f| matches!(f, Fact::StopBegun { .. }));
    run.wait_all("the answer and the stop", vec![&answered, &stops]);
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert_eq!(ended.code, Some(1), "not passed: {}", ended.out);

    let mut trail = Trail::of(site.facts());
    trail.then("moving", enters(RunState::Moving));
    let mut stop = Trail::of(trail.rest().to_vec());
    trail.then(
        "the news",
        |f| matches!(f, Fact::Peer { event: PeerEvent::Failed, who } if who == "rover"),
    );
    trail.never("armed or moving", is_armed);
    stop.then("the stop", stop_for(StopCause::BridgeLost));
    stop.then("its verb", is_first_verb);
    // Not `timeout`: the call did not wait for its own deadline.
    let answer = trail.then("the answer", |f| matches!(f, Fact::Finished { .. }));
    assert!(
        matches!(&answer, Fact::Finished { outcome, detail, .. }
            if outcome == "failed" && detail.starts_with("BRIDGE_DOWN")),
        "{answer:?}"
    );
    trail.then("the agent's end", is_clean_end);
    // Rest was not confirmed, so the next start begins with the stop sequence.
    assert!(site.robot_state().join("armed.json").is_file());
}
