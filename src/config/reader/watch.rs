//! For tests: which keys a reader asks for, whether they are written or not.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::key_of;

/// Stands between the segments of a path; no key of ours has it.
const BETWEEN: &str = "\u{1f}";

thread_local! {
    static ASKED: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

/// Notes that `key` of the table at `path` was asked for.
pub(super) fn note(path: &str, key: &str) {
    let mut segments = segments(path);
    segments.push(key.to_owned());
    ASKED.with_borrow_mut(|asked| asked.insert(segments.join(BETWEEN)));
}

/// Does `work` and returns the paths of all keys that were asked for on the way.
pub(crate) fn watched(work: impl FnOnce()) -> BTreeSet<String> {
    ASKED.take();
    work();
    ASKED.take()
}

/// Splits a dotted path into its keys and the numbers of its elements.
fn segments(path: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let end = match rest.strip_prefix('"') {
            Some(quoted) => quoted.find('"').map_or(rest.len(), |at| at + 2),
            None if rest.starts_with('[') => rest.find(']').map_or(rest.len(), |at| at + 1),
            None => rest.find(['.', '[']).unwrap_or(rest.len()),
        };
        let (segment, more) = rest.split_at(end);
        segments.push(segment.trim_matches('"').to_owned());
        rest = more.strip_prefix('.').unwrap_or(more);
    }
    segments
}

#[test]
fn a_path_falls_apart_into_keys_and_elements() {
    assert_eq!(key_of("a.b"), "\"a.b\"");
    assert_eq!(
        segments("tool.x.args.\"pose[0].y\".min"),
        ["tool", "x", "args", "pose[0].y", "min"]
    );
    assert_eq!(segments("event[3].when"), ["event", "[3]", "when"]);
}
