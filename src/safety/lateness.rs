//! How late the ticks come, counted into buckets: atomics only, read by whoever asks.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the buckets, µs; what is later goes into one more. Chosen: from the wake-up of an
/// idle machine to the lateness at which a board file's `jitter_ms` begins.
pub const LATENESS_BOUNDS_US: [u64; 7] = [100, 1_000, 2_000, 5_000, 10_000, 50_000, 500_000];

/// Ticks by how late they came. Only the safety thread counts; a reader may see a tick in its bucket
/// before it sees it in the sum.
#[derive(Debug, Default)]
pub struct Lateness {
    buckets: [AtomicU64; LATENESS_BOUNDS_US.len()],
    beyond: AtomicU64,
    sum_ns: AtomicU64,
}

/// What was counted so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LatenessCounts {
    /// Ticks in each bucket of [`LATENESS_BOUNDS_US`], each counted once.
    pub buckets: [u64; LATENESS_BOUNDS_US.len()],
    /// Ticks later than the last bound.
    pub beyond: u64,
    /// The lateness of all of them together.
    pub sum: Duration,
}

impl Lateness {
    /// Counts one tick that came `late` after it was due.
    pub(super) fn count(&self, late: Duration) {
        let us = u64::try_from(late.as_micros()).unwrap_or(u64::MAX);
        let bounded = LATENESS_BOUNDS_US.iter().zip(&self.buckets);
        let bucket = bounded
            .into_iter()
            .find(|(bound, _)| us <= **bound)
            .map_or(&self.beyond, |(_, bucket)| bucket);
        bucket.fetch_add(1, Ordering::Relaxed);
        let ns = u64::try_from(late.as_nanos()).unwrap_or(u64::MAX);
        self.sum_ns.fetch_add(ns, Ordering::Relaxed);
    }

    /// Returns what was counted so far.
    pub fn counts(&self) -> LatenessCounts {
        LatenessCounts {
            buckets: std::array::from_fn(|nth| {
                let bucket = self.buckets.get(nth);
                bucket.map_or(0, |bucket| bucket.load(Ordering::Relaxed))
            }),
            beyond: self.beyond.load(Ordering::Relaxed),
            sum: Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tick_is_in_one_bucket_and_a_bound_belongs_to_its_own() {
        let lateness = Lateness::default();
        for us in [0, 100, 101, 5_000, 500_000, 500_001] {
            lateness.count(Duration::from_micros(us));
        }
        let counts = lateness.counts();
        assert_eq!(counts.buckets, [2, 1, 0, 1, 0, 0, 1]);
        assert_eq!(counts.beyond, 1);
        assert_eq!(counts.sum, Duration::from_micros(1_005_202));
    }
}
