//! The causes of a stop that the tick finds by itself.

use super::Core;
use crate::safety::sequence::StopRun;
use crate::safety::{CallEnd, Signs, TickInput, TickOut};
use crate::terms::{GraphTimer, RunState, SafetyEventKind, StopCause, StopKind};

impl Core {
    pub(super) fn boot(&mut self, input: &TickInput, out: &mut TickOut) {
        let unclean = self.plan.boot.unclean;
        if input.word.estop {
            let cause = input.word.cause.unwrap_or(StopCause::UncleanEnd);
            if unclean {
                self.begin_stop(cause, /* estop */ true, out);
            }
            self.set_run(RunState::Latched, Some(cause), out);
        } else if unclean {
            out.ask(StopKind::Stop, StopCause::UncleanEnd);
        } else {
            self.set_run(RunState::Disarmed, None, out);
        }
    }

    /// Looks for every cause of a stop that the tick can see. All that are found are asked for, so
    /// all are recorded; the latch word keeps the strongest.
    pub(super) fn watch(&mut self, input: &TickInput, out: &mut TickOut) {
        let seen = &input.seen;
        let loss = seen.losses != self.losses;
        self.losses = seen.losses;
        if seen.signs.has(Signs::VENDOR_ESTOP) && !input.word.estop {
            out.ask(StopKind::Estop, StopCause::VendorEvent);
        }
        // Asked once, and not where a stop stands that does not leave the robot armed anyway.
        let stands = input.word.stop && !input.word.cause.is_none_or(StopCause::leaves_armed);
        let unrecorded = !input.records && !stands;
        if let Some(lease) = &mut self.lease {
            lease.look(input.now, input.call, input.spine);
        }
        if matches!(self.run, RunState::Armed | RunState::Moving) {
            let found = [
                (loss || !seen.peer_up, StopCause::BridgeLost),
                (self.pace.overload(), StopCause::BoardFault),
                (seen.signs.has(Signs::FOREIGN), StopCause::VendorEvent),
                (seen.signs.has(Signs::OVERSPEED), StopCause::Overspeed),
                (unrecorded, StopCause::Blackbox),
            ];
            ask_for(&found, out);
        }
        if self.run == RunState::Moving {
            self.watch_moving(input, out);
        }
        if self.run == RunState::Stopping {
            // A stop that began in order must not end armed when its robot was restarted meanwhile.
            let found = [
                (loss, StopCause::BridgeLost),
                (self.pace.overload(), StopCause::BoardFault),
                (unrecorded, StopCause::Blackbox),
            ];
            ask_for(&found, out);
            // Heartbeats go on for as long as the call lives and makes progress.
            if input.call.end == CallEnd::Dropped {
                self.lease = None;
            }
        }
    }

    /// Tells once when the timer of the dataflow stands still, and once when it is good again. It is no
    /// cause of a stop.
    pub(super) fn watch_graph(&mut self, input: &TickInput, out: &mut TickOut) {
        let now = input.now;
        match (input.seen.graph.at(now), self.graph_silent) {
            (GraphTimer::Silent { ms }, None) => {
                self.graph_silent = Some(now);
                let ms = u32::try_from(ms).unwrap_or(u32::MAX);
                out.event(SafetyEventKind::GraphSilent { ms });
            }
            (GraphTimer::Ticks, Some(since)) => {
                self.graph_silent = None;
                let after_ms = u32::try_from(now.ms_since(since)).unwrap_or(u32::MAX);
                out.event(SafetyEventKind::GraphBack { after_ms });
            }
            (GraphTimer::Ticks | GraphTimer::Silent { .. } | GraphTimer::Back { .. }, _) => {}
        }
    }

    pub(super) fn watch_moving(&mut self, input: &TickInput, out: &mut TickOut) {
        let now = input.now;
        let signs = input.seen.signs;
        self.seen_ours |= signs.has(Signs::OURS);
        let still = signs.has(Signs::STILL);
        // Control that nobody holds any more while the robot moves was given up by a stranger.
        let given_up = self.seen_ours && !signs.has(Signs::OURS) && !still;
        let unseen = !input.seen.fresh(now, self.plan.stale_after_ms) || signs.has(Signs::BLIND);
        let found = [
            (given_up, StopCause::VendorEvent),
            (unseen, StopCause::StaleState),
            (signs.has(Signs::OUTSIDE), StopCause::Workspace),
            (
                self.pace.sender_stuck(now, input.outbox),
                StopCause::HeartbeatFault,
            ),
        ];
        ask_for(&found, out);
        if let Some(cause) = self.lease.as_ref().and_then(|lease| lease.ended_by(now)) {
            out.ask(StopKind::Stop, cause);
        }
        if now >= self.armed_until {
            self.disarm_after = true;
            self.outlasted = self.lease_call();
            out.ask(StopKind::Stop, StopCause::Deadline);
        }
        if input.lowered {
            self.lowered = self.lease_call();
            out.ask(StopKind::Stop, StopCause::Deadline);
        }
        let states = input.seen.states;
        let seen_since = self.lease.as_ref().is_some_and(|l| l.seen_since(states));
        match input.call.end {
            CallEnd::Running => {}
            // Only a robot whose state said that it arrived may be left without a stop verb: one
            // that was just told to move still looks at rest.
            CallEnd::Arrived if still && seen_since && out.asks.is_empty() => {
                self.serial = self.serial.wrapping_add(1).max(1);
                self.stop = Some(StopRun::end_of_call(self.serial, now, RunState::Moving));
                self.set_run(RunState::Stopping, None, out);
            }
            CallEnd::Arrived | CallEnd::Over => out.ask(StopKind::Stop, StopCause::Deadline),
            CallEnd::Dropped => {
                self.lease = None;
                out.ask(StopKind::Stop, StopCause::Deadline);
            }
        }
    }

    /// After a stop because nothing could be recorded: once it can again, nobody has to acknowledge that.
    /// The robot stays disarmed.
    pub(super) fn end_of_silence(&mut self, input: &TickInput, out: &mut TickOut) {
        let over = self.run == RunState::Stopped && self.stop.is_none() && !input.word.stop;
        if over && input.records && self.rests_by == Some(StopCause::Blackbox) {
            self.set_run(RunState::Disarmed, None, out);
        }
    }

    pub(super) fn end_of_arming(&mut self, out: &mut TickOut) {
        let now = out.at;
        if self.run != RunState::Armed || !out.asks.is_empty() {
            return;
        }
        let idle_ms = u64::from(self.plan.idle_disarm_s).saturating_mul(1_000);
        if now >= self.armed_until || now.ms_since(self.idle_since) >= idle_ms {
            self.set_run(RunState::Disarmed, None, out);
        }
    }
}

fn ask_for(found: &[(bool, StopCause)], out: &mut TickOut) {
    for (_, cause) in found.iter().filter(|(found, _)| *found) {
        out.ask(StopKind::Stop, *cause);
    }
}
