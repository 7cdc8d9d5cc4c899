//! Runtime and simulated robot in one process, under one virtual clock.
//!
//! The parts are those of a real robot: the same safety step, last check, codec and receiver. Only
//! the threads and the dataflow are gone: one call does what they would do, in a fixed order, so
//! that a run depends on its inputs alone. A request takes one step to the robot, and its answer is
//! heard in the step in which the robot gives it.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use super::clock::VirtualClock;
use super::link::{MockRobot, MockWire};
use crate::config::FaultAct;
use crate::robot::{Bridge, EventTap, Heard, Inbox, Names, Outbox, Parts, Pulse, fact_of};
use crate::safety::{Links, OrderPort, SafetyStep};
use crate::terms::{Clock, FactSink, Input, Mono, PeerEvent, WireEvent};

/// Longest step, ms: the period of the tick on a usual board.
const STEP_MS_MAX: u64 = 10;
/// How often waiting calls are woken, ms: as often as at least on a robot.
const PULSE_MS: u64 = 20;
/// Period of the timer that a dataflow would give the agent, ms: that of the shipped dataflows.
const GRAPH_TICK_MS: u64 = 1000;
/// Who takes control of the robot in a fault.
const STRANGER: &str = "somebody-else";
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
    frozen_until: Mono,
    pulse_at: Mono,
    graph_tick_at: Mono,
    graph_silent_until: Mono,
}

impl MockBridge {
    /// Puts assembled parts and a robot together. Nothing has happened yet.
    pub fn new(parts: Parts, (robot, wire): (MockRobot, MockWire), rhythm: Rhythm) -> Self {
        let now = rhythm.clock.now();
        let every = Duration::from_millis(GRAPH_TICK_MS);
        parts.links.observed.watch_graph(every, now);
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
            frozen_until: Mono::ZERO,
            pulse_at: Mono::ZERO,
            graph_tick_at: now.plus_ms(GRAPH_TICK_MS),
            graph_silent_until: Mono::ZERO,
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

    /// Does once more what the threads do, at the same time: they wake when they are asked for
    /// something.
    pub fn wake(&mut self) {
        self.step();
    }

    /// Makes a fault happen now, as far as it concerns robot and threads. Those of the link work by
    /// its rule, and a frozen agent is the business of whoever runs it.
    pub fn suffer(&mut self, fault: &FaultAct) {
        let now = self.rhythm.clock.now();
        match fault {
            FaultAct::LoseRequests { .. }
            | FaultAct::LoseAnswers { .. }
            | FaultAct::LoseStates { .. }
            | FaultAct::LateAnswers { .. }
            | FaultAct::WrongIds { .. }
            | FaultAct::FrozenAgent { .. } => {}
            FaultAct::DeadRobot => self.inject(WireEvent::Peer {
                event: PeerEvent::Closed,
                who: Input::State.as_str().to_owned(),
            }),
            FaultAct::FrozenRobot { for_ms } => {
                self.robot.freeze_until(now.plus_ms(u64::from(*for_ms)));
            }
            FaultAct::FrozenProcess { for_ms } => {
                self.frozen_until = now.plus_ms(u64::from(*for_ms));
            }
            FaultAct::LostGraphTicks { for_ms } => {
                self.graph_silent_until = now.plus_ms(u64::from(*for_ms));
            }
            FaultAct::ForeignController => self.robot.vendor().seize(STRANGER),
            FaultAct::Drift { x, y } => self.robot.vendor().carry_to([*x, *y]),
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

    /// Whether the timer of a dataflow would tick now.
    fn graph_ticks(&mut self, now: Mono) -> bool {
        let due = now >= self.graph_tick_at;
        if due {
            self.graph_tick_at = now.plus_ms(GRAPH_TICK_MS);
        }
        due && now >= self.graph_silent_until
    }

    /// What the threads of a robot do in one period, in the order of cause and effect.
    fn step(&mut self) {
        let now = self.rhythm.clock.now();
        let ticks = self.graph_ticks(now);
        if now < self.frozen_until {
            // What the robot says meanwhile is lost, as in a queue that keeps the newest only.
            drop(self.robot.poll(now));
            return;
        }
        if ticks {
            self.inject(WireEvent::Data {
                input: Input::Tick,
                text: Some(String::new()),
            });
        }
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
        if now >= self.pulse_at {
            self.pulse_at = now.plus_ms(PULSE_MS);
            self.pulse.beat(now);
        }
    }
}
