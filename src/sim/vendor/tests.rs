//! The simulated robot has the habits of vendor nodes, and hostile input cannot harm it.

use std::path::Path;
use std::time::UNIX_EPOCH;

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::config::{RobotFile, Tiers};
use crate::robot::codec::CMD_REQUEST_BYTES_MAX;
use crate::sim::journal::VerbClass;
use crate::terms::Output;

const DRIVE: &str = dialect::DRIVE;
const GO: &str = dialect::GO_TO_POSE;

/// All verbs of the built-in rover.
const ALL: [&str; 10] = [
    dialect::HEARTBEAT,
    dialect::ESTOP,
    dialect::RELEASE,
    dialect::CAPABILITIES,
    dialect::DRIVE,
    dialect::GO_TO_POSE,
    dialect::GRIPPER_SET,
    dialect::GET_POSE,
    dialect::STOP,
    dialect::SELF_TEST,
];

/// A second robot: other verbs, other arguments, other words.
const CRAWLER: &str = include_str!("../../../tests/data/crawler/robot.toml");

fn crawler(text: &str) -> RobotFile {
    let tiers = Tiers::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tiers")).unwrap();
    RobotFile::parse("tiers/robots/crawler.toml", text, &tiers).unwrap()
}

/// A robot with the tools to talk to it.
struct Rig {
    vendor: Vendor,
    now: Mono,
    ids: u32,
    frames: Vec<Frame>,
    journal: Vec<JournalEntry>,
}

impl Rig {
    fn new(seed: u64) -> Self {
        Self::speaking(Dialect::rover(), seed)
    }

    /// A robot that learned its language from the second robot's file.
    fn crawler() -> Self {
        Self::speaking(Dialect::of(&crawler(CRAWLER)).unwrap(), 7)
    }

    fn speaking(dialect: Dialect, seed: u64) -> Self {
        let plan = VendorPlan {
            robot_id: RobotId::parse("rover-sim-001").unwrap(),
            dialect,
            seed,
            home: [0.0, 0.0],
            pid: 42,
            wall_at_zero: UNIX_EPOCH,
        };
        let now = Mono::from_ms(1000);
        let mut rig = Self {
            vendor: Vendor::new(plan, now),
            now,
            ids: 0,
            frames: Vec::new(),
            journal: Vec::new(),
        };
        rig.wait(0);
        rig
    }

    /// Lets time pass in steps of the dataflow's timer.
    fn wait(&mut self, ms: u64) {
        let end = self.now.plus_ms(ms);
        loop {
            let frames = self.vendor.advance(self.now);
            self.take(frames);
            if self.now >= end {
                break;
            }
            self.now = self.now.plus_ms(50).min(end);
        }
    }

    fn send_raw(&mut self, text: &str) -> usize {
        let frames = self.vendor.handle(text, self.now);
        let count = frames
            .iter()
            .filter(|frame| frame.output == Output::CmdResponse)
            .count();
        self.take(frames);
        count
    }

    fn send_as(&mut self, id: &str, verb: &str, params: Value) -> Option<Value> {
        let request = json!({
            "envelope_version": "1.0", "spec_version": "1.0.0", "verb": verb,
            "target": "rover-sim-001", "request_id": id, "ts": "2026-01-01T00:00:00.000Z",
            "auth": { "cmd_token": "t" }, "params": params,
        });
        self.send_raw(&request.to_string());
        self.response(id)
    }

    fn send(&mut self, verb: &str, params: Value) -> Option<Value> {
        self.ids += 1;
        let id = format!("id-{}", self.ids);
        self.send_as(&id, verb, params)
    }

    /// Sends and returns the code of the answer.
    fn code(&mut self, verb: &str, params: Value) -> String {
        let response = self.send(verb, params).expect("an answer");
        response["code"].as_str().unwrap().to_owned()
    }

    fn take(&mut self, frames: Vec<Frame>) {
        self.frames.extend(frames);
        self.journal.extend(self.vendor.journal().take());
    }

    fn response(&self, id: &str) -> Option<Value> {
        let mut frames = self.frames.iter().rev();
        let frame = frames.find(|frame| frame.request_id.as_deref() == Some(id))?;
        Some(serde_json::from_str(&frame.payload).unwrap())
    }

    fn all(&self, output: Output) -> Vec<Value> {
        let frames = self.frames.iter().filter(|frame| frame.output == output);
        frames
            .map(|frame| serde_json::from_str(&frame.payload).unwrap())
            .collect()
    }

    fn state(&self) -> Value {
        self.all(Output::State).pop().unwrap()
    }

    fn heartbeats(&mut self, ms: u64) {
        for _ in 0..ms / 300 {
            self.wait(300);
            assert_eq!(self.code(dialect::HEARTBEAT, json!({})), "0");
        }
    }
}

fn velocity(linear: f64) -> Value {
    json!({ "linear": linear, "angular": 0.0, "control_source": "octos-edge" })
}

fn goal(x: f64) -> Value {
    json!({ "x": x, "y": 0.0, "control_source": "octos-edge" })
}

#[test]
fn the_advert_has_the_habits_of_vendors() {
    let rig = Rig::new(7);
    let adverts = rig.all(Output::Capabilities);
    assert_eq!(adverts.len(), 1);
    let advert = &adverts[0];
    assert_eq!(advert["heartbeat_timeout_ms"], json!(1000));
    assert_eq!(advert["pid"], json!(42));
    let commands = advert["commands"].as_array().unwrap();
    assert_eq!(commands.len(), 10);
    for (command, verb) in commands.iter().zip(ALL) {
        assert_eq!(command["verb"], verb);
        assert_eq!(command["safety_tier"], "emergency_override");
    }
}

#[test]
fn the_advert_comes_again_when_asked_for() {
    let mut rig = Rig::new(7);
    let answer = rig.send(dialect::CAPABILITIES, json!({})).unwrap();
    assert_eq!(answer["data"], rig.all(Output::Capabilities)[0]);
}

#[test]
fn a_goal_is_answered_when_queued_and_reached_under_heartbeats() {
    let mut rig = Rig::new(7);
    assert_eq!(rig.code(GO, goal(1.0)), "0");
    assert_eq!(rig.state()["nav_status"], "following");
    rig.heartbeats(9000);
    let state = rig.state();
    assert_eq!(state["nav_status"], "arrived");
    assert!((state["pose"]["position"][0].as_f64().unwrap() - 1.0).abs() < 0.06);
    assert_eq!(state["controller_holder"], "octos-edge");
    assert!(
        rig.journal
            .iter()
            .any(|e| matches!(e, JournalEntry::Rest { arrived: true, .. }))
    );
}

#[test]
fn silence_after_a_goal_trips_the_dead_man_and_latches() {
    let mut rig = Rig::new(7);
    rig.code(GO, goal(1.5));
    rig.wait(1000);
    assert_eq!(rig.state()["estopped"], false);
    rig.wait(50);
    let state = rig.state();
    assert_eq!(state["estopped"], true);
    assert_eq!(state["estop_reason"], "heartbeat timeout");
    assert_eq!(rig.all(Output::SafetyEvent).len(), 1);
    rig.wait(300);
    assert_eq!(rig.state()["speed"], json!(0.0));
    assert_eq!(rig.state()["nav_status"], "idle");
    let tripped = JournalEntry::DeadMan {
        t_ms: 2010,
        silent_ms: 1010,
    };
    assert!(rig.journal.contains(&tripped));
    assert_eq!(rig.code(GO, goal(1.0)), "VENDOR_ERROR");
}

#[test]
fn the_dead_man_stays_armed_after_a_stop_and_after_arrival() {
    for stop in [true, false] {
        let mut rig = Rig::new(7);
        rig.code(GO, goal(0.2));
        rig.heartbeats(2400);
        if stop {
            assert_eq!(rig.code(dialect::STOP, json!({})), "0");
        }
        rig.wait(1100);
        assert_eq!(rig.state()["estopped"], true);
    }
}

#[test]
fn a_release_from_anybody_disarms_the_dead_man_while_the_motion_goes_on() {
    let mut rig = Rig::new(7);
    rig.code(GO, goal(1.0));
    rig.wait(500);
    let stranger = json!({ "control_source": "stranger" });
    assert_eq!(rig.code(dialect::RELEASE, stranger), "0");
    rig.wait(9000);
    let state = rig.state();
    assert_eq!(state["nav_status"], "arrived");
    assert_eq!(state["estopped"], false);
    assert_eq!(state["controller_holder"], Value::Null);
}

#[test]
fn a_velocity_ends_500_ms_after_its_last_repeat() {
    let mut rig = Rig::new(7);
    rig.code(DRIVE, velocity(0.2));
    rig.wait(400);
    assert_eq!(rig.code(DRIVE, velocity(0.2)), "0");
    rig.wait(450);
    assert_eq!(rig.state()["nav_status"], "following");
    rig.wait(200);
    let state = rig.state();
    assert_eq!(state["nav_status"], "idle");
    assert_eq!(state["speed"], json!(0.0));
}

#[test]
fn a_stop_stands_still_in_less_than_300_ms() {
    let mut rig = Rig::new(7);
    rig.code(DRIVE, velocity(5.0));
    rig.wait(450);
    assert!(rig.state()["speed"].as_f64().unwrap() > 0.15);
    assert_eq!(rig.code(dialect::STOP, json!({})), "0");
    let asked = rig.now.as_ms();
    rig.wait(300);
    let is_rest = |entry: &&JournalEntry| matches!(entry, JournalEntry::Rest { .. });
    let rest = rig.journal.iter().find(is_rest).unwrap();
    assert!(rest.t_ms() - asked < 300);
    assert_eq!(rig.state()["nav_status"], "idle");
}

#[test]
fn one_controller_and_one_motion_at_a_time() {
    let mut rig = Rig::new(7);
    assert_eq!(rig.code(GO, goal(1.0)), "0");
    assert_eq!(rig.code(GO, goal(1.2)), "CONTROLLER_BUSY");
    assert_eq!(rig.code(DRIVE, velocity(0.1)), "CONTROLLER_BUSY");
    rig.code(dialect::STOP, json!({}));
    rig.wait(300);
    let foreign = json!({ "linear": 0.1, "angular": 0.0, "control_source": "other" });
    assert_eq!(rig.code(DRIVE, foreign.clone()), "CONTROLLER_BUSY");
    rig.code(dialect::RELEASE, json!({ "control_source": "octos-edge" }));
    assert_eq!(rig.code(DRIVE, foreign), "0");
}

#[test]
fn the_gripper_answers_when_it_is_done_or_stopped() {
    let mut rig = Rig::new(7);
    let open = json!({ "opening": 0.05, "force": 10.0 });
    assert_eq!(rig.send(dialect::GRIPPER_SET, open.clone()), None);
    rig.wait(900);
    assert_eq!(rig.response("id-1"), None);
    rig.wait(200);
    assert_eq!(
        rig.response("id-1").unwrap()["data"]["opening"],
        json!(0.05)
    );
    rig.send(
        dialect::GRIPPER_SET,
        json!({ "opening": 0.0, "force": 10.0 }),
    );
    rig.wait(100);
    rig.code(dialect::STOP, json!({}));
    assert_eq!(rig.response("id-2").unwrap()["code"], "VENDOR_ERROR");
}

#[test]
fn what_does_not_fit_is_invalid_params_and_moves_nothing() {
    let mut rig = Rig::new(7);
    let cases = [
        ("vendor.octos.rover.fly", json!({})),
        (dialect::STOP, json!({ "control_source": "octos-edge" })),
        (dialect::ESTOP, json!({ "reason": "x", "by": "y" })),
        (dialect::HEARTBEAT, json!({ "seq": 1 })),
        (DRIVE, json!({ "linear": 0.2, "angular": 0.0 })),
        (
            DRIVE,
            json!({ "linear": "0.2", "angular": 0.0, "control_source": "octos-edge" }),
        ),
        (DRIVE, velocity(50.0)),
        (
            GO,
            json!({ "x": 1e6, "y": 0.0, "control_source": "octos-edge" }),
        ),
        (
            GO,
            json!({ "x": 1.0, "y": 0.0, "z": 0.0, "control_source": "octos-edge" }),
        ),
        (
            dialect::GRIPPER_SET,
            json!({ "opening": 0.5, "force": 10.0 }),
        ),
    ];
    for (verb, params) in cases {
        assert_eq!(
            rig.code(verb, params.clone()),
            "INVALID_PARAMS",
            "{verb} {params}"
        );
    }
    rig.wait(2000);
    assert!(rig.vendor.rover().travelled_m() < f64::MIN_POSITIVE);
    assert_eq!(rig.state()["estopped"], false);
}

#[test]
fn messages_for_others_and_rubbish_get_no_answer() {
    let mut rig = Rig::new(7);
    let foreign =
        json!({ "verb": GO, "target": "rover-2", "request_id": "a", "params": goal(1.0) });
    let deep = "[".repeat(100_000);
    let huge = format!("\"{}\"", "x".repeat(CMD_REQUEST_BYTES_MAX));
    for text in [
        foreign.to_string().as_str(),
        "",
        "null",
        "{",
        &deep,
        &huge,
        "\u{0}",
    ] {
        assert_eq!(rig.send_raw(text), 0);
    }
    let ignored = rig
        .journal
        .iter()
        .filter(|e| matches!(e, JournalEntry::Ignored { .. }));
    assert_eq!(ignored.count(), 7);
    rig.wait(1000);
    assert!(rig.vendor.rover().travelled_m() < f64::MIN_POSITIVE);
}

#[test]
fn a_repeated_motion_request_is_answered_but_moves_nothing() {
    let mut rig = Rig::new(7);
    rig.send_as("same", GO, goal(0.3));
    rig.heartbeats(3600);
    assert_eq!(rig.state()["nav_status"], "arrived");
    let answer = rig.send_as("same", GO, goal(1.0)).unwrap();
    assert_eq!(answer["code"], "0");
    rig.heartbeats(900);
    assert!(rig.state()["pose"]["position"][0].as_f64().unwrap() < 0.4);
    let mut done = Vec::new();
    for entry in &rig.journal {
        if let JournalEntry::Verb {
            class: VerbClass::Motion,
            executed,
            ..
        } = entry
        {
            done.push(*executed);
        }
    }
    assert_eq!(done, [true, false]);
}

#[test]
fn the_first_emergency_stop_gives_the_reason_and_one_event() {
    let mut rig = Rig::new(7);
    rig.code(GO, goal(1.0));
    rig.wait(300);
    assert_eq!(
        rig.code(dialect::ESTOP, json!({ "reason": "octos-edge" })),
        "0"
    );
    assert_eq!(rig.code(dialect::ESTOP, json!({})), "0");
    rig.wait(5000);
    assert_eq!(rig.state()["estop_reason"], "octos-edge");
    assert_eq!(rig.all(Output::SafetyEvent).len(), 1);
    assert!(
        !rig.journal
            .iter()
            .any(|e| matches!(e, JournalEntry::DeadMan { .. }))
    );
}

#[test]
fn states_come_ten_times_a_second_and_count_up() {
    let mut rig = Rig::new(7);
    rig.wait(2000);
    let seq: Vec<u64> = rig
        .all(Output::State)
        .iter()
        .map(|state| state["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seq, (1..=21).collect::<Vec<u64>>());
}

#[test]
fn a_long_sleep_costs_bounded_work_and_the_dead_man_has_tripped() {
    let mut rig = Rig::new(7);
    rig.code(GO, goal(1.0));
    rig.now = Mono::from_ms(u64::MAX / 2_000_000);
    let frames = rig.vendor.advance(rig.now);
    rig.take(frames);
    assert_eq!(rig.state()["estopped"], true);
}

#[test]
fn the_same_seed_and_inputs_give_the_same_messages() {
    let run = |seed| {
        let mut rig = Rig::new(seed);
        rig.code(GO, goal(0.8));
        rig.heartbeats(3000);
        (rig.frames, rig.journal)
    };
    assert!(run(7) == run(7));
    assert!(run(7) != run(8));
}

/// Parameters of the crawler's drive to a point.
fn far(px: f64) -> Value {
    json!({ "goal": { "px": px, "py": 0.0 }, "style": { "gait": "smooth" }, "control_source": "edge" })
}

#[test]
fn another_robot_tells_its_dead_man_in_safety_and_stops_itself_in_its_own_words() {
    let mut rig = Rig::crawler();
    let advert = &rig.all(Output::Capabilities)[0];
    assert_eq!(advert["safety"]["heartbeat_timeout_ms"], json!(800));
    assert_eq!(advert.get("heartbeat_timeout_ms"), None);
    assert_eq!(rig.code("vendor.acme.base.nav.goto", far(1.5)), "0");
    rig.wait(750);
    assert_eq!(rig.state()["drive"]["phase"], "DRIVING");
    assert!(rig.state()["odom"]["v"].as_f64().unwrap() > 0.1);
    rig.wait(400);
    let state = rig.state();
    assert_eq!(state["estopped"], true);
    assert_eq!(state["drive"]["phase"], "STOPPED");
    let tripped = JournalEntry::DeadMan {
        t_ms: 1810,
        silent_ms: 810,
    };
    assert!(rig.journal.contains(&tripped), "{:?}", rig.journal);
}

#[test]
fn another_robot_drives_turns_and_halts_by_its_own_verbs_only() {
    let mut rig = Rig::crawler();
    let twist = json!({ "twist": { "forward": 0.2, "turn": 0.0 }, "control_source": "edge" });
    assert_eq!(rig.code("vendor.acme.base.drive", twist), "0");
    rig.wait(350);
    assert!(rig.state()["odom"]["v"].as_f64().unwrap() > 0.1);
    assert_eq!(
        rig.code("vendor.acme.base.halt", json!({ "mode": "soft" })),
        "0"
    );
    rig.wait(300);
    assert_eq!(rig.state()["odom"]["v"], json!(0.0));
    assert_eq!(rig.code(DRIVE, velocity(0.2)), "INVALID_PARAMS");
    let classes: Vec<VerbClass> = rig.journal.iter().filter_map(class).collect();
    let expected = [VerbClass::Motion, VerbClass::Stop, VerbClass::Other];
    assert_eq!(classes, expected);
    let lights = json!({ "on": true });
    assert_eq!(rig.code("vendor.acme.base.lights", lights), "0");
    let seen = rig.send("vendor.acme.base.odom", json!({})).unwrap();
    assert!(seen["data"]["odom"]["xy"].is_array(), "{seen}");
}

fn class(entry: &JournalEntry) -> Option<VerbClass> {
    match entry {
        JournalEntry::Verb { class, .. } => Some(*class),
        JournalEntry::Start { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. }
        | JournalEntry::Rest { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::DeadMan { .. } => None,
    }
}

#[test]
fn a_goal_that_is_answered_at_its_end_is_answered_there_or_when_it_is_stopped() {
    const VISIT: &str = "vendor.acme.base.nav.visit";
    let dock = json!({ "site": "dock", "control_source": "edge" });
    let mut rig = Rig::crawler();
    assert_eq!(rig.send(VISIT, dock.clone()), None);
    for _ in 0..30 {
        rig.wait(300);
        rig.code(dialect::HEARTBEAT, json!({}));
    }
    let answer = rig.response("id-1").unwrap();
    assert_eq!(answer["code"], "0");
    assert!(
        (answer["data"]["x"].as_f64().unwrap() - 1.5).abs() < 0.06,
        "{answer}"
    );
    let mut rig = Rig::crawler();
    rig.send(VISIT, dock.clone());
    rig.wait(500);
    rig.code("vendor.acme.base.halt", json!({}));
    assert_eq!(rig.response("id-1"), None, "it still rolls");
    rig.wait(300);
    assert_eq!(rig.response("id-1").unwrap()["code"], "VENDOR_ERROR");
    // At rest there is no way to go: a stop ends the goal at once.
    rig.send(VISIT, dock);
    rig.code("vendor.acme.base.halt", json!({}));
    assert_eq!(rig.response("id-3").unwrap()["code"], "VENDOR_ERROR");
}

#[test]
fn a_word_of_success_that_is_none_of_standstill_gives_way_to_one() {
    let text = CRAWLER.replace(
        "any_of = [\"STOPPED\", \"AT_GOAL\"]",
        "any_of = [\"STOPPED\"]",
    );
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    rig.code("vendor.acme.base.nav.goto", far(0.2));
    for _ in 0..8 {
        rig.wait(300);
        rig.code(dialect::HEARTBEAT, json!({}));
    }
    let states = rig.all(Output::State);
    let mut words: Vec<&str> = states
        .iter()
        .map(|state| state["drive"]["phase"].as_str().unwrap())
        .collect();
    words.dedup();
    assert_eq!(words, ["STOPPED", "DRIVING", "AT_GOAL", "STOPPED"]);
}

#[test]
fn a_gripper_with_words_of_its_own_says_them_and_answers_at_once() {
    const CLAW: &str = "vendor.acme.claw.set";
    let speed = "speed_bound = { mps = 0.05, source = \"Acme data sheet, section 4\" }\n";
    let completion = "completion = { state = \"claw\", start = [\"GOES\"], ok = [\"SET\"], fail = [\"FREE\"] }\n";
    let text = CRAWLER.replace(speed, &format!("{speed}{completion}"));
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    let open = json!({ "width": 0.04, "squeeze": 5.0 });
    assert_eq!(rig.state()["claw"], "FREE");
    assert_eq!(rig.code(CLAW, open.clone()), "0");
    rig.wait(100);
    assert_eq!(
        (&rig.state()["claw"], &rig.state()["drive"]["phase"]),
        (&json!("GOES"), &json!("STOPPED"))
    );
    assert_eq!(rig.code(CLAW, open), "CONTROLLER_BUSY");
    rig.wait(900);
    assert_eq!(rig.state()["claw"], "SET");
}

#[test]
fn a_dead_man_that_is_not_told_stops_the_robot_all_the_same() {
    let text = CRAWLER.replace("source = \"advert\"", "source = \"fixed\"");
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    let advert = &rig.all(Output::Capabilities)[0];
    assert!(advert["heartbeat_timeout_ms"].is_null() && advert["safety"].is_null());
    rig.code("vendor.acme.base.nav.goto", far(1.5));
    rig.wait(900);
    assert_eq!(
        rig.state()["estopped"],
        true,
        "it has one and does not tell"
    );
}

fn any_params() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        ".*".prop_map(Value::String),
        Just(Value::Null),
        Just(json!([])),
        Just(json!("dock")),
        (any::<f64>(), any::<f64>()).prop_map(|(a, b)| json!({ "forward": a, "turn": b })),
        (any::<f64>(), any::<f64>()).prop_map(|(a, b)| json!({ "px": a, "py": b })),
        Just(json!({ "gait": "smooth" })),
        Just(json!([[[{ "a": [] }]]])),
    ];
    let key = prop_oneof![
        Just("linear"),
        Just("angular"),
        Just("x"),
        Just("y"),
        Just("opening"),
        Just("force"),
        Just("reason"),
        Just("control_source"),
        Just("twist"),
        Just("goal"),
        Just("style"),
        Just("site"),
        Just("other"),
    ];
    prop::collection::vec((key, value), 0..5).prop_map(|pairs| {
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Value::Object(pairs.collect::<Map<_, _>>())
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in ".{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut rig = Rig::new(1);
        rig.send_raw(&text);
        rig.send_raw(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_parameters_make_it_panic_or_leave_its_floor(
        calls in prop::collection::vec((0..ALL.len(), any_params()), 1..8)
    ) {
        let mut rig = Rig::new(1);
        for (verb, params) in calls {
            rig.send(ALL[verb], params);
            rig.wait(100);
        }
        let at = rig.vendor.rover().placement();
        prop_assert!(at.x.is_finite() && at.y.is_finite() && at.x.hypot(at.y) < 1.0);
    }

    #[test]
    fn no_parameters_make_a_learned_robot_panic_or_leave_its_floor(
        calls in prop::collection::vec((0..64usize, any_params()), 1..8)
    ) {
        let mut rig = Rig::crawler();
        let advert = rig.all(Output::Capabilities).remove(0);
        let verbs = advert["commands"].as_array().unwrap();
        for (verb, params) in calls {
            let verb = verbs[verb % verbs.len()]["verb"].as_str().unwrap();
            rig.send(verb, params);
            rig.wait(100);
        }
        let at = rig.vendor.rover().placement();
        prop_assert!(at.x.is_finite() && at.y.is_finite() && at.x.hypot(at.y) < 1.0);
    }
}
