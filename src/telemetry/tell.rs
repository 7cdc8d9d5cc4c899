//! A fact as a line of the log, where no recorder keeps it: in a replay.

use serde_json::Value;

use super::record::bounded;
use crate::terms::{Fact, FactClass};

/// Says a fact and its time, ms since the start, as a recorder would.
pub fn tell_fact(t_ms: u64, fact: &Fact) {
    let class = fact.class();
    // A fact is plain data with text keys, which always has a JSON form.
    let fact = bounded(fact).unwrap_or_default();
    let kind = kind_of(&fact);
    match class {
        FactClass::Safety | FactClass::Audit => tracing::info!(t_ms, fact = %fact, "{kind}"),
        FactClass::Trace => tracing::debug!(t_ms, fact = %fact, "{kind}"),
    }
}

/// Returns the name of a fact.
pub(super) fn kind_of(fact: &Value) -> &str {
    fact.get("kind").and_then(Value::as_str).unwrap_or("fact")
}
