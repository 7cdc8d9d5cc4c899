//! Replays of a session that lies in `tests/data`. Times are virtual and exact.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use super::*;
use crate::terms::{Fact, RunState, StopCause, StopKind};

/// A rover that is asked for its advert, drives, and reports that it hit something at 812.5 ms.
const SESSION: &str = include_str!("../../../tests/data/session.json");
/// The robot of the session.
const ROBOT: &str = "rover-sim-001";
/// The ids under which the session answers our own verbs begin with this.
const LIFE: &str = "0c705ed6-0042-4a42-8";

/// What was said, byte by byte.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Said(Vec<u8>);

impl Said {
    /// Returns the verb and id of each request, with its time in seconds.
    fn requests(&self) -> Vec<(f64, String, String)> {
        let text = std::str::from_utf8(&self.0).unwrap();
        let request = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&line["id"], &line["data_type"]),
                (&"cmd_request".into(), &"Utf8".into())
            );
            let payload: Value = serde_json::from_str(line["data"][0].as_str().unwrap()).unwrap();
            let text = |key: &str| payload[key].as_str().unwrap().to_owned();
            let at = line["time_offset_secs"].as_f64().unwrap();
            (at, text("verb"), text("request_id"))
        };
        text.lines().map(request).collect()
    }

    fn verbs(&self) -> Vec<String> {
        self.requests()
            .into_iter()
            .map(|(_, verb, _)| verb)
            .collect()
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn request(model: Option<&str>) -> NodeRequest {
    NodeRequest {
        robot: "rover-sim".to_owned(),
        board: "sim".to_owned(),
        robot_id: Some(id()),
        tier: None,
        model: model.map(|file| format!("scripted:{}", root().join(file).display())),
    }
}

fn id() -> RobotId {
    RobotId::parse(ROBOT).unwrap()
}

/// Replays a session after a life that ended as `state` tells.
fn replayed(session: &str, model: Option<&str>, state: Option<&Path>) -> (Said, Ran) {
    let installation = Installation::load(&Settings::of_tests(&root()), "rover-sim", "sim");
    let folder = RunFolder::fresh().unwrap();
    let opened = StateFolder::open(folder.path(), &id()).unwrap();
    let request = request(model);
    let given = Given {
        installation: &installation.unwrap(),
        folder: LastLife::of(state, &id()).told_to(opened).unwrap(),
        robot_id: id(),
        session: Session::read("session.json", session.as_bytes()).unwrap(),
        scenario: scenario(request.model.as_deref()).unwrap(),
        request: &request,
    };
    let out = tempfile::NamedTempFile::new().unwrap();
    let ran = run(given, out.reopen().unwrap(), true).unwrap();
    let said = Said(std::fs::read(out.path()).unwrap());
    assert_eq!(*ran.outputs.as_ref().unwrap(), said.requests().len() as u64);
    (said, ran)
}

fn at(ran: &Ran, wanted: impl Fn(&Fact) -> bool) -> Vec<u64> {
    let facts = ran.ledger.facts().into_iter();
    let facts = facts.filter(|(_, fact)| wanted(fact));
    facts.map(|(t_ms, _)| t_ms).collect()
}

const MODEL: Option<&str> = Some("dataflows/scenarios/rover-gate.toml");

#[test]
fn case_42_the_same_session_gives_the_same_bytes_ten_times_and_another_one_others() {
    for model in [None, MODEL] {
        let runs: BTreeSet<(Said, String)> = (0..10)
            .map(|_| {
                let (said, ran) = replayed(SESSION, model, None);
                (said, ran.ledger.trace())
            })
            .collect();
        assert_eq!(runs.len(), 1);
        let later = SESSION.replace(
            "\"time_offset_secs\": 0.8125",
            "\"time_offset_secs\": 0.7125",
        );
        assert_ne!(later, SESSION);
        let (said, _) = replayed(&later, model, None);
        assert!(runs.iter().all(|(bytes, _)| *bytes != said));
    }
}

#[test]
fn the_advert_is_asked_for_first_and_a_safety_event_is_heard_at_its_time_and_stops() {
    let (said, ran) = replayed(SESSION, None, None);
    let requests = said.requests();
    let (start, verb, id) = &requests[0];
    assert_eq!((*start, verb.as_str()), (0.0, "robot.get_capabilities"));
    assert_eq!(id, &format!("{LIFE}400-000000010000"));
    let (stop, verb, id) = &requests[1];
    assert_eq!((*stop, verb.as_str()), (0.82, "vendor.octos.rover.stop"));
    assert_eq!(id, &format!("{LIFE}100-000000010001"));
    let estop = |f: &Fact| {
        matches!(
            f,
            Fact::StopAsked {
                what: StopKind::Estop,
                cause: StopCause::VendorEvent,
                ..
            }
        )
    };
    assert_eq!(at(&ran, estop), [812]);
    let answered = |f: &Fact| matches!(f, Fact::StopAnswered { ok: true, .. });
    assert_eq!(at(&ran, answered), [850]);
    assert_eq!(at(&ran, |f| matches!(f, Fact::GraphStop)), [2500]);
    assert_eq!(at(&ran, |f| matches!(f, Fact::Ended { code: 0 })).len(), 1);
    let armed = |f: &Fact| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed,
                ..
            }
        )
    };
    assert_eq!(
        at(&ran, armed),
        Vec::<u64>::new(),
        "nobody arms a replay without a scenario"
    );
}

#[test]
fn the_operator_of_a_scenario_arms_and_the_commands_go_out_under_the_ids_of_their_answers() {
    let (said, ran) = replayed(SESSION, MODEL, None);
    let mut driven = said.requests();
    driven.retain(|(_, verb, _)| verb.ends_with("set_velocity"));
    let ids: Vec<&str> = driven.iter().map(|(_, _, id)| &id[..8]).collect();
    assert_eq!(ids, ["11111111", "22222222", "33333333", "44444444"]);
    let unknown = |f: &Fact| matches!(f, Fact::InputIgnored { .. });
    assert_eq!(
        at(&ran, unknown),
        Vec::<u64>::new(),
        "every answer was expected"
    );
    let refused = |f: &Fact| matches!(f, Fact::Refused { tool, .. } if tool == "rover_gripper_set");
    assert_eq!(at(&ran, refused).len(), 1);
    assert!(
        !said
            .verbs()
            .iter()
            .any(|verb| verb.ends_with("gripper_set"))
    );
    let [trouble] = ran.troubles.as_slice() else {
        panic!("{:?}", ran.troubles);
    };
    assert!(trouble.contains("rover-gate.toml:18"), "{trouble}");
}

#[test]
fn after_an_unclean_end_the_stop_is_the_first_output_and_the_given_folder_stays_as_it_is() {
    let state = tempfile::tempdir().unwrap();
    let robot = robot_folder(state.path(), &id());
    let folder = StateFolder::open(state.path(), &id()).unwrap();
    folder.files().mark_armed("ann").unwrap();
    let list = || -> BTreeSet<(PathBuf, Vec<u8>)> {
        let entries = std::fs::read_dir(&robot)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        entries
            .map(|path| (path.clone(), std::fs::read(path).unwrap()))
            .collect()
    };
    let before = list();
    let (said, ran) = replayed(SESSION, None, Some(state.path()));
    assert_eq!(said.verbs()[0], "vendor.octos.rover.stop");
    let unclean = |f: &Fact| matches!(f, Fact::Started { unclean: true, .. });
    assert_eq!(at(&ran, unclean), [0]);
    let begun = |f: &Fact| {
        matches!(
            f,
            Fact::StopBegun {
                cause: StopCause::UncleanEnd,
                ..
            }
        )
    };
    assert_eq!(at(&ran, begun), [0]);
    assert_eq!(list(), before, "also while somebody holds its lock");
    assert!(folder.files().unclean());
}

#[test]
fn a_latched_robot_stays_latched_and_its_operator_is_refused() {
    let state = tempfile::tempdir().unwrap();
    let folder = StateFolder::open(state.path(), &id()).unwrap();
    let latch = |cause| folder.files().persist_latch(cause, 3, 0).unwrap();
    latch(StopCause::OperatorStop);
    let (said, ran) = replayed(SESSION, MODEL, Some(state.path()));
    let moves = |verb: &String| verb.ends_with("set_velocity") || verb.ends_with("go_to_pose");
    assert!(!said.verbs().iter().any(moves), "{:?}", said.verbs());
    let refused = |f: &Fact| matches!(f, Fact::OrderRefused { order, .. } if order == "arm");
    assert_eq!(at(&ran, refused).len(), 1);
    assert_eq!(folder.files().latched(), Some(StopCause::OperatorStop));
}

#[test]
fn a_session_without_an_end_ends_with_its_last_event_and_an_empty_one_at_once() {
    let event = r#"{ "type": "Input", "id": "tick", "time_offset_secs": 0.305 }"#;
    for (events, end) in [(event, 305), ("", 0)] {
        let session = format!(r#"{{ "id": "n", "events": [ {events} ] }}"#);
        let (_, ran) = replayed(&session, None, None);
        assert_eq!(at(&ran, |f| matches!(f, Fact::GraphStop)), [end]);
        assert_eq!(at(&ran, |f| matches!(f, Fact::Ended { code: 0 })).len(), 1);
    }
}

#[test]
fn a_timer_that_stands_still_is_noticed_as_on_a_dataflow_and_a_session_without_one_has_none() {
    let tick =
        |at: u32| format!(r#"{{ "type": "Input", "id": "tick", "time_offset_secs": {at} }}"#);
    let end = r#"{ "type": "Stop", "time_offset_secs": 9 }"#.to_owned();
    let silent = |f: &Fact| matches!(f, Fact::GraphSilent { .. });
    for (ticks, noticed) in [(&[1, 2, 3][..], 1), (&[1], 0), (&[], 0)] {
        let mut events: Vec<String> = ticks.iter().map(|at| tick(*at)).collect();
        events.push(end.clone());
        let session = format!(r#"{{ "id": "n", "events": [ {} ] }}"#, events.join(", "));
        let (_, ran) = replayed(&session, None, None);
        let at = at(&ran, silent);
        assert_eq!(at.len(), noticed, "{at:?}");
        assert!(at.iter().all(|at| (6_000..6_100).contains(at)), "{at:?}");
    }
}

#[test]
fn a_robot_that_is_gone_and_a_stranger_are_heard_as_on_a_dataflow() {
    let session = r#"{ "id": "n", "events": [
      { "type": "Input", "id": "state", "time_offset_secs": 0.01, "data": { "x": 1 } },
      { "type": "Input", "id": "odd", "time_offset_secs": 0.02, "data": "x" },
      { "type": "NodeRestarted", "id": "rover", "time_offset_secs": 0.03 },
      { "type": "InputClosed", "id": "state", "time_offset_secs": 0.04 } ] }"#;
    let (_, ran) = replayed(session, None, None);
    let ignored = |f: &Fact| matches!(f, Fact::InputIgnored { .. });
    assert_eq!(at(&ran, ignored), [10, 20]);
    assert_eq!(at(&ran, |f| matches!(f, Fact::Peer { .. })), [30, 40]);
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test looks at a file of its own"
)]
fn outputs_that_would_replace_the_session_are_refused_and_so_are_metrics() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = dir.path().join("session.json");
    std::fs::write(&inputs, SESSION).unwrap();
    let files = ReplayFiles {
        outputs: dir
            .path()
            .join("../")
            .join(dir.path().file_name().unwrap())
            .join("session.json"),
        inputs: inputs.clone(),
        with_times: false,
    };
    let error = create(&files).unwrap_err();
    assert_eq!(error.exit(), Exit::Graph);
    assert!(
        error.to_string().contains("would replace the session"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&inputs).unwrap(), SESSION);
    let none = ReplayFiles {
        outputs: dir.path().join("none/out"),
        ..files
    };
    assert!(
        create(&none)
            .unwrap_err()
            .to_string()
            .contains("none/out: ")
    );
    assert!(refuse_metrics(&Settings::of_tests(&root()), "a replay", "").is_ok());
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test looks at files of its own"
)]
fn outputs_under_another_name_of_the_session_or_in_no_regular_file_are_refused_and_change_nothing()
{
    use rustix::fs::{CWD, FileType, Mode};
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let inputs = path("session.json");
    std::fs::write(&inputs, SESSION).unwrap();
    std::fs::hard_link(&inputs, path("hard")).unwrap();
    std::os::unix::fs::symlink(&inputs, path("soft")).unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    rustix::fs::mknodat(CWD, path("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    // Somebody reads the pipe: even then it is none.
    let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::NONBLOCK;
    let _reader = rustix::fs::open(path("pipe"), flags, Mode::empty()).unwrap();
    let files = |name: &str| ReplayFiles {
        outputs: path(name),
        inputs: inputs.clone(),
        with_times: false,
    };
    for (name, part) in [
        ("hard", "would replace the session"),
        ("soft", "would replace the session"),
        ("folder", "folder: "),
        ("pipe", "regular file"),
    ] {
        let error = create(&files(name)).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains(name), "{error}");
        assert_eq!(std::fs::read_to_string(&inputs).unwrap(), SESSION);
    }
    // A file of its own makes room.
    std::fs::write(path("old"), "old").unwrap();
    create(&files("old")).unwrap();
    assert_eq!(std::fs::read_to_string(path("old")).unwrap(), "");
}
