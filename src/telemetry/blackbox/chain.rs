//! The chain: each record holds the hash of the one before it and its own.
//!
//! A line is one JSON object, written by this room alone. It ends in `,"hash":"`, 64 lower-case
//! hexadecimal digits, `"}` and a line feed: 76 bytes. The hash is SHA-256 of all bytes of the line
//! before these 76. `prev`, which stands directly before them, is the hash of the record before, and 64
//! zeros in the first record of a chain. Whoever wants to check it with other means needs no parser:
//!
//! ```python
//! import hashlib, sys
//!
//! prev = None
//! for number, line in enumerate(open(sys.argv[1], "rb"), 1):
//!     body, seal = line[:-76], line[-76:]
//!     digest = hashlib.sha256(body).hexdigest().encode()
//!     if seal != b',"hash":"' + digest + b'"}\n':
//!         sys.exit(f"line {number}: changed")
//!     if prev is not None and not body.endswith(b'"prev":"' + prev + b'"'):
//!         sys.exit(f"line {number}: does not follow the line before it")
//!     prev = digest
//! print((prev or b"").decode())
//! ```

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::note::Note;
use crate::terms::FactClass;

/// What stands before the hash at the end of a line.
const SEAL_BEGIN: &[u8] = b",\"hash\":\"";
/// What stands behind it.
const SEAL_END: &[u8] = b"\"}\n";

/// The hash of a record: 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordHash([u8; 32]);

impl RecordHash {
    /// What the first record of a chain has as the hash of the record before it.
    pub const NONE: Self = Self([0; 32]);

    /// Returns the hash of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Parses 64 lower-case hexadecimal digits; `None` for everything else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut hash = [0; 32];
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return None;
        }
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return None,
                };
                *byte = (*byte << 4) | value;
            }
        }
        Some(Self(hash))
    }
}

impl fmt::Display for RecordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for RecordHash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RecordHash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("a hash has 64 hexadecimal digits"))
    }
}

/// A place in a chain: the number of a record, from 1 over all lives, and its hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tip {
    /// The number; 0 before the first record.
    pub n: u64,
    /// The hash.
    pub hash: RecordHash,
}

impl Tip {
    /// Before the first record.
    pub(super) const START: Self = Self {
        n: 0,
        hash: RecordHash::NONE,
    };
}

/// A record about to be written.
#[derive(Debug, Serialize)]
pub(super) struct Entry<'a> {
    pub(super) n: u64,
    pub(super) seq: u64,
    pub(super) boot: &'a str,
    pub(super) t_mono_ms: u64,
    pub(super) t_wall: &'a str,
    pub(super) class: FactClass,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fact: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<&'a Note>,
    /// The last field: the seal follows it.
    pub(super) prev: RecordHash,
}

impl Entry<'_> {
    /// Writes the line into `line`, whose former content is lost, and returns its hash.
    pub(super) fn seal(&self, line: &mut Vec<u8>) -> Result<RecordHash, serde_json::Error> {
        line.clear();
        serde_json::to_writer(&mut *line, self)?;
        line.pop(); // the brace of the object, which stands behind the hash
        let hash = RecordHash::of(line);
        line.extend_from_slice(SEAL_BEGIN);
        line.extend_from_slice(hash.to_string().as_bytes());
        line.extend_from_slice(SEAL_END);
        Ok(hash)
    }
}

/// A line whose hash fits it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(super) struct Sealed {
    pub(super) n: u64,
    #[serde(default)]
    pub(super) seq: u64,
    pub(super) boot: String,
    pub(super) t_mono_ms: u64,
    pub(super) t_wall: String,
    pub(super) class: FactClass,
    /// As it stands there: a later version may know facts that this one does not.
    #[serde(default)]
    pub(super) fact: Option<Value>,
    #[serde(default)]
    pub(super) note: Option<Value>,
    pub(super) prev: RecordHash,
    pub(super) hash: RecordHash,
}

impl Sealed {
    pub(super) fn tip(&self) -> Tip {
        Tip {
            n: self.n,
            hash: self.hash,
        }
    }

    /// Returns what the recorder noted about the box itself, when it is that and known.
    pub(super) fn note(&self) -> Option<Note> {
        serde_json::from_value(self.note.clone()?).ok()
    }
}

/// What is wrong with a line by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineFault {
    /// It has no hash where one must stand, or is no record.
    NoRecord,
    /// Its hash is that of other bytes. The place that it claims is kept: what follows it can be
    /// judged by that.
    Changed(Option<Tip>),
}

/// Judges a line, with its line feed, by itself.
pub(super) fn open(line: &[u8]) -> Result<Sealed, LineFault> {
    let (body, claimed) = split(line).ok_or(LineFault::NoRecord)?;
    let record: Option<Sealed> = serde_json::from_slice(line).ok();
    if RecordHash::of(body) != claimed {
        return Err(LineFault::Changed(record.map(|record| record.tip())));
    }
    record.ok_or(LineFault::NoRecord)
}

/// Splits a line into what is hashed and the hash.
fn split(line: &[u8]) -> Option<(&[u8], RecordHash)> {
    let rest = line.strip_suffix(SEAL_END)?;
    let (rest, digits) = rest.split_at_checked(rest.len().checked_sub(64)?)?;
    let hash = RecordHash::parse(std::str::from_utf8(digits).ok()?)?;
    Some((rest.strip_suffix(SEAL_BEGIN)?, hash))
}
