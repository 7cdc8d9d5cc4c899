//! Runtime and simulated robot in one process, under one virtual clock.
//!
//! The parts are those of a real robot: the same safety step, last check, codec and receiver. Only
//! the threads and the dataflow are gone: one call does what they would do, in a fixed order, so
//! that a run depends on its inputs alone. A request takes one step to the robot, and its answer is
//! heard in the step in which the robot gives it.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::clock::VirtualClock;
use super::link::{MockRobot, MockWire};
use crate::robot::{Bridge, EventTap, Heard, Inbox, Names, Outbox, Parts, Pulse, fact_of};
use crate::safety::{Links, OrderPort, SafetyStep};
use crate::terms::{Clock, FactSink, Mono, WireEvent};

/// Longest step, ms: the period of the tick on a usual board.
const STEP_MS_MAX: u64 = 10;
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

/// The driver.
#[derive(Debug)]
pub struct MockBridge {
    bridge: Arc<Bridge>,
    orders: OrderPort,
    links: Links,
    inbox: Inbox,
    outbox: Outbox,
    safety: SafetyStep,
    events: EventTap,
    names: Names,
    pulse: Pulse,
    robot: MockRobot,
    wire: MockWire,
    rhythm: Rhythm,
    heard: Vec<Heard>,
}

impl MockBridge {
    /// Puts assembled parts and a robot together. Nothing has happened yet.
    pub fn new(parts: Parts, (robot, wire): (MockRobot, MockWire), rhythm: Rhythm) -> Self {
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
            robot,
            wire,
            rhythm: Rhythm {
                step_ms: rhythm.step_ms.clamp(1, STEP_MS_MAX),
                ..rhythm
            },
            heard: Vec::new(),
        }
    }

    /// Lets time pass, step by step, up to `now`.
    pub fn advance_to(&mut self, now: Mono) {
        while self.rhythm.clock.now() < now {
            let next = self.rhythm.clock.now().plus_ms(self.rhythm.step_ms);
            self.rhythm.clock.go_to(next.min(now));
            self.step();
        }
    }

    /// Hands the receiver an event of the dataflow, as if it came now.
    pub fn inject(&mut self, event: WireEvent) {
        let now = self.rhythm.clock.now();
        let heard = self.inbox.handle(event, now);
        if heard != Heard::Nothing && self.heard.len() < HEARD_MAX {
            self.heard.push(heard);
        }
    }

    /// Takes what the receiver asked of the process.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        std::mem::take(&mut self.heard)
    }

    /// Returns the robot.
    pub fn robot(&mut self) -> &mut MockRobot {
        &mut self.robot
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

    /// What the threads of a robot do in one period, in the order of cause and effect.
    fn step(&mut self) {
        let now = self.rhythm.clock.now();
        for event in self.robot.poll(now) {
            self.inject(event);
        }
        self.safety.step(now);
        self.outbox.step(&mut self.wire);
        let (sink, names) = (&self.rhythm.sink, &self.names);
        self.events.drain(|event| {
            if let Some(fact) = fact_of(event, names) {
                sink.raise(fact);
            }
        });
        self.pulse.beat(now);
    }
}
