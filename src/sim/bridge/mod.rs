//! Runtime and simulated robot in one process, under one virtual clock.
//!
//! The parts are those of a real robot; only the threads and the dataflow are gone. A request takes
//! one step to the robot, and its answer is heard in the step in which the robot gives it.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use super::body::{Body, Rhythm};
use super::link::{MockRobot, MockWire};
use crate::config::FaultAct;
use crate::robot::{Bridge, Heard, Parts};
use crate::safety::{Links, OrderPort};
use crate::terms::{Clock as _, Input, Mono, PeerEvent, WireEvent};

/// Period of the timer that a dataflow would give the agent, ms: that of the shipped dataflows.
const GRAPH_TICK_MS: u64 = 1000;
/// Who takes control of the robot in a fault.
const STRANGER: &str = "somebody-else";

/// The driver.
#[derive(Debug)]
pub struct MockBridge {
    body: Body,
    robot: MockRobot,
    wire: MockWire,
    frozen_until: Mono,
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
            body: Body::new(parts, rhythm),
            robot,
            wire,
            frozen_until: Mono::ZERO,
            graph_tick_at: now.plus_ms(GRAPH_TICK_MS),
            graph_silent_until: Mono::ZERO,
        }
    }

    /// Lets time pass, step by step, up to `now`.
    pub fn advance_to(&mut self, now: Mono) {
        while self.body.pass_to(now) {
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
        let now = self.body.now();
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
        self.body.hear(event);
    }

    /// Takes what the receiver asked of the process.
    pub fn take_heard(&mut self) -> Vec<Heard> {
        self.body.take_heard()
    }

    /// Returns the robot.
    pub fn robot(&mut self) -> &mut MockRobot {
        &mut self.robot
    }

    /// Returns the async side, for tools and executor.
    pub fn bridge(&self) -> &Arc<Bridge> {
        self.body.bridge()
    }

    /// Returns where operator's orders go.
    pub fn orders(&self) -> &OrderPort {
        self.body.orders()
    }

    /// Returns latch, observations and published state.
    pub fn links(&self) -> &Links {
        self.body.links()
    }

    /// Whether the timer of a dataflow would tick now.
    fn graph_ticks(&mut self, now: Mono) -> bool {
        let due = now >= self.graph_tick_at;
        if due {
            self.graph_tick_at = now.plus_ms(GRAPH_TICK_MS);
        }
        due && now >= self.graph_silent_until
    }

    fn step(&mut self) {
        let now = self.body.now();
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
        self.body.step(&mut self.wire);
    }
}
