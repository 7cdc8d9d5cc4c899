//! Stops against commands, with real threads: order only, no times.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::SystemTime;

use super::bench::Bench;
use crate::safety::{Latch, Supervisor, run_safety};
use crate::terms::{Clock, Mono, RunState, SafetyEventKind, StopCause, StopKind};

#[test]
fn every_request_of_many_threads_gets_an_epoch_of_its_own() {
    const EACH: u32 = 5_000;
    let latch = Latch::new(0, None);
    let sum = Arc::new(AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            let (latch, sum) = (latch.clone(), sum.clone());
            scope.spawn(move || {
                let mut last = 0;
                for _ in 0..EACH {
                    let epoch = latch.ask(StopKind::Stop, StopCause::ModelStop);
                    assert!(epoch > last, "epochs only rise");
                    last = epoch;
                    sum.fetch_add(u64::from(epoch), Ordering::SeqCst);
                }
            });
        }
    });
    let total = u64::from(4 * EACH);
    assert_eq!(latch.word().epoch, 4 * EACH);
    assert_eq!(
        sum.load(Ordering::SeqCst),
        total * (total + 1) / 2,
        "none twice"
    );
}

#[test]
fn a_stop_that_is_being_cleared_is_never_lost() {
    const ROUNDS: u32 = 20_000;
    let latch = Latch::new(0, None);
    let asked = AtomicU32::new(0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let word = latch.word();
                // What a clearing thread has seen of the requests before it clears.
                if word.stop && latch.clear_stop(word.epoch) {
                    let newest = latch.word();
                    assert!(newest.epoch >= word.epoch);
                    assert!(newest.epoch == word.epoch || newest.stop || newest.epoch > word.epoch);
                }
            }
        });
        for _ in 0..ROUNDS {
            let epoch = latch.ask(StopKind::Stop, StopCause::ModelStop);
            asked.store(epoch, Ordering::SeqCst);
            let word = latch.word();
            // Either it still stands, or it was cleared by one who had seen this very epoch.
            assert_eq!(word.epoch, epoch);
        }
        done.store(true, Ordering::SeqCst);
    });
    let word = latch.word();
    assert_eq!(word.epoch, ROUNDS);
}

#[test]
fn an_estop_of_the_last_moment_is_carried_out_and_recorded() {
    let mut bench = Bench::moving();
    bench
        .links
        .latch
        .ask(StopKind::Estop, StopCause::OperatorStop);
    let clock = StillClock(bench.now);
    run_safety(bench.step, &clock, &AtomicBool::new(true));
    assert_eq!(bench.links.shared.run(), RunState::Latched);
    let mut events = std::iter::from_fn(|| bench.ports.events.pop());
    assert!(events.any(|event| matches!(
        event.kind,
        SafetyEventKind::StopBegun {
            cause: StopCause::OperatorStop,
            estop: true,
            ..
        }
    )));
}

#[derive(Debug)]
struct StillClock(Mono);

impl Clock for StillClock {
    fn now(&self) -> Mono {
        self.0
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[test]
fn a_supervisor_counts_looks_and_not_time() {
    let shared = Arc::new(crate::safety::Shared::new(Arc::new(AtomicU64::new(0))));
    let mut supervisor = Supervisor::new(shared.clone());
    for _ in 0..7 {
        assert!(!supervisor.look());
    }
    shared.safety_progressed();
    for _ in 0..8 {
        assert!(!supervisor.look());
    }
    assert!(supervisor.look());
}
