//! Distributions, and a sampler that measures two things in turns.
//!
//! Whatever else the machine does then falls on both, which is what makes a ratio worth something.

use std::time::{Duration, Instant};

/// Measured values, sorted.
#[derive(Debug, Clone)]
pub(crate) struct Dist(Vec<f64>);

impl Dist {
    /// Takes values of one unit.
    pub(crate) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// Returns the value below which `share` of all lie, 0 to 1.
    pub(crate) fn at(&self, share: f64) -> f64 {
        let below = |index: usize| (index as f64) < share * self.0.len() as f64;
        let last = self.0.last().copied().unwrap_or(f64::NAN);
        let place = (0..self.0.len()).take_while(|index| below(*index)).last();
        place
            .and_then(|index| self.0.get(index).copied())
            .unwrap_or(last)
    }

    /// Returns the median.
    pub(crate) fn p50(&self) -> f64 {
        self.at(0.5)
    }

    /// Returns the 99th percentile.
    pub(crate) fn p99(&self) -> f64 {
        self.at(0.99)
    }

    /// Returns the largest value.
    pub(crate) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }

    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }
}

/// A duration in nanoseconds.
pub(crate) fn ns(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// A duration in microseconds.
pub(crate) fn us(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A duration in milliseconds.
pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// How much to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Batches {
    /// Batches of each side.
    pub(crate) count: u32,
    /// Operations in a batch.
    pub(crate) ops: u32,
}

/// Measures two operations in alternating batches. Returns ns per operation of each.
pub(crate) fn in_turns(
    batches: Batches,
    mut one: impl FnMut(),
    mut other: impl FnMut(),
) -> (Dist, Dist) {
    let (mut ones, mut others) = (Vec::new(), Vec::new());
    // The first tenth warms caches and predictors and is not kept.
    let warm = batches.count / 10;
    for batch in 0..batches.count + warm {
        let a = per_op(batches.ops, &mut one);
        let b = per_op(batches.ops, &mut other);
        if batch >= warm {
            ones.push(a);
            others.push(b);
        }
    }
    (Dist::of(ones), Dist::of(others))
}

fn per_op(ops: u32, op: &mut impl FnMut()) -> f64 {
    let began = Instant::now();
    for _ in 0..ops {
        op();
    }
    ns(began.elapsed()) / f64::from(ops)
}
