//! How a granted call ends: by itself, in a panic, at its deadline, cancelled or dropped.

use std::time::Duration;

use futures::future::join;
use serde_json::json;

use super::kit::{Does, Kit, REST_MS, call, go_to};
use crate::terms::{Fact, Outcome, Tier, ToolError};

/// The time a move of the rover may take, ms.
const MOVE_MS: u64 = 30_000;

#[tokio::test(start_paused = true)]
async fn a_panic_becomes_an_outcome_whose_text_stays_in_the_log() {
    let kit = Kit::new()
        .shared("breaks", Does::Panic)
        .shared("works", Does::Answer("fine".to_owned()));
    let turn = kit.turn(Tier::Observe);
    let calls = vec![call("breaks", json!({})), call("works", json!({}))];
    let reports = kit.executor.batch(&turn, calls).await;
    let [broken, sibling] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    let Outcome::Failed(ToolError::Panicked { id }) = &broken.outcome else {
        panic!("{broken:?}");
    };
    assert_eq!(sibling.outcome.label(), "done");
    let panicked = Fact::ToolPanicked {
        tool: "breaks".to_owned(),
        id: id.clone(),
    };
    let facts = kit.facts();
    assert_eq!(facts.iter().filter(|fact| **fact == panicked).count(), 1);
    let told = format!("{reports:?}{facts:?}");
    assert!(!told.contains("secret"), "{told}");
    let next = kit.executor.call(&turn, call("works", json!({}))).await;
    assert_eq!(next.outcome.label(), "done");
}

#[tokio::test(start_paused = true)]
async fn a_panic_while_a_call_is_dropped_ends_there_too() {
    let kit = Kit::new().shared("stuck", Does::PanicWhenDropped);
    let turn = kit.turn(Tier::Observe);
    let report = kit.executor.call(&turn, call("stuck", json!({}))).await;
    let limit_ms = 90_000;
    assert_eq!(
        report.outcome,
        Outcome::Failed(ToolError::TimedOut { limit_ms })
    );
}

#[tokio::test(start_paused = true)]
async fn a_move_that_timed_out_is_reported_only_when_the_robot_is_at_rest() {
    let kit = Kit::new().rover("rover_go_to_pose", Does::SleepMs(3_600_000));
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    let limit_ms = MOVE_MS;
    assert_eq!(
        report.outcome,
        Outcome::Failed(ToolError::TimedOut { limit_ms })
    );
    // Once while the call lives on, once after it was dropped.
    let took = Duration::from_millis(MOVE_MS + 2 * REST_MS);
    assert_eq!(report.took, took);
    let name = "rover_go_to_pose";
    let order = [
        format!("{name} begins"),
        "at rest".to_owned(),
        format!("{name} dropped"),
        "at rest".to_owned(),
    ];
    assert_eq!(kit.notes.all(), order);
    let kinds = [
        format!("granted {name}"),
        format!("finished {name} timeout"),
    ];
    assert_eq!(kit.fact_kinds(), kinds);
}

#[tokio::test(start_paused = true)]
async fn a_move_may_end_in_order_between_its_deadline_and_rest() {
    let kit = Kit::new().rover("rover_go_to_pose", Does::SleepMs(MOVE_MS + REST_MS / 2));
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    assert_eq!(report.outcome.label(), "done", "its own word counts");
    let name = "rover_go_to_pose";
    let order = [format!("{name} begins"), format!("{name} ends")];
    assert_eq!(kit.notes.all(), order);
}

#[tokio::test(start_paused = true)]
async fn a_move_that_panicked_or_was_cancelled_waits_for_rest_as_well() {
    let kit = Kit::new().rover("rover_go_to_pose", Does::Panic);
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    assert_eq!(report.outcome.label(), "panicked");
    assert_eq!(report.took, Duration::from_millis(REST_MS));

    let kit = Kit::new().rover("rover_go_to_pose", Does::SleepMs(20_000));
    let turn = kit.turn(Tier::SafeMotion);
    let cancel = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        turn.cancel.cancel();
    };
    let (report, ()) = join(kit.executor.call(&turn, go_to(1.0, 0.5)), cancel).await;
    assert_eq!(report.outcome.label(), "cancelled");
    assert_eq!(report.took, Duration::from_millis(500 + REST_MS));
}

#[tokio::test(start_paused = true)]
async fn without_rest_the_outcome_is_unknown() {
    let kit = Kit::new().rover("rover_go_to_pose", Does::SleepMs(3_600_000));
    kit.robot.never_rests();
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, go_to(1.0, 0.5)).await;
    assert_eq!(report.outcome.label(), "unknown", "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_timed_out_waits_for_nothing() {
    let kit = Kit::new().rover("rover_get_pose", Does::SleepMs(3_600_000));
    let turn = kit.turn(Tier::Observe);
    let report = kit
        .executor
        .call(&turn, call("rover_get_pose", json!({})))
        .await;
    assert_eq!(report.outcome.label(), "timeout");
    assert_eq!(report.took, Duration::from_secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_long_output_is_cut_and_the_cut_is_told() {
    let kit = Kit::new().shared("talks", Does::Answer("ä".repeat(80)));
    let turn = kit.turn(Tier::Observe);
    let report = kit.executor.call(&turn, call("talks", json!({}))).await;
    let text = format!("{}\n[60 bytes cut]", "ä".repeat(50));
    let done = Outcome::Done {
        text,
        clamped: Vec::new(),
        repaired: Vec::new(),
    };
    assert_eq!(report.outcome, done);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_frees_what_it_held_and_closes_its_record() {
    let kit = Kit::new().alone("write", Does::SleepMs(60_000));
    let turn = kit.turn(Tier::Observe);
    let write = || kit.executor.call(&turn, call("write", json!({})));
    let one_second = Duration::from_secs(1);
    assert!(tokio::time::timeout(one_second, write()).await.is_err());
    let kinds = ["granted write", "finished write cancelled"];
    assert_eq!(kit.fact_kinds(), kinds);
    assert_eq!(write().await.outcome.label(), "done");
}
