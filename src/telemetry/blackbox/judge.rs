//! Judges one class: does each record follow the one before it, and is every break told?

use std::collections::BTreeSet;
use std::fmt;

use super::chain::{LineFault, RecordHash, Sealed, Tip, open};
use super::names::word;
use super::note::Note;
use super::verify::{FAULTS_MAX, Finding};
use crate::terms::FactClass;

/// What is wrong at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flaw {
    NoRecord,
    Changed,
    WrongClass(FactClass),
    Missing { from: u64, to: u64 },
    DoesNotFollow,
    NoBeginning,
    NewChain(Option<String>),
    ToldMissing(Tip),
    ToldHeadless,
    Torn,
    CutTail { known: u64, found: u64 },
    NotAsKnown(u64),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoRecord => f.write_str("no record of the black box"),
            Self::Changed => f.write_str("this line was changed: its hash is that of other bytes"),
            Self::WrongClass(class) => write!(f, "a record of the class {}", word(*class)),
            Self::Missing { from, to } if from == to => {
                write!(f, "record {from} is missing before this one")
            }
            Self::Missing { from, to } => {
                write!(f, "records {from} to {to} are missing before this one")
            }
            Self::DoesNotFollow => f.write_str(
                "this record does not follow the one before it: swapped, doubled or put in",
            ),
            Self::NoBeginning => f.write_str(
                "what came before this record is gone, and no record says that it was pruned",
            ),
            Self::NewChain(Some(file)) => write!(
                f,
                "a new chain begins here, because the last line of {file} could not be read"
            ),
            Self::NewChain(None) => f.write_str("a new chain begins here and nothing says why"),
            Self::ToldMissing(tip) => write!(
                f,
                "this record says that record {} ({}) was on disk once and was gone",
                tip.n, tip.hash
            ),
            Self::ToldHeadless => f.write_str(
                "this record says that the head was gone: nobody knows whether records before it are \
                 missing",
            ),
            Self::Torn => f.write_str("this line is cut, and no record tells of it"),
            Self::CutTail { known, found } => write!(
                f,
                "the tail is cut: record {known} was on disk, the last one now is {found}"
            ),
            Self::NotAsKnown(n) => write!(f, "record {n} is not the one that was on disk"),
        }
    }
}

/// Judges the lines of one class as they come.
#[derive(Debug)]
pub(super) struct Judge {
    class: FactClass,
    /// How far the class is known to have come; `None` when there is no head.
    known: Option<Tip>,
    file: String,
    newest: bool,
    line: u64,
    pub(super) segments: u64,
    pub(super) records: u64,
    pub(super) first: Option<u64>,
    last: Option<Tip>,
    /// The place of the last record whose hash fitted or was at least readable; `None` after a line
    /// that says nothing.
    linked: bool,
    /// The record before the first one, with the place of the first; until a note tells of it.
    unbegun: Option<(Tip, Finding<Flaw>)>,
    pub(super) pruned: bool,
    torn: Vec<Finding<Flaw>>,
    torn_newest: Option<Finding<Flaw>>,
    told_torn: BTreeSet<String>,
    pub(super) flaws: Vec<Finding<Flaw>>,
    /// Breaks that a loss of power or a failing disk makes, each told by a record.
    pub(super) remarks: Vec<Finding<String>>,
    /// Breaks beyond the bound: counted only.
    pub(super) more: u64,
}

impl Judge {
    pub(super) fn new(class: FactClass, known: Option<Tip>) -> Self {
        Self {
            class,
            known,
            file: format!("{}-*.jsonl", word(class)),
            newest: false,
            line: 0,
            segments: 0,
            records: 0,
            first: None,
            last: None,
            linked: true,
            unbegun: None,
            pruned: false,
            torn: Vec::new(),
            torn_newest: None,
            told_torn: BTreeSet::new(),
            flaws: Vec::new(),
            remarks: Vec::new(),
            more: 0,
        }
    }

    pub(super) fn class(&self) -> FactClass {
        self.class
    }

    pub(super) fn file_name(&self) -> &str {
        &self.file
    }

    /// Returns the last record that was read.
    pub(super) fn tip(&self) -> Tip {
        self.last.unwrap_or(Tip::START)
    }

    pub(super) fn file(&mut self, name: &str, newest: bool) {
        name.clone_into(&mut self.file);
        self.newest = newest;
        self.line = 0;
        self.segments = self.segments.saturating_add(1);
    }

    /// The whole file cannot be judged.
    pub(super) fn skip_file(&mut self) {
        self.linked = false;
    }

    /// Judges a line; returns its hash when it fits.
    pub(super) fn line(&mut self, line: &[u8]) -> Option<RecordHash> {
        self.line = self.line.saturating_add(1);
        if !line.ends_with(b"\n") {
            let torn = self.here(Flaw::Torn);
            if self.newest {
                self.torn_newest = Some(torn);
            } else {
                self.torn.push(torn);
            }
            return None;
        }
        match open(line) {
            Ok(record) => {
                self.record(&record);
                Some(record.hash)
            }
            Err(LineFault::NoRecord) => {
                self.flaw(Flaw::NoRecord);
                self.linked = false;
                None
            }
            Err(LineFault::Changed(claims)) => {
                self.flaw(Flaw::Changed);
                self.linked = claims.is_some();
                self.last = claims.or(self.last);
                None
            }
        }
    }

    /// Judges what can only be judged at the end.
    pub(super) fn finish(&mut self) {
        if let Some((_, place)) = self.unbegun.take() {
            self.flaws.push(place);
        }
        // Lines of the reserve behind it may tell of the newest as well.
        let told = |torn: &mut Finding<Flaw>| self.told_torn.contains(&torn.file);
        self.torn.extend(self.torn_newest.take_if(told));
        for torn in std::mem::take(&mut self.torn) {
            if self.told_torn.contains(&torn.file) {
                self.remarks.push(
                    torn.with(
                        "an unfinished line: the disk was full, or power was lost".to_owned(),
                    ),
                );
            } else {
                self.flaws.push(torn);
            }
        }
        let found = self.tip().n;
        if let Some(known) = self.known
            && known.n > found
        {
            self.flaw(Flaw::CutTail {
                known: known.n,
                found,
            });
        } else if let Some(torn) = self.torn_newest.take() {
            self.remarks.push(torn.with(
                "an unfinished line: it is being written, or the process was killed".to_owned(),
            ));
        }
    }

    fn record(&mut self, record: &Sealed) {
        self.records = self.records.saturating_add(1);
        if record.class != self.class {
            self.flaw(Flaw::WrongClass(record.class));
        }
        let note = record.note();
        self.link(record, note.as_ref());
        if let Some(note) = &note {
            self.heed(note);
        }
        if let Some(known) = self.known
            && known.n == record.n
            && known.hash != record.hash
        {
            self.flaw(Flaw::NotAsKnown(record.n));
        }
        self.last = Some(record.tip());
        self.linked = true;
    }

    /// Judges whether a record follows the one before it.
    fn link(&mut self, record: &Sealed, note: Option<&Note>) {
        let before = Tip {
            n: record.n.saturating_sub(1),
            hash: record.prev,
        };
        let begins = record.prev == RecordHash::NONE;
        if self.first.is_none() {
            self.first = Some(record.n);
            if before != Tip::START && self.linked {
                self.unbegun = Some((before, self.here(Flaw::NoBeginning)));
            }
            return;
        }
        if begins {
            let told = note.and_then(|note| note.joint()?.unreadable.clone());
            self.flaw(Flaw::NewChain(told));
            return;
        }
        let Some(last) = self.last.filter(|last| self.linked && *last != before) else {
            return;
        };
        let unsure = note.and_then(|note| note.joint()?.unsure_from);
        let next = last.n.saturating_add(1);
        if record.n > next && unsure.is_some_and(|from| from <= next) {
            let told = format!(
                "records {next} to {} were lost: a sync failed before power was lost",
                before.n
            );
            self.remark(told);
        } else if record.n > next {
            self.flaw(Flaw::Missing {
                from: next,
                to: before.n,
            });
        } else {
            self.flaw(Flaw::DoesNotFollow);
        }
    }

    /// Takes into account what the recorder itself says.
    fn heed(&mut self, note: &Note) {
        self.told_torn.extend(note.torn().iter().cloned());
        match note {
            Note::Begun { joint, .. } | Note::Mended { joint } => {
                if let Some(tip) = joint.missing {
                    self.flaw(Flaw::ToldMissing(tip));
                }
                if joint.headless {
                    self.flaw(Flaw::ToldHeadless);
                }
                if joint.lost > 0 {
                    let told = format!("{} facts were lost: the disk refused them", joint.lost);
                    self.remark(told);
                }
            }
            Note::Gap { lost } => {
                let told = format!("{lost} facts were dropped: their queue was full");
                self.remark(told);
            }
            Note::Reserve { .. } => {
                let told = "the disk was full here: safety records went to the reserve";
                self.remark(told.to_owned());
            }
            Note::Pruned { through, .. } => {
                self.pruned = true;
                if let Some((before, _)) = &self.unbegun
                    && through.as_ref() == Some(before)
                {
                    self.unbegun = None;
                }
            }
        }
    }

    fn flaw(&mut self, flaw: Flaw) {
        if self.flaws.len() < FAULTS_MAX {
            let flaw = self.here(flaw);
            self.flaws.push(flaw);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    /// As [`Judge::flaw`]; what is beyond the bound is left out.
    fn remark(&mut self, what: String) {
        if self.remarks.len() < FAULTS_MAX {
            let remark = self.here(what);
            self.remarks.push(remark);
        }
    }

    fn here<T>(&self, what: T) -> Finding<T> {
        Finding {
            file: self.file.clone(),
            line: self.line,
            what,
        }
    }
}
