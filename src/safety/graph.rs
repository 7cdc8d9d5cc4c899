//! The timer of the dataflow, as a sign that somebody still tells of nodes that fail.
//!
//! dora's coordinator drives the timers. When it is gone they stand still within a second and no event
//! says so; messages between nodes go on, but nobody tells any more that a node failed. So a timer that
//! stands still forbids new motion. It ends none, for the robot can still be reached and stopped, and it
//! never arms or moves anything. A dataflow that gives this node no timer has no such check.
//!
//! One receiving thread writes; the tick and the gate read. Of the two times the later one is stored
//! last and loaded first, so that a reader in between sees the pair as older than it is, never as newer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::terms::{GraphTimer, Mono};

/// So many ticks must be missed. Source: the failure table of the design.
const MISSED_TICKS: u32 = 3;
/// Silence shorter than this is no loss, however fast the timer: a loaded board is late by as much.
/// Chosen, not measured.
const LOST_AFTER_MIN: Duration = Duration::from_secs(1);
/// Ticks must have come for so long without a loss before motion is admitted again. Source: the failure
/// table. A coordinator that comes back sends a burst of ticks first: it proves nothing.
const STEADY_FOR: Duration = Duration::from_secs(10);

/// The atomics of the timer.
#[derive(Debug, Default)]
pub(super) struct GraphTicks {
    /// The silence that is a loss, ns; 0 when the dataflow gives no timer.
    lost_after: AtomicU64,
    /// When the latest tick arrived, or the watch began, ns.
    last: AtomicU64,
    /// When the first tick after the latest loss arrived, ns; 0 before the first loss.
    back: AtomicU64,
}

impl GraphTicks {
    /// Begins the watch of a timer with this period: the first tick is due a period from `now`.
    pub(super) fn watch(&self, every: Duration, now: Mono) {
        let lost_after = every.saturating_mul(MISSED_TICKS).max(LOST_AFTER_MIN);
        self.last.store(now.as_ns(), Ordering::SeqCst);
        let lost_after = u64::try_from(lost_after.as_nanos()).unwrap_or(u64::MAX);
        self.lost_after.store(lost_after, Ordering::SeqCst);
    }

    /// Notes a tick.
    pub(super) fn note(&self, now: Mono) {
        if self.seen().is_silent(now) {
            // A loss takes more than a second, so this is never the origin of the clock.
            self.back.store(now.as_ns(), Ordering::SeqCst);
        }
        self.last.store(now.as_ns(), Ordering::SeqCst);
    }

    /// Takes a reading.
    pub(super) fn seen(&self) -> GraphSeen {
        let last = Mono::from_ns(self.last.load(Ordering::SeqCst));
        let back = self.back.load(Ordering::SeqCst);
        GraphSeen {
            lost_after: Duration::from_nanos(self.lost_after.load(Ordering::SeqCst)),
            last,
            back: (back != 0).then(|| Mono::from_ns(back)),
        }
    }
}

/// A reading of the timer at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphSeen {
    lost_after: Duration,
    last: Mono,
    back: Option<Mono>,
}

impl GraphSeen {
    /// Returns how the timer stands at `now`.
    pub fn at(&self, now: Mono) -> GraphTimer {
        if self.is_silent(now) {
            return GraphTimer::Silent {
                ms: now.ms_since(self.last),
            };
        }
        match self.back {
            Some(back) if self.last.since(back) < STEADY_FOR => GraphTimer::Back {
                ms: self.last.ms_since(back),
                of_ms: u64::try_from(STEADY_FOR.as_millis()).unwrap_or(u64::MAX),
            },
            Some(_) | None => GraphTimer::Ticks,
        }
    }

    fn is_silent(&self, now: Mono) -> bool {
        !self.lost_after.is_zero() && now.since(self.last) > self.lost_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_secs(1);

    fn watched() -> GraphTicks {
        let ticks = GraphTicks::default();
        ticks.watch(EVERY, Mono::ZERO);
        ticks
    }

    fn at(ticks: &GraphTicks, ms: u64) -> GraphTimer {
        ticks.seen().at(Mono::from_ms(ms))
    }

    #[test]
    fn case_38_two_missed_ticks_are_none_and_three_are_a_loss() {
        let ticks = watched();
        assert_eq!(at(&ticks, 3_000), GraphTimer::Ticks, "the first are due");
        for ms in [1_000, 2_000] {
            ticks.note(Mono::from_ms(ms));
        }
        assert_eq!(at(&ticks, 5_000), GraphTimer::Ticks);
        assert_eq!(at(&ticks, 5_001), GraphTimer::Silent { ms: 3_001 });
        ticks.note(Mono::from_ms(5_000));
        assert_eq!(at(&ticks, 5_001), GraphTimer::Ticks);
    }

    #[test]
    fn case_38_a_timer_that_never_ticked_is_a_loss() {
        assert_eq!(at(&watched(), 3_001), GraphTimer::Silent { ms: 3_001 });
    }

    #[test]
    fn case_38_a_burst_proves_nothing_and_ten_seconds_of_ticks_do() {
        let ticks = watched();
        for _ in 0..40 {
            ticks.note(Mono::from_ms(60_000));
        }
        for second in 60..70 {
            ticks.note(Mono::from_ms(second * 1_000));
            let back = GraphTimer::Back {
                ms: (second - 60) * 1_000,
                of_ms: 10_000,
            };
            assert_eq!(at(&ticks, second * 1_000), back);
        }
        assert_ne!(
            at(&ticks, 71_000),
            GraphTimer::Ticks,
            "nine seconds of ticks"
        );
        ticks.note(Mono::from_ms(70_000));
        assert_eq!(at(&ticks, 70_000), GraphTimer::Ticks);
    }

    #[test]
    fn case_38_a_second_loss_begins_the_ten_seconds_anew() {
        let ticks = watched();
        for ms in [10_000, 12_000, 14_000, 17_500] {
            ticks.note(Mono::from_ms(ms));
        }
        let back = GraphTimer::Back {
            ms: 0,
            of_ms: 10_000,
        };
        assert_eq!(at(&ticks, 17_500), back);
    }

    #[test]
    fn case_38_without_a_timer_there_is_no_loss() {
        let ticks = GraphTicks::default();
        assert_eq!(at(&ticks, 3_600_000), GraphTimer::Ticks);
        ticks.note(Mono::from_ms(1));
        assert_eq!(at(&ticks, 7_200_000), GraphTimer::Ticks);
    }

    #[test]
    fn a_fast_timer_is_lost_after_a_second_and_a_slow_one_after_three_of_its_periods() {
        for (every_ms, lost_after_ms) in [(1, 1_000), (100, 1_000), (500, 1_500), (60_000, 180_000)]
        {
            let ticks = GraphTicks::default();
            ticks.watch(Duration::from_millis(every_ms), Mono::ZERO);
            assert_eq!(at(&ticks, lost_after_ms), GraphTimer::Ticks, "{every_ms}");
            assert_ne!(at(&ticks, lost_after_ms + 1), GraphTimer::Ticks);
        }
    }
}
