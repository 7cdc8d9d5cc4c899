//! The world around one step: put in before it, taken out after it. The step itself is the real one.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::safety::sequence::StopRun;
use crate::safety::{
    AnswerClass, Boot, CallEnd, CallNote, Core, FailedChecks, Latch, LatchWord, Links, Observed,
    Opening, Order, SafetyOut, SafetyPlan, SafetyPorts, SafetyStep, Seen, Shared, Signs, StepPlan,
    StopSent, VerbAnswer,
};
use crate::terms::{
    ActuationCmd, CommandKind, ElevationEnd, ElevationId, LeaseTerms, Mono, Params, SafetyEvent,
    StopCause, StopKind, Tier,
};

/// One unit of time, ms: a tick. Long on purpose: the fixed times of the stop sequence are then two
/// ticks, and everything that a time can decide happens within a few.
pub(super) const UNIT_MS: u64 = 5_000;
const FREEZE_MS: u64 = 6 * UNIT_MS;
const ARM_MS: u32 = 15_000;
const DEADMAN_MS: u32 = 15_000;

/// What may happen next. Each is followed by a round of the step, as when the latch wakes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// A tick passes: the robot may say a state, the call and the spine may go on, and the sending
    /// thread as well.
    Tick {
        says: Option<Signs>,
        lives: bool,
        sends: bool,
    },
    /// The process stood still.
    Freeze,
    /// Somebody asks for a stop.
    Ask(StopKind, StopCause),
    /// An operator gives an order.
    Order(Order),
    /// A call begins with this command.
    Go(CommandKind),
    /// A command of a call that was admitted before the latest stop.
    GoLate(CommandKind),
    /// A stop is asked for while the first command of a call waits in the queue.
    GoThenAsk(CommandKind, StopKind, StopCause),
    /// The call that lives says one more command.
    Again(CommandKind),
    /// A call begins that an Elevation permits.
    GoRaised(CommandKind),
    /// The operator who gave the latest Elevation is gone.
    Lower,
    /// The call ends.
    End(CallEnd),
    /// The robot answers the latest stop verb.
    Answer(AnswerClass),
    /// The robot answers the latest release.
    Released(bool),
    /// The robot's node is gone.
    PeerLost,
    /// The robot's node is gone and there again, all between two rounds.
    Restart,
    /// The robot advertises itself.
    Greet,
}

/// One state of the walk: the state machine and all that it looks at.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) core: Core,
    pub(super) word: LatchWord,
    pub(super) seen: Seen,
    pub(super) now: Mono,
    pub(super) call: u64,
    pub(super) note: CallNote,
    spine: u64,
    rounds: u64,
    sent: Option<StopSent>,
    /// The latest Elevation: its number, and its slot as it was.
    pub(super) raised: Option<ElevationId>,
    slot: (u64, u64),
    /// The latest stop verb and the latest release that left.
    pub(super) verb: Option<(u32, u8, bool)>,
    pub(super) release: Option<u32>,
    /// Until when an operator's order armed the robot: kept apart from what the step says.
    pub(super) armed_until: Option<Mono>,
}

/// What came of a round.
#[derive(Debug, Default)]
pub(super) struct Came {
    pub(super) frames: Vec<SafetyOut>,
    pub(super) events: Vec<SafetyEvent>,
    pub(super) order: Option<(Order, FailedChecks)>,
}

/// The real step with its real queues and atomics.
pub(super) struct Rig {
    step: SafetyStep,
    ports: SafetyPorts,
    pub(super) links: Links,
    /// The number of the latest order.
    given: u32,
}

pub(super) fn plan(boot: Boot) -> SafetyPlan {
    let unit_ms = 5_000;
    let step = StepPlan {
        wait_ms: unit_ms,
        retry_empty: true,
    };
    SafetyPlan {
        tick_ms: unit_ms,
        jitter_ms: 1_000,
        lockup_ms: unit_ms,
        steps: [step, step].into_iter().collect(),
        within_ms: 2 * unit_ms,
        has_release: true,
        idle_disarm_s: 10,
        waive_deadman: false,
        stale_after_ms: unit_ms,
        boot,
    }
}

impl World {
    /// Whether `deed` can change anything here: words of the robot that nobody waits for cannot.
    pub(super) fn can(&self, deed: Deed) -> bool {
        let serial = self.core.stop().map(StopRun::serial);
        let leased = self.core.lease_call() == self.call && self.call != 0;
        match deed {
            Deed::Answer(_) => self.verb.is_some_and(|(of, ..)| Some(of) == serial),
            Deed::Released(_) => serial.is_some() && self.release == serial,
            Deed::Greet => self.seen.deadman_ms.is_none(),
            Deed::End(_) | Deed::Again(_) => leased,
            Deed::Lower => self.raised.is_some(),
            // Nobody raises a tier under a stop: its desk looks at the word first.
            Deed::GoRaised(_) => !self.word.stop || self.word.cause == Some(StopCause::Deadline),
            Deed::Tick { .. }
            | Deed::Freeze
            | Deed::Ask(..)
            | Deed::Order(_)
            | Deed::Go(_)
            | Deed::GoLate(_)
            | Deed::GoThenAsk(..)
            | Deed::PeerLost
            | Deed::Restart => true,
        }
    }

    /// A process that begins like this; nothing was heard yet.
    pub(super) fn of(boot: Boot) -> Self {
        Self {
            core: Core::new(plan(boot), 0),
            word: Latch::new(0, boot.latched).word(),
            seen: Observed::default().seen(),
            now: Mono::from_ms(100_000),
            call: 0,
            note: GONE,
            spine: 0,
            rounds: 0,
            sent: None,
            raised: None,
            slot: (0, 0),
            verb: None,
            release: None,
            armed_until: None,
        }
    }
}

const GONE: CallNote = CallNote {
    polls: 0,
    end: CallEnd::Dropped,
};

impl Rig {
    pub(super) fn new() -> Self {
        let links = Links {
            latch: Latch::new(0, None),
            observed: Arc::new(Observed::default()),
            shared: Arc::new(Shared::new(Arc::new(AtomicU64::new(0)))),
        };
        let (step, ports) = SafetyStep::new(plan(Boot::default()), links.clone());
        Self {
            step,
            ports,
            links,
            given: 0,
        }
    }

    /// Does `deed` in `world`, which is changed to what it is afterwards.
    pub(super) fn after(&mut self, world: &mut World, deed: Deed) -> Came {
        self.put_in(world);
        let mut came = Came::default();
        self.do_it(world, deed, &mut came);
        self.step.step(world.now);
        if let Some((_, failed)) = &mut came.order {
            *failed = self.ports.orders.result(self.given).unwrap();
        }
        self.take_out(world, &mut came);
        came
    }

    fn put_in(&mut self, world: &World) {
        *self.step.core_mut() = world.core.clone();
        self.links.latch.restore(world.word);
        self.links.observed.restore(&world.seen);
        let shared = &self.links.shared;
        shared.spine().store(world.spine, Ordering::SeqCst);
        shared.restore_sender(world.rounds, world.sent);
        shared.calls.restore(world.call, world.note);
        // What a stop ends was ended in the round of that stop.
        let falls = self.links.latch.falls();
        shared.elevations.restore(world.slot, falls);
    }

    fn do_it(&mut self, world: &mut World, deed: Deed, came: &mut Came) {
        let links = self.links.clone();
        let (observed, shared) = (&links.observed, &links.shared);
        match deed {
            Deed::Tick { says, lives, sends } => {
                world.now = world.now.plus_ms(UNIT_MS);
                if let Some(signs) = says {
                    observed.note_state(world.now, signs);
                    observed.note_peer_up();
                }
                if lives {
                    shared.calls.polled(world.call);
                    world.spine += 1;
                    shared.spine().store(world.spine, Ordering::SeqCst);
                }
                if sends {
                    shared.outbox_progressed();
                }
            }
            Deed::Freeze => world.now = world.now.plus_ms(FREEZE_MS),
            Deed::Ask(kind, cause) => {
                links.latch.ask(kind, cause);
            }
            Deed::Order(order) => {
                came.order = Some((order, FailedChecks::NONE));
                self.given = self.ports.orders.submit(order).unwrap();
            }
            Deed::Go(kind) => {
                world.raised = None;
                self.go(world, kind, world.word.epoch);
            }
            Deed::GoRaised(kind) => self.go_raised(world, kind),
            Deed::Lower => self.lower(world),
            Deed::GoLate(kind) => self.go(world, kind, world.word.epoch.wrapping_sub(1)),
            Deed::GoThenAsk(kind, stop, cause) => {
                self.go(world, kind, world.word.epoch);
                links.latch.ask(stop, cause);
            }
            Deed::Again(kind) => self.say(world, kind, world.word.epoch),
            Deed::End(CallEnd::Dropped) => shared.calls.close(world.call),
            Deed::End(end) => shared.calls.end(world.call, end),
            Deed::Answer(class) => {
                if let Some((serial, step, empty)) = world.verb {
                    observed.note_answer(VerbAnswer {
                        serial,
                        step,
                        empty,
                        class,
                    });
                }
            }
            Deed::Released(ok) => {
                if let Some(serial) = world.release {
                    observed.note_release(serial, ok);
                }
            }
            Deed::PeerLost => observed.note_peer_lost(),
            Deed::Restart => {
                observed.note_peer_lost();
                observed.note_peer_up();
                observed.note_advert(DEADMAN_MS);
            }
            Deed::Greet => {
                observed.note_peer_up();
                observed.note_advert(DEADMAN_MS);
            }
        }
    }

    /// Raises the tier anew and begins a call under it.
    fn go_raised(&mut self, world: &mut World, kind: CommandKind) {
        let elevations = &self.links.shared.elevations;
        elevations.restore((0, 0), 0);
        let opening = Opening {
            tier: Tier::FullActuation,
            calls: 1,
            until: Mono::from_ns(u64::MAX),
            falls: self.links.latch.falls(),
        };
        world.raised = elevations.open(opening);
        let at = (world.now, opening.falls);
        let taken = world.raised.map(|id| elevations.take(id, at));
        assert!(matches!(taken, Some(Ok(_))), "{taken:?}");
        self.go(world, kind, world.word.epoch);
    }

    fn lower(&self, world: &World) {
        if let Some(id) = world.raised {
            let lost = ElevationEnd::OperatorLost;
            self.links.shared.elevations.end(id, lost);
        }
    }

    fn go(&mut self, world: &mut World, kind: CommandKind, epoch: u32) {
        self.links.shared.calls.close(world.call);
        world.call += 1;
        assert!(self.links.shared.calls.open(world.call));
        self.say(world, kind, epoch);
    }

    fn say(&mut self, world: &World, kind: CommandKind, epoch: u32) {
        let unit_ms = 5_000;
        let cmd = ActuationCmd {
            id: [7; 16],
            tool: 0,
            kind,
            epoch,
            deadline: world.now.plus_ms(3 * UNIT_MS),
            lease: LeaseTerms {
                call: world.call,
                renew_ms: unit_ms,
                lost_after_ms: 2 * unit_ms,
                hard_max_ms: 3 * unit_ms,
                hold_ms: if kind == CommandKind::Hold {
                    unit_ms
                } else {
                    0
                },
                elevation: world.raised,
            },
            params: Params::new(),
        };
        self.ports.commands.push(cmd).unwrap();
    }

    fn take_out(&mut self, world: &mut World, came: &mut Came) {
        let links = self.links.clone();
        while let Some(out) = self.ports.outs.pop() {
            match &out {
                SafetyOut::StopVerb {
                    serial,
                    step,
                    empty,
                    ..
                } => {
                    let states = links.observed.states();
                    links.shared.note_stop_sent(*serial, states);
                    world.verb = Some((*serial, *step, *empty));
                }
                SafetyOut::Release { serial, .. } => world.release = Some(*serial),
                SafetyOut::Heartbeat { .. } | SafetyOut::Command { .. } => {}
            }
            came.frames.push(out);
        }
        while let Some(event) = self.ports.events.pop() {
            came.events.push(event);
        }
        world.core = self.step.core_mut().clone();
        world.word = links.latch.word();
        world.seen = links.observed.seen();
        world.note = links.shared.calls.note(world.call);
        world.slot = links.shared.elevations.kept();
        let input = self.step.looks_at(world.now);
        world.rounds = input.outbox;
        world.sent = input.stop_sent;
    }

    /// The number under which worlds that can go on in the same ways are one.
    pub(super) fn shape(&mut self, world: &World) -> u64 {
        let mut words = Vec::with_capacity(64);
        let (now, seen, word) = (world.now, &world.seen, world.word);
        let input = self.step.looks_at(now);
        world.core.shape(&input, &mut words);
        let fresh_for = UNIT_MS + 1;
        // A call without the lease is no longer looked at: its next command is as good as a new call's.
        let leased = world.core.lease_call() == world.call;
        words.extend([
            u64::from(word.stop) + 2 * u64::from(word.estop) + 4 * u64::from(word.ending),
            if word.stop || word.estop {
                word.cause.map_or(0, |cause| u64::from(cause.as_u8()))
            } else {
                0
            },
            now.ms_since(seen.at).min(fresh_for),
            u64::from(seen.still_run.min(2)),
            u64::from(seen.peer_up),
            u64::from(seen.deadman_ms.is_some()),
            if leased { 1 + world.note.end as u64 } else { 0 },
            world.armed_until.map_or(0, |until| 1 + until.ms_since(now)),
            u64::from(
                world
                    .raised
                    .is_some_and(|id| self.links.shared.elevations.lives(id)),
            ),
        ]);
        let signs = SIGNS.iter().map(|sign| u64::from(seen.signs.has(*sign)));
        words.extend(signs);
        // Words of the robot about an earlier stop change nothing any more.
        let serial = world.core.stop().map(StopRun::serial);
        let verb = world.verb.filter(|(of, ..)| Some(*of) == serial);
        words.push(verb.map_or(0, |(_, step, empty)| {
            1 + 2 * u64::from(step) + u64::from(empty)
        }));
        words.push(u64::from(serial.is_some() && world.release == serial));
        let mut hasher = DefaultHasher::new();
        words.hash(&mut hasher);
        hasher.finish()
    }
}

/// Every sign that a state can have.
const SIGNS: [Signs; 7] = [
    Signs::STILL,
    Signs::OVERSPEED,
    Signs::OUTSIDE,
    Signs::BLIND,
    Signs::VENDOR_ESTOP,
    Signs::FOREIGN,
    Signs::OURS,
];

/// An arming for three ticks.
pub(super) const ARM: Order = Order::Arm { for_ms: ARM_MS };
