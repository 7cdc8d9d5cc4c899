//! Killed at a hundred places: the process ends by a real SIGKILL, on real files, and starts again.
//!
//! The test binary starts itself as the process that is killed. It plays a fixed scenario with every
//! state of a robot in it, and ends itself before the step of time, fact or act on a file that it was
//! told. What it told its operator until then lies in a file beside the state folder.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use super::*;
use crate::telemetry::read_records;

/// Says which place, and in which folder: `17 /tmp/x`.
const VARIABLE: &str = "OCTOS_EDGE_TEST_KILLED_AT";
/// At least so many places.
const PLACES: usize = 100;
/// At most so many places of one kind, in one state.
const PLACES_OF_A_KIND: usize = 2;

const CALLS: [&str; 5] = [DRIVE, DRIVE, DRIVE, HOLD, LOOK];

/// Arms, drives, is stopped; drives until the disk is full and has room again; drives, is latched and
/// reset; drives and is disarmed; looks and ends in order.
async fn play(rig: &mut Rig) {
    rig.arm("one").await;
    rig.drive().await;
    rig.run_ms(300).await;
    rig.does(&stop("two"));
    rig.enters(RunState::Armed).await;

    rig.drive().await;
    rig.run_ms(200).await;
    rig.outside.trouble(Some(Trouble::Full));
    rig.until("stopped", |rig| rig.run() == RunState::Stopped)
        .await;
    rig.run_ms(300).await;
    rig.outside.trouble(None);
    rig.enters(RunState::Disarmed).await;

    rig.arm("three").await;
    rig.drive().await;
    rig.run_ms(300).await;
    rig.does(&estop("four"));
    rig.run_ms(600).await;
    rig.resets("five").await;

    rig.arm("six").await;
    rig.drive().await;
    rig.run_ms(100).await;
    rig.does(&disarm("seven"));
    rig.enters(RunState::Disarmed).await;

    rig.arm("eight").await;
    rig.until("the agent", |rig| !rig.status().goal.running)
        .await;
    rig.goal();
    rig.run_ms(200).await;
    rig.finish().await;
}

fn told_file(dir: &Path) -> PathBuf {
    dir.join("told")
}

/// The process that is killed. Without the variable there is nothing to play.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test gives itself a place and a folder; the file is one of its own"
)]
fn case_64_the_life_that_is_killed() {
    let Ok(asked) = std::env::var(VARIABLE) else {
        return;
    };
    let (place, dir) = asked.split_once(' ').unwrap();
    let dir = Path::new(dir);
    let installation = installation();
    let state = dir.join("state");
    let setup = Setup::new(&installation, &state, &CALLS);
    {
        let mut seen = setup.outside.seen();
        seen.dies_at = Some(place.parse().unwrap());
        seen.told = Some(File::create(told_file(dir)).unwrap());
    }
    on_stage(setup, play);
}

/// Everything that happens in the scenario, when nobody is killed.
fn happened(installation: &Installation) -> Vec<(String, Option<RunState>)> {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path().join("state");
    let setup = Setup::new(installation, &state, &CALLS);
    let outside = setup.outside.clone();
    outside.seen().happened = Some(Vec::new());
    on_stage(setup, play);
    let verification = verified(&state);
    assert!(verification.ok, "{:#?}", verification.faults);
    outside.seen().happened.take().unwrap()
}

/// Places of every kind, and for latch, marker and time in every state, spread over the scenario.
fn places(happened: &[(String, Option<RunState>)]) -> Vec<usize> {
    let mut kinds = BTreeMap::<(&str, String), Vec<usize>>::new();
    for (place, (what, run)) in happened.iter().enumerate() {
        let run = run.map_or_else(String::new, |run| run.to_string());
        let everywhere = what.starts_with("fact") || what.starts_with("box");
        let key = (what.as_str(), if everywhere { String::new() } else { run });
        kinds.entry(key).or_default().push(place);
    }
    let mut places = BTreeSet::new();
    for ((what, _), of_kind) in &kinds {
        // These are what the next life goes by.
        let wanted = if *what == "state latch.json" {
            of_kind.len()
        } else if what.starts_with("state") {
            of_kind.len().div_ceil(2)
        } else if what.starts_with("box") {
            PLACES_OF_A_KIND
        } else {
            1
        };
        let step = of_kind.len().div_ceil(wanted);
        places.extend(of_kind.iter().skip(step / 2).step_by(step));
    }
    // A segment made room, and the folder may still have its name.
    let removes = |(_, (what, _)): &(usize, &(String, _))| what.starts_with("box Remove");
    let made_room = happened.iter().enumerate().filter(removes);
    places.extend(made_room.map(|(place, _)| place + 1));
    // Evenly through all of it, so that no stretch of the scenario is without one.
    places.extend((0..happened.len()).step_by(happened.len().div_ceil(28)));
    places.into_iter().collect()
}

/// Kills a process at a place of the scenario and returns what it told until then.
#[expect(
    clippy::disallowed_methods,
    reason = "the test starts itself as the process that it kills, and reads a file of its own"
)]
fn killed(dir: &Path, place: usize) -> Vec<String> {
    let module = module_path!().split_once("::").unwrap().1;
    let ended = Command::new(std::env::current_exe().unwrap())
        .arg(format!("{module}::case_64_the_life_that_is_killed"))
        .args(["--exact", "--test-threads=1"])
        .env(VARIABLE, format!("{place} {}", dir.display()))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(ended.signal(), Some(9), "{place}: {ended}");
    let told = std::fs::read_to_string(told_file(dir)).unwrap();
    told.lines().map(str::to_owned).collect()
}

/// What lay in the folder when the process was gone.
#[derive(Debug, Clone, Copy)]
struct Left {
    marked: bool,
    latched: bool,
}

/// What was told holds: the state that decides about the next life, and the records of what was done.
fn holds(state: &Path, told: &[String], what: &str) -> Left {
    let folder = folder_of(state);
    let left = Left {
        marked: folder.join("armed.json").exists(),
        latched: folder.join("latch.json").exists(),
    };
    let run = told.iter().rev().find_map(|line| line.strip_prefix("run "));
    if matches!(run, Some("Armed" | "Moving" | "Stopping" | "Stopped")) {
        assert!(left.marked, "{what}: armed without a mark");
    }
    let answers: Vec<&str> = told
        .iter()
        .filter_map(|l| l.strip_prefix("done "))
        .collect();
    let said = |text: &str| answers.iter().position(|answer| answer.contains(text));
    let resets = told.iter().any(|line| line == "asked reset");
    if said("latched and on disk").is_some() && !resets {
        assert!(left.latched, "{what}: the latch is gone");
    }
    let audit = audit_folder(&folder);
    if let Err(error) = std::fs::symlink_metadata(audit.join("head")) {
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{what}");
        return left;
    }
    let found = verify_records(&audit, &[]).unwrap();
    let begun = found.chains.iter().any(|chain| chain.records > 0);
    assert!(found.ok || !begun, "{what}: {:#?}", found.faults);
    let records = read_records(&audit).unwrap();
    assert!(!found.chains[0].pruned, "{what}: the oldest stop made room");
    for (word, order, why) in [
        ("latched and on disk", "estop", "four"),
        ("reset: the robot", "reset", "five"),
    ] {
        let done = |f: &Fact| matches!(f, Fact::OrderDone { order: o, why: w, .. } if o == order && w == why);
        let recorded = records.iter().any(|record| done(&record.fact));
        assert!(
            recorded || said(word).is_none(),
            "{what}: {order} was acknowledged"
        );
    }
    left
}

/// A second life on what a killed one left.
fn second_life(installation: &Installation, state: &Path, (left, mute): (Left, bool), what: &str) {
    let mut setup = Setup::new(installation, state, &[DRIVE]);
    setup.mute = mute;
    let (facts, sent, end) = on_stage(setup, async |rig: &mut Rig| {
        let settled = |run| !matches!(run, RunState::Boot | RunState::Stopping);
        rig.run_ms(30).await;
        rig.until("settled", |rig| settled(rig.run())).await;
        rig.run_ms(100).await;
        rig.kept.stepped.round(/* closing */ true);
        (rig.facts(), rig.sent(), rig.run())
    });
    let first = sent.first().map(|(_, verb)| verb.as_str());
    if left.marked {
        assert_eq!(first, Some(STOP_VERB), "{what}: {sent:?}");
    } else {
        let stops = sent.iter().filter(|(_, verb)| verb == STOP_VERB);
        assert_eq!(stops.count(), 0, "{what}: {sent:?}");
    }
    for (_, fact) in &facts {
        let wrong = matches!(
            fact,
            Fact::CommandSent { .. }
                | Fact::Heartbeat
                | Fact::RunStateChanged {
                    to: RunState::Armed | RunState::Moving,
                    ..
                }
        );
        assert!(!wrong, "{what}: {fact:?}");
    }
    let stands = facts
        .iter()
        .any(|(_, f)| matches!(f, Fact::Standstill { .. }));
    let expected = if left.latched || (left.marked && mute) {
        RunState::Latched
    } else {
        RunState::Disarmed
    };
    assert_eq!(end, expected, "{what}: {facts:#?}");
    assert!(!left.marked || end == RunState::Latched || stands, "{what}");
    let folder = folder_of(state);
    let latched = folder.join("latch.json").exists();
    assert_eq!(latched, end == RunState::Latched, "{what}");
    if end == RunState::Disarmed {
        assert!(!folder.join("armed.json").exists(), "{what}");
    }
    let found = verified(state);
    assert!(found.ok, "{what}: {:#?}", found.faults);
}

#[test]
fn case_64_after_a_disarm_and_an_end_in_order_the_next_life_sends_no_stop() {
    let installation = installation();
    let dir = tempfile::tempdir().unwrap();
    on_stage(Setup::new(&installation, dir.path(), &CALLS), play);
    let left = Left {
        marked: false,
        latched: false,
    };
    second_life(&installation, dir.path(), (left, /* mute */ false), "clean");
}

/// Copies a folder of files and folders.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

fn dies_and_lives_again(installation: &Installation, place: usize, about: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let told = killed(dir.path(), place);
    let last = told.last().unwrap().clone();
    // The process played what was played before.
    let there = format!("killed before {about} (");
    assert!(last.starts_with(&there), "{place} ({about}): {last}");
    let what = format!("{place} ({about}): {last}");
    let state = dir.path().join("state");
    let left = holds(&state, &told, &what);
    let other = dir.path().join("other");
    copy(&state, &other);
    second_life(installation, &state, (left, /* mute */ false), &what);
    second_life(installation, &other, (left, /* mute */ true), &what);
    last
}

#[test]
fn case_64_killed_at_each_of_a_hundred_places_the_next_life_begins_with_the_stop_and_is_never_armed()
 {
    let installation = installation();
    let happened = happened(&installation);
    let places = places(&happened);
    assert!(places.len() >= PLACES, "{} places", places.len());
    let (one, other): (Vec<usize>, Vec<usize>) = places.iter().partition(|place| *place % 2 == 0);
    let all = |places: Vec<usize>| -> Vec<String> {
        let again = |place: usize| dies_and_lives_again(&installation, place, &happened[place].0);
        places.into_iter().map(again).collect()
    };
    let ends = std::thread::scope(|scope| {
        let one = scope.spawn(|| all(one));
        let mut ends = all(other);
        ends.extend(one.join().unwrap());
        ends
    });
    // The scenario holds what it is meant to hold.
    for kind in [
        "state latch.json",
        "state armed.json",
        "box Create",
        "box Remove",
        "box SyncNames",
        "box Grow { torn: true }",
        "Fill { torn: false } reserve",
        "Fill { torn: false } head",
        "box Sync",
        "tick",
        "Moving",
        "Stopping",
        "Stopped",
        "Latched",
    ] {
        assert!(
            ends.iter().any(|end| end.contains(kind)),
            "{kind}: {ends:#?}"
        );
    }
}
