//! The lease of one motion call: it lives on proof of progress, and once lapsed it never lives again.

use super::{CallNote, TickInput};
use crate::terms::{ActuationCmd, ElevationId, LeaseTerms, Mono, StopCause};

/// Counters whose movement is the proof of progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Progress {
    polls: u32,
    spine: u64,
}

/// The lease of the call that moves the robot.
#[derive(Debug, Clone)]
pub(super) struct Lease {
    terms: LeaseTerms,
    /// Index of the tool whose call it is.
    pub(super) tool: u16,
    deadline: Mono,
    began: Mono,
    renewed: Mono,
    looked: Mono,
    /// The latest command of a hold.
    repeated: Mono,
    progress: Progress,
    lapsed: bool,
    /// States received before the latest command.
    states: u32,
}

impl Lease {
    /// Begins the lease of the call of `cmd`.
    pub(super) fn begin(now: Mono, cmd: &ActuationCmd, input: &TickInput) -> Self {
        Self {
            terms: cmd.lease,
            tool: cmd.tool,
            deadline: cmd.deadline,
            began: now,
            renewed: now,
            looked: now,
            repeated: now,
            progress: Progress {
                polls: input.call.polls,
                spine: input.spine,
            },
            lapsed: false,
            states: input.seen.states,
        }
    }

    pub(super) fn call(&self) -> u64 {
        self.terms.call
    }

    pub(super) fn elevation(&self) -> Option<ElevationId> {
        self.terms.elevation
    }

    /// Looks for progress. Both counters must have moved since the last renewal: a future that is
    /// polled beside a blocked spine proves as little as a spine that runs beside a stuck future.
    pub(super) fn look(&mut self, now: Mono, note: CallNote, spine: u64) {
        self.lapsed |= now >= self.lost_at();
        if self.lapsed || now < self.looked.plus_ms(u64::from(self.terms.renew_ms)) {
            return;
        }
        self.looked = now;
        if note.polls != self.progress.polls && spine != self.progress.spine {
            self.progress = Progress {
                polls: note.polls,
                spine,
            };
            self.renewed = now;
        }
    }

    /// Returns why the motion must end now, `None` while it may go on. Lost beats late: after a
    /// freeze both are true.
    pub(super) fn ended_by(&self, now: Mono) -> Option<StopCause> {
        if self.lapsed || now >= self.lost_at() {
            return Some(StopCause::LeaseLost);
        }
        let held_until = self.repeated.plus_ms(u64::from(self.terms.hold_ms));
        let hold_over = self.terms.hold_ms != 0 && now >= held_until;
        let over = now >= self.deadline || now >= self.hard_end() || hold_over;
        over.then_some(StopCause::Deadline)
    }

    /// Notes one more command of a hold.
    pub(super) fn repeat(&mut self, now: Mono, states: u32) {
        self.repeated = now;
        self.states = states;
    }

    /// Returns whether a state arrived since the latest command: an older one says nothing about
    /// what came of it.
    pub(super) fn seen_since(&self, states: u32) -> bool {
        states != self.states
    }

    /// Returns until when it lives without renewal.
    pub(super) fn until(&self) -> Mono {
        if self.lapsed {
            Mono::ZERO
        } else {
            self.lost_at().min(self.hard_end())
        }
    }

    /// Returns whether it lives.
    pub(super) fn lives(&self, now: Mono) -> bool {
        now < self.until()
    }

    fn lost_at(&self) -> Mono {
        self.renewed.plus_ms(u64::from(self.terms.lost_after_ms))
    }

    fn hard_end(&self) -> Mono {
        self.began.plus_ms(u64::from(self.terms.hard_max_ms))
    }
}

#[cfg(test)]
impl Lease {
    /// Writes what of it can still matter into `to`.
    pub(super) fn shape(&self, input: &TickInput, to: &mut Vec<u64>) {
        use super::core::{age, left};
        let (now, terms) = (input.now, &self.terms);
        to.extend([
            u64::from(terms.hold_ms),
            left(now, self.deadline),
            age(now, self.began, u64::from(terms.hard_max_ms)),
            age(now, self.renewed, u64::from(terms.lost_after_ms)),
            age(now, self.looked, u64::from(terms.renew_ms)),
            age(now, self.repeated, u64::from(terms.hold_ms)),
            u64::from(self.progress.polls == input.call.polls),
            u64::from(self.progress.spine == input.spine),
            u64::from(self.lapsed),
            u64::from(self.states == input.seen.states),
            u64::from(terms.elevation.is_some()),
            u64::from(input.lowered),
        ]);
    }
}
