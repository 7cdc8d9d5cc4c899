//! The parts of a node under a virtual clock: one call does what its threads would do.
//!
//! The parts are those of a real robot: the same safety step, last check, codec and receiver. Their
//! order is fixed, so that a run depends on what is heard alone. Who is at the other end of the wire,
//! a simulated robot or a recorded session, is not known here.

use std::sync::Arc;

use super::clock::VirtualClock;
use crate::robot::{Bridge, EventTap, Heard, Inbox, Names, Outbox, Parts, Pulse, fact_of};
use crate::safety::{Links, OrderPort, SafetyStep};
use crate::terms::{Clock, FactSink, Mono, Wire, WireEvent};

/// Longest step, ms: the period of the tick on a usual board.
const STEP_MS_MAX: u64 = 10;
/// How often waiting calls are woken, ms: as often as at least on a robot.
const PULSE_MS: u64 = 20;
/// Words of the inbox to the process that are kept for whoever asks.
const HEARD_MAX: usize = 64;

/// How a run goes on.
#[derive(Debug, Clone)]
pub struct Rhythm {
    /// The clock; the parts were assembled with it.
    pub clock: VirtualClock,
    /// Length of a step, ms, 1 to 10.
    pub step_ms: u64,
    /// Where the facts of the safety path go; the parts were assembled with it.
    pub sink: Arc<dyn FactSink>,
}

/// The parts, driven by whoever owns them.
#[derive(Debug)]
pub struct Body {
    bridge: Arc<Bridge>,
    orders: OrderPort,
    links: Links,
    inbox: Inbox,
    outbox: Outbox,
    safety: SafetyStep,
    events: EventTap,
    names: Names,
    pulse: Pulse,
    rhythm: Rhythm,
    heard: Vec<Heard>,
    pulse_at: Mono,
}

impl Body {
    /// Takes assembled parts. Nothing has happened yet.
    pub fn new(parts: Parts, rhythm: Rhythm) -> Self {
        Self {
            bridge: parts.bridge,
            orders: parts.orders,
            links: parts.links,
            inbox: parts.inbox,
            outbox: parts.outbox,
            safety: parts.safety,
            events: parts.events,
            names: parts.names,
            pulse: parts.pulse,
            rhythm: Rhythm {
                step_ms: rhythm.step_ms.clamp(1, STEP_MS_MAX),
                ..rhythm
            },
            heard: Vec::new(),
            pulse_at: Mono::ZERO,
        }
    }

    /// Returns the time.
    pub fn now(&self) -> Mono {
        self.rhythm.clock.now()
    }

    /// Lets time pass by one step, but not beyond `now`. Returns whether any has passed.
    pub fn pass_to(&mut self, now: Mono) -> bool {
        let before = self.now();
        let next = before.plus_ms(self.rhythm.step_ms).min(now);
        self.rhythm.clock.go_to(next);
        next > before
    }

    /// Lets time pass to the moment of something that happens between two steps.
    pub fn go_to(&mut self, at: Mono) {
        self.rhythm.clock.go_to(at);
    }

    /// Hands the receiver an event of the dataflow, as if it came now.
    pub fn hear(&mut self, event: WireEvent) {
        let now = self.now();
        let heard = self.inbox.handle(event, now);
        if heard != Heard::Nothing && self.heard.len() < HEARD_MAX {
            self.heard.push(heard);
        }
    }

    /// Does what the threads of a robot do in one period, in the order of cause and effect.
    pub fn step(&mut self, wire: &mut dyn Wire) {
        let now = self.now();
        self.safety.step(now);
        self.outbox.step(wire);
        let (sink, names) = (&self.rhythm.sink, &self.names);
        self.events.drain(|event| {
            if let Some(fact) = fact_of(event, names) {
                sink.raise(fact);
            }
        });
        if now >= self.pulse_at {
            self.pulse_at = now.plus_ms(PULSE_MS);
            self.pulse.beat(now);
        }
    }

    /// Takes what the receiver asked of the process.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.heard)
    }

    /// Returns the async side, for tools and executor.
    pub fn bridge(&self) -> &Arc<Bridge> {
        &self.bridge
    }

    /// Returns where operator's orders go.
    pub fn orders(&self) -> &OrderPort {
        &self.orders
    }

    /// Returns latch, observations and published state.
    pub fn links(&self) -> &Links {
        &self.links
    }
}
