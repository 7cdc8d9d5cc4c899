//! How large and how deep a JSON value is, measured before anything else looks at it.
//!
//! Nothing here allocates, and nothing goes deeper than [`DEPTH_MAX`]: the length is counted by a sink
//! that keeps nothing, and the counting gives up at the bound.

use std::io;

use serde::Serialize;
use serde_json::Value;

use crate::terms::{ARGS_DEPTH_MAX, Budget};

/// Deepest nesting of arguments.
pub const DEPTH_MAX: usize = ARGS_DEPTH_MAX;
/// Most elements of one array and most members of one object.
pub const MEMBERS_MAX: usize = 100_000;
/// Longest text and longest name of a member, bytes. The size of the whole bounds them as well; this
/// one is asked first, and a text that breaks it is never serialised.
pub const TEXT_BYTES_MAX: usize = Budget::ARGS_BYTES_MAX;
/// How far beyond the bound the length is still counted so that it can be told, as a multiple of it.
const COUNTED: usize = 16;

/// Why arguments are not even read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Excess {
    /// They nest too deeply. How deep is not looked at.
    #[error("nested deeper than {max} levels")]
    Depth {
        /// The bound, arrays and objects counted together.
        max: usize,
    },
    /// One array or object has too many parts.
    #[error("an array or object of {found} members, permitted are {max}")]
    Members {
        /// What it has.
        found: usize,
        /// The bound.
        max: usize,
    },
    /// One text, or the name of a member, is too long.
    #[error("a text of {found} bytes, permitted are {max}")]
    Text {
        /// Its length, bytes.
        found: usize,
        /// The bound, bytes.
        max: usize,
    },
    /// They are too large as compact JSON.
    #[error("{found} bytes, permitted are {max}")]
    Bytes {
        /// Their exact length, bytes.
        found: usize,
        /// The bound, bytes.
        max: usize,
    },
    /// They are so large that their length was not counted to the end.
    #[error("more than {counted} bytes, permitted are {max}")]
    Flood {
        /// Where the counting ended, bytes.
        counted: usize,
        /// The bound, bytes.
        max: usize,
    },
}

/// Returns the exact length of `value` as compact JSON, bytes, when it keeps every bound.
///
/// # Errors
/// The first bound that it breaks: depth, members and texts first, then `bytes_max`.
pub fn measure(value: &Value, bytes_max: usize) -> Result<usize, Excess> {
    shape(value, DEPTH_MAX)?;
    if let Some(length) = counted(value, bytes_max) {
        return Ok(length);
    }
    let most = bytes_max.saturating_mul(COUNTED);
    Err(match counted(value, most) {
        Some(found) => Excess::Bytes {
            found,
            max: bytes_max,
        },
        None => Excess::Flood {
            counted: most,
            max: bytes_max,
        },
    })
}

/// Returns the exact length of `value` as compact JSON, bytes; `None` when it is above `max`.
///
/// A value deeper than [`DEPTH_MAX`] has no length here: [`measure`] tells the two apart.
pub fn serialized_len(value: &Value, max: usize) -> Option<usize> {
    if too_deep(value, DEPTH_MAX) {
        return None;
    }
    counted(value, max)
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

/// Judges depth, members and texts, each before what is inside is looked at.
fn shape(value: &Value, depth: usize) -> Result<(), Excess> {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        Value::String(text) => brief(text),
        Value::Array(items) => {
            let left = level(items.len(), depth)?;
            items.iter().try_for_each(|item| shape(item, left))
        }
        Value::Object(members) => {
            let left = level(members.len(), depth)?;
            members.iter().try_for_each(|(name, member)| {
                brief(name)?;
                shape(member, left)
            })
        }
    }
}

/// Returns how many levels are left below an array or object of so many members.
fn level(members: usize, depth: usize) -> Result<usize, Excess> {
    if members > MEMBERS_MAX {
        return Err(Excess::Members {
            found: members,
            max: MEMBERS_MAX,
        });
    }
    depth.checked_sub(1).ok_or(Excess::Depth { max: DEPTH_MAX })
}

fn brief(text: &str) -> Result<(), Excess> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(Excess::Text {
            found: text.len(),
            max: TEXT_BYTES_MAX,
        });
    }
    Ok(())
}

/// Counts a value whose depth was judged; gives up soon after `max`.
fn counted(value: &Value, max: usize) -> Option<usize> {
    let mut count = Count { bytes: 0, max };
    count.value(value)?;
    Some(count.bytes)
}

/// Counts bytes. Names, texts and numbers are written into it, brackets and commas are added: so no
/// error, and nothing else on the heap, is ever made.
struct Count {
    bytes: usize,
    max: usize,
}

impl Count {
    fn value(&mut self, value: &Value) -> Option<()> {
        match value {
            Value::Array(items) => {
                self.frame(items.len())?;
                items.iter().try_for_each(|item| self.value(item))
            }
            Value::Object(members) => {
                self.frame(members.len())?;
                members.iter().try_for_each(|(name, member)| {
                    self.scalar(name)?;
                    self.add(":".len())?;
                    self.value(member)
                })
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.scalar(value)
            }
        }
    }

    /// Adds the brackets and the commas of so many members.
    fn frame(&mut self, members: usize) -> Option<()> {
        self.add("[]".len().saturating_add(members.saturating_sub(1)))
    }

    fn scalar(&mut self, scalar: &impl Serialize) -> Option<()> {
        serde_json::to_writer(&mut *self, scalar).ok()?;
        self.add(0)
    }

    fn add(&mut self, bytes: usize) -> Option<()> {
        self.bytes = self.bytes.saturating_add(bytes);
        (self.bytes <= self.max).then_some(())
    }
}

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes = self.bytes.saturating_add(bytes.len());
        Ok(bytes.len())
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
    fn length_is_exact_up_to_the_bound_and_told_above_it() {
        let value = json!({ "a": [1, 2.5, "\u{e9}\n"], "b": null });
        let length = value.to_string().len();
        assert_eq!(serialized_len(&value, length), Some(length));
        assert_eq!(serialized_len(&value, length - 1), None);
        assert_eq!(measure(&value, length), Ok(length));
        let (found, max) = (length, length - 1);
        assert_eq!(measure(&value, max), Err(Excess::Bytes { found, max }));
        let (counted, max) = (16, 1);
        assert_eq!(measure(&value, max), Err(Excess::Flood { counted, max }));
    }

    #[test]
    fn the_lengths_of_the_reference_are_ours() {
        for (text, length) in [
            ("null", 4),
            ("42", 2),
            ("2.72", 4),
            ("\"hello\"", 7),
            ("\"a\\\"b\"", 6),
            ("[]", 2),
            ("[1,2,3]", 7),
            ("{}", 2),
            ("{\"a\":1}", 7),
            ("{\"x\":[1,2]}", 11),
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(measure(&value, usize::MAX), Ok(length), "{text}");
        }
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
        let max = DEPTH_MAX;
        assert_eq!(measure(&bottomless, 4), Err(Excess::Depth { max }));
        let just = (0..64).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(measure(&just, 1000), Ok(129));
    }

    #[test]
    fn members_and_texts_have_bounds_of_their_own() {
        let max = MEMBERS_MAX;
        assert!(measure(&json!(vec![0; max]), usize::MAX).is_ok());
        let found = max + 1;
        let many = Err(Excess::Members { found, max });
        assert_eq!(measure(&json!({ "a": vec![0; found] }), usize::MAX), many);
        let object: serde_json::Map<String, Value> =
            (0..found).map(|n| (n.to_string(), json!(0))).collect();
        assert_eq!(measure(&Value::Object(object), usize::MAX), many);
        let max = TEXT_BYTES_MAX;
        let found = max + 1;
        let long = Err(Excess::Text { found, max });
        let text = "x".repeat(found);
        assert_eq!(measure(&json!([text.as_str()]), usize::MAX), long);
        assert_eq!(measure(&json!({ text: 1 }), usize::MAX), long);
    }
}
