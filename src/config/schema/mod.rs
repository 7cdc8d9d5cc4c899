//! JSON Schema of every kind of configuration file, for editors: one readable file a kind beside this one.
//!
//! The reader judges more than a schema can say (keys that need each other, limits that compare), so
//! a schema accepts every file that the reader accepts, and not the reverse. One spelling is taken for
//! a name that the reader takes in several: tiers are written in small letters. Tests keep the keys of
//! schema and reader the same, in both directions.

mod listing;
#[cfg(test)]
pub(crate) mod places;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use listing::{Setting, list_settings};

/// A kind of configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// `tiers/<tier>.toml`.
    Tier,
    /// `tiers/robots/<robot>.toml`.
    Robot,
    /// `boards/<board>.toml`.
    Board,
    /// `dataflows/scenarios/<name>.toml`.
    Scenario,
    /// `octos-edge.toml`.
    Policy,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Tier,
        Self::Robot,
        Self::Board,
        Self::Scenario,
        Self::Policy,
    ];

    /// Returns the word of the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Robot => "robot",
            Self::Board => "board",
            Self::Scenario => "scenario",
            Self::Policy => "policy",
        }
    }

    /// Returns the document that describes the keys.
    pub fn guide(self) -> &'static str {
        match self {
            Self::Tier | Self::Robot | Self::Policy => "tiers/README.md",
            Self::Board => "boards/README.md",
            Self::Scenario => "dataflows/README.md",
        }
    }

    /// Returns the schema.
    pub fn schema(self) -> Value {
        // A test proves that each of them is JSON.
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Tier => include_str!("tier.json"),
            Self::Robot => include_str!("robot.json"),
            Self::Board => include_str!("board.json"),
            Self::Scenario => include_str!("scenario.json"),
            Self::Policy => include_str!("policy.json"),
        }
    }
}

/// Returns what a schema says of a table or of its entries: references followed, and of several
/// alternatives the one that is a table.
fn table_of<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let schema = target(root, schema);
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    let mut tables = alternatives
        .into_iter()
        .flatten()
        .map(|one| target(root, one));
    tables
        .find(|one| one.get("properties").is_some())
        .unwrap_or(schema)
}

fn target<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let name = schema.get("$ref").and_then(Value::as_str);
    let path = name.and_then(|name| name.strip_prefix('#'));
    path.and_then(|path| root.pointer(path)).unwrap_or(schema)
}

/// Returns the schema of an entry of a table, `None` when the table may not have it or says nothing
/// of it.
fn entry_of<'s>(root: &'s Value, table: &'s Value, key: &str) -> Option<&'s Value> {
    let table = table_of(root, table);
    let named = table.get("properties").and_then(|all| all.get(key));
    named.or_else(|| {
        let others = table.get("additionalProperties");
        others.filter(|others| others.is_object())
    })
}
