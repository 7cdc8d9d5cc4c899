//! Puts on record what was said on the control socket and changed nothing: refused words, answers to
//! no question, stops that stand already. Whoever says them has not been judged and may say them without end.
//!
//! Each speaker has some records at once and then one a second, and so have all children of the runtime
//! together and all others together, for a crowd of new processes is one speaker. What is above that is
//! counted and told as a number. A word is judged and answered in any case: only its record is bounded.
//!
//! Invariants: no flood of words fills a queue of the black box; children take no record of anybody else;
//! no word is lost from the count.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::control::Speaker;
use crate::terms::{Clock, Fact, FactSink, Mono};

/// Records of one speaker at once; then one each [`SPEAKER_MS`].
const SPEAKER_AT_ONCE: u32 = 8;
/// A speaker gets another record after this time, ms.
const SPEAKER_MS: u64 = 1000;
/// Records of all children together, and of all others together, at once; then one each [`ALL_MS`]. A
/// sixteenth of the queue of the audit.
const ALL_AT_ONCE: u32 = 32;
/// All of them together get another record after this time, ms.
const ALL_MS: u64 = 250;
/// Speakers that are told apart. The one that was silent for longest makes room; its count is kept among
/// those of the others.
const SPEAKERS_MAX: usize = 32;
/// A count is told this often while it grows, ms.
const TELL_MS: u64 = 10_000;
/// Counts that one look tells at most; the others wait for the next look.
const TOLD_AT_ONCE: usize = 4;
/// Under what the count of those is told that made room.
const OTHERS: &str = "other processes";

/// The one who writes it down. Cheap to clone.
#[derive(Clone)]
pub(in crate::app) struct Scribe(Arc<Inner>);

struct Inner {
    clock: Arc<dyn Clock>,
    sink: Arc<dyn FactSink>,
    book: Mutex<Book>,
}

impl fmt::Debug for Scribe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scribe").finish_non_exhaustive()
    }
}

impl Scribe {
    pub(in crate::app) fn new(clock: Arc<dyn Clock>, sink: Arc<dyn FactSink>) -> Self {
        let book = Mutex::new(Book::new(clock.now()));
        Self(Arc::new(Inner { clock, sink, book }))
    }

    /// Raises the fact of a word, or counts it when there were too many.
    pub(in crate::app) fn note(&self, speaker: Speaker, fact: Fact) {
        let Speaker::Process { is_child, .. } = speaker else {
            // A scenario has an end.
            return self.0.sink.raise(fact);
        };
        let now = self.0.clock.now();
        let kept = self.book().keeps((speaker, is_child), &fact, now);
        if kept {
            self.0.sink.raise(fact);
        }
    }

    /// Tells what was only counted, when it is due. Called each second.
    pub(in crate::app) fn look(&self) {
        let now = self.0.clock.now();
        let due = |page: &Page| now.ms_since(page.told_at) >= TELL_MS;
        let counts = self.book().tell(now, due, TOLD_AT_ONCE);
        counts.into_iter().for_each(|fact| self.0.sink.raise(fact));
    }

    /// Tells all that was only counted, due or not: nothing comes behind it.
    pub(in crate::app) fn close(&self) {
        let now = self.0.clock.now();
        let counts = self
            .book()
            .tell(now, |_| true, SPEAKERS_MAX.saturating_add(1));
        counts.into_iter().for_each(|fact| self.0.sink.raise(fact));
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.0.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known of the speakers.
struct Book {
    children: Room,
    others: Room,
    pages: BTreeMap<Speaker, Page>,
    /// Those whose page made room.
    left: Page,
}

/// What is known of one speaker.
struct Page {
    room: Room,
    heard_at: Mono,
    told_at: Mono,
    unwritten: Unwritten,
}

/// Words that were only counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Unwritten {
    refused: u64,
    stops: u64,
}

impl Book {
    fn new(now: Mono) -> Self {
        Self {
            children: Room::new((ALL_AT_ONCE, ALL_MS), now),
            others: Room::new((ALL_AT_ONCE, ALL_MS), now),
            pages: BTreeMap::new(),
            left: Page::new(now),
        }
    }

    /// Takes room for the record of a fact, or counts it.
    fn keeps(&mut self, (speaker, is_child): (Speaker, bool), fact: &Fact, now: Mono) -> bool {
        let all = if is_child {
            &mut self.children
        } else {
            &mut self.others
        };
        let all_have = all.has_room(now);
        let page = self.page(speaker, now);
        let kept = all_have && page.room.has_room(now);
        if !kept {
            page.unwritten.count(fact);
            return false;
        }
        page.room.take();
        if is_child {
            self.children.take();
        } else {
            self.others.take();
        }
        true
    }

    fn page(&mut self, speaker: Speaker, now: Mono) -> &mut Page {
        if !self.pages.contains_key(&speaker) && self.pages.len() >= SPEAKERS_MAX {
            let silent = self.pages.iter().min_by_key(|(_, page)| page.heard_at);
            if let Some(silent) = silent.map(|(speaker, _)| *speaker)
                && let Some(page) = self.pages.remove(&silent)
            {
                self.left.unwritten.add(page.unwritten);
            }
        }
        let page = self.pages.entry(speaker).or_insert_with(|| Page::new(now));
        page.heard_at = now;
        page
    }

    /// Takes the counts that are due, at most `max`, and forgets speakers of whom nothing is to be told.
    fn tell(&mut self, now: Mono, due: impl Fn(&Page) -> bool, max: usize) -> Vec<Fact> {
        let named = self.pages.iter_mut();
        let named = named.map(|(speaker, page)| (speaker.to_string(), page));
        let all = named.chain([(OTHERS.to_owned(), &mut self.left)]);
        let told = all
            .filter(|(_, page)| page.unwritten != Unwritten::default() && due(page))
            .take(max)
            .map(|(from, page)| {
                page.told_at = now;
                let Unwritten { refused, stops } = std::mem::take(&mut page.unwritten);
                Fact::WordsCounted {
                    from,
                    refused,
                    stops,
                }
            })
            .collect();
        self.pages.retain(|_, page| {
            let silent_ms = now.ms_since(page.heard_at);
            page.unwritten != Unwritten::default() || silent_ms < TELL_MS
        });
        told
    }
}

impl Page {
    fn new(now: Mono) -> Self {
        Self {
            room: Room::new((SPEAKER_AT_ONCE, SPEAKER_MS), now),
            heard_at: now,
            told_at: now,
            unwritten: Unwritten::default(),
        }
    }
}

impl Unwritten {
    fn count(&mut self, fact: &Fact) {
        if matches!(fact, Fact::OrderDone { .. }) {
            self.stops = self.stops.saturating_add(1);
        } else {
            self.refused = self.refused.saturating_add(1);
        }
    }

    fn add(&mut self, other: Self) {
        self.refused = self.refused.saturating_add(other.refused);
        self.stops = self.stops.saturating_add(other.stops);
    }
}

/// Room for records: some at once, then one each `every_ms`.
#[derive(Debug)]
struct Room {
    max: u32,
    every_ms: u64,
    left: u32,
    filled_at: Mono,
}

impl Room {
    fn new((max, every_ms): (u32, u64), now: Mono) -> Self {
        Self {
            max,
            every_ms,
            left: max,
            filled_at: now,
        }
    }

    fn has_room(&mut self, now: Mono) -> bool {
        let grown = now.ms_since(self.filled_at) / self.every_ms;
        self.filled_at = self.filled_at.plus_ms(grown.saturating_mul(self.every_ms));
        let grown = u32::try_from(grown).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(grown).min(self.max);
        self.left > 0
    }

    fn take(&mut self) {
        self.left = self.left.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests;
