//! A clock that goes on only when told to: equal runs take equal times.

use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::AtomicI64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::terms::{Clock, Mono};

/// The wall time at the origin, s since 1970: 2026-01-01. Any would do, as long as it is always
/// the same.
const WALL_AT_ZERO_S: u64 = 1_767_225_600;

/// A virtual clock. Clones show the same time.
#[derive(Debug, Clone, Default)]
pub struct VirtualClock(Arc<Hands>);

#[derive(Debug, Default)]
struct Hands {
    now_ns: AtomicU64,
    /// By how much somebody set the wall time, s.
    #[cfg(test)]
    set_by_s: AtomicI64,
}

impl VirtualClock {
    /// Returns the wall time at the origin of the clock.
    pub fn wall_at_zero() -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(WALL_AT_ZERO_S)
    }

    /// Sets the wall time by so many seconds from what it would be. Nothing else notices.
    #[cfg(test)]
    pub(crate) fn set_wall_by_s(&self, by_s: i64) {
        self.0.set_by_s.store(by_s, Ordering::Release);
    }

    /// Returns what the clock shows where it would show `wall`.
    #[cfg(test)]
    fn as_set(&self, wall: SystemTime) -> SystemTime {
        let by_s = self.0.set_by_s.load(Ordering::Acquire);
        let by = Duration::from_secs(by_s.unsigned_abs());
        if by_s < 0 { wall - by } else { wall + by }
    }

    #[cfg(not(test))]
    fn as_set(&self, wall: SystemTime) -> SystemTime {
        wall
    }

    /// Goes on to `now`. A time that has passed changes nothing.
    pub fn go_to(&self, now: Mono) {
        self.0.now_ns.fetch_max(now.as_ns(), Ordering::AcqRel);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Mono {
        Mono::from_ns(self.0.now_ns.load(Ordering::Acquire))
    }

    fn wall(&self) -> SystemTime {
        let since = self.now().since(Mono::ZERO);
        let zero = Self::wall_at_zero();
        self.as_set(zero.checked_add(since).unwrap_or(zero))
    }
}
