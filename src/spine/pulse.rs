//! The proof that the spine is alive.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;

/// Counts iterations, and waits for the robot's states, which drive them.
#[derive(Debug)]
pub(super) struct Pulse {
    states: Option<watch::Receiver<u64>>,
    progress: Arc<AtomicU64>,
}

impl Pulse {
    pub(super) fn new(states: watch::Receiver<u64>, progress: Arc<AtomicU64>) -> Self {
        Self {
            states: Some(states),
            progress,
        }
    }

    /// Counts one iteration.
    pub(super) fn beat(&self) {
        self.progress.fetch_add(1, Ordering::Release);
    }

    /// Waits for the next state of the robot; for ever when there will be none. Nothing is lost
    /// when the wait is dropped.
    pub(super) async fn state(&mut self) {
        if let Some(states) = &mut self.states
            && states.changed().await.is_ok()
        {
            return;
        }
        self.states = None;
        std::future::pending().await
    }

    /// Waits for `work` and goes on iterating meanwhile.
    pub(super) async fn attend<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                biased;
                result = &mut work => {
                    self.beat();
                    return result;
                }
                () = self.state() => self.beat(),
            }
        }
    }
}
