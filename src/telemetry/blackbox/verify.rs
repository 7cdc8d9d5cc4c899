//! Verifies a box that lies on disk, also while a node writes it.
//!
//! Read in this order: the head, then the files. What the head knows is in the files already, so a tail
//! that grows meanwhile is no fault. When faults are found and the head moved meanwhile, the box is read
//! again: segments that made room, or the reserve that was cleared, look like faults to a slow reader.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::chain::{RecordHash, Tip, open};
use super::disk::{Disk, Folder};
use super::head::{HeadFound, read_head};
use super::judge::Judge;
use super::names::{HEAD, word};
use super::walk::{Seen, walk};
use crate::terms::FactClass;

/// Faults that are told one by one; more are counted.
pub(super) const FAULTS_MAX: usize = 1000;
/// How often a box that is written meanwhile is read.
const READS_MAX: u32 = 4;

/// Something at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding<T> {
    pub(super) file: String,
    pub(super) line: u64,
    pub(super) what: T,
}

impl<T> Finding<T> {
    pub(super) fn with<U>(self, what: U) -> Finding<U> {
        Finding {
            file: self.file,
            line: self.line,
            what,
        }
    }
}

/// Something that was found at a place of the black box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: u64,
    /// What is there.
    pub what: String,
}

/// The chain of one class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChainReport {
    /// `safety`, `audit` or `trace`.
    pub class: &'static str,
    /// Files with records.
    pub segments: u64,
    /// Records whose hash fits.
    pub records: u64,
    /// Number of the oldest record; above 1 when older ones made room.
    pub first: Option<u64>,
    /// Whether a record tells that older ones made room.
    pub pruned: bool,
    /// The last record: keep its hash elsewhere, and nobody can make another log of it.
    pub head: Option<Tip>,
}

/// What became of verifying a box.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Whether nothing is wrong.
    pub ok: bool,
    /// What is wrong, at most 1000.
    pub faults: Vec<Fault>,
    /// Faults beyond these.
    pub more_faults: u64,
    /// What a loss of power or a full disk left behind, and the recorder told: no faults.
    pub remarks: Vec<Fault>,
    /// The chains, safety first.
    pub chains: Vec<ChainReport>,
}

/// Verifies the box in a folder. Each of `holds` must be the hash of one of its records.
///
/// # Errors
/// When the folder cannot be read. A file that cannot be read is a fault.
pub fn verify_records(dir: &Path, holds: &[RecordHash]) -> io::Result<Verification> {
    verify(&Folder::new(dir), holds)
}

pub(super) fn verify(disk: &dyn Disk, holds: &[RecordHash]) -> io::Result<Verification> {
    let mut found = verify_once(disk, holds)?;
    for _ in 1..READS_MAX {
        let (verification, moved) = found;
        if verification.ok || !moved {
            return Ok(verification);
        }
        found = verify_once(disk, holds)?;
    }
    Ok(found.0)
}

/// Verifies once; also returns whether somebody wrote meanwhile.
fn verify_once(disk: &dyn Disk, holds: &[RecordHash]) -> io::Result<(Verification, bool)> {
    let head = read_head(disk)?;
    let mut reading = Reading::of(head, holds);
    walk(disk, &mut |seen| reading.see(seen))?;
    let moved = read_head(disk)? != head;
    Ok((reading.finish(head), moved))
}

/// The judges of all classes, one after the other.
#[derive(Debug)]
struct Reading {
    head: HeadFound,
    wanted: BTreeSet<RecordHash>,
    judge: Option<Judge>,
    chains: Vec<ChainReport>,
    faults: Vec<Fault>,
    remarks: Vec<Fault>,
    /// Faults that no judge kept.
    more: u64,
}

impl Reading {
    fn of(head: HeadFound, holds: &[RecordHash]) -> Self {
        Self {
            head,
            wanted: holds.iter().copied().collect(),
            judge: None,
            chains: Vec::new(),
            faults: Vec::new(),
            remarks: Vec::new(),
            more: 0,
        }
    }

    fn see(&mut self, seen: Seen<'_>) -> Tip {
        let (file, newest) = match seen {
            Seen::Class(class) => {
                self.close();
                self.judge = Some(Judge::new(class, self.known(class)));
                return Tip::START;
            }
            Seen::File { name, newest } => (name.to_owned(), newest),
            Seen::Line(line) => return self.line(line),
            Seen::Unreadable(error) => return self.skip(&format!("cannot be read: {error}")),
            Seen::TooLarge => return self.skip("is larger than a recorder ever makes one"),
        };
        if let Some(judge) = &mut self.judge {
            judge.file(&file, newest);
        }
        self.tip()
    }

    fn line(&mut self, line: &[u8]) -> Tip {
        if let Some(judge) = &mut self.judge
            && let Some(hash) = judge.line(line)
        {
            self.wanted.remove(&hash);
        }
        self.tip()
    }

    fn skip(&mut self, what: &str) -> Tip {
        if let Some(judge) = &mut self.judge {
            self.faults.push(Fault {
                file: judge.file_name().to_owned(),
                line: 0,
                what: what.to_owned(),
            });
            judge.skip_file();
        }
        self.tip()
    }

    fn tip(&self) -> Tip {
        self.judge.as_ref().map_or(Tip::START, Judge::tip)
    }

    fn known(&self, class: FactClass) -> Option<Tip> {
        match &self.head {
            HeadFound::Known(known) => Some(*known.tips.of(class)),
            HeadFound::Missing | HeadFound::Unreadable => None,
        }
    }

    /// Ends the class under way.
    fn close(&mut self) {
        let Some(mut judge) = self.judge.take() else {
            return;
        };
        judge.finish();
        self.chains.push(ChainReport {
            class: word(judge.class()),
            segments: judge.segments,
            records: judge.records,
            first: judge.first,
            pruned: judge.pruned,
            head: (judge.records > 0).then(|| judge.tip()),
        });
        let told = |finding: Finding<String>| Fault {
            file: finding.file,
            line: finding.line,
            what: finding.what,
        };
        self.more = self.more.saturating_add(judge.more);
        let flaws = judge.flaws.into_iter().map(|flaw| {
            let what = flaw.what.to_string();
            told(flaw.with(what))
        });
        self.faults.extend(flaws);
        self.remarks.extend(judge.remarks.into_iter().map(told));
    }

    fn finish(mut self, head: HeadFound) -> Verification {
        self.close();
        let any = self.chains.iter().any(|chain| chain.segments > 0);
        let without = match head {
            HeadFound::Known(_) => None,
            HeadFound::Missing => Some("is missing: nobody knows whether the tail was cut"),
            HeadFound::Unreadable => Some("was changed: nobody knows whether the tail was cut"),
        };
        if let Some(what) = without.filter(|_| any) {
            self.whole(HEAD, what.to_owned());
        }
        if !any {
            self.whole("*", "there is no record at all".to_owned());
        }
        for hash in std::mem::take(&mut self.wanted) {
            let what = format!(
                "no record has the hash {hash}: the log was made anew, or that record made room"
            );
            self.whole("*", what);
        }
        let more = self.faults.len().saturating_sub(FAULTS_MAX);
        self.faults.truncate(FAULTS_MAX);
        self.remarks.truncate(FAULTS_MAX);
        Verification {
            ok: self.faults.is_empty(),
            more_faults: u64::try_from(more)
                .unwrap_or(u64::MAX)
                .saturating_add(self.more),
            faults: self.faults,
            remarks: self.remarks,
            chains: self.chains,
        }
    }

    fn whole(&mut self, file: &str, what: String) {
        self.faults.push(Fault {
            file: file.to_owned(),
            line: 0,
            what,
        });
    }
}

/// A line for an export.
#[derive(Debug)]
pub struct ExportLine<'a> {
    /// The file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u64,
    /// Its bytes, without the line feed.
    pub bytes: &'a [u8],
    /// Whether its own hash fits.
    pub sealed: bool,
}

/// Hands every whole line of the box to `take`, chain after chain.
///
/// # Errors
/// When the folder cannot be read, and what `take` returns.
pub fn export_lines(
    dir: &Path,
    take: &mut dyn FnMut(ExportLine<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let (mut file, mut number, mut tip) = (String::new(), 0_u64, Tip::START);
    let mut failed = None;
    walk(&Folder::new(dir), &mut |seen| {
        match seen {
            Seen::Class(_) => tip = Tip::START,
            Seen::File { name, .. } => {
                name.clone_into(&mut file);
                number = 0;
            }
            Seen::Line(line) => {
                number = number.saturating_add(1);
                let record = open(line).ok();
                let line = line.strip_suffix(b"\n");
                if let (Some(bytes), None) = (line, &failed) {
                    let line = ExportLine {
                        file: &file,
                        line: number,
                        bytes,
                        sealed: record.is_some(),
                    };
                    failed = take(line).err();
                }
                tip = record.map_or(tip, |record| record.tip());
            }
            // The verification that stands beside the export tells of it.
            Seen::Unreadable(_) | Seen::TooLarge => {}
        }
        tip
    })?;
    failed.map_or(Ok(()), Err)
}
