//! Time as a port: monotonic time for every interval, wall time for records only.

use std::fmt;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A point on the monotonic clock, in nanoseconds since an origin that the process chose.
///
/// Arithmetic saturates: a time beyond the end of the clock is the end of the clock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Mono(u64);

impl Mono {
    /// The origin of the clock.
    pub const ZERO: Self = Self(0);

    /// Makes the point `ns` nanoseconds after the origin.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Makes the point `ms` milliseconds after the origin.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// Returns nanoseconds since the origin.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Returns whole milliseconds since the origin.
    pub const fn as_ms(self) -> u64 {
        self.0 / 1_000_000
    }

    /// Returns the point `ms` milliseconds later.
    #[must_use]
    pub const fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms.saturating_mul(1_000_000)))
    }

    /// Returns the whole milliseconds from `earlier` to here, 0 when `earlier` is later.
    pub const fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0) / 1_000_000
    }

    /// Returns the time from `earlier` to here, zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

/// The clocks of the process. Real in `app`, manual in tests and in the mock bridge.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Returns the monotonic time: never goes back, unaffected by changes of the wall clock.
    fn now(&self) -> Mono;

    /// Returns the wall time, for records only: it may jump.
    fn wall(&self) -> SystemTime;
}
