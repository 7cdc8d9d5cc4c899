//! A call above the ceiling: one of the count for each grant, for as long as the operator is there.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::kit::{Does, Kit, Says, call};
use crate::executor::Turn;
use crate::terms::{
    Call, CallReport, Elevated, ElevationEnd, ElevationId, ElevationPort, Fact, Mono, Outcome,
    Raised, Reason, Tier, ToolName,
};

/// So long that the rate of the gripper permits the next call.
const BETWEEN: Duration = Duration::from_secs(10);

#[derive(Debug, Default)]
struct Port {
    left: AtomicU32,
    ended: Mutex<Option<ElevationEnd>>,
    told: Mutex<Vec<String>>,
    given_back: AtomicU32,
}

impl ElevationPort for Port {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        if let Some(end) = *self.ended.lock().unwrap() {
            return Err(end);
        }
        let left = self.left.load(Ordering::SeqCst);
        let until = Mono::from_ms(600_000);
        let raised = Raised { id, until, left };
        (left > 0).then_some(raised).ok_or(ElevationEnd::UsedUp)
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let mut raised = self.look(id)?;
        self.left.fetch_sub(1, Ordering::SeqCst);
        raised.left -= 1;
        Ok(raised)
    }

    fn used(&self, raised: Raised, call: &str, tool: &str) {
        let line = format!("{}: {tool} {call}, {} left", raised.id, raised.left);
        self.told.lock().unwrap().push(line);
    }

    fn give_back(&self, _: ElevationId) {
        self.given_back.fetch_add(1, Ordering::SeqCst);
    }
}

fn open() -> Call {
    let args = json!({ "opening": 0.05, "force": 10.0 });
    call("rover_gripper_set", args)
}

/// The gripper, raised for so many calls under a ceiling of `safe_motion`.
fn kit(calls: u32, does: Does) -> (Kit, Arc<Port>) {
    let port = Arc::new(Port::default());
    port.left.store(calls, Ordering::SeqCst);
    let elevated = Elevated {
        id: ElevationId::new(3).unwrap(),
        tier: Tier::FullActuation,
        tools: vec![ToolName::parse("rover_gripper_set").unwrap()],
    };
    let kit = Kit::new()
        .rover("rover_gripper_set", does)
        .raised(elevated, port.clone());
    (kit, port)
}

fn answers() -> Does {
    Does::Answer("opened".to_owned())
}

fn end(port: &Port, cause: ElevationEnd) {
    *port.ended.lock().unwrap() = Some(cause);
}

/// Asserts that the call was refused by the tier, that no tool ran, and that it was counted once.
fn refused(kit: &Kit, report: &CallReport) {
    let refusal = report.outcome.refusal().expect("a refusal");
    assert_eq!(refusal.reason, Reason::RobotTierGate, "{refusal:?}");
    assert!(!kit.notes.all().iter().any(|note| note.contains("begins")));
    let facts = kit.facts();
    let count = |is: fn(&Fact) -> bool| facts.iter().filter(|fact| is(fact)).count();
    let gate = Reason::RobotTierGate;
    let told = facts
        .iter()
        .filter(|f| matches!(f, Fact::Refused { reason, .. } if *reason == gate));
    assert_eq!(told.count(), 1);
    assert_eq!(count(|f| matches!(f, Fact::Granted { .. })), 0);
    assert_eq!(count(|f| matches!(f, Fact::ElevationUsed { .. })), 0);
}

#[tokio::test(start_paused = true)]
async fn each_grant_takes_one_and_gives_it_back_when_the_call_has_ended() {
    let (kit, port) = kit(1, answers());
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, open()).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
    assert_eq!(
        *port.told.lock().unwrap(),
        ["3: rover_gripper_set rover_gripper_set, 0 left"]
    );
    assert_eq!(port.given_back.load(Ordering::SeqCst), 1);
    assert_eq!(
        kit.fact_kinds(),
        [
            "elevation_used rover_gripper_set",
            "granted rover_gripper_set",
            "finished rover_gripper_set done"
        ]
    );
    sleep(BETWEEN).await;
    let more = kit.executor.call(&turn, open()).await;
    let refusal = more.outcome.refusal().unwrap();
    assert_eq!(refusal.reason, Reason::RobotTierGate);
    assert_eq!(refusal.effective, Tier::FullActuation, "of this tool");
    assert!(refusal.detail.contains("used up"), "{refusal}");
    assert_eq!(port.told.lock().unwrap().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_elevation_that_ended_after_the_view_was_pinned_permits_nothing() {
    let (kit, port) = kit(3, answers());
    let turn = kit.turn(Tier::SafeMotion);
    assert!(
        turn.view
            .specs()
            .iter()
            .any(|s| s.name.as_str() == "rover_gripper_set")
    );
    end(&port, ElevationEnd::OperatorLost);
    let report = kit.executor.call(&turn, open()).await;
    refused(&kit, &report);
    assert_eq!(port.left.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_gives_back_what_it_took() {
    let (kit, port) = kit(3, Does::SleepMs(60_000));
    let turn = kit.turn(Tier::SafeMotion);
    let running = kit.executor.call(&turn, open());
    let ended = tokio::time::timeout(Duration::from_secs(1), running).await;
    assert!(ended.is_err(), "it runs");
    assert_eq!(port.given_back.load(Ordering::SeqCst), 1);
    assert_eq!(port.left.load(Ordering::SeqCst), 2, "a call is a call");
}

#[tokio::test(start_paused = true)]
async fn a_person_is_still_asked_and_not_for_an_elevation_that_is_over() {
    let (kit, port) = kit(1, answers());
    let kit = kit.answered([Says::YesAfterMs(5_000)]);
    let turn = kit.turn(Tier::SafeMotion);
    let report = kit.executor.call(&turn, open()).await;
    assert!(matches!(report.outcome, Outcome::Done { .. }), "{report:?}");
    assert_eq!(kit.person.asked.lock().unwrap().len(), 1);
    assert_eq!(
        port.told.lock().unwrap().len(),
        1,
        "looking ahead takes nothing"
    );
    sleep(BETWEEN).await;
    let more = kit.executor.call(&turn, open()).await;
    let reason = more.outcome.refusal().unwrap().reason;
    assert_eq!(reason, Reason::RobotTierGate);
    assert_eq!(kit.person.asked.lock().unwrap().len(), 1, "in vain");
}

#[tokio::test(start_paused = true)]
async fn a_question_falls_when_its_elevation_does() {
    let (kit, port) = kit(1, answers());
    let kit = kit.answered([Says::YesAfterMs(5_000)]);
    let turn: Turn = kit.turn(Tier::SafeMotion);
    let ends = async {
        sleep(Duration::from_secs(1)).await;
        end(&port, ElevationEnd::OperatorLost);
    };
    let (report, ()) = tokio::join!(kit.executor.call(&turn, open()), ends);
    refused(&kit, &report);
    assert!(report.took < Duration::from_secs(2), "{:?}", report.took);
}
