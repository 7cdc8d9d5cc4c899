//! The clocks of the machine. The only place that reads them.

use std::time::{Instant, SystemTime};

use crate::terms::{Clock, Mono};

/// Monotonic time since this clock was made, and the wall time of the machine.
#[derive(Debug)]
pub(super) struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// Starts the clock.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Clock of the machine"
    )]
    pub(super) fn start() -> Self {
        Self {
            origin: Instant::now(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Mono {
        // 2^64 ns are 584 years.
        Mono::from_ns(u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the Clock of the machine"
    )]
    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}
