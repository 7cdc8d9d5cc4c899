//! The order of a batch: runs of shared calls, exclusive calls alone, one report for each.

use serde_json::json;

use super::kit::{Does, Kit, call};
use crate::executor::CALLS_MAX;
use crate::terms::{Call, CallReport, Outcome, Reason, Tier};

fn labels(reports: &[CallReport]) -> Vec<&'static str> {
    reports
        .iter()
        .map(|report| report.outcome.label())
        .collect()
}

fn named(names: &[&str]) -> Vec<Call> {
    names.iter().map(|name| call(name, json!({}))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_read_listed_after_a_write_runs_after_it() {
    let kit = Kit::new()
        .shared("read", Does::SleepMs(10))
        .alone("write", Does::SleepMs(10));
    let turn = kit.turn(Tier::Observe);
    let calls = named(&["read", "write", "read"]);
    let reports = kit.executor.batch(&turn, calls).await;
    assert_eq!(labels(&reports), ["done"; 3]);
    let one = |name: &str| [format!("{name} begins"), format!("{name} ends")];
    let order = [one("read"), one("write"), one("read")].concat();
    assert_eq!(kit.notes.all(), order);
}

#[tokio::test(start_paused = true)]
async fn shared_calls_run_beside_each_other_but_never_more_than_eight() {
    let kit = Kit::new().shared("slow", Does::SleepMs(1_000));
    let turn = kit.turn(Tier::Observe);
    let reports = kit.executor.batch(&turn, named(&["slow"; 30])).await;
    assert_eq!(labels(&reports), ["done"; 30]);
    assert_eq!(kit.now_ms(), 4_000, "four waves of eight");
    let mut running = 0_i32;
    for note in kit.notes.all() {
        running += if note.ends_with("begins") { 1 } else { -1 };
        assert!(running <= 8);
    }
}

#[tokio::test(start_paused = true)]
async fn after_a_failed_call_later_ones_on_its_scope_are_not_run() {
    let kit = Kit::new()
        .alone("fails", Does::Fail)
        .alone("write", Does::Answer("ok".to_owned()))
        .shared("read", Does::Answer("ok".to_owned()));
    let turn = kit.turn(Tier::Observe);
    let calls = named(&["write", "fails", "read", "write"]);
    let reports = kit.executor.batch(&turn, calls).await;
    let expected = ["done", "unknown", "done", "cancelled"];
    assert_eq!(labels(&reports), expected);
    assert_eq!(
        kit.fact_kinds().last().map(String::as_str),
        Some("finished write cancelled")
    );
    let again = kit.executor.batch(&turn, named(&["write"])).await;
    assert_eq!(labels(&again), ["done"], "another reply begins anew");
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_holds_nothing_back() {
    let kit = Kit::new().alone("write", Does::Answer("ok".to_owned()));
    let turn = kit.turn(Tier::Observe);
    let calls = vec![
        call("write", json!({ "surplus": 1 })),
        call("nobody", json!({})),
        call("write", json!({})),
    ];
    let reports = kit.executor.batch(&turn, calls).await;
    assert_eq!(labels(&reports), ["refused", "refused", "done"]);
}

#[tokio::test(start_paused = true)]
async fn calls_above_the_bound_are_refused_and_stops_among_them_are_not() {
    let kit = Kit::new().shared("read", Does::Answer("ok".to_owned()));
    let turn = kit.turn(Tier::Observe);
    let mut calls = named(&["read"; CALLS_MAX + 6]);
    calls.push(call("rover_stop", json!({})));
    let reports = kit.executor.batch(&turn, calls).await;
    assert_eq!(reports.len(), CALLS_MAX + 7);
    let (within, beyond) = reports.split_at(CALLS_MAX);
    assert!(within.iter().all(|report| report.outcome.label() == "done"));
    let (stop, beyond) = beyond.split_last().unwrap();
    assert_eq!(stop.outcome.label(), "stop");
    for report in beyond {
        let reason = report.outcome.refusal().map(|refusal| refusal.reason);
        assert_eq!(reason, Some(Reason::Busy));
    }
    let ran = kit
        .notes
        .all()
        .iter()
        .filter(|note| note.ends_with("begins"))
        .count();
    assert_eq!(ran, CALLS_MAX);
}

#[tokio::test(start_paused = true)]
async fn a_scope_that_another_turn_holds_is_busy() {
    let kit = Kit::new().alone("write", Does::SleepMs(10));
    let turn = kit.turn(Tier::Observe);
    let other = kit.turn(Tier::Observe);
    let (first, second) = futures::future::join(
        kit.executor.call(&turn, call("write", json!({}))),
        kit.executor.call(&other, call("write", json!({}))),
    )
    .await;
    assert!(matches!(first.outcome, Outcome::Done { .. }), "{first:?}");
    let reason = second.outcome.refusal().map(|refusal| refusal.reason);
    assert_eq!(reason, Some(Reason::Busy));
    let after = kit.executor.call(&other, call("write", json!({}))).await;
    assert!(matches!(after.outcome, Outcome::Done { .. }), "{after:?}");
}
