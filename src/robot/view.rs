//! What the rest of the runtime sees of the robot: its latest state and its safety events.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use crate::terms::{Mono, Reading};

/// Safety events that are kept; older ones are forgotten, and the gap shows in the numbers.
pub const NOTES_MAX: usize = 128;

/// The robot's latest state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateView {
    /// Counts the states received in this life, from 1.
    pub seq: u64,
    /// The state, at most 64 KiB of text.
    pub state: Arc<Value>,
    /// When it arrived, and what the gate judges of it.
    pub reading: Reading,
    /// Whether it says that the robot stands still.
    pub still: bool,
}

impl StateView {
    /// Returns its age, ms.
    pub fn age_ms(&self, now: Mono) -> u64 {
        now.ms_since(self.reading.at)
    }
}

/// One safety event of the robot.
#[derive(Debug, Clone, PartialEq)]
pub struct SafetyNote {
    /// Our own number, from 1, without gaps.
    pub seq: u64,
    /// When it arrived.
    pub at: Mono,
    /// The robot's number, when it gave one.
    pub robot_seq: Option<u64>,
    /// What happened, cut to 80 characters.
    pub what: String,
    /// How many events of the robot are missing before this one, by its numbers.
    pub missed_before: u64,
    /// The whole event, at most 16 KiB of text.
    pub event: Arc<Value>,
}

/// Channels from the receiving thread to the async side.
#[derive(Debug)]
pub(super) struct Views {
    pub(super) state: watch::Sender<Option<StateView>>,
    pub(super) changes: watch::Sender<u64>,
    pub(super) pulse: watch::Sender<Mono>,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    last: u64,
    kept: VecDeque<SafetyNote>,
}

impl Default for Views {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(None),
            changes: watch::Sender::new(0),
            pulse: watch::Sender::new(Mono::ZERO),
            notes: Mutex::default(),
        }
    }
}

impl Views {
    /// Publishes a state, then wakes whoever waits for states.
    pub(super) fn publish(&self, view: StateView) {
        let seq = view.seq;
        self.state.send_replace(Some(view));
        self.changes.send_replace(seq);
    }

    /// Keeps a safety event; gives it our own number.
    pub(super) fn keep(&self, note: SafetyNote) {
        let mut notes = self.notes();
        notes.last = notes.last.saturating_add(1);
        let seq = notes.last;
        if notes.kept.len() >= NOTES_MAX {
            notes.kept.pop_front();
        }
        notes.kept.push_back(SafetyNote { seq, ..note });
    }

    /// Returns the kept safety events above `since`, oldest first.
    pub(super) fn since(&self, since: u64) -> Vec<SafetyNote> {
        let notes = self.notes();
        let newer = notes.kept.iter().filter(|note| note.seq > since);
        newer.cloned().collect()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes the calls that wait, so that they look at the clock and at the run state.
///
/// Nothing here owns a timer: on a robot `app` beats every 10 to 20 ms, in a rehearsal the driver of
/// the virtual clock does after each tick. A beat is no proof of progress: it renews no lease.
#[derive(Debug, Clone)]
pub struct Pulse(pub(super) Arc<Views>);

impl Pulse {
    /// Beats once.
    pub fn beat(&self, now: Mono) {
        self.0.pulse.send_replace(now);
    }
}
