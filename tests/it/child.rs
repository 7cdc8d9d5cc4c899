//! A child of the runtime at the control socket: it may look and stop, and nothing else.
//!
//! The child is a real one: the dataflow starts a shell, which starts this test binary as its child and
//! then becomes the agent. So the agent's process is the parent of somebody who talks to its socket. A
//! rehearsal only starts agents of its own, so the dataflow is run, and the test is the operator.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use octos_edge::sim::JournalEntry;
use octos_edge::terms::{Fact, RunState, StopKind};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{BINARY, DRIVE, Run, Site, Trail, enters, is_motion};

/// Says where the socket is, and where the answers go: `/a/control.sock /b/answers`.
const VARIABLE: &str = "OCTOS_EDGE_TEST_CHILD_AT";
/// Looks until what is waited for is seen, of 50 ms: a minute.
const LOOKS_MAX: u32 = 1200;
const LOOK: Duration = Duration::from_millis(50);

/// Every word that neither looks nor stops.
fn forbidden() -> Vec<Value> {
    let (who, why) = ("child", "a test");
    vec![
        json!({ "do": "arm", "who": who, "why": why, "for_s": 30 }),
        json!({ "do": "disarm", "who": who, "why": why }),
        json!({ "do": "reset", "who": who, "why": why }),
        json!({ "do": "approve", "who": who, "why": why, "request": "q1-abcdef" }),
        json!({ "do": "deny", "who": who, "why": why, "request": "q1-abcdef" }),
        json!({ "do": "goal", "who": who, "text": "drive on" }),
        json!({ "do": "end", "who": who }),
    ]
}

/// Says one word on a connection of its own; `None` while there is no socket.
fn say(socket: &Path, word: &Value) -> Option<Value> {
    let mut stream = UnixStream::connect(socket).ok()?;
    writeln!(stream, "{word}").unwrap();
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    serde_json::from_str(&line).ok()
}

/// The child. Without the variable there is nobody to talk to.
#[test]
fn case_66_the_child_of_the_runtime() {
    let Ok(asked) = std::env::var(VARIABLE) else {
        return;
    };
    let (socket, answers) = asked.split_once(' ').unwrap();
    let socket = Path::new(socket);
    let run = || status(socket, "run");
    until("moving", || run() == Some(json!("moving")));
    let mut told = Vec::new();
    for word in forbidden() {
        told.push(json!({ "word": word["do"], "answer": say(socket, &word) }));
    }
    told.push(json!({ "word": "status", "answer": run() }));
    for word in ["stop", "estop"] {
        let asked = json!({ "do": word, "who": "child", "why": "a test" });
        told.push(json!({ "word": word, "answer": say(socket, &asked) }));
    }
    let whole = Path::new(answers).with_extension("part");
    fs::write(&whole, serde_json::to_vec(&told).unwrap()).unwrap();
    fs::rename(whole, answers).unwrap();
}

/// What the agent says of itself under this key; `None` while there is no socket.
fn status(socket: &Path, key: &str) -> Option<Value> {
    let answer = say(socket, &json!({ "do": "status" }))?;
    find(&answer, key).cloned()
}

fn until(what: &str, seen: impl Fn() -> bool) {
    let mut looks = 0;
    while !seen() {
        looks += 1;
        assert!(looks < LOOKS_MAX, "never {what}");
        std::thread::park_timeout(LOOK);
    }
}

/// Finds a key at any depth.
fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let map = value.as_object()?;
    let inner = || map.values().find_map(|inner| find(inner, key));
    map.get(key).or_else(inner)
}

/// Lets the dataflow start a shell that becomes the agent, and is the parent of this test's child.
fn give_it_a_child(site: &Site) {
    let parent = site.path("parent.sh");
    let (socket, answers) = (
        site.robot_state().join("control.sock"),
        site.path("answers"),
    );
    let child = std::env::current_exe().unwrap();
    let text = format!(
        "#!/bin/sh\n{VARIABLE}='{} {}' '{}' child::case_66_the_child_of_the_runtime --exact \
         >/dev/null 2>&1 &\nexec '{BINARY}' \"$@\"\n",
        socket.display(),
        answers.display(),
        child.display(),
    );
    fs::write(&parent, text).unwrap();
    fs::set_permissions(&parent, fs::Permissions::from_mode(0o755)).unwrap();
    site.edit(
        "dataflows/rover-sim.yml",
        "path: octos-edge\n    args: node",
        &format!("path: {}\n    args: node", parent.display()),
    );
    // As a rehearsal does it.
    let rover = "OCTOS_EDGE_TIERS: ../tiers }\n    restart_policy: never";
    let journal = site.path("state/rover.jsonl");
    fs::create_dir(site.path("state")).unwrap();
    site.edit(
        "dataflows/rover-sim.yml",
        rover,
        &format!("OCTOS_EDGE_JOURNAL: {}, {rover}", journal.display()),
    );
}

/// Runs the dataflow, arms and gives the goal: the operator is nobody's child here.
fn drive(site: &Site) -> Run {
    let scenario = site.scenario("", &[DRIVE], "");
    let model = format!("scripted:{}", scenario.display());
    let args = ["run", "dataflows/rover-sim.yml", "--stop-after", "120s"].map(OsStr::new);
    let run = Run::start_with(site, &args, &[("OCTOS_EDGE_MODEL", Path::new(&model))]);
    let socket = site.robot_state().join("control.sock");
    until("ready", || status(&socket, "ready") == Some(json!(true)));
    for word in [
        json!({ "do": "arm", "who": "ann", "why": "a test", "for_s": 60 }),
        json!({ "do": "goal", "who": "ann", "text": "drive" }),
    ] {
        let answer = say(&socket, &word).unwrap();
        assert_eq!(answer.get("answer"), Some(&json!("done")), "{answer}");
    }
    run
}

#[test]
fn case_66_a_child_of_the_runtime_may_look_and_stop_and_every_other_word_is_refused_and_recorded() {
    let site = Site::new();
    give_it_a_child(&site);
    let mut run = drive(&site);
    run.wait_fact("a latch on disk", |f| {
        matches!(f, Fact::LatchPersisted { .. })
    });
    run.signal(Signal::TERM);
    let ended = run.finish();
    let told: Vec<Value> =
        serde_json::from_slice(&fs::read(site.path("answers")).unwrap()).unwrap();

    let words: Vec<Value> = forbidden();
    let mut trail = Trail::of(site.facts());
    trail.then("moving", enters(RunState::Moving));
    for (word, told) in words.iter().zip(&told) {
        let word = word["do"].as_str().unwrap();
        assert_eq!(told["word"], word);
        let answer = told["answer"].to_string();
        assert!(
            answer.contains("descends from the runtime"),
            "{word}: {answer}"
        );
        trail.then(word, |f| {
            matches!(f, Fact::OrderRefused { order, who, failed, peer: Some(peer) }
                if order == word && who == "child" && failed[0].contains("descends") && peer.pid > 0)
        });
    }
    // It drove on all the while, and then was stopped by the child's word.
    let [.., status, stop, estop] = told.as_slice() else {
        panic!("{told:#?}");
    };
    assert_eq!(status["answer"], "moving", "{}", ended.out);
    assert!(
        stop["answer"].to_string().contains("stop asked for"),
        "{stop}"
    );
    assert!(
        estop["answer"].to_string().contains("latched and on disk"),
        "{estop}"
    );
    for kind in [StopKind::Stop, StopKind::Estop] {
        trail.then("its stop", |f| {
            matches!(f, Fact::StopAsked { what, by: Some(who), .. } if *what == kind && who == "child")
        });
    }
    trail.then("latched", enters(RunState::Latched));
    trail.never("a motion", is_motion);
    let done = |f: &Fact| matches!(f, Fact::OrderDone { who, order, .. } if who == "child" && order != "stop" && order != "estop");
    Trail::of(site.facts()).never("a word of the child that was done", done);
    let rest = |e: &JournalEntry| matches!(e, JournalEntry::Rest { .. });
    assert!(site.journal().iter().any(rest));
}
