//! The head: how far each chain is known to be on disk, so that a cut tail is seen.
//!
//! One small file with two places that are written in turns, each with a hash of its own: a loss of
//! power leaves at least one of them. It is written after the records were synced, never before, so it
//! is never ahead of what a loss of power leaves.

use std::io;

use serde::{Deserialize, Serialize};

use super::chain::{RecordHash, Tip};
use super::disk::{Disk, DiskFile, write_all};
use super::names::{HEAD, PerClass};

/// Bytes of each of the two places; a head has less than half of it.
const PLACE_BYTES: u64 = 1024;
/// Bytes of the file.
const HEAD_BYTES: u64 = 2 * PLACE_BYTES;

/// How far the chains have come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Known {
    /// Counts the writes of the head.
    pub(super) turn: u64,
    pub(super) tips: PerClass<Tip>,
}

/// A place as it lies in the file.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    turn: u64,
    safety: Tip,
    audit: Tip,
    trace: Tip,
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeadFound {
    /// There is no such file.
    Missing,
    /// Neither of its places can be read.
    Unreadable,
    /// The newer of its places.
    Known(Known),
}

/// Reads the head.
pub(super) fn read_head(disk: &dyn Disk) -> io::Result<HeadFound> {
    let bytes = match disk.read(HEAD, HEAD_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(HeadFound::Missing),
        found => found?,
    };
    let place_bytes = usize::try_from(PLACE_BYTES).unwrap_or(1);
    let places = bytes.chunks(place_bytes).filter_map(parse);
    Ok(places
        .max_by_key(|known| known.turn)
        .map_or(HeadFound::Unreadable, HeadFound::Known))
}

fn parse(place: &[u8]) -> Option<Known> {
    let text = place.trim_ascii();
    let (place, sum) = text.split_at_checked(text.len().checked_sub(64)?)?;
    let sum = RecordHash::parse(std::str::from_utf8(sum).ok()?)?;
    let place = place.strip_suffix(b" ")?;
    if RecordHash::of(place) != sum {
        return None;
    }
    let place: Place = serde_json::from_slice(place).ok()?;
    Some(Known {
        turn: place.turn,
        tips: PerClass {
            safety: place.safety,
            audit: place.audit,
            trace: place.trace,
        },
    })
}

/// The writing end.
#[derive(Debug)]
pub(super) struct Head {
    file: Box<dyn DiskFile>,
    known: Known,
}

impl Head {
    /// Opens the head that goes on from what was found; one of a new box knows nothing.
    pub(super) fn open(disk: &dyn Disk, found: HeadFound) -> io::Result<Self> {
        let mut head = Self {
            file: disk.fixed(HEAD, HEAD_BYTES)?,
            known: match found {
                HeadFound::Known(known) => known,
                HeadFound::Missing | HeadFound::Unreadable => Known {
                    turn: 0,
                    tips: PerClass {
                        safety: Tip::START,
                        audit: Tip::START,
                        trace: Tip::START,
                    },
                },
            },
        };
        if !matches!(found, HeadFound::Known(_)) {
            // Before the first segment: one without a head is a box that somebody changed.
            head.write(head.known.tips)?;
            head.file.sync()?;
            disk.sync_names()?;
        }
        Ok(head)
    }

    /// Writes how far the chains have come, and syncs nothing: an older head is true as well.
    pub(super) fn write(&mut self, tips: PerClass<Tip>) -> io::Result<()> {
        let turn = self.known.turn.saturating_add(1);
        let mut text = serde_json::to_string(&Place {
            turn,
            safety: tips.safety,
            audit: tips.audit,
            trace: tips.trace,
        })?;
        let sum = RecordHash::of(text.as_bytes());
        text.push_str(&format!(" {sum}"));
        let width = usize::try_from(PLACE_BYTES - 1).unwrap_or(0);
        let line = format!("{text:<width$}\n");
        write_all(
            self.file.as_mut(),
            (turn % 2) * PLACE_BYTES,
            line.as_bytes(),
        )?;
        self.known = Known { turn, tips };
        Ok(())
    }

    /// Brings the head itself to the disk, at an orderly end.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }

    pub(super) fn known(&self) -> &Known {
        &self.known
    }
}
