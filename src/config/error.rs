//! What is wrong with a configuration file: where, what, and the way out.

use std::fmt;
use std::sync::Arc;

/// A place in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The file, as it was named or found.
    pub file: Arc<str>,
    /// The line, from 1; 0 when the fault is of the file as a whole.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            f.write_str(&self.file)
        } else {
            write!(f, "{}:{}", self.file, self.line)
        }
    }
}

/// One fault of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{place}: {}{problem}", before_problem(key))]
pub struct ConfigError {
    /// Where.
    pub place: Place,
    /// The key, dotted from the root: `tool.rover_go_to_pose.args.x.min`. Empty for the whole file.
    pub key: String,
    /// What was found and what is allowed.
    pub problem: String,
    /// The way out.
    pub hint: String,
}

/// Returns the key as it stands before the problem; nothing when the fault is of the whole file.
fn before_problem(key: &str) -> String {
    if key.is_empty() {
        String::new()
    } else {
        format!("{key}: ")
    }
}

/// All faults of all files of one load, in the order of their places. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// Returns `Ok` when there is no fault, else all of them sorted by place.
    ///
    /// # Errors
    /// The faults, when there is at least one.
    pub fn none_or(mut faults: Vec<ConfigError>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        faults.sort();
        faults.dedup();
        Err(Self(faults))
    }

    /// Makes the fault of a load that yielded nothing and said nothing: it must not pass for success.
    pub(crate) fn unexplained() -> Self {
        Self(vec![ConfigError {
            place: Place {
                file: Arc::from("configuration"),
                line: 0,
            },
            key: String::new(),
            problem: "could not be resolved".to_owned(),
            hint: "this is a fault of octos-edge; please report it with the files".to_owned(),
        }])
    }

    /// Returns the faults.
    pub fn faults(&self) -> &[ConfigError] {
        &self.0
    }

    /// Returns the faults by value, to be merged with others.
    pub fn into_faults(self) -> Vec<ConfigError> {
        self.0
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
            if !fault.hint.is_empty() {
                write!(f, "\n    help: {}", fault.hint)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

impl From<ConfigError> for ConfigErrors {
    fn from(fault: ConfigError) -> Self {
        Self(vec![fault])
    }
}
