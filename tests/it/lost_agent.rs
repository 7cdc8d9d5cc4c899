//! An agent that dies, or freezes, while its rover drives: the rover stops itself, and whoever comes
//! back begins with a stop.

use std::time::Duration;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{Fact, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{ARM, Run, Site, Trail, signal, verbs};

/// A drive that takes longer than the test.
const DRIVE: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;

fn is_latched(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::RunStateChanged {
            to: RunState::Latched,
            ..
        }
    )
}

/// Asserts that the rover stopped itself, and returns what reached it afterwards.
fn after_dead_man(site: &Site) -> Vec<JournalEntry> {
    let mut journal = Trail::of(site.journal());
    journal.then("the dead-man", |e| {
        matches!(e, JournalEntry::DeadMan { .. })
    });
    let after = journal.rest().to_vec();
    journal.then("rest", |e| {
        matches!(e, JournalEntry::Rest { arrived: false, .. })
    });
    journal.never(
        "a move",
        |e| matches!(e, JournalEntry::Pose { speed, .. } if *speed > 0.0),
    );
    after
}

#[test]
fn case_64_a_killed_agent_leaves_a_rover_at_rest_and_begins_again_with_the_stop_sequence() {
    let site = Site::new();
    // Late enough that the dead-man comes first.
    let flow = "dataflows/rover-sim.yml";
    site.edit(flow, "restart_delay: 1.0", "restart_delay: 3.0");
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    let (agent, _) = run.wait_moving();
    signal(agent, Signal::KILL);
    run.wait("the dead-man", |line| line.says("rover", "dead_man"));
    run.wait("rest", |line| line.says("rover", "rest"));
    let second = run.wait_fact("a second life", |f| matches!(f, Fact::Started { .. }));
    assert!(
        matches!(second, Fact::Started { restarts: 1, unclean: true, pid, .. }
            if i32::try_from(pid) != Ok(agent)),
        "{second:?}"
    );
    run.wait_fact("a latch on disk", |f| {
        matches!(f, Fact::LatchPersisted { .. })
    });
    run.wait_fact("standstill", |f| matches!(f, Fact::Standstill { .. }));
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert_eq!(
        ended.code,
        Some(1),
        "a killed agent is no success: {}",
        ended.out
    );

    let reached = verbs(&after_dead_man(&site));
    let first = reached.first().map(String::as_str);
    assert_eq!(first, Some("vendor.octos.rover.stop"), "{reached:?}");
    assert!(
        !reached
            .iter()
            .any(|v| v.contains("heartbeat") || v.contains("go_to"))
    );
    assert!(site.robot_state().join("latch.json").is_file());

    let mut trail = Trail::of(site.facts());
    trail.then("a move", |f| {
        matches!(f, Fact::CommandSent { moves: true, .. })
    });
    trail.then("a second life", |f| {
        matches!(f, Fact::Started { unclean: true, .. })
    });
    let life = trail.rest().to_vec();
    trail.then("the first word", |f| {
        matches!(
            f,
            Fact::StopBegun {
                cause: StopCause::UncleanEnd,
                ..
            }
        )
    });
    trail.then("its verb", |f| matches!(f, Fact::StopVerb { nth: 1, .. }));
    trail.then("latched", is_latched);
    let life = Trail::of(life);
    life.never("a command", |f| matches!(f, Fact::CommandSent { .. }));
    life.never("a heartbeat", |f| matches!(f, Fact::Heartbeat));
    life.never("armed again", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed | RunState::Moving,
                ..
            }
        )
    });
}

#[test]
fn case_61_a_thawed_agent_sends_the_stop_sequence_and_neither_motion_nor_heartbeat() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    let (agent, _) = run.wait_moving();
    signal(agent, Signal::STOP);
    run.wait("the dead-man", |line| line.says("rover", "dead_man"));
    run.wait("rest", |line| line.says("rover", "rest"));
    // With the second before the dead-man about five in all.
    run.silent(Duration::from_secs(4), "a frozen agent spoke", |line| {
        line.node == "octos_edge"
    });
    signal(agent, Signal::CONT);
    run.wait_fact("latched", is_latched);
    run.wait_fact("a latch on disk", |f| {
        matches!(f, Fact::LatchPersisted { .. })
    });
    run.signal(Signal::TERM);
    run.finish();

    let reached = verbs(&after_dead_man(&site));
    let first = reached.first().map(String::as_str);
    assert_eq!(first, Some("vendor.octos.rover.stop"), "{reached:?}");
    let wrong = ["heartbeat", "go_to", "velocity", "gripper"];
    let is_wrong = |verb: &String| wrong.iter().any(|part| verb.contains(part));
    assert!(!reached.iter().any(is_wrong), "{reached:?}");

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
    // Which of its causes comes first is a race of threads: late ticks, a stale state, a lease that ran
    // out, the robot's own word.
    trail.then("the stop", |f| matches!(f, Fact::StopAsked { .. }));
    let thawed = Trail::of(trail.rest().to_vec());
    trail.then("the stop verb", |f| {
        matches!(f, Fact::StopVerb { nth: 1, .. })
    });
    trail.then("latched", is_latched);
    thawed.never("a heartbeat", |f| matches!(f, Fact::Heartbeat));
    thawed.never("a motion", |f| {
        matches!(f, Fact::CommandSent { moves: true, .. })
    });
    thawed.never("armed again", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed | RunState::Moving,
                ..
            }
        )
    });
}
