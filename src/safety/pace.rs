//! The pace of the tick itself, and of the thread that sends.

use super::{SafetyPlan, TickOut};
use crate::terms::{Mono, SafetyEventKind};

/// Late ticks within the window that count as overload.
const LATE_TICKS: usize = 3;
/// The window, ms.
const LATE_WINDOW_MS: u64 = 10_000;
/// After an overload nothing is armed until the pace was kept for this long, ms.
const CLEAN_MS: u64 = 30_000;

/// Watches whether ticks come in time.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub(super) struct Pace {
    tick_ms: u64,
    jitter_ms: u64,
    lockup_ms: u64,
    due: Option<Mono>,
    late: heapless::Deque<Mono, LATE_TICKS>,
    overloaded: bool,
    /// Whether the latest tick made it so.
    overload: bool,
    sender: (u64, Mono),
}

impl Pace {
    pub(super) fn new(plan: &SafetyPlan) -> Self {
        Self {
            tick_ms: u64::from(plan.tick_ms.max(1)),
            jitter_ms: u64::from(plan.jitter_ms),
            lockup_ms: u64::from(plan.lockup_ms),
            due: None,
            late: heapless::Deque::new(),
            overloaded: false,
            overload: false,
            sender: (0, Mono::ZERO),
        }
    }

    /// Notes a tick. A tick before its time, after a wake-up, leaves the rhythm as it is.
    pub(super) fn tick(&mut self, now: Mono, out: &mut TickOut) {
        self.overload = false;
        let due = *self.due.get_or_insert(now);
        if now < due {
            return;
        }
        self.due = Some(now.plus_ms(self.tick_ms));
        let late_ms = now.ms_since(due);
        if late_ms <= self.jitter_ms {
            return;
        }
        out.event(SafetyEventKind::LateTick {
            late_ms: u32::try_from(late_ms).unwrap_or(u32::MAX),
        });
        if self.late.is_full() {
            self.late.pop_front();
        }
        // There is room: one was taken out.
        let full = self.late.push_back(now).is_ok() && self.late.is_full();
        let first = self.late.front().copied().unwrap_or(now);
        let overload = full && now.ms_since(first) <= LATE_WINDOW_MS;
        self.overloaded |= overload;
        // One tick as late as a lock-up is reason enough: nobody watched the robot meanwhile.
        self.overload = overload || late_ms >= self.lockup_ms;
    }

    /// Returns whether the latest tick was the third late one within ten seconds, or as late as a
    /// lock-up.
    pub(super) fn overload(&self) -> bool {
        self.overload
    }

    /// Returns whether the pace was lost and not yet kept again for long enough.
    pub(super) fn overloaded(&self, now: Mono) -> bool {
        let last = self.late.back().copied().unwrap_or(Mono::ZERO);
        self.overloaded && now.ms_since(last) < CLEAN_MS
    }

    pub(super) fn due(&self) -> Mono {
        self.due.unwrap_or(Mono::ZERO)
    }

    /// Begins to watch the sending thread.
    pub(super) fn watch_sender(&mut self, now: Mono, rounds: u64) {
        self.sender = (rounds, now);
    }

    /// Returns whether the sending thread made no round for too long.
    pub(super) fn sender_stuck(&mut self, now: Mono, rounds: u64) -> bool {
        let (last, since) = self.sender;
        if rounds != last {
            self.sender = (rounds, now);
            return false;
        }
        now.ms_since(since) >= self.lockup_ms.saturating_mul(2)
    }
}

#[cfg(test)]
impl Pace {
    /// Writes what of it can still matter into `to`; `rounds` of the sending thread while they are
    /// watched. A late tick that left the window no longer counts.
    pub(super) fn shape(&self, now: Mono, rounds: Option<u64>, to: &mut Vec<u64>) {
        use super::core::{age, left};
        let window = if self.overloaded {
            CLEAN_MS
        } else {
            LATE_WINDOW_MS
        };
        let ages = self
            .late
            .iter()
            .map(|at| age(now, *at, window.saturating_add(1)));
        let before = to.len();
        to.extend(ages.filter(|age| *age <= window));
        to.push(u64::try_from(to.len().saturating_sub(before)).unwrap_or(u64::MAX));
        to.push(u64::from(self.overloaded));
        to.push(left(now, self.due()));
        if let Some(rounds) = rounds {
            let (last, since) = self.sender;
            to.push(u64::from(last == rounds));
            to.push(age(now, since, self.lockup_ms.saturating_mul(2)));
        }
    }
}
