//! How large and how deep a JSON value is, measured before anything else looks at it.
//!
//! Neither question allocates while the answer is within the bound.

use std::io;

use serde_json::Value;

/// Deepest nesting of arguments. A robot's deepest path has 8 steps; chosen with room for others.
pub const DEPTH_MAX: usize = 32;

/// Returns the exact length of `value` as compact JSON, bytes; `None` when it is above `max`.
///
/// A value deeper than [`DEPTH_MAX`] has no length here: ask [`too_deep`] first to tell the two apart.
pub fn serialized_len(value: &Value, max: usize) -> Option<usize> {
    if too_deep(value, DEPTH_MAX) {
        return None;
    }
    let mut room = Room { left: max };
    serde_json::to_writer(&mut room, value).ok()?;
    max.checked_sub(room.left)
}

/// Returns whether `value` nests deeper than `max` arrays and objects.
pub fn too_deep(value: &Value, max: usize) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        Value::Array(items) => deeper(items.iter(), max),
        Value::Object(members) => deeper(members.values(), max),
    }
}

fn deeper<'v>(mut inner: impl Iterator<Item = &'v Value>, max: usize) -> bool {
    match max.checked_sub(1) {
        None => true,
        Some(left) => inner.any(|value| too_deep(value, left)),
    }
}

/// Swallows bytes while there is room for them.
struct Room {
    left: usize,
}

impl io::Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.left.checked_sub(bytes.len()) {
            Some(left) => {
                self.left = left;
                Ok(bytes.len())
            }
            None => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn length_is_exact_up_to_the_bound_and_absent_above_it() {
        let value = json!({ "a": [1, 2.5, "\u{e9}\n"], "b": null });
        let length = value.to_string().len();
        assert_eq!(serialized_len(&value, length), Some(length));
        assert_eq!(serialized_len(&value, length - 1), None);
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        assert!(!too_deep(&json!(1), 0));
        assert!(too_deep(&json!([]), 0));
        assert!(!too_deep(&json!({ "a": [1] }), 2));
        assert!(too_deep(&json!({ "a": [[1]] }), 2));
        let bottomless = (0..1000).fold(json!(1), |inner, _| json!([inner]));
        assert!(too_deep(&bottomless, DEPTH_MAX));
        assert_eq!(serialized_len(&bottomless, usize::MAX), None);
    }
}
