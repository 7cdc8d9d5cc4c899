//! The thread of the black box: drains, logs, writes, syncs, and mends what the disk refused.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::thin::Thin;
use super::{Message, Queues, Raised, RecorderPlan, SAFETY_QUEUE, Shared};
use crate::telemetry::Metrics;
use crate::telemetry::blackbox::{BlackBox, CLASSES, Item, PerClass, Times};
use crate::telemetry::record::bounded;
use crate::telemetry::tell::kind_of;
use crate::terms::{Clock, Fact, FactClass, Input, InputFault, Mono};

/// A record of the safety class is synced this long after it was written, ms. Half of the 100 ms
/// that are promised; the other half is for the disk.
const SAFETY_SYNC_MS: u64 = 50;
/// All other records are synced this long after they were written, ms.
const SYNC_MS: u64 = 1000;
/// A disk that refused is asked again after this long, ms.
const MEND_MS: u64 = 1000;
/// Dropped facts are told at most this often, ms: a flood must not fill the box with its count.
const GAP_MS: u64 = 1000;
/// Longest sleep, ms: a bound for a wake-up that got lost.
const SLEEP_MS_MAX: u64 = 100;

#[derive(Debug)]
pub(super) struct Writer {
    queues: Queues,
    blackbox: BlackBox,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    safety_due: Option<Mono>,
    others_due: Option<Mono>,
    mend_at: Mono,
    gap_at: Mono,
    told_dropped: PerClass<u64>,
    /// Who waits until safety records are on disk.
    keeps: Vec<Arc<AtomicBool>>,
    sync_failed: bool,
    thin: Thin,
    told: BTreeSet<(Option<Input>, InputFault)>,
}

impl Writer {
    pub(super) fn new(
        plan: &RecorderPlan,
        (blackbox, queues): (BlackBox, Queues),
        shared: Arc<Shared>,
    ) -> Self {
        Self {
            queues,
            blackbox,
            shared,
            clock: Arc::clone(&plan.clock),
            metrics: Arc::clone(&plan.metrics),
            safety_due: None,
            others_due: None,
            mend_at: Mono::ZERO,
            gap_at: Mono::ZERO,
            told_dropped: PerClass::default(),
            keeps: Vec::new(),
            sync_failed: false,
            thin: Thin::default(),
            told: BTreeSet::new(),
        }
    }

    /// Runs until the recorder closes: then all that was raised before is on disk.
    pub(super) fn run(mut self) {
        loop {
            // Read before draining: what was raised before the word is then in the channels.
            let closing = self.shared.closing.load(Ordering::Acquire);
            if !self.round(closing) && !closing {
                std::thread::park_timeout(self.pause());
            }
            if closing {
                return;
            }
        }
    }

    /// Does what is to be done now; returns whether there was something in the channels.
    pub(super) fn round(&mut self, closing: bool) -> bool {
        let batch = self.drain();
        let mut refused = None;
        for raised in &batch {
            refused = self.keep(raised).err().or(refused);
        }
        self.tell_gaps(closing);
        refused = self.mend_when_due(closing).err().or(refused);
        refused = self.sync_when_due(closing).err().or(refused);
        self.answer_keeps();
        self.tell_health(refused.as_ref());
        !batch.is_empty()
    }

    /// Takes what is in the channels, at most their length, in the order in which it was raised.
    fn drain(&mut self) -> Vec<Raised> {
        let mut batch = Vec::new();
        for (queue, length) in &self.queues {
            for message in queue.try_iter().take(*length) {
                match message {
                    Message::Raised(raised) => batch.push(raised),
                    Message::Keep(done) => self.keeps.push(done),
                }
            }
        }
        batch.sort_unstable_by_key(|raised| raised.seq);
        batch
    }

    fn keep(&mut self, raised: &Raised) -> io::Result<()> {
        if !self.thin.keeps(raised.at, &raised.fact) {
            return Ok(());
        }
        let class = raised.fact.class();
        let fact = bounded(&raised.fact)?;
        // On disk first; also what the disk refused is said.
        let written = self.blackbox.put(&Item {
            seq: raised.seq,
            times: Times {
                at: raised.at,
                wall: &rfc3339(raised.wall),
            },
            class,
            fact: &fact,
        });
        self.log(raised, &fact);
        if written.is_err() {
            self.metrics.dropped(class);
            return written;
        }
        self.metrics.recorded(class);
        let (due, wait) = match class {
            FactClass::Safety => (&mut self.safety_due, SAFETY_SYNC_MS),
            FactClass::Audit | FactClass::Trace => (&mut self.others_due, SYNC_MS),
        };
        due.get_or_insert(self.clock.now().plus_ms(wait));
        Ok(())
    }

    /// Tells facts that found their channel full.
    fn tell_gaps(&mut self, closing: bool) {
        let now = self.clock.now();
        if now < self.gap_at && !closing {
            return;
        }
        for class in CLASSES {
            let dropped = self.shared.dropped.of(class).load(Ordering::Acquire);
            let told = std::mem::replace(self.told_dropped.of_mut(class), dropped);
            let lost = dropped.saturating_sub(told);
            if lost > 0 {
                let wall = rfc3339(self.clock.wall());
                let times = Times {
                    at: now,
                    wall: &wall,
                };
                self.blackbox.tell_gap(class, lost, times);
                self.gap_at = now.plus_ms(GAP_MS);
                self.safety_due.get_or_insert(now.plus_ms(SAFETY_SYNC_MS));
                self.others_due.get_or_insert(now.plus_ms(SYNC_MS));
            }
        }
    }

    /// Goes on where the disk refused, and lets the oldest segments make room.
    fn mend_when_due(&mut self, closing: bool) -> io::Result<()> {
        let now = self.clock.now();
        let wall = rfc3339(self.clock.wall());
        let times = Times {
            at: now,
            wall: &wall,
        };
        if !self.blackbox.is_whole() {
            if now < self.mend_at && !closing {
                return Ok(());
            }
            self.mend_at = now.plus_ms(MEND_MS);
            self.blackbox.mend(times)?;
        }
        self.blackbox.tidy(times)
    }

    fn sync_when_due(&mut self, closing: bool) -> io::Result<()> {
        let now = self.clock.now();
        let is_due = |due: Option<Mono>| due.is_some_and(|due| closing || due <= now);
        let asked = self.keeps.iter().any(|keep| Arc::strong_count(keep) > 1);
        let mut synced = Ok(());
        if is_due(self.safety_due) || (asked && !self.blackbox.keeps_safety()) {
            self.safety_due = None;
            synced = self.blackbox.sync(FactClass::Safety);
            self.sync_failed = synced.is_err();
        }
        if is_due(self.others_due) {
            self.others_due = None;
            self.metrics.fold();
            for class in [FactClass::Audit, FactClass::Trace] {
                synced = synced.and(self.blackbox.sync(class));
            }
            self.sync_failed = synced.is_err();
        }
        if self.sync_failed {
            let again = now.plus_ms(SYNC_MS);
            self.safety_due.get_or_insert(again);
            self.others_due.get_or_insert(again);
        }
        if closing {
            synced = synced.and(self.blackbox.finish());
            self.sync_failed = synced.is_err();
        }
        synced
    }

    /// Tells those who wait that the safety records are on disk. Those who went away are forgotten.
    fn answer_keeps(&mut self) {
        self.keeps.retain(|keep| Arc::strong_count(keep) > 1);
        self.keeps.truncate(SAFETY_QUEUE);
        if self.blackbox.keeps_safety() {
            for keep in self.keeps.drain(..) {
                keep.store(true, Ordering::Release);
            }
        }
    }

    fn pause(&self) -> Duration {
        let now = self.clock.now();
        let due = [self.safety_due, self.others_due].into_iter().flatten();
        let left = due.min().map_or(SLEEP_MS_MAX, |due| due.ms_since(now));
        Duration::from_millis(left.clamp(1, SLEEP_MS_MAX))
    }

    /// Tells a change of health once, in both directions.
    fn tell_health(&self, error: Option<&io::Error>) {
        let unhealthy = self.sync_failed || !self.blackbox.is_whole();
        let before = self.shared.unhealthy.swap(unhealthy, Ordering::AcqRel);
        if before == unhealthy {
            return;
        }
        self.metrics.set_blackbox_healthy(!unhealthy);
        if unhealthy {
            let error = error.map_or_else(String::new, ToString::to_string);
            tracing::error!(error, "the black box cannot be written");
        } else {
            tracing::info!("the black box can be written again");
        }
    }

    fn log(&mut self, raised: &Raised, fact: &Value) {
        let kind = kind_of(fact);
        if let Fact::InputIgnored { input, fault } = &raised.fact
            && self.told.insert((*input, *fault))
        {
            tracing::warn!(fact = %fact, "{kind}");
            return;
        }
        if let Fact::AdvertMissing { .. } = &raised.fact {
            tracing::warn!(fact = %fact, "{kind}");
            return;
        }
        match raised.fact.class() {
            FactClass::Safety | FactClass::Audit => tracing::info!(fact = %fact, "{kind}"),
            FactClass::Trace => tracing::debug!(fact = %fact, "{kind}"),
        }
    }
}

/// Wall time as text. A clock outside the years 1970 to 9999 is shown as the nearest of them.
pub(super) fn rfc3339(wall: SystemTime) -> String {
    /// The last second of the year 9999.
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = wall
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .min(LAST);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}
