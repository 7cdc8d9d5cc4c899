//! What reached the simulated robot, as the robot saw it: a witness of its own.
//!
//! The runtime's records say what it sent; this says what arrived and what came of it. A judge that
//! compares both finds what either of them would hide. The journal yields lines; who keeps them, and
//! where, is not its business.

use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Most entries of one life of a robot. What comes later is counted, not kept.
const ENTRIES_MAX: u64 = 200_000;
/// Longest line that is read back, bytes: twice the largest request.
const LINE_BYTES_MAX: u64 = 128 * 1024;

/// What a verb means to the robot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerbClass {
    /// Begins or prolongs a motion.
    Motion,
    /// Ends motion.
    Stop,
    /// Moves nothing: reads, heartbeats, release.
    Other,
}

/// One thing that the robot saw. Times are on the robot's own clock, ms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "saw", rename_all = "snake_case")]
pub enum JournalEntry {
    /// The robot began to live.
    Start {
        /// When.
        t_ms: u64,
        /// Its id.
        robot_id: String,
        /// Its process id.
        pid: u32,
        /// Seed of its noise.
        seed: u64,
        /// The wall time at the origin of its clock, ms since 1970: joins its times with others.
        wall_at_zero_ms: u64,
    },
    /// A request arrived.
    Verb {
        /// When.
        t_ms: u64,
        /// The verb.
        verb: String,
        /// The id of the request.
        request_id: String,
        /// Its parameters.
        params: Map<String, Value>,
        /// What the verb means.
        class: VerbClass,
        /// Whether the robot did it.
        executed: bool,
        /// The code of the answer.
        code: String,
    },
    /// A message that was no request to this robot.
    Ignored {
        /// When.
        t_ms: u64,
        /// Why.
        why: String,
    },
    /// A request that a rehearsal has lost on its way: the robot never heard it.
    Lost {
        /// When it would have arrived.
        t_ms: u64,
        /// The verb.
        verb: String,
    },
    /// Where the robot was; while it moves, ten times a second.
    Pose {
        /// When.
        t_ms: u64,
        /// m.
        x: f64,
        /// m.
        y: f64,
        /// rad.
        yaw: f64,
        /// m/s.
        speed: f64,
    },
    /// The robot came to rest.
    Rest {
        /// When.
        t_ms: u64,
        /// m.
        x: f64,
        /// m.
        y: f64,
        /// Whether it stands at its goal.
        arrived: bool,
    },
    /// The robot stopped itself for want of heartbeats.
    DeadMan {
        /// When.
        t_ms: u64,
        /// How long it had heard nothing, ms.
        silent_ms: u64,
    },
}

impl JournalEntry {
    /// Returns when it was, on the robot's own clock, ms.
    pub fn t_ms(&self) -> u64 {
        match self {
            Self::Start { t_ms, .. }
            | Self::Verb { t_ms, .. }
            | Self::Ignored { t_ms, .. }
            | Self::Lost { t_ms, .. }
            | Self::Pose { t_ms, .. }
            | Self::Rest { t_ms, .. }
            | Self::DeadMan { t_ms, .. } => *t_ms,
        }
    }

    /// Returns the place, for the two entries that have one, m.
    pub fn place(&self) -> Option<[f64; 2]> {
        match self {
            Self::Pose { x, y, .. } | Self::Rest { x, y, .. } => Some([*x, *y]),
            Self::Start { .. }
            | Self::Verb { .. }
            | Self::Ignored { .. }
            | Self::Lost { .. }
            | Self::DeadMan { .. } => None,
        }
    }
}

/// Entries that were not fetched yet.
#[derive(Debug, Clone, Default)]
pub struct Journal {
    fresh: Vec<JournalEntry>,
    kept: u64,
    dropped: u64,
}

impl Journal {
    /// Adds an entry, up to 200 000 in all.
    pub fn add(&mut self, entry: JournalEntry) {
        if self.kept >= ENTRIES_MAX {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.kept = self.kept.saturating_add(1);
        self.fresh.push(entry);
    }

    /// Takes the entries since the last call.
    pub fn take(&mut self) -> Vec<JournalEntry> {
        std::mem::take(&mut self.fresh)
    }

    /// Takes the entries since the last call as JSON lines, each with its line end.
    pub fn take_lines(&mut self) -> String {
        let mut lines = String::new();
        for entry in self.take() {
            // An entry is plain data with text keys, which always has a JSON form.
            if let Ok(line) = serde_json::to_string(&entry) {
                lines.push_str(&line);
                lines.push('\n');
            }
        }
        lines
    }

    /// Returns how many entries were not kept.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// Why a journal could not be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read.
    #[error("could not read the journal of the robot")]
    Unreadable(#[from] io::Error),
    /// A line that is no entry, and not the torn end.
    #[error("line {line} of the robot's journal is not an entry")]
    BadLine {
        /// The line, from 1.
        line: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
}

/// Reads a journal. A torn last line is passed over: the robot's process may have been killed.
///
/// # Errors
/// [`JournalError`] when the file cannot be read or a whole line is no entry.
pub fn read_journal(mut from: impl BufRead) -> Result<Vec<JournalEntry>, JournalError> {
    let mut entries = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let bytes = io::Read::take(&mut from, LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if bytes == 0 || u64::try_from(entries.len()).unwrap_or(u64::MAX) >= ENTRIES_MAX {
            break;
        }
        match serde_json::from_slice(&line) {
            Ok(entry) => entries.push(entry),
            Err(_) if line.last() != Some(&b'\n') => break,
            Err(source) => {
                return Err(JournalError::BadLine {
                    line: number,
                    source,
                });
            }
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(t_ms: u64) -> JournalEntry {
        JournalEntry::Rest {
            t_ms,
            x: 0.5,
            y: -0.25,
            arrived: true,
        }
    }

    #[test]
    fn lines_are_read_back_and_a_torn_end_is_passed_over() {
        let mut journal = Journal::default();
        journal.add(rest(1));
        journal.add(rest(2));
        let text = journal.take_lines();
        assert_eq!(read_journal(text.as_bytes()).unwrap(), [rest(1), rest(2)]);
        assert!(journal.take().is_empty());
        let torn = &text[..text.len() - 4];
        assert_eq!(read_journal(torn.as_bytes()).unwrap(), [rest(1)]);
    }

    #[test]
    fn a_line_that_is_no_entry_is_named() {
        let error = read_journal(&b"{\"saw\":\"ghost\"}\n"[..]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "line 1 of the robot's journal is not an entry"
        );
    }

    #[test]
    fn beyond_its_bound_entries_are_counted() {
        let mut journal = Journal {
            kept: ENTRIES_MAX - 1,
            ..Journal::default()
        };
        journal.add(rest(1));
        journal.add(rest(2));
        assert_eq!((journal.take().len(), journal.dropped()), (1, 1));
    }
}
