//! The timer of the dataflow: what its loss forbids, and what it leaves alone.

use std::time::Duration;

use super::bench::{Bench, Left};
use crate::safety::{FailedChecks, Order};
use crate::terms::{CommandKind, RunState, SafetyEventKind};

const ARM: Order = Order::Arm { for_ms: 60_000 };

fn watched(bench: &Bench) {
    let every = Duration::from_secs(1);
    bench.links.observed.watch_graph(every, bench.now);
}

fn told(bench: &Bench) -> (usize, usize) {
    let count = |wanted: fn(&SafetyEventKind) -> bool| {
        let events = bench.events.iter().filter(|event| wanted(&event.kind));
        events.count()
    };
    (
        count(|kind| matches!(kind, SafetyEventKind::GraphSilent { .. })),
        count(|kind| matches!(kind, SafetyEventKind::GraphBack { .. })),
    )
}

#[test]
fn case_38_a_silent_timer_refuses_arming_and_a_steady_one_arms_nobody() {
    let mut bench = Bench::ready();
    watched(&bench);
    bench.run_ms(3_020);
    assert_eq!(bench.order(ARM), FailedChecks::GRAPH_TIMER);
    for _ in 0..=10 {
        let now = bench.now;
        bench.links.observed.note_graph_tick(now);
        assert_eq!(bench.run(), RunState::Disarmed);
        bench.run_ms(1_000);
    }
    assert_eq!(told(&bench), (1, 1));
    assert_eq!(bench.run(), RunState::Disarmed, "it arms nobody");
    assert!(bench.left.is_empty(), "and sends nothing: {:?}", bench.left);
    assert_eq!(bench.order(ARM), FailedChecks::NONE);
}

#[test]
fn case_38_a_silent_timer_ends_neither_a_motion_nor_the_arming() {
    let mut bench = Bench::moving();
    watched(&bench);
    bench.run_ms(5_000);
    assert_eq!((bench.run(), told(&bench)), (RunState::Moving, (1, 0)));
    bench.robot.moving = false;
    bench.run_ms(60);
    bench.end_call(crate::safety::CallEnd::Arrived);
    bench.run_ms(100);
    assert_eq!(bench.run(), RunState::Armed);
    assert!(bench.verbs().is_empty());
}

#[test]
fn case_38_without_a_timer_nothing_is_missed() {
    let mut bench = Bench::ready();
    bench.run_ms(60_000);
    assert_eq!(told(&bench), (0, 0));
    assert_eq!(bench.order(ARM), FailedChecks::NONE);
    bench.go(CommandKind::Move);
    bench.tick();
    assert_eq!(bench.count(Left::Beat), 1);
}
