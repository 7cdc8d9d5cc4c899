//! Picks records for people: by time, class and kind, the newest of them.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;

use super::chain::{Sealed, Tip, open};
use super::disk::Folder;
use super::note::NOTE_KINDS;
use super::walk::{Seen, walk};
use crate::terms::{FACT_KINDS, FactClass};

/// What to pick.
#[derive(Debug, Clone, Default)]
pub struct SelectionFilter {
    /// Not before this wall time, RFC 3339 in UTC with milliseconds.
    pub since: Option<String>,
    /// Only this class.
    pub class: Option<FactClass>,
    /// Only this kind of fact, or of note.
    pub kind: Option<String>,
    /// At most so many, the newest.
    pub last: usize,
}

/// A record that was picked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Number in the chain of its class.
    pub n: u64,
    /// Number in its life; 0 for what the recorder says about the box itself.
    pub seq: u64,
    /// Id of the life.
    pub boot: String,
    /// Monotonic time, ms.
    pub t_mono_ms: u64,
    /// Wall time.
    pub t_wall: String,
    /// How it is kept.
    pub class: FactClass,
    /// What happened, with its `kind`.
    pub fact: Value,
    /// Whether the recorder says it about the box itself.
    pub is_note: bool,
}

/// What was picked.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Selection {
    /// The newest of those that fit, oldest first.
    pub records: Vec<Chosen>,
    /// How many fit.
    pub found: u64,
    /// Lines that are no records, or were changed: `audit verify` names them.
    pub unreadable: u64,
}

/// Returns every kind of record that this build writes: of facts, and of notes about the box itself.
pub fn record_kinds() -> impl Iterator<Item = &'static str> {
    FACT_KINDS.into_iter().chain(NOTE_KINDS)
}

/// Picks records of the box in a folder.
///
/// # Errors
/// When the folder cannot be read.
pub fn select_records(dir: &Path, filter: &SelectionFilter) -> io::Result<Selection> {
    let mut picking = Picking::default();
    walk(&Folder::new(dir), &mut |seen| picking.see(seen, filter))?;
    Ok(picking.finish(filter.last))
}

#[derive(Debug, Default)]
struct Picking {
    tip: Option<Tip>,
    class: Option<FactClass>,
    /// The lives in the order of the safety class, which is pruned last and so knows them all; lives
    /// that it does not know are older.
    lives: BTreeMap<String, u64>,
    newest: VecDeque<Chosen>,
    picked: Vec<Chosen>,
    found: u64,
    unreadable: u64,
}

impl Picking {
    fn see(&mut self, seen: Seen<'_>, filter: &SelectionFilter) -> Tip {
        match seen {
            Seen::Class(class) => {
                self.picked.extend(self.newest.drain(..));
                self.class = Some(class);
                self.tip = None;
            }
            Seen::Line(line) => match open(line) {
                Ok(record) => {
                    self.tip = Some(record.tip());
                    self.record(record, filter);
                }
                Err(_) if line.ends_with(b"\n") => self.unreadable += 1,
                // Being written, or cut by a loss of power.
                Err(_) => {}
            },
            Seen::File { .. } => {}
            Seen::Unreadable(_) | Seen::TooLarge => self.unreadable += 1,
        }
        self.tip.unwrap_or(Tip::START)
    }

    fn record(&mut self, record: Sealed, filter: &SelectionFilter) {
        if self.class == Some(FactClass::Safety) {
            let rank = u64::try_from(self.lives.len()).unwrap_or(u64::MAX);
            self.lives
                .entry(record.boot.clone())
                .or_insert(rank.saturating_add(1));
        }
        let is_note = record.note.is_some();
        let chosen = Chosen {
            n: record.n,
            seq: record.seq,
            boot: record.boot,
            t_mono_ms: record.t_mono_ms,
            t_wall: record.t_wall,
            class: record.class,
            fact: record.note.or(record.fact).unwrap_or(Value::Null),
            is_note,
        };
        if !fits(&chosen, filter) {
            return;
        }
        self.found += 1;
        self.newest.push_back(chosen);
        if self.newest.len() > filter.last {
            self.newest.pop_front();
        }
    }

    fn finish(mut self, last: usize) -> Selection {
        self.picked.extend(self.newest.drain(..));
        let lives = self.lives;
        let rank = |boot: &str| lives.get(boot).copied().unwrap_or(0);
        self.picked
            .sort_by_key(|one| (rank(&one.boot), one.t_mono_ms, one.seq));
        let surplus = self.picked.len().saturating_sub(last);
        self.picked.drain(..surplus);
        Selection {
            records: self.picked,
            found: self.found,
            unreadable: self.unreadable,
        }
    }
}

fn fits(one: &Chosen, filter: &SelectionFilter) -> bool {
    let kind = || one.fact.get("kind").and_then(Value::as_str);
    filter.class.is_none_or(|class| class == one.class)
        && filter
            .since
            .as_ref()
            .is_none_or(|since| *one.t_wall >= **since)
        && filter
            .kind
            .as_ref()
            .is_none_or(|wanted| kind() == Some(wanted))
}
