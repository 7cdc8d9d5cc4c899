//! A clock that goes on only when told to: equal runs take equal times.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::terms::{Clock, Mono};

/// The wall time at the origin, s since 1970: 2026-01-01. Any would do, as long as it is always
/// the same.
const WALL_AT_ZERO_S: u64 = 1_767_225_600;

/// A virtual clock. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    /// Returns the wall time at the origin of the clock.
    pub fn wall_at_zero() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(WALL_AT_ZERO_S)
    }

    /// Goes on to `now`. A time that has passed changes nothing.
    pub fn go_to(&self, now: Mono) {
        self.0.fetch_max(now.as_ns(), Ordering::AcqRel);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Mono {
        Mono::from_ns(self.0.load(Ordering::Acquire))
    }

    fn wall(&self) -> SystemTime {
        let since = self.now().since(Mono::ZERO);
        let zero = Self::wall_at_zero();
        zero.checked_add(since).unwrap_or(zero)
    }
}
