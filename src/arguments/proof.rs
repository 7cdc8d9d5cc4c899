//! The proof that arguments were checked against the schema of their tool.
//!
//! The field is private: [`Schema::check`](super::Schema::check) makes the first one, and the
//! gate's limits make a new one when they change a number. Nobody else can:
//!
//! ```compile_fail,E0423
//! let forged = octos_edge::arguments::Arguments(serde_json::Map::new());
//! ```

use serde_json::{Map, Value};

use super::size::{DEPTH_MAX, too_deep};

/// Hexadecimal digits of a digest that are kept: 64 bits.
const DIGEST_CHARS: usize = 16;

/// Arguments that passed the schema of the tool they were checked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub(super) fn checked(map: Map<String, Value>) -> Self {
        Self(map)
    }

    /// Returns the same arguments after `change`. Only the gate's limits may change numbers.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Map<String, Value>)) -> Self {
        change(&mut self.0);
        self
    }

    /// Returns the members.
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the members by value.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Returns a copy as one JSON value.
    pub fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// Returns a short digest: equal arguments, in whatever order of keys, have equal digests.
    ///
    /// It is the first 16 hexadecimal digits of a BLAKE3 hash; it identifies, it hides nothing.
    pub fn digest(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        feed_members(&mut hasher, &self.0);
        short(&hasher)
    }
}

/// Returns the digest of arguments that need not fit any schema, as [`Arguments::digest`] would.
///
/// What nests deeper than [`DEPTH_MAX`] is not looked into: all of it has one digest.
pub fn digest_of(args: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    if too_deep(args, DEPTH_MAX) {
        hasher.update(b"too deep");
    } else {
        feed(&mut hasher, args);
    }
    short(&hasher)
}

fn short(hasher: &blake3::Hasher) -> String {
    let hex = hasher.finalize().to_hex();
    hex.chars().take(DIGEST_CHARS).collect()
}

/// Feeds compact JSON with sorted keys, whichever order the map of this build keeps.
fn feed(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(members) => feed_members(hasher, members),
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                feed(hasher, item);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            hasher.update(value.to_string().as_bytes());
        }
    }
}

fn feed_members(hasher: &mut blake3::Hasher, members: &Map<String, Value>) {
    let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    hasher.update(b"{");
    for (key, value) in sorted {
        hasher.update(Value::from(key.as_str()).to_string().as_bytes());
        hasher.update(b":");
        feed(hasher, value);
        hasher.update(b",");
    }
    hasher.update(b"}");
}
