//! How a run ends: the rover at rest, the agent with 0, and nobody left behind.

use std::ffi::OsStr;

use octos_edge::sim::{JournalEntry, VerbClass};
use octos_edge::terms::{Fact, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{ARM, Run, Site, Trail, command, is_alive};

const DRIVE: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;

fn is_stop(entry: &JournalEntry) -> bool {
    matches!(
        entry,
        JournalEntry::Verb {
            class: VerbClass::Stop,
            executed: true,
            ..
        }
    )
}

fn is_rest(entry: &JournalEntry) -> bool {
    matches!(entry, JournalEntry::Rest { arrived: false, .. })
}

/// Follows the facts of an agent that ended while its rover drove, up to its orderly end.
fn ended_in_order(facts: Vec<Fact>) -> Trail<Fact> {
    let mut trail = Trail::of(facts);
    trail.then("moving", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Moving,
                ..
            }
        )
    });
    trail.then("the stop", |f| {
        matches!(
            f,
            Fact::StopAsked {
                cause: StopCause::Shutdown,
                ..
            }
        )
    });
    let since = trail.rest().to_vec();
    trail.then("its verb", |f| matches!(f, Fact::StopVerb { nth: 1, .. }));
    trail.then("the agent's end", |f| matches!(f, Fact::Ended { code: 0 }));
    let since = Trail::of(since);
    since.never("a motion", |f| {
        matches!(f, Fact::CommandSent { moves: true, .. })
    });
    since
}

#[test]
fn case_37_an_operator_who_ends_a_drive_sees_the_stop_the_rest_and_a_clean_end() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    run.wait_moving();
    let ctl = command(&site)
        .args(["ctl", "end", "--who", "bob"])
        .output()
        .unwrap();
    assert_eq!(ctl.status.code(), Some(0), "{ctl:?}");
    let ended = run.finish();
    assert!(ended.nodes().iter().all(|node| !is_alive(*node)));

    let mut since = ended_in_order(site.facts());
    since.then("standstill", |f| matches!(f, Fact::Standstill { .. }));
    since.then("disarmed", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Disarmed,
                ..
            }
        )
    });
    let mut journal = Trail::of(site.journal());
    journal.then("the stop verb", is_stop);
    journal.then("rest", is_rest);
    for left in ["armed.json", "latch.json"] {
        assert!(!site.robot_state().join(left).exists(), "{left}");
    }
}

/// dora closes the event streams of both nodes behind its word, so the agent hears neither answer
/// nor state any more: what it can do is to send the stop, not to latch, and to leave its mark.
#[test]
fn case_37_the_stop_of_the_dataflow_ends_a_drive_and_the_next_start_begins_with_the_stop() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    run.wait_moving();
    run.signal(Signal::TERM);
    let ended = run.finish();
    assert!(ended.nodes().iter().all(|node| !is_alive(*node)));
    ended_in_order(site.facts()).then("its reason", |f| matches!(f, Fact::GraphStop));
    Trail::of(site.journal()).then("rest", is_rest);
    assert!(site.robot_state().join("armed.json").is_file());
    assert!(!site.robot_state().join("latch.json").exists());

    let look = r#"{ tool = "rover_get_pose", args = {} }"#;
    let scenario = site.scenario(ARM, &[look], "end_state = \"armed\"\nrefused = []");
    let again = Run::sim(&site, &scenario).finish();
    assert_eq!(again.code, Some(0), "{}", again.out);
    let mut trail = Trail::of(site.newest_life());
    trail.then("an unclean start", |f| {
        matches!(f, Fact::Started { unclean: true, .. })
    });
    trail.then("the stop first", |f| {
        matches!(
            f,
            Fact::StopBegun {
                cause: StopCause::UncleanEnd,
                ..
            }
        )
    });
    trail.then("standstill", |f| matches!(f, Fact::Standstill { .. }));
    for state in [RunState::Disarmed, RunState::Armed] {
        trail.then(
            state.as_str(),
            |f| matches!(f, Fact::RunStateChanged { to, .. } if *to == state),
        );
    }
    let verbs = site.verbs();
    let first = verbs.first().map(String::as_str);
    assert_eq!(first, Some("vendor.octos.rover.stop"), "{verbs:?}");
}

#[test]
fn a_dataflow_that_is_stopped_idle_ends_with_0_and_leaves_neither_process_nor_latch() {
    let site = Site::new();
    let args = ["run", "dataflows/rover-sim.yml", "--stop-after", "3s"].map(OsStr::new);
    let mut run = Run::start(&site, &args);
    run.wait_fact("a start", |f| matches!(f, Fact::Started { .. }));
    run.wait_fact("a known robot", |f| matches!(f, Fact::Advert { .. }));
    let ended = run.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert_eq!(ended.out, "octos_edge: ended\nrover: ended\n");
    assert_eq!(ended.nodes().len(), 2);
    assert!(ended.nodes().iter().all(|node| !is_alive(*node)));
    let mut trail = Trail::of(site.facts());
    trail.then("its reason", |f| matches!(f, Fact::GraphStop));
    trail.then("the agent's end", |f| matches!(f, Fact::Ended { code: 0 }));
    for left in ["armed.json", "latch.json"] {
        assert!(!site.robot_state().join(left).exists(), "{left}");
    }
}
