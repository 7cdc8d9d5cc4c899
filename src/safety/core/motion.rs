//! What begins and prolongs a motion, and the heartbeats beside it.

use super::{Core, Heartbeat, Pass};
use crate::safety::lease::Lease;
use crate::safety::{DEADMAN_MS_MIN, SafetyOut, Seen, Signs, TickInput, TickOut};
use crate::terms::{ActuationCmd, DropCause, RunState};

/// The shortest period of heartbeats, ms.
const HEARTBEAT_MS_MIN: u64 = 50;

impl Core {
    pub(super) fn begin_motion(
        &mut self,
        input: &TickInput,
        cmd: &ActuationCmd,
        out: &mut TickOut,
    ) {
        let now = input.now;
        self.lease = Some(Lease::begin(now, cmd, input));
        self.held = true;
        self.seen_ours = false;
        self.pace.watch_sender(now, input.outbox);
        self.set_run(RunState::Moving, None, out);
        // The robot's dead-man begins with the motion: the first heartbeat goes before it.
        self.send_beat(input, cmd.lease.call, out);
    }

    pub(super) fn repeat_hold(
        &mut self,
        input: &TickInput,
        cmd: &ActuationCmd,
    ) -> Result<Pass, DropCause> {
        let now = input.now;
        let fit = self.fit_to_move(input);
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

    pub(super) fn fit_to_move(&self, input: &TickInput) -> bool {
        let (now, seen) = (input.now, &input.seen);
        let signs = seen.signs;
        input.records
            && seen.peer_up
            && seen.fresh(now, self.plan.stale_after_ms)
            && self.deadman_usable(seen)
            && now < self.armed_until
            && Signs::AGAINST_MOTION
                .into_iter()
                .all(|sign| !signs.has(sign))
    }

    pub(super) fn deadman_usable(&self, seen: &Seen) -> bool {
        match seen.deadman_ms {
            Some(0) => self.plan.waive_deadman,
            Some(ms) => ms >= DEADMAN_MS_MIN,
            None => false,
        }
    }

    /// A heartbeat is due: it leaves only with a live lease, a fresh state, a sending thread that
    /// makes rounds, and no cause of a stop in sight. A timer alone never sends one.
    pub(super) fn beat(&mut self, input: &TickInput, out: &mut TickOut) {
        let now = input.now;
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
            self.send_beat(input, call, out);
        }
    }

    pub(super) fn send_beat(&mut self, input: &TickInput, call: u64, out: &mut TickOut) {
        let now = input.now;
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
}
