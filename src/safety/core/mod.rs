//! The run state of the robot: a pure state machine, one call a tick.
//!
//! It reads no clock, opens nothing and allocates nothing: the same inputs give the same outputs on
//! the robot, under the virtual clock and in a test. A transition that is not written here does not
//! exist:
//!
//! | From | To | On |
//! |---|---|---|
//! | boot | disarmed | the last life ended cleanly |
//! | boot | stopping | it did not: the stop sequence is the first output |
//! | boot | latched | a latch lies on disk |
//! | disarmed | armed | an operator's order, all checks passed |
//! | armed | moving | the first command of a call |
//! | armed | disarmed | an order, idle time, end of the time it was armed for |
//! | moving | stopping | end of the call, lost lease, any stop |
//! | any | stopping | a stop was asked for |
//! | stopping | armed | at rest and released; the cause leaves it armed |
//! | stopping | disarmed | at rest; it began in boot or disarmed, or disarming was asked for |
//! | stopping | stopped | at rest; any other cause, or nobody answered the release |
//! | stopped | disarmed | an order |
//! | any | latched | an estop, or rest that was not confirmed in time |
//! | latched | disarmed | an operator's reset, all checks passed |
//!
//! Causes that the tick finds by itself go through the latch word like all others, so that the last
//! check of the sending thread sees them too: the tick asks, the word is set, the tick runs again.
//!
//! Once a stop was asked for because the process ends, nothing is armed and no command passes but a
//! read, for the rest of this life: new grants of the last epoch would otherwise be good again.

mod causes;
mod motion;
mod orders;
#[cfg(test)]
mod shape;
mod stops;

#[cfg(test)]
pub(super) use shape::{age, left};

use super::lease::Lease;
use super::pace::Pace;
use super::sequence::StopRun;
use super::{CallEnd, Order, SafetyPlan, Standing, TickInput, TickOut};
use crate::terms::{
    ActuationCmd, CommandKind, DropCause, ElevationId, Mono, RunState, SafetyEventKind, StopCause,
};

/// How a command may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// It begins the motion of its call.
    First,
    /// It repeats the hold of the live call.
    Repeat,
    /// It moves nothing.
    Aside,
}

/// The state machine.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub struct Core {
    plan: SafetyPlan,
    run: RunState,
    /// The epoch of the last request that was noted.
    epoch: u32,
    serial: u32,
    stop: Option<StopRun>,
    lease: Option<Lease>,
    /// Whether a motion left and control was not released since.
    held: bool,
    /// Whether the robot's state named us as the controller since the motion began.
    seen_ours: bool,
    armed_until: Mono,
    /// The latest call that was ended because the time of arming ran out; 0 for none.
    outlasted: u64,
    /// The latest call that was ended because its Elevation did; 0 for none.
    lowered: u64,
    idle_since: Mono,
    /// Whether the next rest ends in `disarmed` instead of `armed`.
    disarm_after: bool,
    losses: u32,
    /// Why the last stop left the robot where it is.
    rests_by: Option<StopCause>,
    pace: Pace,
    heartbeat: Heartbeat,
    /// Since when the timer of the dataflow admits no motion, once that was told.
    graph_silent: Option<Mono>,
}

/// When the next heartbeat is due, and what it waits for.
#[derive(Debug, Clone, Copy, Default)]
struct Heartbeat {
    due: Mono,
    /// Rounds of the sending thread at the last one: another one needs a further round.
    outbox: u64,
}

impl Core {
    /// Makes the state machine of a process that begins under `epoch`.
    pub fn new(plan: SafetyPlan, epoch: u32) -> Self {
        Self {
            pace: Pace::new(&plan),
            plan,
            run: RunState::Boot,
            epoch,
            serial: 0,
            stop: None,
            lease: None,
            held: false,
            seen_ours: false,
            armed_until: Mono::ZERO,
            outlasted: 0,
            lowered: 0,
            idle_since: Mono::ZERO,
            disarm_after: false,
            losses: 0,
            rests_by: None,
            heartbeat: Heartbeat::default(),
            graph_silent: None,
        }
    }

    /// Goes on. May be called early, and again at the same time after its own asks.
    pub fn tick(&mut self, input: &TickInput, out: &mut TickOut) {
        self.pace.tick(input.now, out);
        self.note_request(input, out);
        if self.run == RunState::Boot {
            self.boot(input, out);
        }
        self.watch(input, out);
        self.watch_graph(input, out);
        self.advance_stop(input, out);
        self.end_of_silence(input, out);
        self.end_of_arming(out);
        self.beat(input, out);
    }

    /// Judges a command; one that passes begins or repeats a motion.
    ///
    /// # Errors
    /// Why it must not leave.
    pub fn offer(
        &mut self,
        input: &TickInput,
        cmd: &ActuationCmd,
        out: &mut TickOut,
    ) -> Result<Pass, DropCause> {
        let now = input.now;
        if now >= cmd.deadline {
            return Err(DropCause::Deadline);
        }
        if cmd.kind == CommandKind::Read {
            return Ok(Pass::Aside);
        }
        // A process that ends forbids it too, whatever the epoch.
        if cmd.epoch != input.word.epoch || input.word.forbids_motion() {
            return Err(DropCause::Epoch);
        }
        if input.call.end != CallEnd::Running {
            return Err(DropCause::Lease);
        }
        if input.lowered {
            return Err(DropCause::Elevation);
        }
        match (self.run, cmd.kind) {
            (RunState::Armed, CommandKind::Config) => {
                self.idle_since = now;
                Ok(Pass::Aside)
            }
            (RunState::Armed, CommandKind::Move | CommandKind::Hold) => {
                if !self.fit_to_move(input) {
                    return Err(DropCause::NotArmed);
                }
                self.begin_motion(input, cmd, out);
                Ok(Pass::First)
            }
            // A move is sent once; only a hold repeats, and only under its own lease.
            (RunState::Moving, CommandKind::Hold) => self.repeat_hold(input, cmd),
            (_, _) => Err(DropCause::NotArmed),
        }
    }

    /// Returns where it stands.
    pub fn standing(&self, input: &TickInput) -> Standing {
        // The time of arming for a look at the checks does not matter, as long as it is some time.
        let arm = Order::Arm { for_ms: 1 };
        Standing {
            run: self.run,
            lease_call: self.lease_call(),
            lease_until: self.lease.as_ref().map_or(Mono::ZERO, Lease::until),
            stop_active: self.stop.is_some(),
            outlasted: self.outlasted,
            lowered: self.lowered,
            arm_checks: self.check(input, arm),
            reset_checks: self.check(input, Order::Reset),
        }
    }

    /// Returns the call that holds the lease; 0 for none.
    pub fn lease_call(&self) -> u64 {
        self.lease.as_ref().map_or(0, Lease::call)
    }

    /// Returns the Elevation under which the call that holds the lease runs.
    pub(super) fn lease_elevation(&self) -> Option<ElevationId> {
        self.lease.as_ref().and_then(Lease::elevation)
    }

    /// Returns whether the robot was not heard for too long, or is gone.
    pub(super) fn link_lost(&self, input: &TickInput) -> bool {
        !input.seen.peer_up || !input.seen.fresh(input.now, self.plan.stale_after_ms)
    }

    /// Returns when the next tick is due.
    pub fn due(&self) -> Mono {
        self.pace.due()
    }

    fn set_run(&mut self, to: RunState, cause: Option<StopCause>, out: &mut TickOut) {
        let from = self.run;
        if from != to {
            self.run = to;
            out.event(SafetyEventKind::State { from, to, cause });
        }
    }
}
