//! The black box on disk: three chains of records, one a class, in segments of bounded size.
//!
//! Layout of the folder: `safety-NNNNNN.jsonl`, `audit-NNNNNN.jsonl`, `trace-NNNNNN.jsonl`, `head` and
//! `reserve`. The classes have files and chains of their own, because the oldest trace must be able to
//! make room while the oldest stop stays; a chain that runs through all classes would break by that. The
//! number `seq` of a record, which counts what was raised in a life, gives the order between classes.
//!
//! A chain goes on over segments and over lives. Each life begins a segment in each class with a note
//! that says what it found; nothing is ever appended behind a torn line. Before the oldest segment makes
//! room, a note with its last hash is on disk; a segment that is gone without one was removed by
//! somebody. [`head`] knows how far the chains have come, so that a cut tail is seen. What the disk
//! refuses: safety records go to the [`reserve`], all others are lost, and a note counts them.
//!
//! A chain shows a change. It does not stop somebody who may write the folder from making a whole new
//! one: against that, keep a hash that `audit verify` prints in another place.

mod chain;
mod disk;
mod head;
mod judge;
mod names;
mod note;
mod reserve;
mod select;
mod series;
mod tail;
#[cfg(test)]
mod tests;
mod verify;
mod walk;

use std::io;

use serde_json::Value;

pub use chain::{RecordHash, Tip};
pub use select::{Chosen, Selection, SelectionFilter, record_kinds, select_records};
pub use verify::{ChainReport, ExportLine, Fault, Verification, export_lines, verify_records};

#[cfg(test)]
pub(super) use disk::DiskFile;
pub(super) use disk::{Disk, Folder};
pub(super) use names::{CLASSES, PerClass};
pub(super) use walk::segment_files;

#[cfg(test)]
pub(super) use tests::{FakeDisk, Trouble};

use head::{Head, HeadFound, read_head};
use names::{NUMBER_MAX, SegmentName, word};
use note::{Joint, Note, SCHEMA};
use reserve::{RESERVE_BYTES, Reserve, lines_behind};
use series::{Pen, Series};
use tail::{find_tail, last_tip};

use crate::terms::{FactClass, Mono};

/// A segment takes no further record beyond this, bytes.
pub(super) const SEGMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// All segments together, bytes. The oldest make room: trace first, safety last.
const TOTAL_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most segments: each life begins three, and a node that is restarted in a loop must not fill a folder.
const SEGMENTS_MAX: usize = 1024;
/// Names of torn segments that one note tells.
const TORN_MAX: usize = 16;

/// How much the box may hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) segment_bytes: u64,
    pub(super) total_bytes: u64,
    pub(super) segments: usize,
    pub(super) reserve_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            segment_bytes: SEGMENT_BYTES_MAX,
            total_bytes: TOTAL_BYTES_MAX,
            segments: SEGMENTS_MAX,
            reserve_bytes: RESERVE_BYTES,
        }
    }
}

/// Both times of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times<'a> {
    pub(super) at: Mono,
    pub(super) wall: &'a str,
}

/// A fact to be kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item<'a> {
    pub(super) seq: u64,
    pub(super) times: Times<'a>,
    pub(super) class: FactClass,
    pub(super) fact: &'a Value,
}

/// The writing end.
#[derive(Debug)]
pub(super) struct BlackBox {
    disk: Box<dyn Disk>,
    limits: Limits,
    boot: String,
    series: PerClass<Series>,
    head: Head,
    reserve: Reserve,
    line: Vec<u8>,
    /// A segment was begun: the oldest may have to make room.
    untidy: bool,
}

/// Whether a class begins with this life, or goes on after the disk had refused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joins {
    Life,
    Again,
}

impl BlackBox {
    /// Begins the records of a life behind those of earlier ones.
    ///
    /// # Errors
    /// When the disk refuses any of it. What lies there is unchanged but for new files.
    pub(super) fn open(
        disk: Box<dyn Disk>,
        (limits, boot): (Limits, String),
        times: Times<'_>,
    ) -> io::Result<Self> {
        let found = read_head(disk.as_ref())?;
        let headless = !matches!(found, HeadFound::Known(_)) && has_segments(disk.as_ref())?;
        let head = Head::open(disk.as_ref(), found)?;
        let tips = head.known().tips;
        let reserve = Reserve::open(disk.as_ref(), limits.reserve_bytes)?;
        let mut series = PerClass::<Series>::default();
        for class in CLASSES {
            *series.of_mut(class) = Series::of(*tips.of(class), headless);
        }
        let mut opened = Self {
            disk,
            limits,
            boot,
            series,
            head,
            reserve,
            line: Vec::new(),
            untidy: true,
        };
        for class in CLASSES {
            opened.join((class, Joins::Life), times)?;
        }
        opened.disk.sync_names()?;
        opened.reserve.clear()?;
        opened.write_head()?;
        opened.tidy(times)?;
        Ok(opened)
    }

    /// Keeps one fact: in its segment, or in the reserve when the disk refuses and it is of the safety
    /// class.
    ///
    /// # Errors
    /// When it is lost. It is counted, and told by a note as soon as one can be written.
    pub(super) fn put(&mut self, item: &Item<'_>) -> io::Result<()> {
        let refused = match self.append(item.class, Content::Fact(item)) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let kept = match item.class {
            FactClass::Safety => self.put_aside(item),
            FactClass::Audit | FactClass::Trace => Err(refused),
        };
        if kept.is_err() {
            self.series.of_mut(item.class).lost += 1;
        }
        kept
    }

    /// Notes that facts of a class were dropped before they came here.
    pub(super) fn tell_gap(&mut self, class: FactClass, lost: u64, times: Times<'_>) {
        let note = Note::Gap { lost };
        if self.append(class, Content::Note(&note, times)).is_err() {
            self.series.of_mut(class).lost += lost;
        }
    }

    /// Brings what a class was given to the disk. Does nothing when that is done.
    ///
    /// # Errors
    /// When the disk refuses: the class goes on in a new segment once it can.
    pub(super) fn sync(&mut self, class: FactClass) -> io::Result<()> {
        let aside = class == FactClass::Safety && self.reserve.is_used();
        let series = self.series.of_mut(class);
        if aside {
            self.reserve.sync()?;
            series.synced = series.tip;
        } else {
            series.sync()?;
        }
        self.write_head()
    }

    /// Tries to go on where the disk refused.
    ///
    /// # Errors
    /// When it still does.
    pub(super) fn mend(&mut self, times: Times<'_>) -> io::Result<()> {
        for class in CLASSES {
            if self.series.of(class).pen.is_none() {
                self.join((class, Joins::Again), times)?;
                if let Err(error) = self.disk.sync_names() {
                    self.series.of_mut(class).give_up();
                    return Err(error);
                }
                if class == FactClass::Safety {
                    // A segment has its lines now, so what stays of them is passed over.
                    self.reserve.clear()?;
                }
            }
        }
        self.write_head()
    }

    /// Lets the oldest segments make room when there are too many: trace first, safety last.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn tidy(&mut self, times: Times<'_>) -> io::Result<()> {
        if !self.untidy {
            return Ok(());
        }
        let mut found = segment_files(self.disk.as_ref())?;
        let mut bytes: u64 = found.iter().map(|(_, _, bytes)| bytes).sum();
        while bytes > self.limits.total_bytes || found.len() > self.limits.segments {
            let oldest = |class: FactClass| {
                let series = self.series.of(class);
                let old = |(of, name, _): &(FactClass, SegmentName, u64)| {
                    *of == class && name.number < series.number && series.pen.is_some()
                };
                found.iter().position(old)
            };
            let Some(victim) = CLASSES.into_iter().rev().find_map(oldest) else {
                break;
            };
            let (class, segment, size) = found.remove(victim);
            bytes = bytes.saturating_sub(size);
            self.prune((class, segment), times)?;
        }
        self.untidy = false;
        Ok(())
    }

    /// Brings all to the disk, the head as well.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        for class in CLASSES {
            self.sync(class)?;
        }
        self.head.sync()
    }

    /// Returns whether every safety record that came here is on disk, or told as lost by one that is.
    pub(super) fn keeps_safety(&self) -> bool {
        let series = &self.series.safety;
        series.lost == 0 && series.synced == series.tip
    }

    /// Returns whether every class is written where it belongs and the reserve is free.
    pub(super) fn is_whole(&self) -> bool {
        let written = |class| self.series.of(class).pen.is_some();
        CLASSES.into_iter().all(written) && !self.reserve.is_used()
    }

    /// Begins a segment of a class behind what lies on disk.
    fn join(&mut self, (class, why): (FactClass, Joins), times: Times<'_>) -> io::Result<()> {
        let tail = find_tail(self.disk.as_ref(), class)?;
        let aside = match class {
            FactClass::Safety => lines_behind(self.disk.as_ref(), tail.tip)?,
            FactClass::Audit | FactClass::Trace => Vec::new(),
        };
        let series = self.series.of(class);
        let known = series.synced;
        let reached = match (&tail.unreadable, aside.last()) {
            // A new chain: whoever holds it against the old one finds no number twice.
            (Some(_), _) => Tip {
                n: known.n,
                hash: RecordHash::NONE,
            },
            (None, Some((_, record))) => record.tip(),
            (None, None) => tail.tip,
        };
        let gone = tail.unreadable.is_none()
            && (known.n > reached.n || (known.n == reached.n && known != reached));
        let joint = Joint {
            torn: tail.torn,
            missing: gone.then_some(known),
            unreadable: tail.unreadable,
            headless: series.headless,
            lost: series.lost,
            unsure_from: series.unsure_from,
        };
        let note = match why {
            Joins::Life => Note::Begun {
                schema: SCHEMA,
                joint,
            },
            Joins::Again => Note::Mended { joint },
        };
        let hash = self.seal(reached, class, &Content::Note(&note, times))?;
        let mut bytes: Vec<u8> = aside.into_iter().flat_map(|(line, _)| line).collect();
        bytes.extend_from_slice(&self.line);
        let segment = SegmentName::new(class, tail.number.saturating_add(1));
        let pen = self.begin(&segment, &bytes)?;
        self.untidy = true;
        let tip = Tip {
            n: reached.n.saturating_add(1),
            hash,
        };
        *self.series.of_mut(class) = Series::begun((segment.number, pen), tip);
        Ok(())
    }

    /// Makes a segment that begins with these bytes, which are then on disk; its name is not yet. Leaves
    /// none behind on an error.
    fn begin(&self, segment: &SegmentName, bytes: &[u8]) -> io::Result<Pen> {
        // A file of that name would be passed over by every reader.
        if segment.number > NUMBER_MAX {
            return Err(io::Error::other(format!(
                "a segment numbered {NUMBER_MAX} lies there already: move it away"
            )));
        }
        let file = self.disk.create(&segment.name)?;
        let mut pen = Pen::new(segment.name.clone(), file);
        match pen.write(bytes).and_then(|()| pen.file.sync()) {
            Ok(()) => Ok(pen),
            Err(error) => {
                // Else a disk that is full for an hour would get an empty file a second. What cannot be
                // removed is found and told by the next try.
                drop(self.disk.remove(&segment.name));
                Err(error)
            }
        }
    }

    fn append(&mut self, class: FactClass, content: Content<'_>) -> io::Result<()> {
        let tip = self.series.of(class).tip;
        if self.series.of(class).pen.is_none() {
            return Err(io::Error::other("the disk refused an earlier record"));
        }
        let hash = self.seal(tip, class, &content)?;
        let len = u64::try_from(self.line.len()).unwrap_or(u64::MAX);
        if self
            .series
            .of(class)
            .is_full(len, self.limits.segment_bytes)
        {
            self.rotate(class)?;
        }
        self.series.of_mut(class).write(&self.line, hash)
    }

    fn rotate(&mut self, class: FactClass) -> io::Result<()> {
        let series = self.series.of_mut(class);
        series.sync()?;
        let segment = SegmentName::new(class, series.number.saturating_add(1));
        let pen = self
            .begin(&segment, &[])
            .and_then(|pen| self.disk.sync_names().map(|()| pen));
        self.untidy = true;
        self.series.of_mut(class).turn_to((segment.number, pen))
    }

    /// Puts a safety record where there is room when the disk is full.
    fn put_aside(&mut self, item: &Item<'_>) -> io::Result<()> {
        if !self.reserve.is_used() {
            let torn = self.series.safety.torn.clone();
            let note = Note::Reserve { torn };
            self.put_line_aside(Content::Note(&note, item.times))?;
        }
        self.put_line_aside(Content::Fact(item))
    }

    fn put_line_aside(&mut self, content: Content<'_>) -> io::Result<()> {
        let tip = self.series.safety.tip;
        let hash = self.seal(tip, FactClass::Safety, &content)?;
        self.reserve.put(&self.line)?;
        self.series.safety.advance(hash);
        Ok(())
    }

    /// Removes the oldest segment of a class, after a note of it is on disk.
    fn prune(
        &mut self,
        (class, segment): (FactClass, SegmentName),
        times: Times<'_>,
    ) -> io::Result<()> {
        let note = Note::Pruned {
            through: last_tip(self.disk.as_ref(), &segment.name)?,
            file: segment.name.clone(),
        };
        // Into the segment that is written, full or not: a new one would have to make room itself.
        let tip = self.series.of(class).tip;
        let hash = self.seal(tip, class, &Content::Note(&note, times))?;
        self.series.of_mut(class).write(&self.line, hash)?;
        self.sync(class)?;
        self.disk.remove(&segment.name)?;
        self.disk.sync_names()
    }

    /// Writes the line that follows `tip` into the buffer.
    fn seal(
        &mut self,
        tip: Tip,
        class: FactClass,
        content: &Content<'_>,
    ) -> io::Result<RecordHash> {
        let (seq, times, fact, note) = match content {
            Content::Fact(item) => (item.seq, item.times, Some(item.fact), None),
            Content::Note(note, times) => (0, *times, None, Some(*note)),
        };
        let entry = chain::Entry {
            n: tip.n.saturating_add(1),
            seq,
            boot: &self.boot,
            t_mono_ms: times.at.as_ms(),
            t_wall: times.wall,
            class,
            fact,
            note,
            prev: tip.hash,
        };
        Ok(entry.seal(&mut self.line)?)
    }

    fn write_head(&mut self) -> io::Result<()> {
        let tips = PerClass {
            safety: self.series.safety.synced,
            audit: self.series.audit.synced,
            trace: self.series.trace.synced,
        };
        if self.head.known().tips == tips {
            return Ok(());
        }
        self.head.write(tips)
    }
}

/// What a record holds.
#[derive(Debug)]
enum Content<'a> {
    Fact(&'a Item<'a>),
    Note(&'a Note, Times<'a>),
}

fn has_segments(disk: &dyn Disk) -> io::Result<bool> {
    Ok(!segment_files(disk)?.is_empty())
}

/// Returns the word of a class in names, records and options.
pub fn class_word(class: FactClass) -> &'static str {
    word(class)
}
