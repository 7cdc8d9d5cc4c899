//! A person is asked: once for each call, for these numbers, and silence is no.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::kit::{Does, Kit, Says, call};
use crate::executor::Turn;
use crate::terms::{Call, CallReport, Fact, Outcome, Reason, StopCause, StopKind, Tier};

/// So long that the rate of the gripper permits the next call.
const BETWEEN: Duration = Duration::from_secs(10);

fn open() -> Call {
    call(
        "rover_gripper_set",
        json!({ "opening": 0.05, "force": 10.0 }),
    )
}

fn kit(says: impl IntoIterator<Item = Says>) -> (Kit, Turn) {
    let kit = Kit::new()
        .answered(says)
        .rover("rover_gripper_set", Does::Answer("opened".to_owned()));
    let turn = kit.turn(Tier::FullActuation);
    (kit, turn)
}

/// Asserts that the call was refused for this reason, that no tool ran, and that it was counted once.
fn refused(kit: &Kit, report: &CallReport, reason: Reason) {
    let refusal = report.outcome.refusal().expect("a refusal");
    assert_eq!(refusal.reason, reason, "{refusal:?}");
    assert!(!kit.notes.all().iter().any(|note| note.contains("begins")));
    let counted = kit.facts();
    let counted = counted
        .iter()
        .filter(|fact| matches!(fact, Fact::Refused { reason: told, .. } if *told == reason));
    assert_eq!(counted.count(), 1);
    let granted = |fact: &Fact| matches!(fact, Fact::Granted { .. });
    assert!(!kit.facts().iter().any(granted));
}

fn is_done(report: &CallReport) -> bool {
    matches!(report.outcome, Outcome::Done { .. })
}

#[tokio::test(start_paused = true)]
async fn case_20_a_call_that_was_granted_once_runs_once_and_the_next_one_asks_again() {
    let (kit, turn) = kit([Says::YesAfterMs(5_000), Says::No]);
    let first = kit.executor.call(&turn, open()).await;
    assert!(is_done(&first), "{first:?}");
    let ran = ["rover_gripper_set begins", "rover_gripper_set ends"];
    assert_eq!(kit.notes.all(), ran);
    let asked = kit.person.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].tool, "rover_gripper_set");
    assert_eq!(asked[0].args, json!({ "opening": 0.05, "force": 10.0 }));
    assert_eq!(asked[0].needed, Some(Tier::FullActuation));
    assert_eq!(asked[0].rule.as_deref(), Some("RV-03"));
    assert_eq!(asked[0].ttl_ms, 60_000, "of the tier file");

    sleep(BETWEEN).await;
    let second = kit.executor.call(&turn, open()).await;
    let refusal = second.outcome.refusal().unwrap();
    assert_eq!(refusal.reason, Reason::ApprovalDenied);
    assert!(refusal.detail.contains("ann said no"), "{refusal}");
    assert!(refusal.detail.contains("a hand is in the way"), "{refusal}");
    assert_eq!(kit.person.asked.lock().unwrap().len(), 2);
    assert_eq!(kit.notes.all(), ran, "only once");
}

#[tokio::test(start_paused = true)]
async fn case_20_silence_is_no_when_the_time_is_over() {
    let (kit, turn) = kit([Says::Nothing]);
    let report = kit.executor.call(&turn, open()).await;
    refused(&kit, &report, Reason::ApprovalDenied);
    assert_eq!(report.took, Duration::from_secs(60));
    let detail = &report.outcome.refusal().unwrap().detail;
    assert!(detail.contains("within 60000 ms"), "{detail}");
}

#[tokio::test(start_paused = true)]
async fn case_20_a_yes_behind_the_time_is_too_late() {
    let (kit, turn) = kit([Says::YesAfterMs(60_001)]);
    let report = kit.executor.call(&turn, open()).await;
    refused(&kit, &report, Reason::ApprovalDenied);
}

#[tokio::test(start_paused = true)]
async fn case_21_a_yes_holds_for_these_numbers_and_no_others() {
    // Both are asked for the same tool; the second is another opening.
    let (kit, turn) = kit([Says::YesAfterMs(10), Says::Nothing]);
    assert!(is_done(&kit.executor.call(&turn, open()).await));
    sleep(BETWEEN).await;
    let wider = call(
        "rover_gripper_set",
        json!({ "opening": 0.06, "force": 10.0 }),
    );
    let report = kit.executor.call(&turn, wider).await;
    let refusal = report.outcome.refusal().unwrap();
    assert_eq!(refusal.reason, Reason::ApprovalDenied);
    let asked = kit.person.asked.lock().unwrap();
    assert_ne!(asked[0].digest, asked[1].digest);
}

#[tokio::test(start_paused = true)]
async fn nobody_to_ask_is_told_at_once_and_not_behind_the_time() {
    let (kit, turn) = kit([]);
    let report = kit.executor.call(&turn, open()).await;
    refused(&kit, &report, Reason::ApprovalUnavailable);
    assert_eq!(report.took, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_wait_and_a_yes_after_it_moves_nothing() {
    for kind in [StopKind::Stop, StopKind::Estop] {
        let (kit, turn) = kit([Says::YesAfterMs(2_000)]);
        let robot = kit.robot.clone();
        let stop = async {
            sleep(Duration::from_millis(500)).await;
            crate::terms::RobotPort::stop(&*robot, kind, StopCause::OperatorStop, Some("ann"));
        };
        let (report, ()) = tokio::join!(kit.executor.call(&turn, open()), stop);
        refused(&kit, &report, Reason::Busy);
        assert!(
            report.took < Duration::from_millis(600),
            "{:?}",
            report.took
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_ends_the_wait() {
    let (kit, turn) = kit([Says::Nothing]);
    let cancel = turn.cancel.clone();
    let end = async {
        sleep(Duration::from_millis(500)).await;
        cancel.cancel();
    };
    let (report, ()) = tokio::join!(kit.executor.call(&turn, open()), end);
    assert_eq!(report.outcome.label(), "cancelled");
    assert_eq!(kit.notes.all(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_about_a_call_that_would_be_refused_anyway() {
    let (kit, turn) = kit([Says::YesAfterMs(10)]);
    kit.robot
        .change(|posture| posture.run = crate::terms::RunState::Disarmed);
    let report = kit.executor.call(&turn, open()).await;
    refused(&kit, &report, Reason::NotArmed);
    let strong = call(
        "rover_gripper_set",
        json!({ "opening": 0.05, "force": 80.0 }),
    );
    let report = kit.executor.call(&turn, strong).await;
    refused(&kit, &report, Reason::Limit);
    assert!(kit.person.asked.lock().unwrap().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_was_true_when_the_person_was_asked_is_judged_anew_behind_their_word() {
    let (kit, turn) = kit([Says::YesAfterMs(2_000)]);
    let robot = kit.robot.clone();
    let disarm = async {
        sleep(Duration::from_millis(500)).await;
        robot.change(|posture| posture.run = crate::terms::RunState::Disarmed);
    };
    let (report, ()) = tokio::join!(kit.executor.call(&turn, open()), disarm);
    refused(&kit, &report, Reason::NotArmed);
}

#[tokio::test(start_paused = true)]
async fn a_stop_runs_at_once_while_a_call_waits_for_a_person() {
    let (kit, turn) = kit([Says::Nothing]);
    let stop = async {
        sleep(Duration::from_millis(100)).await;
        kit.executor
            .call(&turn, call("rover_stop", json!({})))
            .await
    };
    let (waiting, stop) = tokio::join!(kit.executor.call(&turn, open()), stop);
    assert!(matches!(stop.outcome, Outcome::StopAccepted { .. }));
    assert_eq!(stop.took, Duration::ZERO);
    refused(&kit, &waiting, Reason::Busy);
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_arming_and_the_next_one_to_arm_has_not_asked_for_it() {
    let (kit, turn) = kit([Says::YesAfterMs(2_000)]);
    let robot = kit.robot.clone();
    let change = async {
        sleep(Duration::from_millis(500)).await;
        robot.change(|posture| posture.run = crate::terms::RunState::Disarmed);
        sleep(Duration::from_millis(500)).await;
        robot.change(|posture| posture.run = crate::terms::RunState::Armed);
    };
    let (report, ()) = tokio::join!(kit.executor.call(&turn, open()), change);
    refused(&kit, &report, Reason::NotArmed);
}

/// Opens the gripper by so many millimetres.
fn open_mm(mm: u32) -> Call {
    let opening = f64::from(mm) / 1000.0;
    call(
        "rover_gripper_set",
        json!({ "opening": opening, "force": 10.0 }),
    )
}

fn reasons(reports: &[CallReport]) -> Vec<Reason> {
    let refusals = reports.iter().map(|report| report.outcome.refusal());
    refusals.map(|refusal| refusal.unwrap().reason).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reply_full_of_questions_asks_a_person_a_few_times_and_the_rest_is_refused() {
    let (kit, turn) = kit([Says::No; 10]);
    let calls = (10..20).map(open_mm).collect();
    let reports = kit.executor.batch(&turn, calls).await;
    let mut expected = vec![Reason::ApprovalDenied; 4];
    expected.extend([Reason::Rate; 6]);
    assert_eq!(reasons(&reports), expected);
    assert_eq!(kit.person.asked.lock().unwrap().len(), 4);
    assert_eq!(kit.notes.all(), Vec::<String>::new(), "nothing ran");
    let rate = |fact: &&Fact| {
        matches!(
            fact,
            Fact::Refused {
                reason: Reason::Rate,
                ..
            }
        )
    };
    assert_eq!(kit.facts().iter().filter(rate).count(), 6);
    let detail = &reports[9].outcome.refusal().unwrap().detail;
    assert!(detail.contains("at most 4 times a minute"), "{detail}");

    sleep(Duration::from_secs(60)).await;
    let later = kit.executor.call(&turn, open_mm(30)).await;
    assert_eq!(reasons(&[later]), [Reason::ApprovalDenied]);
    assert_eq!(kit.person.asked.lock().unwrap().len(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_goes_on_for_hours_asks_twelve_times_and_a_new_one_may_ask_again() {
    let (kit, turn) = kit([Says::No; 20]);
    for mm in 10..25 {
        kit.executor.call(&turn, open_mm(mm)).await;
        sleep(Duration::from_secs(60)).await;
    }
    assert_eq!(kit.person.asked.lock().unwrap().len(), 12);
    let report = kit.executor.call(&turn, open_mm(30)).await;
    let refusal = report.outcome.refusal().unwrap();
    assert_eq!(refusal.reason, Reason::ApprovalDenied);
    assert!(refusal.detail.contains("12 times"), "{refusal}");
    let next = kit.turn(Tier::FullActuation);
    kit.executor.call(&next, open_mm(30)).await;
    assert_eq!(kit.person.asked.lock().unwrap().len(), 13);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_got_no_yes_is_not_asked_about_again_in_its_turn() {
    for says in [Says::No, Says::Nothing] {
        let (kit, turn) = kit([says, Says::YesAfterMs(10)]);
        let reports = kit.executor.batch(&turn, vec![open(), open()]).await;
        assert_eq!(reasons(&reports), [Reason::ApprovalDenied; 2]);
        let detail = &reports[1].outcome.refusal().unwrap().detail;
        assert!(detail.contains("got no yes before"), "{detail}");
        assert_eq!(kit.person.asked.lock().unwrap().len(), 1);
        assert_eq!(kit.notes.all(), Vec::<String>::new());
        let refused = |fact: &&Fact| matches!(fact, Fact::Refused { .. });
        assert_eq!(kit.facts().iter().filter(refused).count(), 2);

        let next = kit.turn(Tier::FullActuation);
        assert!(is_done(&kit.executor.call(&next, open()).await));
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_chair_costs_no_question() {
    let (kit, turn) = kit([]);
    for mm in 10..30 {
        let report = kit.executor.call(&turn, open_mm(mm)).await;
        assert_eq!(reasons(&[report]), [Reason::ApprovalUnavailable]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_grant_names_who_permitted_it_and_how() {
    let (kit, turn) = kit([Says::YesAfterMs(10)]);
    assert!(is_done(&kit.executor.call(&turn, open()).await));
    let facts = kit.facts();
    let granted = facts.iter().find_map(|fact| {
        let Fact::Granted { approver, .. } = fact else {
            return None;
        };
        approver.clone()
    });
    let granted = granted.unwrap();
    assert_eq!((&*granted.who, &*granted.how), ("ann", "by a nod"));
}
