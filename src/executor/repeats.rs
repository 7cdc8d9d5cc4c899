//! The same invalid arguments again: each time the answer says more.
//!
//! A caller that is told the same twice has not understood it. The second time it is shown arguments
//! that fit; from the third time on it is told to stop, and the loop is counted. Nothing else changes:
//! the call is refused as before, for the same reason.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Executor;
use super::refuse::short;
use super::turn::Asked;
use crate::arguments::digest_of;
use crate::catalog::Entry;
use crate::terms::{Fact, Reason, Refusal};

/// Most different invalid calls of a turn that are remembered; a new one beyond them counts as the
/// first of its kind each time. A goal has 64 steps.
const KINDS_MAX: usize = 256;
/// From this time on the caller is told to stop.
const LOOP: u32 = 3;
/// Longest example that is shown, bytes.
const EXAMPLE_BYTES_MAX: usize = 1024;

/// The invalid calls of one turn: how often each came, by tool and digest of the arguments.
#[derive(Debug, Clone, Default)]
pub struct Repeats(Arc<Mutex<BTreeMap<(String, String), u32>>>);

impl Repeats {
    /// Counts an invalid call; returns how often it came by now.
    fn count(&self, tool: &str, digest: String) -> u32 {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kind = (short(tool), digest);
        if seen.len() >= KINDS_MAX && !seen.contains_key(&kind) {
            return 1;
        }
        let times = seen.entry(kind).or_default();
        *times = times.saturating_add(1);
        *times
    }
}

impl Executor {
    /// Adds to the refusal of invalid arguments what a caller needs that sends them again.
    pub(super) fn again(&self, asked: &Asked<'_>, mut refusal: Refusal) -> Refusal {
        let judged = asked.turn.view.find(&asked.call.tool);
        let (Reason::Schema, Some(judged)) = (refusal.reason, judged) else {
            return refusal;
        };
        let digest = digest_of(&asked.call.args);
        let times = asked.turn.repeats.count(&asked.call.tool, digest);
        if times > 1
            && let Some(example) = example(judged.entry)
        {
            refusal.hint = format!("{}; these would fit: {example}", refusal.hint);
        }
        if times >= LOOP {
            let tool = &judged.entry.descriptor().name;
            refusal.hint = format!(
                "{}; these arguments came {times} times and are refused however often they come: \
                 stop calling `{tool}` with them, go on in another way or say what you cannot do",
                refusal.hint
            );
            self.ports.facts.raise(Fact::InputLoop {
                call: short(&asked.call.id),
                tool: tool.as_str().to_owned(),
                times,
            });
        }
        refusal
    }
}

/// Returns arguments that fit, as JSON: of a robot's tool those that its file shows to pass, since only
/// they keep its limits; of others the smallest that their schema takes.
fn example(entry: &Entry) -> Option<String> {
    let text = match entry.rules() {
        Some(rules) => serde_json::to_string(rules.example()?).ok()?,
        None => entry.schema().example()?.to_string(),
    };
    (text.len() <= EXAMPLE_BYTES_MAX).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_apart_and_have_a_bound() {
        let repeats = Repeats::default();
        let count = |tool: &str, digest: &str| repeats.count(tool, digest.to_owned());
        assert_eq!(count("a", "1"), 1);
        assert_eq!(count("a", "2"), 1);
        assert_eq!(count("b", "1"), 1);
        assert_eq!(repeats.clone().count("a", "1".to_owned()), 2);
        for kind in 0..1000 {
            count("many", &kind.to_string());
        }
        assert_eq!(count("late", "1"), 1);
        assert_eq!(
            count("late", "1"),
            1,
            "beyond the bound nothing is remembered"
        );
        assert_eq!(count("a", "1"), 3);
    }
}
