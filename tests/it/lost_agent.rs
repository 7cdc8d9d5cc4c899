//! An agent that dies, or freezes, while its rover drives: the rover stops itself, and whoever comes
//! back begins with a stop.

use std::time::Duration;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{Fact, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{
    ARM, DRIVE, Run, Site, Trail, enters, is_armed, is_first_verb, is_motion, is_standstill,
    is_start, signal, stop_for, verbs,
};

/// Waits until the rover's dead-man has stopped it.
fn wait_dead_man(run: &mut Run) {
    run.wait("the dead-man", |line| line.says("rover", "dead_man"));
    run.wait("rest", |line| line.says("rover", "rest"));
}

/// Asserts that the rover stopped itself and moved no more, and returns the verbs that reached it
/// afterwards: first of all the stop verb.
fn verbs_after_dead_man(site: &Site) -> Vec<String> {
    let mut journal = Trail::of(site.journal());
    journal.then("the dead-man", |e| {
        matches!(e, JournalEntry::DeadMan { .. })
    });
    let reached = verbs(journal.rest());
    journal.then("rest", |e| {
        matches!(e, JournalEntry::Rest { arrived: false, .. })
    });
    journal.never(
        "a move",
        |e| matches!(e, JournalEntry::Pose { speed, .. } if *speed > 0.0),
    );
    let first = reached.first().map(String::as_str);
    assert_eq!(first, Some("vendor.octos.rover.stop"), "{reached:?}");
    let wrong = ["heartbeat", "go_to", "velocity", "gripper"];
    let is_wrong = |verb: &String| wrong.iter().any(|part| verb.contains(part));
    assert!(!reached.iter().any(is_wrong), "{reached:?}");
    reached
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
    wait_dead_man(&mut run);
    let second = run.wait_fact("a second life", is_start);
    assert!(
        matches!(second, Fact::Started { restarts: 1, unclean: true, pid, .. }
            if i32::try_from(pid) != Ok(agent)),
        "{second:?}"
    );
    run.wait_fact("a latch on disk", |f| {
        matches!(f, Fact::LatchPersisted { .. })
    });
    run.wait_fact("standstill", is_standstill);
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert_eq!(ended.code, Some(1), "not passed: {}", ended.out);

    verbs_after_dead_man(&site);
    // The rover reports the emergency stop of its dead-man, so the second life ends latched.
    assert!(site.robot_state().join("latch.json").is_file());
    Trail::of(site.facts()).then("a move of the first life", is_motion);
    let life = Trail::of(site.newest_life());
    life.never("a command", |f| matches!(f, Fact::CommandSent { .. }));
    life.never("a heartbeat", |f| matches!(f, Fact::Heartbeat));
    life.never("armed again", is_armed);
    for (what, sign) in [
        ("its verb", &is_first_verb as &dyn Fn(&Fact) -> bool),
        ("latched", &enters(RunState::Latched)),
    ] {
        let mut trail = Trail::of(site.newest_life());
        trail.then("the first word", stop_for(StopCause::UncleanEnd));
        trail.then(what, sign);
    }
}

#[test]
fn case_61_a_thawed_agent_sends_the_stop_sequence_and_neither_motion_nor_heartbeat() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    let (agent, _) = run.wait_moving();
    signal(agent, Signal::STOP);
    wait_dead_man(&mut run);
    // With the second before the dead-man about five in all.
    run.silent(Duration::from_secs(4), "a frozen agent spoke", |line| {
        line.node == "octos_edge"
    });
    signal(agent, Signal::CONT);
    run.wait_fact("a latch on disk", |f| {
        matches!(f, Fact::LatchPersisted { .. })
    });
    run.signal(Signal::TERM);
    run.finish();

    verbs_after_dead_man(&site);
    let mut trail = Trail::of(site.facts());
    trail.then("moving", enters(RunState::Moving));
    // Which cause comes first is a race of threads: late ticks, a stale state, a lease that ran out,
    // the robot's own word.
    trail.then("the stop", |f| matches!(f, Fact::StopBegun { .. }));
    trail.never("a heartbeat", |f| matches!(f, Fact::Heartbeat));
    trail.never("a motion", is_motion);
    trail.never("armed again", is_armed);
    Trail::of(trail.rest().to_vec()).then("its verb", is_first_verb);
    trail.then("latched", enters(RunState::Latched));
}
