//! What is wrong with a catalog: told to the author of a tool or of a robot file, all at once.

use std::fmt;

use crate::arguments::SchemaFault;

/// One fault of a catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("tool `{tool}`: {fault}")]
pub struct CatalogError {
    /// The tool; its place in the list (`#3`) when it could not even be described.
    pub tool: String,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What can be wrong with a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Fault {
    /// Another tool has the same name.
    #[error("another tool has this name")]
    Duplicate,
    /// Describing it panicked.
    #[error("its description panicked")]
    Broken,
    /// It does not say what it does.
    #[error("has no description")]
    Undescribed,
    /// Its schema does not hold.
    #[error("schema: {0}")]
    Schema(SchemaFault),
    /// It can move or stop a robot and has other names for its arguments: there they mean what they say.
    #[error("moves or stops a robot, but has other names for its arguments")]
    AliasOfMotion,
    /// A bound of its calls is out of range.
    #[error("budget: {key} is {found}, allowed is 1 to {max}")]
    Budget {
        /// Which bound.
        key: &'static str,
        /// The number found.
        found: u64,
        /// The largest permitted.
        max: u64,
    },
    /// The described schema and the type of the arguments have different properties.
    #[error("described and typed arguments differ: {0}")]
    ArgumentsDiffer(String),
    /// It can move a robot, but no rule of a robot file bounds it.
    #[error("actuates, but no rule of a robot file bounds it")]
    Unbounded,
    /// It can move a robot, but could run beside others.
    #[error("actuates, but does not run alone")]
    Shared,
    /// It points to a tool that its robot file lacks.
    #[error("its robot file has no tool {index}")]
    UnknownRule {
        /// The index it points to.
        index: u16,
    },
    /// It is a stop with code: a stop must not depend on any.
    #[error("is a stop and has code of its own")]
    StopWithCode,
    /// It was added as a stop, but has another effect.
    #[error("was added as a stop, but its effect is `{effect}`")]
    NoStop {
        /// Its effect.
        effect: &'static str,
    },
    /// There are too many tools; this is the first above the bound.
    #[error("above the {max} tools of a catalog")]
    TooMany {
        /// The bound.
        max: usize,
    },
}

/// All faults of a catalog, sorted by tool. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogErrors(Vec<CatalogError>);

impl CatalogErrors {
    pub(super) fn none_or(mut faults: Vec<CatalogError>) -> Result<(), Self> {
        if faults.is_empty() {
            return Ok(());
        }
        faults.sort();
        Err(Self(faults))
    }

    /// Returns the faults.
    pub fn faults(&self) -> &[CatalogError] {
        &self.0
    }
}

impl fmt::Display for CatalogErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CatalogErrors {}
