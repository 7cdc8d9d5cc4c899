//! Drives, holds, stops, and what becomes of them when agent, process or link fail.

use super::*;

#[test]
fn a_drive_arrives_under_heartbeats_and_control_is_released() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let end = stage.drive(GO, to(1.0), |_| Agent::Works).unwrap();
    assert!(matches!(end, Ok(MotionEnd::Arrived { .. })), "{end:?}");
    stage.wait(2000);
    assert!((stage.x() - 1.0).abs() < 0.06);
    assert_eq!(stage.reached(), [VerbClass::Motion]);
    assert_eq!(stage.run(), RunState::Armed);
    let facts = stage.facts();
    assert!(facts.contains(&Fact::Heartbeat));
    assert!(facts.contains(&Fact::Released));
    assert!(
        !stage
            .journal
            .iter()
            .any(|e| matches!(e, JournalEntry::DeadMan { .. }))
    );
}

#[test]
fn a_hold_repeats_until_its_time_is_over_and_then_stops() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let args = json!({ "linear": 0.2, "angular": 0.0 });
    let end = stage
        .drive("rover_set_velocity", args, |_| Agent::Works)
        .unwrap();
    assert_eq!(end, Ok(MotionEnd::Expired));
    let motions = stage
        .reached()
        .iter()
        .filter(|c| **c == VerbClass::Motion)
        .count();
    assert!((14..=16).contains(&motions), "{motions}");
    assert_eq!(stage.stop_causes(), [StopCause::Deadline]);
    assert!(stage.rests());
    assert!((0.4..0.7).contains(&stage.x()), "{}", stage.x());
}

#[test]
fn a_stop_halts_the_robot_and_no_motion_follows_it() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut asked = None;
    let end = stage.drive(GO, to(1.5), |stage| {
        if asked.is_none() && stage.x() > 0.8 {
            let by = Some("ann");
            stage
                .mock
                .bridge()
                .stop(StopKind::Stop, StopCause::OperatorStop, by);
            asked = Some(stage.clock.now());
        }
        Agent::Works
    });
    assert!(matches!(end, Some(Err(_))), "{end:?}");
    assert!(stage.rests());
    assert!(stage.clock.now().ms_since(asked.unwrap()) < 500);
    let reached = stage.reached();
    let stop = reached.iter().position(|c| *c == VerbClass::Stop).unwrap();
    assert!(!reached[stop..].contains(&VerbClass::Motion));
    assert_eq!(stage.stop_causes(), [StopCause::OperatorStop]);
    assert_eq!(stage.run(), RunState::Armed);
}

#[test]
fn lost_stop_verbs_are_repeated_until_the_robot_rests() {
    let mut lost = 0;
    let fate = FateRule::new(move |way, text| {
        let is_stop = way == Way::ToRobot && text.contains("rover.stop");
        if is_stop && lost < 2 {
            lost += 1;
            return Fate::Lost;
        }
        Fate::Arrives
    });
    let mut stage = Stage::armed(7, fate);
    stage.drive(GO, to(1.5), |stage| {
        if stage.x() > 0.3 && stage.stop_causes().is_empty() {
            stage
                .mock
                .bridge()
                .stop(StopKind::Stop, StopCause::OperatorStop, None);
        }
        Agent::Works
    });
    assert!(stage.rests());
    let sent = |fact: &Fact| matches!(fact, Fact::StopVerb { .. });
    assert!(stage.facts().iter().filter(|fact| sent(fact)).count() >= 3);
}

#[test]
fn a_frozen_agent_lets_the_lease_run_out_and_the_robot_rests() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut frozen_at = None;
    let end = stage.drive(GO, to(1.5), |stage| {
        if frozen_at.is_none() && stage.x() > 0.3 {
            frozen_at = Some(stage.clock.now());
        }
        match frozen_at {
            Some(at) if stage.clock.now().ms_since(at) < 3000 => Agent::Frozen,
            Some(_) | None => Agent::Works,
        }
    });
    assert!(matches!(end, Some(Err(_))), "{end:?}");
    assert!(stage.rests());
    assert!(stage.stop_causes().contains(&StopCause::LeaseLost));
    // The tier's lease is lost after 1500 ms without progress; then the rover brakes.
    assert!(stage.rested_after(frozen_at.unwrap()) <= 1500 + 200);
}

#[test]
fn a_frozen_process_is_stopped_by_the_dead_man_and_nothing_leaves_after_the_thaw() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let permit = stage.permit(GO, &to(1.5));
    let bridge = stage.mock.bridge().clone();
    let params = json!({ "x": 1.5, "y": 0.0, "control_source": "octos-edge" });
    let mut motion = pin!(bridge.motion(permit, params.as_object().unwrap()));
    let mut cx = Context::from_waker(Waker::noop());
    while stage.x() < 0.3 {
        assert!(motion.as_mut().poll(&mut cx).is_pending());
        stage.step(Agent::Works);
    }
    let frozen_at = stage.clock.now();
    for _ in 0..3000 / STEP_MS {
        let now = stage.clock.now().plus_ms(STEP_MS);
        stage.clock.go_to(now);
        // What the robot says meanwhile is lost, as in a queue that keeps the newest only.
        drop(stage.mock.robot().poll(now));
    }
    while motion.as_mut().poll(&mut cx).is_pending() {
        stage.step(Agent::Works);
    }
    stage.wait(500);
    assert!(
        stage
            .journal
            .iter()
            .any(|e| matches!(e, JournalEntry::DeadMan { .. }))
    );
    assert!(stage.rested_after(frozen_at) <= u64::from(stage.file.deadman.fixed_ms) + 10 + 200);
    let motions = stage
        .reached()
        .iter()
        .filter(|c| **c == VerbClass::Motion)
        .count();
    assert_eq!(motions, 1);
    assert_eq!(stage.run(), RunState::Latched);
}

#[test]
fn a_dropped_call_stops_the_robot() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let permit = stage.permit(GO, &to(1.5));
    let bridge = stage.mock.bridge().clone();
    let params = json!({ "x": 1.5, "y": 0.0, "control_source": "octos-edge" });
    {
        let mut motion = pin!(bridge.motion(permit, params.as_object().unwrap()));
        let mut cx = Context::from_waker(Waker::noop());
        while stage.x() < 0.3 {
            assert!(motion.as_mut().poll(&mut cx).is_pending());
            stage.step(Agent::Works);
        }
    }
    stage.wait(1500);
    assert!(stage.rests());
    assert!(stage.x() < 0.6);
}

#[test]
fn a_robot_whose_states_are_lost_is_stopped() {
    let mut seen = 0;
    let fate = FateRule::new(move |way, _| {
        seen += u32::from(way == Way::FromRobot(Output::State));
        if way == Way::FromRobot(Output::State) && seen > 20 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    let mut stage = Stage::armed(7, fate);
    stage.drive(GO, to(1.5), |_| Agent::Works);
    assert!(stage.rests());
    let causes = stage.stop_causes();
    let expected = [StopCause::StaleState, StopCause::LeaseLost];
    assert!(
        causes.iter().any(|cause| expected.contains(cause)),
        "{causes:?}"
    );
}

#[test]
fn control_given_away_by_a_stranger_while_moving_is_a_fault() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut done = false;
    stage.drive(GO, to(1.5), |stage| {
        if !done && stage.x() > 0.3 {
            done = true;
            let request = json!({
                "verb": "robot.release_control", "target": "rover-sim-001",
                "request_id": "stranger", "params": { "control_source": "stranger" },
            });
            let now = stage.clock.now();
            stage
                .mock
                .robot()
                .vendor()
                .handle(&request.to_string(), now);
        }
        Agent::Works
    });
    assert!(stage.rests());
    assert!(stage.stop_causes().contains(&StopCause::VendorEvent));
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = |seed| {
        let mut stage = Stage::armed(seed, FateRule::lossy(seed, 20));
        stage.drive(GO, to(0.8), |_| Agent::Works);
        (stage.journal, stage.facts.0.lock().unwrap().clone())
    };
    assert!(run(7) == run(7));
    assert!(run(7) != run(8));
}
