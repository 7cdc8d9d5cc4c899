//! How a run ends: the rover at rest, the agent with 0, and nobody left behind.

use std::ffi::OsStr;

use octos_edge::sim::{JournalEntry, VerbClass};
use octos_edge::terms::{Fact, RunState, StopCause};
use rustix::process::Signal;

use crate::rig::{
    ARM, DRIVE, Ended, LOOK, Run, Site, Trail, command, enters, is_alive, is_clean_end,
    is_first_verb, is_motion, is_standstill, is_start, stop_for,
};

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

fn no_process_is_left(ended: &Ended) {
    assert_eq!(ended.nodes().len(), 2);
    for node in ended.nodes() {
        assert!(!is_alive(node), "process {node} is left");
    }
}

/// Returns which of latch and marker lie in the state folder.
fn left_behind(site: &Site) -> Vec<&'static str> {
    let notes = ["armed.json", "latch.json"].into_iter();
    notes
        .filter(|note| site.robot_state().join(note).exists())
        .collect()
}

/// Follows the facts of an agent that ended while its rover drove, up to its orderly end; returns
/// those behind the stop.
fn ended_in_order(site: &Site) -> Trail<Fact> {
    let mut trail = Trail::of(site.facts());
    trail.then("moving", enters(RunState::Moving));
    trail.then("the stop", stop_for(StopCause::Shutdown));
    trail.never("a motion", is_motion);
    let since = Trail::of(trail.rest().to_vec());
    trail.then("its verb", is_first_verb);
    trail.then("the agent's end", is_clean_end);
    since
}

#[test]
fn case_37_an_operator_who_ends_a_drive_sees_the_stop_the_rest_and_a_clean_end() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    run.wait_moving();
    let mut ctl = command(&site);
    let ctl = ctl.args(["ctl", "end", "--who", "bob"]).output().unwrap();
    assert_eq!(ctl.status.code(), Some(0), "{ctl:?}");
    let told = String::from_utf8(ctl.stdout).unwrap();
    assert!(told.contains("is at rest; its process has ended"), "{told}");
    no_process_is_left(&run.finish());

    let mut since = ended_in_order(&site);
    since.then("standstill", is_standstill);
    since.then("disarmed", enters(RunState::Disarmed));
    let mut journal = Trail::of(site.journal());
    journal.then("the stop verb", is_stop);
    journal.then("rest", is_rest);
    assert_eq!(left_behind(&site), [""; 0]);
}

/// dora closes the event streams of both nodes behind its word, so the agent hears neither answer
/// nor state any more: what it can do is to send the stop, not to latch, and to leave its mark. For
/// the same reason the rover brakes by itself; whether a verb still reaches it is a race.
#[test]
fn case_37_the_stop_of_the_dataflow_ends_a_drive_and_the_next_start_begins_with_the_stop() {
    let site = Site::new();
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let mut run = Run::sim(&site, &scenario);
    run.wait_moving();
    run.signal(Signal::TERM);
    no_process_is_left(&run.finish());
    Trail::of(site.facts()).then("its reason", |f| matches!(f, Fact::GraphStop));
    ended_in_order(&site);
    Trail::of(site.journal()).then("rest", is_rest);
    assert_eq!(left_behind(&site), ["armed.json"]);

    let scenario = site.scenario(ARM, &[LOOK], "end_state = \"armed\"\nrefused = []");
    let again = Run::sim(&site, &scenario).finish();
    assert_eq!(again.code, Some(0), "{}", again.out);
    let mut trail = Trail::of(site.newest_life());
    trail.then("an unclean start", |f| {
        matches!(f, Fact::Started { unclean: true, .. })
    });
    trail.then("the stop first", stop_for(StopCause::UncleanEnd));
    trail.then("standstill", is_standstill);
    trail.then("disarmed", enters(RunState::Disarmed));
    trail.then("armed by a person", enters(RunState::Armed));
    let verbs = site.verbs();
    let first = verbs.first().map(String::as_str);
    assert_eq!(first, Some("vendor.octos.rover.stop"), "{verbs:?}");
    assert_eq!(left_behind(&site), [""; 0]);
}

#[test]
fn a_dataflow_that_is_stopped_idle_ends_with_0_and_leaves_neither_process_nor_latch() {
    let site = Site::new();
    let args = ["run", "dataflows/rover-sim.yml", "--stop-after", "3s"].map(OsStr::new);
    let mut run = Run::start(&site, &args);
    run.wait_fact("a start", is_start);
    run.wait_fact("a known robot", |f| matches!(f, Fact::Advert { .. }));
    let ended = run.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert_eq!(ended.out, "octos_edge: ended\nrover: ended\n");
    no_process_is_left(&ended);
    let mut trail = Trail::of(site.facts());
    trail.then("its reason", |f| matches!(f, Fact::GraphStop));
    trail.then("the agent's end", is_clean_end);
    assert_eq!(left_behind(&site), [""; 0]);
}
