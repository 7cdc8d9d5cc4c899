//! The thread of the black box: drains, logs, writes, syncs.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::thin::Thin;
use super::{Queues, Raised, RecorderPlan, Shared};
use crate::telemetry::Metrics;
use crate::telemetry::record::{Line, bounded};
use crate::telemetry::segment::Segments;
use crate::telemetry::tell::kind_of;
use crate::terms::{Clock, Fact, FactClass, Input, InputFault, Mono};

/// A record of the safety class is synced this long after it was written, ms. Half of the 100 ms
/// that are promised; the other half is for the disk.
const SAFETY_SYNC_MS: u64 = 50;
/// All other records are synced this long after they were written, ms.
const SYNC_MS: u64 = 1000;
/// Longest sleep, ms: a bound for a wake-up that got lost.
const SLEEP_MS_MAX: u64 = 100;

#[derive(Debug)]
pub(super) struct Writer {
    queues: Queues,
    segments: Segments,
    shared: Arc<Shared>,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
    boot: String,
    line: Vec<u8>,
    sync_due: Option<Mono>,
    write_failed: bool,
    sync_failed: bool,
    thin: Thin,
    told: BTreeSet<(Option<Input>, InputFault)>,
}

impl Writer {
    pub(super) fn new(
        plan: &RecorderPlan,
        (segments, queues): (Segments, Queues),
        shared: Arc<Shared>,
        boot: String,
    ) -> Self {
        Self {
            queues,
            segments,
            shared,
            clock: Arc::clone(&plan.clock),
            metrics: Arc::clone(&plan.metrics),
            boot,
            line: Vec::new(),
            sync_due: None,
            write_failed: false,
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
            let batch = self.drain();
            let idle = batch.is_empty();
            for raised in &batch {
                self.keep(raised);
            }
            self.sync_when_due(closing);
            if closing {
                return;
            }
            if idle {
                std::thread::park_timeout(self.pause());
            }
        }
    }

    /// Takes what is in the channels, at most their length, in the order in which it was raised.
    fn drain(&self) -> Vec<Raised> {
        let queues = self.queues.iter();
        let mut batch: Vec<Raised> = queues
            .flat_map(|(queue, length)| queue.try_iter().take(*length))
            .collect();
        batch.sort_unstable_by_key(|raised| raised.seq);
        batch
    }

    fn keep(&mut self, raised: &Raised) {
        if !self.thin.keeps(raised.at, &raised.fact) {
            return;
        }
        let class = raised.fact.class();
        let written = bounded(&raised.fact)
            .map_err(io::Error::from)
            .and_then(|fact| {
                // On disk first; also what the disk refused is said.
                let written = self.write(raised, &fact);
                self.log(raised, &fact);
                written
            });
        match written {
            Ok(()) => {
                self.metrics.recorded(class);
                let wait = match class {
                    FactClass::Safety => SAFETY_SYNC_MS,
                    FactClass::Audit | FactClass::Trace => SYNC_MS,
                };
                let due = self.clock.now().plus_ms(wait);
                self.sync_due = Some(self.sync_due.map_or(due, |set| set.min(due)));
                self.write_failed = false;
                self.tell_health(None);
            }
            Err(error) => {
                self.metrics.dropped(class);
                self.write_failed = true;
                self.tell_health(Some(&error));
            }
        }
    }

    fn write(&mut self, raised: &Raised, fact: &Value) -> io::Result<()> {
        self.line.clear();
        let line = Line {
            seq: raised.seq,
            boot: &self.boot,
            t_mono_ms: raised.at.as_ms(),
            t_wall: &rfc3339(raised.wall),
            class: raised.fact.class(),
            fact,
        };
        line.append(&mut self.line)?;
        self.segments.write_line(&self.line)
    }

    fn sync_when_due(&mut self, closing: bool) {
        let due = self
            .sync_due
            .is_some_and(|due| closing || due <= self.clock.now());
        if due {
            self.sync_due = None;
            self.metrics.fold();
            let failed = self.segments.sync().err();
            self.sync_failed = failed.is_some();
            self.tell_health(failed.as_ref());
        }
    }

    fn pause(&self) -> Duration {
        let now = self.clock.now();
        let left = self.sync_due.map_or(SLEEP_MS_MAX, |due| due.ms_since(now));
        Duration::from_millis(left.clamp(1, SLEEP_MS_MAX))
    }

    /// Tells a change of health once, in both directions.
    fn tell_health(&self, error: Option<&io::Error>) {
        let unhealthy = self.write_failed || self.sync_failed;
        let before = self.shared.unhealthy.swap(unhealthy, Ordering::AcqRel);
        if before == unhealthy {
            return;
        }
        self.metrics.set_blackbox_healthy(!unhealthy);
        match error {
            Some(error) => tracing::error!(%error, "the black box cannot be written"),
            None => tracing::info!("the black box can be written again"),
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
fn rfc3339(wall: SystemTime) -> String {
    /// The last second of the year 9999.
    const LAST: Duration = Duration::from_secs(253_402_300_799);
    let since = wall
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .min(LAST);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}
