//! What of latch and marker lies on disk, kept in step with the run state.
//!
//! Two threads write here: the operator's (before an arm, before a reset) and the keeper's (after a
//! latch, after a disarm). One lock keeps them apart, so that a late note of an earlier disarm cannot
//! remove the mark of the arming that came after it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use crate::app::state::StateFiles;
use crate::safety::{Latch, Links};
#[cfg(feature = "dora")]
use crate::terms::FactClass;
use crate::terms::{Fact, FactSink, RunState, StopCause, StopKind};

/// The files of latch and marker.
#[derive(Debug, Clone)]
pub(in crate::app) struct Desk {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    files: Mutex<StateFiles>,
    links: Links,
    sink: Arc<dyn FactSink>,
    /// Whether the latch in memory is also on disk.
    persisted: AtomicBool,
    /// The epoch whose latch was reset last, plus one; 0 before the first reset.
    reset: AtomicU64,
}

impl Desk {
    pub(in crate::app) fn new(files: StateFiles, links: Links, sink: Arc<dyn FactSink>) -> Self {
        let persisted = AtomicBool::new(files.latched().is_some());
        Self {
            inner: Arc::new(Inner {
                files: Mutex::new(files),
                links,
                sink,
                persisted,
                reset: AtomicU64::new(0),
            }),
        }
    }

    /// Runs `arm` after the marker is on disk; takes the marker back when the arming failed and the
    /// robot is not armed.
    pub(in crate::app) fn while_marked<T>(
        &self,
        who: &str,
        arm: impl FnOnce() -> Result<T, Vec<String>>,
    ) -> Result<T, Vec<String>> {
        let files = self.files();
        let was_marked = files.unclean();
        if !was_marked {
            files
                .mark_armed(who)
                .map_err(|error| vec![format!("marker on disk: {error}")])?;
        }
        let armed = arm();
        if armed.is_err() && !was_marked && self.inner.links.shared.run() != RunState::Armed {
            self.unmark(&files);
        }
        armed
    }

    /// Runs `reset` after the latch is gone from the disk; puts it back when the reset failed.
    pub(in crate::app) fn while_cleared<T>(
        &self,
        reset: impl FnOnce() -> Result<T, Vec<String>>,
    ) -> Result<T, Vec<String>> {
        let files = self.files();
        if let Err(error) = files.clear_latch() {
            // The file may be gone all the same, and this robot stays latched.
            self.inner.persisted.store(false, Ordering::Release);
            self.write_latch(&files);
            return Err(vec![format!("latch on disk: {error}")]);
        }
        let epoch = self.latch().word().epoch;
        let done = reset();
        if done.is_err() {
            self.write_latch(&files);
        } else {
            self.inner.persisted.store(false, Ordering::Release);
            let reset = u64::from(epoch).saturating_add(1);
            self.inner.reset.store(reset, Ordering::Release);
        }
        done
    }

    /// Notes whether the black box can be written. While it cannot, the tick stops what may move, and
    /// nobody arms.
    #[cfg(feature = "dora")]
    pub(in crate::app) fn note_black_box(&self, healthy: bool) {
        self.inner.links.shared.note_records(healthy);
    }

    /// Notes that facts had to be dropped because their queue was full: of the safety class, which
    /// latches the robot, or of the audit class, which stops it when it moves.
    #[cfg(feature = "dora")]
    pub(in crate::app) fn note_dropped(&self, class: FactClass) {
        let moves = self.inner.links.shared.run() == RunState::Moving;
        match class {
            FactClass::Safety => {
                self.latch().ask(StopKind::Estop, StopCause::Blackbox);
            }
            FactClass::Audit if moves => {
                self.latch().ask(StopKind::Stop, StopCause::Blackbox);
            }
            FactClass::Audit | FactClass::Trace => {}
        }
    }

    /// Tries again to write a latch that the disk has not taken yet.
    pub(in crate::app) fn keep_up(&self, now: SystemTime) {
        if self.inner.links.shared.run() == RunState::Latched && !self.is_persisted() {
            let files = self.files();
            self.write_latch_at(&files, now);
        }
    }

    /// Follows a change of the run state.
    pub(in crate::app) fn follow(&self, to: RunState, now: SystemTime) {
        match to {
            RunState::Latched => {
                let files = self.files();
                self.write_latch_at(&files, now);
            }
            RunState::Disarmed => {
                let files = self.files();
                self.unmark_if_disarmed(&files);
            }
            RunState::Boot
            | RunState::Armed
            | RunState::Moving
            | RunState::Stopping
            | RunState::Stopped
            | RunState::Fault => {}
        }
    }

    /// Returns what the last stop was; `None` before the first. A latched robot's is an estop, also once
    /// it is reset, until the next stop.
    pub(in crate::app) fn last_stop(&self) -> Option<StopKind> {
        let word = self.latch().word();
        let reset = self.inner.reset.load(Ordering::Acquire);
        word.cause?;
        if word.estop || u64::from(word.epoch).saturating_add(1) == reset {
            Some(StopKind::Estop)
        } else {
            Some(StopKind::Stop)
        }
    }

    /// Returns whether the latch is on disk.
    pub(in crate::app) fn is_persisted(&self) -> bool {
        self.inner.persisted.load(Ordering::Acquire)
    }

    fn files(&self) -> std::sync::MutexGuard<'_, StateFiles> {
        self.inner
            .files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn latch(&self) -> &Latch {
        &self.inner.links.latch
    }

    fn unmark_if_disarmed(&self, files: &StateFiles) {
        if self.inner.links.shared.run() == RunState::Disarmed {
            self.unmark(files);
        }
    }

    fn unmark(&self, files: &StateFiles) {
        if let Err(error) = files.clear_armed() {
            tracing::error!(%error, "the marker of an armed robot could not be removed");
        }
    }

    fn write_latch(&self, files: &StateFiles) {
        self.write_latch_at(files, SystemTime::UNIX_EPOCH);
    }

    fn write_latch_at(&self, files: &StateFiles, now: SystemTime) {
        let word = self.latch().word();
        let cause = word.cause.unwrap_or(StopCause::InternalFault);
        let at_unix_s = now
            .duration_since(SystemTime::UNIX_EPOCH)
            .map_or(0, |t| t.as_secs());
        match files.persist_latch(cause, word.epoch, at_unix_s) {
            Ok(()) => {
                self.inner.persisted.store(true, Ordering::Release);
                self.inner.sink.raise(Fact::LatchPersisted { cause });
            }
            Err(error) => tracing::error!(%error, "the latch could not be written to disk"),
        }
    }
}
