//! How a stop begins, goes on and ends.

use super::Core;
use crate::safety::sequence::{Ended, Round, StopRun};
use crate::safety::{TickInput, TickOut};
use crate::terms::{RunState, SafetyEventKind, StopCause, StopKind};

impl Core {
    /// A request that was not there before begins a stop, or joins the one under way.
    pub(super) fn note_request(&mut self, input: &TickInput, out: &mut TickOut) {
        let word = input.word;
        if word.epoch == self.epoch {
            return;
        }
        self.epoch = word.epoch;
        let cause = word.cause.unwrap_or(StopCause::InternalFault);
        match &mut self.stop {
            Some(run) if run.in_verbs() => run.cause = Some(cause),
            Some(_) | None => self.begin_stop(cause, word.estop, out),
        }
        if word.estop || !goes_on(cause) {
            // Silence: the robot's own dead-man is the second way to stop it.
            self.lease = None;
        }
        if word.estop {
            self.set_run(RunState::Latched, Some(cause), out);
        } else {
            self.set_run(RunState::Stopping, Some(cause), out);
        }
    }

    pub(super) fn begin_stop(&mut self, cause: StopCause, estop: bool, out: &mut TickOut) {
        // A stop during the release of an earlier one still leads back to where that one began.
        let from = self.stop.as_ref().map_or(self.run, |run| run.from);
        self.serial = self.serial.wrapping_add(1).max(1);
        self.stop = Some(StopRun::stop(self.serial, out.at, from, cause));
        let epoch = self.epoch;
        out.event(SafetyEventKind::StopBegun {
            cause,
            estop,
            epoch,
        });
    }

    pub(super) fn advance_stop(&mut self, input: &TickInput, out: &mut TickOut) {
        let Some(run) = &mut self.stop else {
            return;
        };
        let before = run.escalated();
        let round = Round {
            plan: &self.plan,
            input,
            releases: self.plan.has_release && self.held,
        };
        let ended = run.advance(&round, out);
        if run.escalated() && !before && !input.word.estop && !run.is_deaf(&round) {
            out.ask(
                StopKind::Estop,
                run.cause.unwrap_or(StopCause::InternalFault),
            );
        }
        let (from, cause) = (run.from, run.cause);
        let Some(ended) = ended else {
            return;
        };
        self.stop = None;
        self.lease = None;
        self.held = false;
        self.idle_since = input.now;
        if input.word.stop {
            out.clear_stop = Some(self.epoch);
        }
        let (to, cause) = match ended {
            Ended::AtRest => (after_rest(from, cause), cause),
            Ended::ReleaseUnanswered => (RunState::Stopped, Some(StopCause::BridgeLost)),
        };
        if self.run == RunState::Latched {
            return; // at rest, and latched until a person resets it
        }
        self.rests_by = cause;
        let disarms = to == RunState::Armed && self.disarm_after;
        let to = if disarms { RunState::Disarmed } else { to };
        self.set_run(to, cause, out);
    }
}

/// Whether heartbeats go on during a stop of this cause: an orderly one, in which nothing is broken
/// and the robot is to come to rest under control.
fn goes_on(cause: StopCause) -> bool {
    match cause {
        StopCause::ModelStop
        | StopCause::OperatorStop
        | StopCause::FleetStop
        | StopCause::Shutdown
        | StopCause::Deadline
        | StopCause::Workspace
        | StopCause::Overspeed => true,
        StopCause::LeaseLost
        | StopCause::StaleState
        | StopCause::BridgeLost
        | StopCause::HeartbeatFault
        | StopCause::Blackbox
        | StopCause::BoardFault
        | StopCause::UncleanEnd
        | StopCause::InternalFault
        | StopCause::VendorEvent
        | StopCause::EstopInput => false,
    }
}

/// Where a stop leads that came to rest.
fn after_rest(from: RunState, cause: Option<StopCause>) -> RunState {
    let ordinary = cause.is_none_or(StopCause::leaves_armed);
    match from {
        RunState::Boot => RunState::Disarmed,
        RunState::Armed | RunState::Moving if ordinary => RunState::Armed,
        RunState::Disarmed if ordinary => RunState::Disarmed,
        RunState::Armed
        | RunState::Moving
        | RunState::Disarmed
        | RunState::Stopping
        | RunState::Stopped => RunState::Stopped,
        RunState::Latched => RunState::Latched,
        RunState::Fault => RunState::Fault,
    }
}
