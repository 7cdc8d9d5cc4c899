//! Stops: before everything, whatever stands in the way.

use futures::future::{join, poll_immediate};
use serde_json::json;

use super::kit::{Does, Kit, call, go_to};
use crate::terms::{CallOrigin, Outcome, Reason, RunState, StopKind, Tier};

#[tokio::test(start_paused = true)]
async fn case_24_a_stop_works_with_surplus_arguments_and_in_every_state() {
    let surplus = json!({ "why": "because", "speed": [1, 2, 3] });
    for stop in ["rover_stop", "robot_estop"] {
        for state in 0..6 {
            let kit = Kit::new();
            kit.robot.change(|posture| match state {
                0 => posture.run = RunState::Disarmed,
                1 => (posture.run, posture.latched) = (RunState::Latched, true),
                2 => (posture.bridge_up, posture.reading) = (false, None),
                3 => (posture.run, posture.moving) = (RunState::Moving, true),
                4 => (posture.run, posture.stopping) = (RunState::Stopping, true),
                _ => {}
            });
            let turn = kit.turn(Tier::Observe);
            for nth in 0..50 {
                let report = kit.executor.call(&turn, call(stop, surplus.clone())).await;
                let accepted = matches!(report.outcome, Outcome::StopAccepted { .. });
                assert!(accepted, "{stop} in state {state}, {nth}: {report:?}");
            }
            assert_eq!(kit.notes.all().len(), 50);
            assert_eq!(kit.facts(), [], "the robot's port records a stop");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_stop_says_who_asked_and_which_epoch_began() {
    let kit = Kit::new();
    let mut turn = kit.turn(Tier::SafeMotion);
    let report = kit
        .executor
        .call(&turn, call("rover_stop", json!({})))
        .await;
    let kind = StopKind::Stop;
    assert_eq!(report.outcome, Outcome::StopAccepted { kind, epoch: 2 });
    turn.origin = CallOrigin::Operator;
    turn.by = Some("ada".to_owned());
    kit.executor
        .call(&turn, call("robot_estop", json!({})))
        .await;
    let told = ["stop model_stop by model", "estop operator_stop by ada"];
    assert_eq!(kit.notes.all(), told);
}

#[tokio::test(start_paused = true)]
async fn case_24_a_stop_listed_after_a_move_of_a_minute_runs_first_and_voids_it() {
    let kit = Kit::new()
        .shared("slow", Does::SleepMs(60_000))
        .rover("rover_go_to_pose", Does::SleepMs(25_000));
    let turn = kit.turn(Tier::SafeMotion);
    let calls = vec![
        call("slow", json!({})),
        go_to(1.0, 0.5),
        call("rover_stop", json!({})),
    ];
    let reports = kit.executor.batch(&turn, calls).await;
    let notes = ["stop model_stop by model", "slow begins", "slow ends"];
    assert_eq!(kit.notes.all(), notes, "the move never began");
    let [slow, moved, stopped] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    assert!(matches!(slow.outcome, Outcome::Done { .. }), "{slow:?}");
    let refusal = moved.outcome.refusal().map(|refusal| refusal.reason);
    assert_eq!(refusal, Some(Reason::Busy));
    assert!(matches!(stopped.outcome, Outcome::StopAccepted { .. }));
    assert_eq!(stopped.took.as_millis(), 0);
    let refused = "refused rover_go_to_pose busy".to_owned();
    assert!(kit.fact_kinds().contains(&refused));
}

#[tokio::test(start_paused = true)]
async fn case_24_a_stop_runs_at_once_while_every_slot_is_busy() {
    let kit = Kit::new().shared("slow", Does::SleepMs(60_000));
    let turn = kit.turn(Tier::SafeMotion);
    let slow = vec![call("slow", json!({})); 20];
    let mut batch = std::pin::pin!(kit.executor.batch(&turn, slow));
    assert!(poll_immediate(&mut batch).await.is_none());
    let stop = kit.executor.call(&turn, call("rover_stop", json!({})));
    let report = poll_immediate(stop).await.expect("no wait at all");
    assert!(matches!(report.outcome, Outcome::StopAccepted { .. }));
    assert_eq!(kit.now_ms(), 0);
    assert_eq!(kit.notes.all().len(), 8 + 1, "8 begun, then the stop");
    assert_eq!(batch.await.len(), 20, "the sleepers were not harmed");
}

#[tokio::test(start_paused = true)]
async fn a_stop_in_a_cancelled_turn_works_and_the_rest_does_not_begin() {
    let kit = Kit::new().shared("slow", Does::SleepMs(10));
    let turn = kit.turn(Tier::SafeMotion);
    turn.cancel.cancel();
    let calls = vec![call("slow", json!({})), call("rover_stop", json!({}))];
    let reports = kit.executor.batch(&turn, calls).await;
    let labels: Vec<&str> = reports
        .iter()
        .map(|report| report.outcome.label())
        .collect();
    assert_eq!(labels, ["cancelled", "stop"]);
    assert_eq!(kit.notes.all(), ["stop model_stop by model"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_of_somebody_else_voids_the_motions_that_were_asked_for_before() {
    let mut kit = Kit::new();
    let robot = kit.robot.clone();
    kit = kit.rover("rover_set_velocity", Does::Stop(robot));
    let turn = kit.turn(Tier::SafeMotion);
    let drive = json!({ "linear": 0.1, "angular": 0.0 });
    let calls = vec![call("rover_set_velocity", drive), go_to(1.0, 0.5)];
    let reports = kit.executor.batch(&turn, calls).await;
    let refusal = reports.last().and_then(|report| report.outcome.refusal());
    assert_eq!(refusal.map(|refusal| refusal.reason), Some(Reason::Busy));
    let notes = kit.notes.all();
    assert!(!notes.contains(&"rover_go_to_pose begins".to_owned()));

    let anew = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    assert!(
        matches!(anew.outcome, Outcome::Done { .. }),
        "asked for after the stop: {anew:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn two_stops_at_once_are_both_carried_out() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::Observe);
    let stop = || kit.executor.call(&turn, call("rover_stop", json!({})));
    join(stop(), stop()).await;
    assert_eq!(kit.notes.all().len(), 2);
}
