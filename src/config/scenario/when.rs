//! Reads a moment of a run, for events and faults alike.

use super::{Condition, When};
use crate::config::reader::{Node, number, whole, word};

/// Longest run, ms.
const RUN_MS_MAX: u64 = 3_600_000;
/// Longest way and largest coordinate, m. Chosen: what a rover drives in an hour.
pub(super) const WAY_M_MAX: f64 = 10_000.0;

/// Reads a moment of the run.
pub(super) fn when(node: Node<'_>) -> Option<When> {
    if node.as_str().is_some() {
        return word(&[("ready", When::Ready)])(node);
    }
    node.table(|t| {
        let given = ["moved_m", "after_ms", "answered"]
            .into_iter()
            .filter(|key| t.has(key));
        if given.count() != 1 {
            let hint = "write \"ready\" or a table with one of the three";
            t.fault_here(
                "needs exactly one of `moved_m`, `after_ms`, `answered`",
                hint,
            );
        }
        let moved = t
            .may("moved_m", number(0.0..=WAY_M_MAX))
            .map(Condition::MovedM);
        let after = t
            .may("after_ms", whole(0..=RUN_MS_MAX))
            .map(Condition::AfterMs);
        let answered = t
            .may("answered", whole(1..=10_000))
            .map(Condition::Answered);
        moved.or(after).or(answered).map(When::Once)
    })
}
