//! The dataflow's timer that stands still.

use super::*;

impl Stage {
    /// How often the loss of the timer and its return were told.
    fn timer_told(&self) -> (usize, usize) {
        let facts = self.facts();
        let count = |wanted: fn(&Fact) -> bool| facts.iter().filter(|f| wanted(f)).count();
        (
            count(|f| matches!(f, Fact::GraphSilent { .. })),
            count(|f| matches!(f, Fact::GraphBack { .. })),
        )
    }

    fn lose_ticks(&mut self, for_ms: u32) {
        self.mock.suffer(&FaultAct::LostGraphTicks { for_ms });
    }
}

#[test]
fn case_38_three_missed_ticks_refuse_motion_until_ten_seconds_of_ticks_and_a_stop_still_works() {
    // Begins at 1 s and ticks at each further second.
    let mut stage = Stage::armed(7, FateRule::perfect());
    let until = |stage: &mut Stage, ms: u64| {
        while stage.clock.now() < Mono::from_ms(ms) {
            stage.step(Agent::Works);
        }
    };
    until(&mut stage, 3_010);
    stage.lose_ticks(4_000); // until 7010: 4, 5, 6 and 7 s are lost
    until(&mut stage, 6_000);
    assert!(
        stage.ask(GO, &to(0.5)).is_ok(),
        "two are missed, one is due"
    );
    assert_eq!(stage.timer_told(), (0, 0));

    until(&mut stage, 6_020);
    let sent = stage.reached();
    let refusal = stage.ask(GO, &to(0.5)).unwrap_err();
    assert_eq!(refusal.reason, Reason::Interlock, "{refusal}");
    assert!(refusal.detail.contains("stood still for 3 s"), "{refusal}");
    assert!(stage.arm().has(FailedChecks::GRAPH_TIMER));

    let (kind, cause) = (StopKind::Stop, StopCause::OperatorStop);
    stage.mock.bridge().stop(kind, cause, Some("ann"));
    stage.wait(300);
    assert_eq!(stage.stop_causes(), [cause]);
    assert!(stage.reached().contains(&VerbClass::Stop));
    assert!(!stage.reached()[sent.len()..].contains(&VerbClass::Motion));
    assert_eq!(stage.run(), RunState::Armed, "and nothing else ended it");

    // The first tick comes at 8 s.
    until(&mut stage, 17_990);
    assert!(stage.ask(GO, &to(0.5)).is_err(), "nine seconds of ticks");
    assert_eq!(stage.timer_told(), (1, 0));
    until(&mut stage, 18_020);
    assert!(stage.ask(GO, &to(0.5)).is_ok());
    assert_eq!(stage.timer_told(), (1, 1), "each is told once");
}

#[test]
fn case_38_a_move_under_way_ends_well_without_ticks() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut lost = false;
    let end = stage.drive(GO, to(1.5), |stage| {
        if !lost && stage.x() > 0.1 {
            lost = true;
            stage.lose_ticks(60_000);
        }
        Agent::Works
    });
    assert!(
        matches!(end, Some(Ok(MotionEnd::Arrived { .. }))),
        "{end:?}"
    );
    assert_eq!(stage.timer_told(), (1, 0));
    assert!(stage.stop_causes().is_empty());
    let refusal = stage.ask(GO, &to(0.5)).unwrap_err();
    assert_eq!(refusal.reason, Reason::Interlock);
}
