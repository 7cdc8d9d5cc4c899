//! From the moment a stop is asked for to the moment its verb is handed to the dataflow, with the
//! real safety thread and the real sending thread, while one busy thread a core competes with them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use octos_edge::robot::{EventTap, Inbox};
use octos_edge::safety::{Links, Order, OrderPort, run_safety};
use octos_edge::terms::{Clock, Output, RunState, StopCause, StopKind, Wire, WireError};

use crate::common::busy::Busy;
use crate::common::sample::Dist;
use crate::common::table::Row;
use crate::rover::{self, RealClock};

const STOPS: u32 = 1_000;
/// The goal, ms p99.
const GOAL_MS: f64 = 5.0;
/// The rover says where it is so often, ms.
const STATE_MS: u64 = 5;
/// One tick of the safety thread, µs: requests come at any moment of it.
const TICK_US: u64 = 10_000;
/// Longest wait for anything, in steps of [`STATE_MS`]: 10 s.
const STEPS_MAX: u32 = 2_000;

/// The moment at which something happened, and who waits for it.
#[derive(Debug)]
struct Mark {
    clock: Arc<RealClock>,
    wanted: AtomicBool,
    at_ns: AtomicU64,
    waiting: Thread,
}

impl Mark {
    fn new(clock: &Arc<RealClock>) -> Arc<Self> {
        Arc::new(Self {
            clock: Arc::clone(clock),
            wanted: AtomicBool::new(false),
            at_ns: AtomicU64::new(0),
            waiting: thread::current(),
        })
    }

    /// Notes the time, when it is wanted.
    fn note(&self) {
        let at = self.clock.now().as_ns();
        if self.wanted.swap(false, Ordering::SeqCst) {
            self.at_ns.store(at, Ordering::SeqCst);
            self.waiting.unpark();
        }
    }

    /// Does `ask` and returns the time until it was noted, ms.
    fn time(&self, ask: impl FnOnce()) -> f64 {
        self.at_ns.store(0, Ordering::SeqCst);
        self.wanted.store(true, Ordering::SeqCst);
        let asked = self.clock.now().as_ns();
        ask();
        for _ in 0..STEPS_MAX {
            let at = self.at_ns.load(Ordering::SeqCst);
            if at != 0 {
                return Duration::from_nanos(at.saturating_sub(asked)).as_secs_f64() * 1e3;
            }
            thread::park_timeout(Duration::from_millis(STATE_MS));
        }
        f64::INFINITY
    }
}

/// A dataflow that takes everything and notes when a stop verb came.
#[derive(Debug)]
struct Taking(Arc<Mark>);

impl Wire for Taking {
    fn send(&mut self, _: Output, payload: &str, _: Option<&str>) -> Result<(), WireError> {
        if rover::is_stop_verb(payload) {
            self.0.note();
        }
        Ok(())
    }
}

/// The robot's side, and what else a node does beside its threads.
struct Robot {
    clock: Arc<RealClock>,
    links: Links,
    orders: OrderPort,
    inbox: Inbox,
    events: EventTap,
    seq: u64,
}

impl Robot {
    fn say_state(&mut self) {
        self.seq += 1;
        let now = self.clock.now();
        self.inbox.handle(rover::at_rest(self.seq), now);
        self.events.drain(|_| {});
    }

    /// Waits until the robot is in this state and no stop is under way.
    fn until(&mut self, run: RunState) {
        for _ in 0..STEPS_MAX {
            self.say_state();
            thread::park_timeout(Duration::from_millis(STATE_MS));
            let standing = self.links.shared.standing();
            let stops = standing.stop_active || self.links.latch.word().stop;
            if standing.run == run && !stops {
                return;
            }
        }
        panic!("the robot did not become {run}");
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let tiers = rover::tiers();
    let clock = RealClock::start();
    let parts = rover::parts(&rover::robot("", &tiers), &tiers, clock.clone());
    let (verb, woken) = (Mark::new(&clock), Mark::new(&clock));
    let ending = AtomicBool::new(false);
    let latch = parts.links.latch.clone();
    let mut robot = Robot {
        clock: clock.clone(),
        links: parts.links,
        orders: parts.orders,
        inbox: parts.inbox,
        events: parts.events,
        seq: 0,
    };
    let (safety, outbox) = (parts.safety, parts.outbox);
    let (stops, bare) = thread::scope(|scope| {
        let safety = scope.spawn(|| run_safety(safety, &*clock, &ending));
        let outbox = scope.spawn(|| outbox.run(&mut Taking(Arc::clone(&verb)), &ending));
        let sleeper = scope.spawn(|| {
            while !ending.load(Ordering::SeqCst) {
                thread::park();
                woken.note();
            }
        });
        robot.inbox.handle(rover::advert(), clock.now());
        robot.until(RunState::Disarmed);
        assert!(
            robot
                .orders
                .submit(Order::Arm { for_ms: 3_600_000 })
                .is_some(),
            "nothing waits yet"
        );
        robot.until(RunState::Armed);
        let busy = Busy::one_per_core();
        let (mut stops, mut bare) = (Vec::new(), Vec::new());
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..STOPS {
            robot.until(RunState::Armed);
            thread::park_timeout(Duration::from_micros(random.u64(0..TICK_US)));
            stops.push(verb.time(|| {
                latch.ask(StopKind::Stop, StopCause::OperatorStop);
            }));
            bare.push(woken.time(|| sleeper.thread().unpark()));
        }
        drop(busy);
        ending.store(true, Ordering::SeqCst);
        for thread in [safety.thread(), outbox.thread(), sleeper.thread()] {
            thread.unpark();
        }
        (Dist::of(stops), Dist::of(bare))
    });
    vec![row(&stops, &bare)]
}

fn row(stops: &Dist, bare: &Dist) -> Row {
    let text = |times: &Dist| {
        format!(
            "p50 {:.3}, p99 {:.3}, max {:.1} ms",
            times.p50(),
            times.p99(),
            times.max()
        )
    };
    Row {
        what: format!(
            "stop asked to verb handed over, a busy thread a core ({} stops)",
            stops.count()
        ),
        figure: text(stops),
        beside: format!("a bare wake-up {}", text(bare)),
        ratio: Some(stops.p99() / bare.p99()),
        goal: format!("{GOAL_MS:.0} ms p99"),
        reached: Some(stops.p99() <= GOAL_MS),
        cause: "two wake-ups; what the scheduler takes for one it takes for both".to_owned(),
    }
}
