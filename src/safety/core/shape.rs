//! What of a state can still matter: the walk over all states compares shapes instead of states.
//!
//! Times become ages, cut where a longer one changes nothing, or what is left of them; counters become
//! the relations in which they are used. What is set anew before it is looked at again is left out.

use super::Core;
use crate::safety::TickInput;
use crate::safety::sequence::StopRun;
use crate::terms::{Mono, RunState};

impl Core {
    /// Writes the shape of this state, beside `input`, into `to`.
    pub(in crate::safety) fn shape(&self, input: &TickInput, to: &mut Vec<u64>) {
        let now = input.now;
        let moving = self.run == RunState::Moving;
        let may_be_armed = matches!(
            self.run,
            RunState::Armed | RunState::Moving | RunState::Stopping
        );
        let idle_ms = u64::from(self.plan.idle_disarm_s).saturating_mul(1_000);
        to.extend([
            u64::from(self.run.as_u8()),
            u64::from(self.epoch == input.word.epoch),
            u64::from(self.held),
            u64::from(moving && self.seen_ours),
            if may_be_armed {
                left(now, self.armed_until)
            } else {
                0
            },
            if self.run == RunState::Armed {
                age(now, self.idle_since, idle_ms)
            } else {
                0
            },
            u64::from(self.disarm_after),
            u64::from(self.losses == input.seen.losses),
        ]);
        self.pace.shape(now, moving.then_some(input.outbox), to);
        to.push(u64::from(self.lease.is_some()));
        if let Some(lease) = &self.lease {
            lease.shape(input, to);
            to.push(left(now, self.heartbeat.due));
            to.push(u64::from(self.heartbeat.outbox == input.outbox));
        }
        to.push(u64::from(self.stop.is_some()));
        if let Some(run) = &self.stop {
            run.shape(&self.plan, input, to);
        }
    }

    /// Where it stands.
    pub(in crate::safety) fn run(&self) -> RunState {
        self.run
    }

    /// The stop that is under way.
    pub(in crate::safety) fn stop(&self) -> Option<&StopRun> {
        self.stop.as_ref()
    }
}

/// The age of `then`, ms, cut at `most`.
pub(in crate::safety) fn age(now: Mono, then: Mono, most: u64) -> u64 {
    now.ms_since(then).min(most)
}

/// What is left until `then`, ms.
pub(in crate::safety) fn left(now: Mono, then: Mono) -> u64 {
    then.ms_since(now)
}
