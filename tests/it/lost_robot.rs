//! A robot whose node dies while it drives.

use octos_edge::terms::{Fact, PeerEvent, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{ARM, Line, Run, Site, Trail, signal};

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
    let drive = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;
    let scenario = site.scenario(ARM, &[drive], "");
    let mut run = Run::sim(&site, &scenario);
    let (_, rover) = run.wait_moving();
    signal(rover, Signal::KILL);
    let answered = |line: &Line| line.tells(|f| matches!(f, Fact::Finished { .. }));
    let stops = |line: &Line| line.tells(|f| matches!(f, Fact::StopBegun { .. }));
    run.wait_all("the answer and the stop", vec![&answered, &stops]);
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert_eq!(
        ended.code,
        Some(1),
        "a killed node is no success: {}",
        ended.out
    );

    let mut trail = Trail::of(site.facts());
    trail.then("moving", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Moving,
                ..
            }
        )
    });
    trail.then(
        "the news",
        |f| matches!(f, Fact::Peer { event: PeerEvent::Failed, who } if who == "rover"),
    );
    let since = trail.rest().to_vec();
    // Not `timeout`: the call did not wait for its own deadline.
    let answer = trail.then("the answer", |f| matches!(f, Fact::Finished { .. }));
    assert!(
        matches!(&answer, Fact::Finished { outcome, detail, .. }
            if outcome == "failed" && detail.starts_with("BRIDGE_DOWN")),
        "{answer:?}"
    );
    trail.then("the agent's end", |f| matches!(f, Fact::Ended { code: 0 }));
    Trail::of(since.clone()).never("armed or moving", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed | RunState::Moving,
                ..
            }
        )
    });
    let mut stop = Trail::of(since);
    stop.then("the stop", |f| {
        matches!(
            f,
            Fact::StopBegun {
                cause: StopCause::BridgeLost,
                ..
            }
        )
    });
    stop.then("its verb", |f| matches!(f, Fact::StopVerb { nth: 1, .. }));
    // Rest was not confirmed, so the next start begins with the stop sequence.
    assert!(site.robot_state().join("armed.json").is_file());
}
