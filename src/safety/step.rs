//! One round of the safety thread: read, decide, publish, hand over. No allocation, no lock.
//!
//! The thread of a robot and the driver of a virtual clock call the same [`SafetyStep::step`].

use std::sync::Arc;

use super::elevation::Ground;
use super::queue::{COMMAND_SLOTS, EVENT_SLOTS, OUT_SLOTS, Receiver, Sender, queue};
use super::{
    CallNote, Core, FailedChecks, Latch, Observed, Order, OrderEntry, OrderPort, Pass, SafetyOut,
    SafetyPlan, Shared, TickInput, TickOut,
};
use crate::terms::{
    ActuationCmd, DropCause, ElevationId, Mono, RunState, SafetyEvent, SafetyEventKind, StopCause,
    StopKind,
};

/// Orders that one round carries out; the rest waits for the next.
const ORDERS_PER_ROUND: usize = 4;
/// How often one round ticks again after its own requests: a request of the tick, and an estop that
/// found its event queue full.
const TICKS_PER_ROUND: usize = 3;

/// The atomics that the parts around one robot share.
#[derive(Debug, Clone)]
pub struct Links {
    /// The latch.
    pub latch: Latch,
    /// What the robot last said.
    pub observed: Arc<Observed>,
    /// What the tick publishes.
    pub shared: Arc<Shared>,
}

/// The ends of the queues that others hold.
#[derive(Debug)]
pub struct SafetyPorts {
    /// Commands into the tick.
    pub commands: Sender<ActuationCmd>,
    /// Frames for the sending thread.
    pub outs: Receiver<SafetyOut>,
    /// Events of the tick, for the recorder.
    pub events: Receiver<SafetyEvent>,
    /// Operator's orders.
    pub orders: OrderPort,
}

/// Everything the safety thread owns.
#[derive(Debug)]
pub struct SafetyStep {
    core: Core,
    links: Links,
    commands: Receiver<ActuationCmd>,
    orders: Receiver<OrderEntry>,
    outs: Sender<SafetyOut>,
    events: Sender<SafetyEvent>,
    out: TickOut,
    /// Lost events for which the robot was latched already.
    lost: u64,
    /// Whether this round put something into the queue to the sending thread.
    pushed: bool,
}

impl SafetyStep {
    /// Makes the round and the ends of its queues.
    pub fn new(plan: SafetyPlan, links: Links) -> (Self, SafetyPorts) {
        let (command_sender, commands) = queue::<_, COMMAND_SLOTS>();
        let (outs, out_receiver) = queue::<_, OUT_SLOTS>();
        let (events, event_receiver) = queue::<_, EVENT_SLOTS>();
        let (order_port, orders) = OrderPort::new(links.shared.clone(), links.latch.clone());
        let core = Core::new(plan, links.latch.word().epoch);
        let step = Self {
            core,
            links,
            commands,
            orders,
            outs,
            events,
            out: TickOut::default(),
            lost: 0,
            pushed: false,
        };
        let ports = SafetyPorts {
            commands: command_sender,
            outs: out_receiver,
            events: event_receiver,
            orders: order_port,
        };
        (step, ports)
    }

    /// Goes on to `now`. Returns when the next round is due. An earlier round does no harm.
    pub fn step(&mut self, now: Mono) -> Mono {
        self.links.shared.safety_progressed();
        self.note_lateness(now);
        self.settle(now);
        self.carry_out_orders(now);
        self.pass_commands(now);
        if std::mem::take(&mut self.pushed) {
            self.links.shared.wake_sender();
        }
        self.core.due()
    }

    /// Returns the handles that it shares.
    pub fn links(&self) -> &Links {
        &self.links
    }

    /// A round before its time, after a wake-up, is not a late one; the first round has no time.
    fn note_lateness(&self, now: Mono) {
        let due = self.core.due();
        if due != Mono::ZERO && now >= due {
            self.links.shared.lateness.count(now.since(due));
        }
    }

    /// Ticks until the tick has nothing more to ask for.
    fn settle(&mut self, now: Mono) {
        for _ in 0..TICKS_PER_ROUND {
            let input = self.input_of_lease(now);
            self.out.clear(now);
            self.core.tick(&input, &mut self.out);
            if !self.flush(now) {
                return;
            }
        }
    }

    fn carry_out_orders(&mut self, now: Mono) {
        for _ in 0..ORDERS_PER_ROUND {
            let Some(entry) = self.orders.pop() else {
                return;
            };
            let input = self.input_of_lease(now);
            let mut failed = self.core.check(&input, entry.order);
            if failed.is_none() && entry.order == Order::Reset {
                // Refused when a stop was asked for since the checks were made.
                let reset = self.links.latch.reset(input.word.epoch);
                failed = failed.with(FailedChecks::STOPPING, !reset);
            }
            self.out.clear(now);
            if failed.is_none() {
                self.core.carry_out(entry.order, &mut self.out);
            }
            self.out.event(SafetyEventKind::Order {
                seq: entry.seq,
                failed: failed.bits(),
            });
            if self.flush(now) {
                self.settle(now);
            }
            self.links.shared.set_result(entry.seq, failed);
        }
    }

    fn pass_commands(&mut self, now: Mono) {
        for _ in 0..COMMAND_SLOTS {
            let Some(cmd) = self.commands.pop() else {
                return;
            };
            let input = self.input(now, (cmd.lease.call, cmd.lease.elevation));
            self.out.clear(now);
            let pass = self.core.offer(&input, &cmd, &mut self.out);
            // The lease is published, and the heartbeat is ahead in the queue, before the command.
            let asked = self.flush(now);
            match pass {
                Ok(pass) => self.hand_on(now, cmd, pass == Pass::Repeat),
                Err(why) => self.drop_command(now, &cmd, why),
            }
            if asked {
                self.settle(now);
            }
        }
    }

    fn hand_on(&mut self, now: Mono, cmd: ActuationCmd, repeat: bool) {
        self.pushed = true;
        let full = self.outs.push(SafetyOut::Command { cmd, repeat });
        if let Err(SafetyOut::Command { cmd, .. }) = full {
            self.drop_command(now, &cmd, DropCause::Full);
        }
    }

    fn drop_command(&mut self, now: Mono, cmd: &ActuationCmd, why: DropCause) {
        let call = cmd.lease.call;
        self.links.shared.calls.dropped(call, why);
        let kind = SafetyEventKind::Dropped {
            tool: cmd.tool,
            call,
            why,
        };
        self.record(SafetyEvent { at: now, kind });
    }

    /// Puts into effect what the core decided. Returns whether the latch word changed: tick again.
    fn flush(&mut self, now: Mono) -> bool {
        let mut asked = false;
        for (kind, cause) in self.out.asks.iter().copied() {
            let epoch = self.links.latch.ask(kind, cause);
            asked = true;
            let estop = kind == StopKind::Estop;
            let kind = SafetyEventKind::StopAsked {
                cause,
                estop,
                epoch,
            };
            record(&mut self.events, &self.links, SafetyEvent { at: now, kind });
        }
        let input = self.input_of_lease(now);
        let standing = self.core.standing(&input);
        self.links.shared.publish(&standing);
        // Only now, so that whoever reads a word without a stop finds the state that follows it.
        if let Some(epoch) = self.out.clear_stop {
            asked |= !self.links.latch.clear_stop(epoch);
        }
        self.pushed |= !self.out.outs.is_empty();
        for out in self.out.outs.iter() {
            if self.outs.push(out.clone()).is_err() {
                self.out.overflow |= !matches!(out, SafetyOut::StopVerb { .. });
            }
        }
        for event in self.out.events.iter().copied() {
            record(&mut self.events, &self.links, event);
        }
        if self.out.overflow && !self.links.latch.word().estop {
            self.links
                .latch
                .ask(StopKind::Estop, StopCause::InternalFault);
            asked = true;
        }
        self.lower(&input, standing.run);
        asked | self.lost_events()
    }

    fn record(&mut self, event: SafetyEvent) {
        record(&mut self.events, &self.links, event);
    }

    /// Ends the Elevations that no longer stand after what was decided.
    fn lower(&mut self, input: &TickInput, run: RunState) {
        // Whoever asks counts first and sets the word then: what is told in between is the stop before.
        let falls = self.links.latch.falls();
        let ground = Ground {
            now: input.now,
            word: self.links.latch.word(),
            falls,
            run,
            link_lost: self.core.link_lost(input),
        };
        let (events, links) = (&mut self.events, &self.links);
        links
            .shared
            .elevations
            .lower(&ground, |elevation, cause, left| {
                let kind = SafetyEventKind::Lowered {
                    elevation,
                    cause,
                    left,
                };
                record(
                    events,
                    links,
                    SafetyEvent {
                        at: ground.now,
                        kind,
                    },
                );
            });
    }

    /// A safety event that could not be recorded latches the robot, each time anew.
    fn lost_events(&mut self) -> bool {
        let lost = self.links.shared.events_lost();
        let more = lost != std::mem::replace(&mut self.lost, lost);
        let latches = more && !self.links.latch.word().estop;
        if latches {
            self.links.latch.ask(StopKind::Estop, StopCause::Blackbox);
        }
        latches
    }

    /// What a tick looks at, with the call that holds the lease.
    fn input_of_lease(&self, now: Mono) -> TickInput {
        self.input(now, (self.core.lease_call(), self.core.lease_elevation()))
    }

    fn input(&self, now: Mono, (call, elevation): (u64, Option<ElevationId>)) -> TickInput {
        let shared = &self.links.shared;
        TickInput {
            now,
            word: self.links.latch.word(),
            seen: self.links.observed.seen(),
            records: shared.records(),
            spine: shared.spine_progress(),
            outbox: shared.outbox_progress(),
            call: if call == 0 {
                CallNote::GONE
            } else {
                shared.calls.note(call)
            },
            lowered: elevation.is_some_and(|id| shared.elevations.is_over(id, now)),
            stop_sent: shared.stop_sent(),
        }
    }
}

#[cfg(test)]
impl SafetyStep {
    /// The state machine, to look at it or to put another state in.
    pub(super) fn core_mut(&mut self) -> &mut Core {
        &mut self.core
    }

    /// What a tick at `now` would look at.
    pub(super) fn looks_at(&self, now: Mono) -> TickInput {
        self.input_of_lease(now)
    }
}

fn record(events: &mut Sender<SafetyEvent>, links: &Links, event: SafetyEvent) {
    if events.push(event).is_err() {
        links.shared.event_lost();
    }
}
