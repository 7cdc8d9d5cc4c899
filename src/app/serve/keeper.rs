//! The keeper: turns the small events of the safety path into facts, and keeps the disk in step.
//!
//! It may be late; nothing on the way of a stop waits for it. It also gives waiting calls their
//! pulse, so that a deadline is noticed when the robot says nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::app::parts::{Desk, Scribe};
use crate::robot::{EventTap, Names, Pulse, fact_of};
use crate::telemetry::RecorderSink;
use crate::terms::{Clock, FactClass, FactSink as _, SafetyEventKind};

/// How often it looks, ms. A queue of events holds several seconds of the worst case.
const LOOK_MS: u64 = 10;

/// The disk is looked at once in so many looks: each second.
const LOOKS_PER_DISK_LOOK: u32 = 100;

/// What the keeper works with.
pub(super) struct Keeper {
    pub(super) tap: EventTap,
    pub(super) names: Names,
    pub(super) pulse: Pulse,
    pub(super) desk: Desk,
    pub(super) sink: RecorderSink,
    pub(super) scribe: Scribe,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) looks: u32,
    /// Facts that were dropped, as far as they were heeded.
    pub(super) dropped: [(FactClass, u64); 2],
}

impl Keeper {
    /// Works on this thread until `ending` is set, then once more.
    pub(super) fn run(mut self, ending: &AtomicBool) {
        loop {
            let last = ending.load(Ordering::SeqCst);
            self.look();
            if last {
                return;
            }
            thread::park_timeout(Duration::from_millis(LOOK_MS));
        }
    }

    fn look(&mut self) {
        let (desk, sink, names) = (&self.desk, &self.sink, &self.names);
        let wall = self.clock.wall();
        self.tap.drain(|event| {
            if let Some(fact) = fact_of(event, names) {
                sink.raise(fact);
            }
            if let SafetyEventKind::State { to, .. } = event.kind {
                desk.follow(to, wall);
            }
        });
        self.pulse.beat(self.clock.now());
        self.look_at_disk(wall);
    }

    /// What the black box says is looked at each time, as it costs nothing; the disk once a second, as one
    /// that refuses is not asked more often.
    fn look_at_disk(&mut self, wall: SystemTime) {
        self.desk.note_black_box(self.sink.healthy());
        for (class, seen) in &mut self.dropped {
            let dropped = self.sink.dropped(*class);
            if std::mem::replace(seen, dropped) < dropped {
                self.desk.note_dropped(*class);
            }
        }
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS_PER_DISK_LOOK) {
            self.desk.keep_up(wall);
            self.scribe.look();
        }
    }
}
