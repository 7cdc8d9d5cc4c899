//! The facts of a run in memory, and the trace that they make.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sim::VirtualClock;
use crate::terms::{Clock as _, Fact, FactSink, Mono, RunState};

/// Facts that are kept; more are counted. Chosen: fifty times what a mission of an hour raises.
const FACTS_MAX: usize = 1_000_000;

/// Keeps facts in the order in which they were raised, with virtual times.
#[derive(Debug, Default)]
pub(in crate::app) struct Ledger {
    clock: VirtualClock,
    kept: Mutex<Kept>,
    /// What keeps the facts on a disk as well.
    #[cfg(all(test, feature = "dora"))]
    records: Option<std::sync::Arc<dyn Records>>,
}

/// What keeps the facts of a run on a disk, as the black box of a node does.
#[cfg(all(test, feature = "dora"))]
pub(super) trait Records: FactSink {
    /// Does what its thread would do now.
    fn round(&self);
    /// Returns whether the disk takes records.
    fn healthy(&self) -> bool;
}

#[derive(Debug, Default)]
struct Kept {
    facts: Vec<(Mono, Fact)>,
    dropped: u64,
}

impl Ledger {
    pub(in crate::app) fn new(clock: VirtualClock) -> Self {
        Self {
            clock,
            kept: Mutex::default(),
            #[cfg(all(test, feature = "dora"))]
            records: None,
        }
    }

    #[cfg(all(test, feature = "dora"))]
    pub(super) fn beside(clock: VirtualClock, records: std::sync::Arc<dyn Records>) -> Self {
        Self {
            records: Some(records),
            ..Self::new(clock)
        }
    }

    #[cfg(all(test, feature = "dora"))]
    pub(super) fn records(&self) -> Option<&dyn Records> {
        self.records.as_deref()
    }

    /// Returns the run states that were entered from fact number `from` on, and the number of the
    /// next fact.
    pub(in crate::app) fn states_since(&self, from: usize) -> (Vec<RunState>, usize) {
        let kept = self.lock();
        let fresh = kept.facts.get(from..).unwrap_or_default();
        let mut states = Vec::new();
        for (_, fact) in fresh {
            if let Fact::RunStateChanged { to, .. } = fact {
                states.push(*to);
            }
        }
        (states, kept.facts.len())
    }

    /// Returns all facts with their times, ms.
    pub(in crate::app) fn facts(&self) -> Vec<(u64, Fact)> {
        self.facts_since(0)
    }

    /// Returns the facts from number `from` on with their times, ms.
    pub(in crate::app) fn facts_since(&self, from: usize) -> Vec<(u64, Fact)> {
        let kept = self.lock();
        let facts = kept.facts.get(from..).unwrap_or_default().iter();
        facts.map(|(at, fact)| (at.as_ms(), fact.clone())).collect()
    }

    /// Returns how many facts were not kept.
    pub(in crate::app) fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    /// Returns the hash of every fact with its time. What differs from run to run without meaning
    /// anything is left out: process ids and the version of the binary.
    pub(in crate::app) fn trace(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for (at, fact) in &self.lock().facts {
            hasher.update(&at.as_ns().to_le_bytes());
            // A fact is plain data with text keys, which always has a JSON form.
            let line = serde_json::to_vec(&steady(fact)).unwrap_or_default();
            hasher.update(&line);
            hasher.update(b"\n");
        }
        hasher.finalize().to_hex().to_string()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FactSink for Ledger {
    fn raise(&self, fact: Fact) {
        #[cfg(all(test, feature = "dora"))]
        if let Some(records) = self.records() {
            records.raise(fact.clone());
        }
        let at = self.clock.now();
        let mut kept = self.lock();
        if kept.facts.len() < FACTS_MAX {
            kept.facts.push((at, fact));
        } else {
            kept.dropped = kept.dropped.saturating_add(1);
        }
    }

    #[cfg(all(test, feature = "dora"))]
    fn keep(&self) -> crate::terms::Keeping {
        match self.records() {
            Some(records) => records.keep(),
            None => crate::terms::Keeping::without_disk(),
        }
    }
}

fn steady(fact: &Fact) -> Fact {
    let mut fact = fact.clone();
    if let Fact::Started { pid, version, .. } = &mut fact {
        *pid = 0;
        version.clear();
    }
    if let Fact::Advert { pid, .. } = &mut fact {
        *pid = None;
    }
    fact
}
