//! Names that were checked once: of tools and of robots.

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest tool name that model providers accept, in bytes.
const TOOL_NAME_BYTES_MAX: usize = 64;
/// The longest robot id, in bytes. Chosen: it fits a file name, a label and a zenoh key chunk.
const ROBOT_ID_BYTES_MAX: usize = 64;

/// A name that does not fit its grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{found}` does not fit {grammar}")]
pub struct NameError {
    /// What was to be named.
    pub what: &'static str,
    /// The name as it was written, cut to 80 characters.
    pub found: String,
    /// The grammar, as a regular expression.
    pub grammar: &'static str,
}

/// The name of a tool: `[a-zA-Z0-9_-]{1,64}`, what all model providers accept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// Parses a tool name.
    ///
    /// # Errors
    /// [`NameError`] when the name is empty, longer than 64 bytes or has other characters.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fits = (1..=TOOL_NAME_BYTES_MAX).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
        if fits {
            Ok(Self(Arc::from(text)))
        } else {
            Err(bad("tool name", text, "[a-zA-Z0-9_-]{1,64}"))
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The id of one robot: `[a-z0-9][a-z0-9_.-]{0,63}`. It becomes a file name and a key of the fleet.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RobotId(Arc<str>);

impl RobotId {
    /// Parses a robot id.
    ///
    /// # Errors
    /// [`NameError`] when the id is empty, too long, or holds upper case, `/`, `*`, `$` or the like.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b);
        let first = text
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if first && text.len() <= ROBOT_ID_BYTES_MAX && text.bytes().all(inner) {
            Ok(Self(Arc::from(text)))
        } else {
            Err(bad("robot id", text, "[a-z0-9][a-z0-9_.-]{0,63}"))
        }
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn bad(what: &'static str, text: &str, grammar: &'static str) -> NameError {
    NameError {
        what,
        found: text.chars().take(80).collect(),
        grammar,
    }
}

macro_rules! text_like {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }
        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
        impl TryFrom<String> for $name {
            type Error = NameError;
            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }
        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0.as_ref().to_owned()
            }
        }
    };
}
text_like!(ToolName);
text_like!(RobotId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_are_those_of_the_providers() {
        assert!(ToolName::parse("rover_go-2").is_ok());
        for bad in ["", "a.b", "a b", "é", &"x".repeat(65)] {
            assert!(ToolName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn case_56_robot_ids_with_key_characters_or_upper_case_are_refused() {
        assert!(RobotId::parse("rover-sim-001").is_ok());
        for bad in ["", "a/b", "a*", "a$b", "Rover", "-a", "..", &"x".repeat(65)] {
            assert!(RobotId::parse(bad).is_err(), "{bad}");
        }
    }
}
