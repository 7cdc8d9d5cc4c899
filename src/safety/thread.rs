//! The safety thread, and the supervisor that watches it. Both are plain threads that `app` owns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{SafetyStep, Shared};
use crate::terms::Clock;

/// Looks without progress, one after the other, that make a lock-up. Looks are counted instead of
/// time because a process that was frozen as a whole is not locked up.
const LOOKS: u32 = 8;

/// Runs rounds on this thread until `ending` is set, woken early by the latch, then one more: what
/// was asked for before `ending` was set is carried out and recorded, an estop of the last moment too.
pub fn run_safety(mut step: SafetyStep, clock: &dyn Clock, ending: &AtomicBool) {
    step.links().latch.register(&thread::current());
    loop {
        // Read before the round: what came before the word is then in it.
        let last = ending.load(Ordering::SeqCst);
        let due = step.step(clock.now());
        if last {
            return;
        }
        thread::park_timeout(due.since(clock.now()));
    }
}

/// Watches the progress of the safety thread.
#[derive(Debug)]
pub struct Supervisor {
    shared: Arc<Shared>,
    last: u64,
    looks: u32,
}

impl Supervisor {
    /// Makes the supervisor.
    pub fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            last: 0,
            looks: 0,
        }
    }

    /// Looks once. Returns whether eight looks in a row saw no progress.
    pub fn look(&mut self) -> bool {
        let progress = self.shared.safety_progress();
        self.looks = if progress == self.last {
            self.looks.saturating_add(1)
        } else {
            0
        };
        self.last = progress;
        self.looks >= LOOKS
    }

    /// Looks on this thread until `ending` is set or the safety thread is locked up for
    /// `lockup_ms`; then calls `on_lockup` once and returns.
    pub fn run(mut self, lockup_ms: u32, ending: &AtomicBool, on_lockup: impl FnOnce()) {
        let looks = u64::from(LOOKS);
        let period_ms = u64::from(lockup_ms).checked_div(looks).unwrap_or(0).max(1);
        while !ending.load(Ordering::SeqCst) {
            if self.look() {
                return on_lockup();
            }
            thread::park_timeout(Duration::from_millis(period_ms));
        }
    }
}
