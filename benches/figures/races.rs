//! One million times a stop meets a motion: the order in which things leave.
//!
//! Three threads: one permits and submits a motion through the gate, the bridge and the tick; one is
//! the sending side; one asks for a stop at any moment of it. The clock is virtual, so only the order
//! of the machine's threads decides who wins. The robot file goes without its release verb, which
//! nobody would answer here.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use octos_edge::robot::{Bridge, Parts};
use octos_edge::safety::Order;
use octos_edge::terms::{
    Clock, Mono, Output, RobotPort, RunState, StopCause, StopKind, Wire, WireError,
};
use serde_json::json;

use crate::common::table::Row;
use crate::rover::{self, Gate};

const RACES: u64 = 1_000_000;
/// Either side begins up to so many pauses of the processor late.
const SPREAD: u32 = 300;
/// Rounds of anything that must come to an end.
const STEPS_MAX: u32 = 10_000_000;

#[derive(Debug)]
struct VirtualClock(AtomicU64);

impl Clock for VirtualClock {
    fn now(&self) -> Mono {
        Mono::from_ms(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

/// What the three threads share.
#[derive(Debug, Default)]
struct Race {
    /// The race that runs.
    number: AtomicU64,
    /// The race whose stop was asked for.
    stopped: AtomicU64,
    /// Whether asking for the stop of this race has returned.
    asked: AtomicBool,
    /// Whether a stop verb of this race left.
    verb_left: AtomicBool,
    done: AtomicBool,
    /// Motions that left.
    left: AtomicU64,
    /// Of those: after a stop verb.
    after_verb: AtomicU64,
    /// Of those: handed over while asking had already returned.
    after_asking: AtomicU64,
}

/// The dataflow: notes what leaves, and when.
#[derive(Debug)]
struct Witness<'a>(&'a Race);

impl Wire for Witness<'_> {
    fn send(&mut self, _: Output, payload: &str, _: Option<&str>) -> Result<(), WireError> {
        let asked = self.0.asked.load(Ordering::SeqCst);
        if rover::is_stop_verb(payload) {
            self.0.verb_left.store(true, Ordering::SeqCst);
        } else if payload.contains("set_velocity") {
            let after = self.0.verb_left.load(Ordering::SeqCst);
            self.0.left.fetch_add(1, Ordering::SeqCst);
            self.0
                .after_verb
                .fetch_add(u64::from(after), Ordering::SeqCst);
            self.0
                .after_asking
                .fetch_add(u64::from(asked), Ordering::SeqCst);
        }
        Ok(())
    }
}

pub(crate) fn rows() -> Vec<Row> {
    let tiers = rover::tiers();
    let robot = rover::robot(rover::RELEASE, &tiers);
    let clock = Arc::new(VirtualClock(AtomicU64::new(1_000)));
    let gate = Gate::of(&robot, &tiers, "rover_set_velocity");
    let parts = rover::parts(&robot, &tiers, clock.clone());
    let race = Race::default();
    let began = Instant::now();
    thread::scope(|scope| {
        let Parts {
            bridge,
            inbox,
            mut outbox,
            safety,
            orders,
            events,
            links,
            ..
        } = parts;
        let race = &race;
        let latch = links.latch.clone();
        scope.spawn(move || {
            while !race.done.load(Ordering::SeqCst) {
                outbox.step(&mut Witness(race));
                thread::yield_now();
            }
        });
        scope.spawn(move || ask_for_stops(race, &latch));
        let mut driver = Driver {
            race,
            clock: &clock,
            gate: &gate,
            bridge,
            inbox,
            safety,
            orders,
            events,
            links,
            random: fastrand::Rng::with_seed(7),
            seq: 0,
        };
        driver.begin();
        for number in 1..=RACES {
            driver.race(number);
        }
        race.done.store(true, Ordering::SeqCst);
    });
    vec![row(&race, began.elapsed())]
}

fn row(race: &Race, took: Duration) -> Row {
    let read = |count: &AtomicU64| count.load(Ordering::SeqCst);
    let (left, after) = (read(&race.left), read(&race.after_verb));
    Row {
        what: format!("{RACES} stops against motions, three threads"),
        figure: format!("{after} motions after a stop verb"),
        beside: format!(
            "{left} before it ({} of them in the moment the stop was asked), {} kept back, in {:.0} s",
            read(&race.after_asking),
            RACES - left,
            took.as_secs_f64()
        ),
        ratio: None,
        goal: "0".to_owned(),
        reached: Some(after == 0),
        cause: "a fault: report it".to_owned(),
    }
}

fn ask_for_stops(race: &Race, latch: &octos_edge::safety::Latch) {
    let mut random = fastrand::Rng::with_seed(11);
    let mut seen = 0;
    while !race.done.load(Ordering::SeqCst) {
        let number = race.number.load(Ordering::SeqCst);
        if number == seen {
            thread::yield_now();
            continue;
        }
        seen = number;
        pause(random.u32(0..SPREAD));
        latch.ask(StopKind::Stop, StopCause::OperatorStop);
        race.asked.store(true, Ordering::SeqCst);
        race.stopped.store(number, Ordering::SeqCst);
    }
}

fn pause(times: u32) {
    for _ in 0..times {
        hint::spin_loop();
    }
}

/// The thread that permits, submits and ticks.
struct Driver<'a> {
    race: &'a Race,
    clock: &'a VirtualClock,
    gate: &'a Gate,
    bridge: Arc<Bridge>,
    inbox: octos_edge::robot::Inbox,
    safety: octos_edge::safety::SafetyStep,
    orders: octos_edge::safety::OrderPort,
    events: octos_edge::robot::EventTap,
    links: octos_edge::safety::Links,
    random: fastrand::Rng,
    seq: u64,
}

impl Driver<'_> {
    fn begin(&mut self) {
        self.inbox.handle(rover::advert(), self.clock.now());
        self.until(|driver| driver.links.shared.run() == RunState::Disarmed);
    }

    fn race(&mut self, number: u64) {
        self.until_armed();
        let args = json!({ "linear": 0.1, "angular": 0.0 });
        let posture = self.bridge.posture();
        let (permit, params) = self.gate.permit(&args, number, &posture).unwrap();
        let race = self.race;
        race.asked.store(false, Ordering::SeqCst);
        race.verb_left.store(false, Ordering::SeqCst);
        race.number.store(number, Ordering::SeqCst);
        pause(self.random.u32(0..SPREAD));
        let bridge = Arc::clone(&self.bridge);
        let mut motion = Box::pin(async move { bridge.motion(permit, &params).await });
        let ended = motion
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        self.links.shared.spine().fetch_add(1, Ordering::SeqCst);
        self.tick();
        self.tick();
        self.until(|driver| driver.race.stopped.load(Ordering::SeqCst) == number);
        self.until(|driver| driver.race.verb_left.load(Ordering::SeqCst));
        drop((ended, motion));
    }

    fn until_armed(&mut self) {
        for _ in 0..STEPS_MAX {
            let stops = self.links.latch.word().stop || self.links.shared.standing().stop_active;
            match self.links.shared.run() {
                RunState::Armed if !stops => return,
                RunState::Disarmed if !stops => {
                    self.order(Order::Arm { for_ms: 86_400_000 });
                }
                RunState::Stopped => self.order(Order::Disarm),
                RunState::Latched => self.order(Order::Reset),
                RunState::Armed
                | RunState::Disarmed
                | RunState::Boot
                | RunState::Moving
                | RunState::Stopping
                | RunState::Fault => {}
            }
            self.live();
        }
        panic!("the robot did not become armed");
    }

    fn order(&self, order: Order) {
        assert!(self.orders.submit(order).is_some(), "orders wait in vain");
    }

    fn until(&mut self, reached: impl Fn(&Self) -> bool) {
        for _ in 0..STEPS_MAX {
            if reached(self) {
                return;
            }
            self.live();
        }
        panic!("a race did not come to its end");
    }

    /// One tick of a robot at rest that is heard, after which the sending side had its turn.
    fn live(&mut self) {
        self.seq += 1;
        let now = self.clock.now();
        self.inbox.handle(rover::at_rest(self.seq), now);
        self.tick();
        let sent = self.links.shared.outbox_progress();
        // The round under way may have passed the queue already: the next one has not.
        for _ in 0..STEPS_MAX {
            if self.links.shared.outbox_progress() >= sent + 2 {
                return;
            }
            thread::yield_now();
        }
        panic!("the sending side stands still");
    }

    fn tick(&mut self) {
        self.clock.0.fetch_add(10, Ordering::SeqCst);
        self.safety.step(self.clock.now());
        self.events.drain(|_| {});
    }
}
