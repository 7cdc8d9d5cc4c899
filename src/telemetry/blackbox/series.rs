//! One class in the writing end: where its chain stands, and the segment that is written.

use std::io;

use super::chain::{RecordHash, Tip};
use super::disk::{DiskFile, write_all};

/// The segment that is written.
#[derive(Debug)]
pub(super) struct Pen {
    name: String,
    pub(super) file: Box<dyn DiskFile>,
    bytes: u64,
}

impl Pen {
    pub(super) fn new(name: String, file: Box<dyn DiskFile>) -> Self {
        Self {
            name,
            file,
            bytes: 0,
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        write_all(self.file.as_mut(), self.bytes, bytes)?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.bytes = self.bytes.saturating_add(len);
        Ok(())
    }
}

/// One class.
#[derive(Debug)]
pub(super) struct Series {
    /// The last record.
    pub(super) tip: Tip,
    /// The last record that is known to be on disk.
    pub(super) synced: Tip,
    /// The number of the newest segment.
    pub(super) number: u64,
    /// `None` after the disk refused.
    pub(super) pen: Option<Pen>,
    /// Facts that were lost and are not told yet.
    pub(super) lost: u64,
    /// The segment in which a line was begun and not finished, until it is told.
    pub(super) torn: Option<String>,
    /// The first record of which a failed sync leaves it open whether it is on disk.
    pub(super) unsure_from: Option<u64>,
    /// There were segments and no head when this life began.
    pub(super) headless: bool,
}

impl Default for Series {
    fn default() -> Self {
        Self::of(Tip::START, /* headless */ false)
    }
}

impl Series {
    /// A class that is not written yet; the head knows it up to `known`.
    pub(super) fn of(known: Tip, headless: bool) -> Self {
        Self {
            tip: known,
            synced: known,
            number: 0,
            pen: None,
            lost: 0,
            torn: None,
            unsure_from: None,
            headless,
        }
    }

    /// A class whose segment was just begun; all up to `tip` is on disk.
    pub(super) fn begun((number, pen): (u64, Pen), tip: Tip) -> Self {
        Self {
            number,
            pen: Some(pen),
            ..Self::of(tip, /* headless */ false)
        }
    }

    /// Writes the line that follows; an error ends the segment.
    pub(super) fn write(&mut self, line: &[u8], hash: RecordHash) -> io::Result<()> {
        let Some(pen) = &mut self.pen else {
            return Err(io::Error::other("the disk refused an earlier record"));
        };
        if let Err(error) = pen.write(line) {
            self.torn = Some(pen.name.clone());
            self.give_up();
            return Err(error);
        }
        self.advance(hash);
        Ok(())
    }

    /// Counts a record that was written.
    pub(super) fn advance(&mut self, hash: RecordHash) {
        self.tip = Tip {
            n: self.tip.n.saturating_add(1),
            hash,
        };
    }

    /// Brings the segment to the disk; an error ends it.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        let Some(pen) = &mut self.pen else {
            return Ok(());
        };
        if self.synced == self.tip {
            return Ok(());
        }
        if let Err(error) = pen.file.sync() {
            self.give_up();
            return Err(error);
        }
        self.synced = self.tip;
        Ok(())
    }

    /// Goes on in the next segment, if there is one.
    pub(super) fn turn_to(&mut self, (number, pen): (u64, io::Result<Pen>)) -> io::Result<()> {
        match pen {
            Ok(pen) => {
                self.number = number;
                self.pen = Some(pen);
                Ok(())
            }
            Err(error) => {
                self.give_up();
                Err(error)
            }
        }
    }

    pub(super) fn is_full(&self, more: u64, bytes_max: u64) -> bool {
        self.pen
            .as_ref()
            .is_some_and(|pen| pen.bytes > 0 && pen.bytes.saturating_add(more) > bytes_max)
    }

    /// Ends the segment. What was not synced may be lost: one error is told by the system once, after
    /// which it may call the same bytes clean.
    pub(super) fn give_up(&mut self) {
        self.pen = None;
        if self.synced != self.tip {
            let first = self.synced.n.saturating_add(1);
            self.unsure_from = Some(self.unsure_from.map_or(first, |set| set.min(first)));
        }
    }
}
