//! The habits of the built-in rover, which are those of vendor nodes.

use super::*;

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
