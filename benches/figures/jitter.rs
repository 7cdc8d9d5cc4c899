//! How regular the safety tick is while one busy thread a core competes with it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use octos_edge::safety::run_safety;
use octos_edge::terms::{Clock, Mono};

use crate::common::busy::Busy;
use crate::common::sample::Dist;
use crate::common::table::Row;
use crate::rover::{self, RealClock};

/// How long, s.
const SECONDS: u64 = 20;
/// The period of the tick, ns; the board file of the simulation says so.
const PERIOD_NS: u64 = 10_000_000;

/// Keeps each moment at which the safety thread looked at the clock.
#[derive(Debug)]
struct Looks {
    clock: Arc<RealClock>,
    at: Mutex<Vec<Mono>>,
}

impl Clock for Looks {
    fn now(&self) -> Mono {
        let now = self.clock.now();
        self.at.lock().unwrap().push(now);
        now
    }

    fn wall(&self) -> SystemTime {
        self.clock.wall()
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let tiers = rover::tiers();
    let clock = RealClock::start();
    let parts = rover::parts(&rover::robot("", &tiers), &tiers, clock.clone());
    let looks = Looks {
        clock: clock.clone(),
        at: Mutex::new(Vec::with_capacity(100_000)),
    };
    let (ending, safety) = (AtomicBool::new(false), parts.safety);
    let mut events = parts.events;
    let bare = thread::scope(|scope| {
        let safety = scope.spawn(|| run_safety(safety, &looks, &ending));
        let sleeper = scope.spawn(|| sleep_on(&clock, &ending));
        let busy = Busy::one_per_core();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(SECONDS) {
            events.drain(|_| {});
            thread::park_timeout(Duration::from_millis(100));
        }
        drop(busy);
        ending.store(true, Ordering::SeqCst);
        safety.thread().unpark();
        sleeper.join().unwrap()
    });
    let looks = looks.at.into_inner().unwrap();
    // Each round looks twice: when it begins, and when it goes to sleep.
    let rounds: Vec<Mono> = looks.into_iter().step_by(2).collect();
    vec![row(&deviations(&rounds), &deviations(&bare))]
}

/// A thread that sleeps by the same grid and does nothing else.
fn sleep_on(clock: &RealClock, ending: &AtomicBool) -> Vec<Mono> {
    let mut rounds = Vec::with_capacity(100_000);
    let mut due = clock.now();
    while !ending.load(Ordering::SeqCst) {
        rounds.push(clock.now());
        due = Mono::from_ns(due.as_ns() + PERIOD_NS);
        thread::park_timeout(due.since(clock.now()));
    }
    rounds
}

/// How far each round's distance to the one before is from the period, ms.
fn deviations(rounds: &[Mono]) -> Dist {
    let pairs = rounds.iter().zip(rounds.iter().skip(1));
    let off = |(a, b): (&Mono, &Mono)| {
        let off = b.as_ns().saturating_sub(a.as_ns()).abs_diff(PERIOD_NS);
        Duration::from_nanos(off).as_secs_f64() * 1e3
    };
    Dist::of(pairs.map(off).collect())
}

fn row(ours: &Dist, bare: &Dist) -> Row {
    let text = |off: &Dist| {
        format!(
            "p50 {:.3}, p99 {:.3}, max {:.1} ms",
            off.p50(),
            off.p99(),
            off.max()
        )
    };
    Row {
        what: format!(
            "jitter of the 10 ms safety tick, a busy thread a core ({} ticks)",
            ours.count()
        ),
        figure: text(ours),
        beside: format!("a bare timed park {}", text(bare)),
        ratio: Some(ours.p99() / bare.p99()),
        goal: "-".to_owned(),
        ..Row::default()
    }
}
