//! One line of what a run prints on standard error.

use octos_edge::terms::Fact;
use serde_json::Value;

/// A line, and the fact that it tells.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The node, `operator`, `dora`, or empty for a line of the process itself.
    pub(crate) node: String,
    /// The message.
    pub(crate) text: String,
    /// The fact, when the line tells one.
    pub(crate) fact: Option<Fact>,
}

impl Line {
    /// Takes a line apart: `node | message`, where the message of our nodes is a JSON object.
    pub(crate) fn read(raw: &str) -> Self {
        let (node, text) = match raw.split_once(" | ") {
            Some((node, text)) if !node.trim().contains([' ', '{']) => (node.trim(), text),
            Some(_) | None => ("", raw),
        };
        let json: Option<Value> = serde_json::from_str(text).ok();
        let field = |name: &str| json.as_ref()?.get("fields")?.get(name)?.as_str();
        Self {
            node: node.to_owned(),
            text: field("message").unwrap_or(text).to_owned(),
            // What is not told by a node was told before: dora repeats the log of a node that died.
            fact: field("fact")
                .filter(|_| !node.is_empty())
                .map(|fact| serde_json::from_str(fact).unwrap()),
        }
    }

    /// Returns whether `node` said a text that contains `part`.
    pub(crate) fn says(&self, node: &str, part: &str) -> bool {
        self.node == node && self.text.contains(part)
    }

    /// Returns whether the line tells a fact that fits.
    pub(crate) fn tells(&self, fits: impl Fn(&Fact) -> bool) -> bool {
        self.fact.as_ref().is_some_and(fits)
    }

    /// Returns the id of a process that dora started, when the line tells one.
    pub(crate) fn spawned(&self) -> Option<i32> {
        self.text
            .strip_prefix("spawned node with pid ")?
            .parse()
            .ok()
    }
}
