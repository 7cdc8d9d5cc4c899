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

use super::lease::Lease;
use super::pace::Pace;
use super::sequence::{Ended, ReleasePlan, StopRun};
use super::{
    CallEnd, DEADMAN_MS_MIN, FailedChecks, Order, SafetyOut, SafetyPlan, Seen, Signs, Standing,
    TickInput, TickOut,
};
use crate::terms::{
    ActuationCmd, CommandKind, DropCause, Mono, RunState, SafetyEventKind, StopCause, StopKind,
};

/// The shortest period of heartbeats, ms.
const HEARTBEAT_MS_MIN: u64 = 50;

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
    idle_since: Mono,
    /// Whether the next rest ends in `disarmed` instead of `armed`.
    disarm_after: bool,
    losses: u32,
    pace: Pace,
    heartbeat: Heartbeat,
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
            idle_since: Mono::ZERO,
            disarm_after: false,
            losses: 0,
            heartbeat: Heartbeat::default(),
        }
    }

    /// Goes on to `now`. May be called early, and again at the same time after its own asks.
    pub fn tick(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
        let overloaded = self.pace.tick(now, out);
        self.note_request(now, input, out);
        if self.run == RunState::Boot {
            self.boot(now, input, out);
        }
        self.watch(now, input, overloaded, out);
        self.advance_stop(now, input, out);
        self.end_of_arming(now, out);
        self.beat(now, input, out);
    }

    /// Judges a command; one that passes begins or repeats a motion.
    ///
    /// # Errors
    /// Why it must not leave.
    pub fn offer(
        &mut self,
        now: Mono,
        input: &TickInput,
        cmd: &ActuationCmd,
        out: &mut TickOut,
    ) -> Result<Pass, DropCause> {
        if now >= cmd.deadline {
            return Err(DropCause::Deadline);
        }
        if cmd.kind == CommandKind::Read {
            return Ok(Pass::Aside);
        }
        if cmd.epoch != input.word.epoch || input.word.forbids_motion() {
            return Err(DropCause::Epoch);
        }
        if input.call.end != CallEnd::Running {
            return Err(DropCause::Lease);
        }
        match (self.run, cmd.kind) {
            (RunState::Armed, CommandKind::Config) => {
                self.idle_since = now;
                Ok(Pass::Aside)
            }
            (RunState::Armed, CommandKind::Move | CommandKind::Hold) => {
                if !self.fit_to_move(now, &input.seen) {
                    return Err(DropCause::NotArmed);
                }
                self.begin_motion(now, input, cmd, out);
                Ok(Pass::First)
            }
            // A move is sent once; only a hold repeats, and only under its own lease.
            (RunState::Moving, CommandKind::Hold) => self.repeat_hold(now, input, cmd),
            (_, _) => Err(DropCause::NotArmed),
        }
    }

    /// Returns the checks on which `order` fails now. A reset does not look at the latch word: the
    /// word is reset last, and only when no newer request came in between.
    pub fn check(&self, now: Mono, input: &TickInput, order: Order) -> FailedChecks {
        match order {
            Order::Arm { for_ms } => self
                .rest_checks(now, &input.seen)
                .with(FailedChecks::WRONG_STATE, self.run != RunState::Disarmed)
                .with(FailedChecks::LATCHED, input.word.estop)
                .with(
                    FailedChecks::STOPPING,
                    input.word.stop || self.stop.is_some(),
                )
                .with(FailedChecks::ADVERT_UNSEEN, input.seen.deadman_ms.is_none())
                .with(FailedChecks::DEADMAN, !self.deadman_usable(&input.seen))
                .with(
                    FailedChecks::FOREIGN_HOLDER,
                    input.seen.signs.has(Signs::FOREIGN),
                )
                .with(FailedChecks::BLIND, input.seen.signs.has(Signs::BLIND))
                .with(FailedChecks::OVERLOADED, self.pace.overloaded(now))
                .with(FailedChecks::NO_TIME, for_ms == 0),
            Order::Disarm => FailedChecks::NONE
                .with(
                    FailedChecks::WRONG_STATE,
                    matches!(self.run, RunState::Boot | RunState::Fault),
                )
                .with(FailedChecks::LATCHED, self.run == RunState::Latched),
            Order::Reset => self
                .rest_checks(now, &input.seen)
                .with(FailedChecks::WRONG_STATE, self.run != RunState::Latched)
                .with(
                    FailedChecks::STOPPING,
                    input.word.stop || self.stop.is_some(),
                ),
        }
    }

    /// Carries out an order whose checks have passed.
    pub fn carry_out(&mut self, now: Mono, order: Order, out: &mut TickOut) {
        match order {
            Order::Arm { for_ms } => {
                self.armed_until = now.plus_ms(u64::from(for_ms));
                self.idle_since = now;
                self.disarm_after = false;
                self.set_run(now, RunState::Armed, None, out);
            }
            Order::Disarm => match self.run {
                RunState::Armed | RunState::Stopped | RunState::Disarmed => {
                    self.set_run(now, RunState::Disarmed, None, out);
                }
                RunState::Moving => {
                    self.disarm_after = true;
                    out.ask(StopKind::Stop, StopCause::OperatorStop);
                }
                RunState::Stopping => self.disarm_after = true,
                RunState::Boot | RunState::Latched | RunState::Fault => {}
            },
            Order::Reset => self.set_run(now, RunState::Disarmed, None, out),
        }
    }

    /// Returns where it stands.
    pub fn standing(&self, now: Mono, input: &TickInput) -> Standing {
        // The time of arming for a look at the checks does not matter, as long as it is some time.
        let arm = Order::Arm { for_ms: 1 };
        Standing {
            run: self.run,
            lease_call: self.lease_call(),
            lease_until: self.lease.as_ref().map_or(Mono::ZERO, Lease::until),
            stop_active: self.stop.is_some(),
            arm_checks: self.check(now, input, arm),
            reset_checks: self.check(now, input, Order::Reset),
        }
    }

    /// Returns the call that holds the lease; 0 for none.
    pub fn lease_call(&self) -> u64 {
        self.lease.as_ref().map_or(0, Lease::call)
    }

    /// Returns when the next tick is due.
    pub fn due(&self) -> Mono {
        self.pace.due()
    }

    // ---- stops -------------------------------------------------------------------------------

    /// A request that was not there before begins a stop, or joins the one under way.
    fn note_request(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
        let word = input.word;
        if word.epoch == self.epoch {
            return;
        }
        self.epoch = word.epoch;
        let cause = word.cause.unwrap_or(StopCause::InternalFault);
        match &mut self.stop {
            Some(run) if run.in_verbs() => run.cause = Some(cause),
            Some(_) | None => self.begin_stop(now, cause, word.estop, out),
        }
        if word.estop || !goes_on(cause) {
            // Silence: the robot's own dead-man is the second way to stop it.
            self.lease = None;
        }
        if word.estop {
            self.set_run(now, RunState::Latched, Some(cause), out);
        } else {
            self.set_run(now, RunState::Stopping, Some(cause), out);
        }
    }

    fn begin_stop(&mut self, now: Mono, cause: StopCause, estop: bool, out: &mut TickOut) {
        // A stop during the release of an earlier one still leads back to where that one began.
        let from = self.stop.as_ref().map_or(self.run, |run| run.from);
        self.serial = self.serial.wrapping_add(1).max(1);
        self.stop = Some(StopRun::stop(self.serial, now, from, cause));
        let epoch = self.epoch;
        out.event(
            now,
            SafetyEventKind::StopBegun {
                cause,
                estop,
                epoch,
            },
        );
    }

    fn advance_stop(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
        let Some(run) = &mut self.stop else {
            return;
        };
        let before = run.escalated();
        let plan = ReleasePlan {
            plan: &self.plan,
            needed: self.plan.has_release && self.held,
        };
        let ended = run.advance(now, &plan, input, out);
        if run.escalated() && !before && !input.word.estop {
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
        self.idle_since = now;
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
        let disarms = to == RunState::Armed && self.disarm_after;
        let to = if disarms { RunState::Disarmed } else { to };
        self.set_run(now, to, cause, out);
    }

    // ---- causes ------------------------------------------------------------------------------

    fn boot(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
        let unclean = self.plan.boot.unclean;
        if input.word.estop {
            let cause = input.word.cause.unwrap_or(StopCause::UncleanEnd);
            if unclean {
                self.begin_stop(now, cause, /* estop */ true, out);
            }
            self.set_run(now, RunState::Latched, Some(cause), out);
        } else if unclean {
            out.ask(StopKind::Stop, StopCause::UncleanEnd);
        } else {
            self.set_run(now, RunState::Disarmed, None, out);
        }
    }

    /// Looks for every cause of a stop that the tick can see. All that are found are asked for, so
    /// all are recorded; the latch word keeps the strongest.
    fn watch(&mut self, now: Mono, input: &TickInput, overloaded: bool, out: &mut TickOut) {
        let seen = &input.seen;
        let lost = seen.losses != self.losses || !seen.peer_up;
        self.losses = seen.losses;
        if seen.signs.has(Signs::VENDOR_ESTOP) && !input.word.estop {
            out.ask(StopKind::Estop, StopCause::VendorEvent);
        }
        if let Some(lease) = &mut self.lease {
            lease.look(now, input.call, input.spine);
        }
        match self.run {
            RunState::Armed => self.watch_armed(lost, overloaded, seen, out),
            RunState::Moving => {
                self.watch_armed(lost, overloaded, seen, out);
                self.watch_moving(now, input, out);
            }
            // In an orderly stop heartbeats go on for as long as the call lives and makes progress.
            RunState::Stopping if input.call.end == CallEnd::Dropped => self.lease = None,
            RunState::Stopping
            | RunState::Boot
            | RunState::Disarmed
            | RunState::Stopped
            | RunState::Latched
            | RunState::Fault => {}
        }
    }

    fn watch_armed(&self, lost: bool, overloaded: bool, seen: &Seen, out: &mut TickOut) {
        let found = [
            (lost, StopCause::BridgeLost),
            (overloaded, StopCause::BoardFault),
            (seen.signs.has(Signs::FOREIGN), StopCause::VendorEvent),
            (seen.signs.has(Signs::OVERSPEED), StopCause::Overspeed),
        ];
        for (_, cause) in found.into_iter().filter(|(found, _)| *found) {
            out.ask(StopKind::Stop, cause);
        }
    }

    fn watch_moving(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
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
        for (_, cause) in found.into_iter().filter(|(found, _)| *found) {
            out.ask(StopKind::Stop, cause);
        }
        if let Some(cause) = self.lease.as_ref().and_then(|lease| lease.ended_by(now)) {
            out.ask(StopKind::Stop, cause);
        }
        if now >= self.armed_until {
            self.disarm_after = true;
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
                self.set_run(now, RunState::Stopping, None, out);
            }
            CallEnd::Arrived | CallEnd::Over => out.ask(StopKind::Stop, StopCause::Deadline),
            CallEnd::Dropped => {
                self.lease = None;
                out.ask(StopKind::Stop, StopCause::Deadline);
            }
        }
    }

    fn end_of_arming(&mut self, now: Mono, out: &mut TickOut) {
        if self.run != RunState::Armed || !out.asks.is_empty() {
            return;
        }
        let idle_ms = u64::from(self.plan.idle_disarm_s).saturating_mul(1_000);
        if now >= self.armed_until || now.ms_since(self.idle_since) >= idle_ms {
            self.set_run(now, RunState::Disarmed, None, out);
        }
    }

    // ---- motion ------------------------------------------------------------------------------

    fn begin_motion(
        &mut self,
        now: Mono,
        input: &TickInput,
        cmd: &ActuationCmd,
        out: &mut TickOut,
    ) {
        self.lease = Some(Lease::begin(now, cmd, input));
        self.held = true;
        self.seen_ours = false;
        self.pace.watch_sender(now, input.outbox);
        self.set_run(now, RunState::Moving, None, out);
        // The robot's dead-man begins with the motion: the first heartbeat goes before it.
        self.send_beat(now, input, cmd.lease.call, out);
    }

    fn repeat_hold(
        &mut self,
        now: Mono,
        input: &TickInput,
        cmd: &ActuationCmd,
    ) -> Result<Pass, DropCause> {
        let fit = self.fit_to_move(now, &input.seen);
        match &mut self.lease {
            Some(lease) if lease.call() == cmd.lease.call && lease.tool == cmd.tool => {
                if !fit || lease.ended_by(now).is_some() || !lease.lives(now) {
                    return Err(DropCause::Lease);
                }
                lease.repeat(now, input.seen.states);
                Ok(Pass::Repeat)
            }
            Some(_) | None => Err(DropCause::NotArmed),
        }
    }

    fn fit_to_move(&self, now: Mono, seen: &Seen) -> bool {
        let signs = seen.signs;
        seen.peer_up
            && seen.fresh(now, self.plan.stale_after_ms)
            && self.deadman_usable(seen)
            && now < self.armed_until
            && !signs.has(Signs::BLIND)
            && !signs.has(Signs::VENDOR_ESTOP)
            && !signs.has(Signs::FOREIGN)
    }

    fn deadman_usable(&self, seen: &Seen) -> bool {
        match seen.deadman_ms {
            Some(0) => self.plan.waive_deadman,
            Some(ms) => ms >= DEADMAN_MS_MIN,
            None => false,
        }
    }

    fn rest_checks(&self, now: Mono, seen: &Seen) -> FailedChecks {
        FailedChecks::NONE
            .with(FailedChecks::PEER_DOWN, !seen.peer_up)
            .with(
                FailedChecks::STATE_STALE,
                !seen.fresh(now, self.plan.stale_after_ms),
            )
            .with(
                FailedChecks::VENDOR_ESTOP,
                seen.signs.has(Signs::VENDOR_ESTOP),
            )
            .with(FailedChecks::NOT_AT_REST, !seen.signs.has(Signs::STILL))
    }

    /// A heartbeat is due: it leaves only with a live lease, a fresh state, a sending thread that
    /// makes rounds, and no cause of a stop in sight. A timer alone never sends one.
    fn beat(&mut self, now: Mono, input: &TickInput, out: &mut TickOut) {
        let Some(lease) = &self.lease else {
            return;
        };
        let moves = matches!(self.run, RunState::Moving | RunState::Stopping);
        let well = out.asks.is_empty()
            && lease.lives(now)
            && input.seen.fresh(now, self.plan.stale_after_ms)
            && input.outbox != self.heartbeat.outbox;
        if moves && well && now >= self.heartbeat.due {
            let call = lease.call();
            self.send_beat(now, input, call, out);
        }
    }

    fn send_beat(&mut self, now: Mono, input: &TickInput, call: u64, out: &mut TickOut) {
        let deadman_ms = u64::from(input.seen.deadman_ms.unwrap_or(0));
        if deadman_ms == 0 {
            return; // waived: this robot listens to no heartbeat
        }
        let third = deadman_ms.checked_div(3).unwrap_or(0);
        self.heartbeat = Heartbeat {
            due: now.plus_ms(third.max(HEARTBEAT_MS_MIN)),
            outbox: input.outbox,
        };
        out.send(SafetyOut::Heartbeat { call });
    }

    fn set_run(&mut self, now: Mono, to: RunState, cause: Option<StopCause>, out: &mut TickOut) {
        let from = self.run;
        if from != to {
            self.run = to;
            out.event(now, SafetyEventKind::State { from, to, cause });
        }
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
