//! A strict reader of TOML: one pass over a file, every fault of it in one report.
//!
//! A resolver names a key and the shape of its value: `t.must("burst", whole(1..=1000))`. What it
//! asked for is what the table may hold; every other key is a fault when the table closes, so no list
//! of keys is kept beside the code. A shape returns `None` after it has reported why. A resolver
//! therefore reads all its keys first and only then puts its value together, so that one bad key does
//! not hide the next.
//!
//! Words: a [`Node`] is a value and the place it stands at; a [`Table`] is a node whose keys are being
//! read; a *shape* is a function from a node to a value.

mod faults;
mod node;
mod shape;
mod table;
#[cfg(test)]
mod watch;

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use super::file::FILE_BYTES_MAX;
use super::{ConfigError, ConfigErrors, Place};
use faults::Faults;

pub(crate) use node::{Node, key_of, quote};
pub(crate) use shape::{
    exactly, finite, flag, list, named, number, object, parsed, prose, schema, stem_of, text, tier,
    whole, word,
};
pub(crate) use table::Table;
#[cfg(test)]
pub(crate) use watch::watched;

/// Most syntax faults that are looked at: one open bracket makes one of every line behind it.
const SYNTAX_FAULTS_MAX: usize = 8;

/// One file to be read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'s> {
    /// Its name, for the places of faults.
    pub(crate) file: &'s str,
    /// What it holds.
    pub(crate) bytes: &'s [u8],
    /// The document that describes its keys, for hints.
    pub(crate) guide: &'static str,
}

/// What came of reading: a value, or faults, or neither when another file is at fault.
#[derive(Debug)]
pub(crate) struct Parsed<T> {
    /// The value, as far as it could be made. Worth nothing while there are faults.
    pub(crate) value: Option<T>,
    /// The faults of the file.
    pub(crate) faults: Vec<ConfigError>,
}

impl<T> Parsed<T> {
    /// Makes the outcome of a file that could not even be opened.
    pub(crate) fn failed(fault: ConfigError) -> Self {
        Self {
            value: None,
            faults: vec![fault],
        }
    }

    /// Returns the value when there is no fault.
    ///
    /// # Errors
    /// The faults.
    pub(crate) fn done(self) -> Result<T, ConfigErrors> {
        ConfigErrors::none_or(self.faults)?;
        self.value.ok_or_else(ConfigErrors::unexplained)
    }
}

/// Reads a file with the resolver of its root.
///
/// A file that is not TOML yields its syntax faults only: what the rest of it seems to say would be
/// guesswork.
pub(crate) fn read<T>(
    source: Source<'_>,
    resolve: impl FnOnce(Node<'_>) -> Option<T>,
) -> Parsed<T> {
    let text = match decode(source) {
        Ok(text) => text,
        Err(fault) => return Parsed::failed(fault),
    };
    let faults = Faults::new(source.file, source.guide, text);
    let (root, syntax) = DeTable::parse_recoverable(text);
    let mut reported = 0;
    for error in syntax.iter().take(SYNTAX_FAULTS_MAX) {
        let at = error.span().map_or(text.len(), |span| span.start);
        let line = faults.line_of(at);
        // The first fault of a line is the cause, the rest of the line is its consequence.
        if line > reported {
            reported = line;
            faults.add(ConfigError {
                place: faults.place(line),
                key: String::new(),
                problem: format!("is not toml: {}", error.message()),
                hint: "keys are read once the whole file is toml".to_owned(),
            });
        }
    }
    let value = if syntax.is_empty() {
        resolve(Node::root(&faults, &DeValue::Table(root.into_inner())))
    } else {
        None
    };
    Parsed {
        value,
        faults: faults.into_list(),
    }
}

/// Returns the bytes as text.
fn decode(source: Source<'_>) -> Result<&str, ConfigError> {
    let fault = |line: u32, problem: String, hint: &str| ConfigError {
        place: Place {
            file: Arc::from(source.file),
            line,
        },
        key: String::new(),
        problem,
        hint: hint.to_owned(),
    };
    if u64::try_from(source.bytes.len()).is_ok_and(|len| len <= FILE_BYTES_MAX) {
        std::str::from_utf8(source.bytes).map_err(|error| {
            let good = source.bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            fault(
                u32::try_from(line).unwrap_or(u32::MAX),
                "is not utf-8".to_owned(),
                "save the file as utf-8 text",
            )
        })
    } else {
        let problem = format!(
            "is {} bytes long, at most {FILE_BYTES_MAX} are read",
            source.bytes.len()
        );
        Err(fault(
            1,
            problem,
            "split the file or remove what it does not need",
        ))
    }
}
