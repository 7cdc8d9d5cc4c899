//! A stop goes before everything else.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{Fact, RunState, StopCause, StopKind};
use rustix::process::Signal;

use crate::rig::{
    ARM, DRIVE, Run, Site, Trail, command, enters, is_first_verb, is_motion, is_standstill, signal,
    stop_for,
};

/// Asks the running node where its metrics are, and fetches them.
fn scrape(site: &Site) -> String {
    let status = command(site).args(["ctl", "status", "--json"]).output();
    let status = String::from_utf8(status.unwrap().stdout).unwrap();
    let (_, at) = status.split_once("\"metrics\": \"").unwrap();
    let (at, _) = at.split_once('"').unwrap();
    let mut stream = TcpStream::connect(at).unwrap();
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: rover\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn case_62_three_stop_messages_that_dora_loses_are_said_again_until_the_rover_rests() {
    let site = Site::new();
    site.edit(
        "dataflows/rover-sim.yml",
        "args: mock-robot --seed 7",
        "args: mock-robot --seed 7 --lose vendor.octos.rover.stop=3",
    );
    let events = format!(
        "{ARM}[[event]]\nwhen = {{ moved_m = 0.3 }}\noperator = {{ do = \"stop\", why = \"a test\" }}\n"
    );
    // Whether the emergency stop follows depends on when the fourth word arrives.
    let expect = "commands_after_stop = 0\nat_rest = true";
    let scenario = site.scenario(&events, &[DRIVE], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);

    // What was lost stands in the rover's journal, what was said in the agent's record.
    let is_stop = |verb: &str| verb == "vendor.octos.rover.stop";
    let journal = site.journal();
    let lost = journal
        .iter()
        .position(|e| matches!(e, JournalEntry::Lost { verb, .. } if is_stop(verb)));
    let heard = journal
        .iter()
        .position(|e| matches!(e, JournalEntry::Verb { verb, .. } if is_stop(verb)));
    assert!(lost.unwrap() < heard.unwrap(), "{journal:#?}");
    let lost = |e: &&JournalEntry| matches!(e, JournalEntry::Lost { .. });
    assert_eq!(journal.iter().filter(lost).count(), 3);
    let mut trail = Trail::of(site.facts());
    trail.then("the stop", stop_for(StopCause::OperatorStop));
    for nth in 1..=4 {
        trail.then("a verb that is said again", |fact| {
            matches!(fact, Fact::StopVerb { nth: said, verb } if *said == nth && is_stop(verb))
        });
    }
    trail.then(
        "the answer",
        |fact| matches!(fact, Fact::StopAnswered { ok: true, verb } if is_stop(verb)),
    );
    Trail::of(site.facts()).then("standstill", is_standstill);
}

#[test]
fn a_scrape_during_a_stop_answers() {
    let site = Site::with_own_files();
    // A robot that does not answer is waited for long enough to ask in between.
    let robot = "tiers/robots/rover-sim.toml";
    site.edit(
        robot,
        "args = {}, wait_ms = 200",
        "args = {}, wait_ms = 2000",
    );
    site.edit(robot, "within_ms = 500", "within_ms = 5000");
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let args = ["sim".as_ref(), scenario.as_os_str(), "--metrics".as_ref()];
    let port = OsStr::new("127.0.0.1:0");
    let mut run = Run::start(&site, &[&args[..], &[port]].concat());
    let (_, rover) = run.wait_moving();
    signal(rover, Signal::STOP);
    run.wait_fact("a stop that nobody answers", |fact| {
        matches!(fact, Fact::StopVerb { nth: 2, .. })
    });
    let text = scrape(&site);
    for line in [
        r#"octos_edge_run_state{state="stopping"} 1"#,
        r#"octos_edge_stops_total{kind="stop",cause="stale_state"} 1"#,
    ] {
        assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
    }
    signal(rover, Signal::CONT);
    run.wait_fact("standstill", is_standstill);
    run.signal(Signal::TERM);
    run.finish();
}

#[test]
fn case_24_a_stop_listed_behind_a_move_is_executed_first_and_the_move_never_leaves() {
    let site = Site::new();
    let stop = r#"{ tool = "rover_stop", args = { hurry = true } }"#;
    let batch = format!("{DRIVE}, {stop}");
    let expect = r#"stops = [ { kind = "stop", by = "model", standstill = true } ]
        end_pose = { x = [0.0, 0.0], y = [0.0, 0.0] }"#;
    let scenario = site.scenario(ARM, &[&batch], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);

    let mut trail = Trail::of(site.facts());
    trail.then("the goal", |f| matches!(f, Fact::GoalBegun { .. }));
    trail.never("a motion that left", is_motion);
    trail.never("a robot that moves", enters(RunState::Moving));
    let mut stopped = Trail::of(trail.rest().to_vec());
    stopped.then("the stop", stop_for(StopCause::ModelStop));
    stopped.then("its verb", is_first_verb);
    stopped.then("standstill", is_standstill);
    trail.then("the word of the model", |f| {
        matches!(
            f,
            Fact::StopAsked {
                what: StopKind::Stop,
                cause: StopCause::ModelStop,
                ..
            }
        )
    });
    // The answer for the move, whichever stage gave it, comes behind the stop that voided it.
    trail.then("the answer for the move", |f| {
        matches!(f, Fact::Refused { tool, .. } | Fact::Finished { tool, .. }
            if tool == "rover_go_to_pose")
    });
    let verbs = site.verbs();
    let reached = |end: &str| verbs.iter().any(|verb| verb.ends_with(end));
    assert!(reached("rover.stop") && !reached("go_to_pose"), "{verbs:?}");
}
