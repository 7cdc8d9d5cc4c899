//! A robot whose node dies while it drives.

use octos_edge::terms::{Fact, PeerEvent, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{ARM, Run, Site, Trail, signal};

#[test]
fn case_35_a_killed_robot_node_fails_its_call_at_once_and_the_agent_ends_disarmed() {
    let site = Site::new();
    let drive = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;
    let scenario = site.scenario(ARM, &[drive], "");
    let mut run = Run::sim(&site, &scenario);
    let (_, rover) = run.wait_moving();
    signal(rover, Signal::KILL);
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
    let since = Trail::of(trail.rest().to_vec());
    trail.then("the answer", |f| {
        matches!(f, Fact::Finished { outcome, detail, .. }
            if outcome == "failed" && detail.starts_with("BRIDGE_DOWN"))
    });
    trail.then("the agent's end", |f| matches!(f, Fact::Ended { code: 0 }));
    since.never(
        "the deadline of the call",
        |f| matches!(f, Fact::Finished { outcome, .. } if outcome == "timeout"),
    );
    since.never("armed or moving", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed | RunState::Moving,
                ..
            }
        )
    });
    Trail::of(since.rest().to_vec()).then("the stop", |f| {
        matches!(
            f,
            Fact::StopBegun {
                cause: StopCause::BridgeLost,
                ..
            }
        )
    });
    // Rest was not confirmed, so the next start begins with the stop sequence.
    assert!(site.robot_state().join("armed.json").is_file());
}
