//! The text of a call's arguments, as a model's wire or a person writes it, read within bounds.
//!
//! Length and nesting are measured before the parser runs, so that no text can overflow the stack or
//! cost more than one look at it. What the members mean is the schema's business, not this file's.

use serde_json::Value;

use super::{ARGS_DEPTH_MAX, Budget};

/// Why a text gives no arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ArgsTextError {
    /// It is too long to be looked at.
    #[error("{found} bytes of text, permitted are {max}")]
    TooLong {
        /// Its length, bytes.
        found: usize,
        /// The bound, bytes.
        max: usize,
    },
    /// Its brackets go too deep.
    #[error("nested {found} levels deep, permitted are {max}")]
    TooDeep {
        /// The deepest place, arrays and objects counted together.
        found: usize,
        /// The bound.
        max: usize,
    },
    /// It is no JSON, or holds a number that JSON cannot keep.
    #[error("no JSON from line {line}, column {column} on")]
    NotJson {
        /// From 1; 0 when the parser does not say.
        line: usize,
        /// From 1; 0 when the parser does not say.
        column: usize,
    },
}

/// Reads arguments from text. An empty text means a call without arguments, as model wires have it.
///
/// # Errors
/// [`ArgsTextError`]: too long, too deep, or no JSON.
pub fn parse_args(text: &str) -> Result<Value, ArgsTextError> {
    if text.len() > Budget::ARGS_BYTES_MAX {
        return Err(ArgsTextError::TooLong {
            found: text.len(),
            max: Budget::ARGS_BYTES_MAX,
        });
    }
    if text.trim().is_empty() {
        return Ok(Value::Object(serde_json::Map::new()));
    }
    let found = nesting(text);
    if found > ARGS_DEPTH_MAX {
        return Err(ArgsTextError::TooDeep {
            found,
            max: ARGS_DEPTH_MAX,
        });
    }
    serde_json::from_str(text).map_err(|error| ArgsTextError::NotJson {
        line: error.line(),
        column: error.column(),
    })
}

/// Returns how deep the brackets of a text go, those inside of strings not counted. For a text that
/// is no JSON this is some number, and the parser has the last word.
fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' => skip_string(&mut bytes),
            _ => {}
        }
    }
    deepest
}

/// Goes on behind the quote that ends a string.
fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                // Whatever is escaped ends nothing.
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn kernel_case_18_a_text_of_10_000_nested_arrays_is_refused_by_depth() {
        let deep = "[".repeat(10_000) + &"]".repeat(10_000);
        let refused = ArgsTextError::TooDeep {
            found: 10_000,
            max: 64,
        };
        assert_eq!(parse_args(&deep), Err(refused));
        assert_eq!(
            refused.to_string(),
            "nested 10000 levels deep, permitted are 64"
        );
        // Never closed: the parser would see no end of it.
        assert_eq!(parse_args(&"{\"a\":".repeat(10_000)), Err(refused));
        let just = "[".repeat(64) + &"]".repeat(64);
        assert!(parse_args(&just).is_ok());
    }

    #[test]
    fn brackets_inside_of_strings_are_no_depth() {
        let text = format!(r#"{{"a":"{}\"[[","b":["\\"]}}"#, "[".repeat(1_000));
        let read = parse_args(&text).unwrap();
        assert_eq!(read["b"], json!(["\\"]));
    }

    #[test]
    fn what_is_too_long_or_no_json_is_told_apart() {
        let max = Budget::ARGS_BYTES_MAX;
        let long = "x".repeat(max + 1);
        let found = max + 1;
        assert_eq!(
            parse_args(&long),
            Err(ArgsTextError::TooLong { found, max })
        );
        let (line, column) = (2, 3);
        assert_eq!(
            parse_args("{\n\"a}"),
            Err(ArgsTextError::NotJson { line, column })
        );
        assert!(matches!(
            parse_args("{\"a\":1e999}"),
            Err(ArgsTextError::NotJson { .. })
        ));
        assert_eq!(parse_args(" \n"), Ok(json!({})));
    }

    proptest! {
        #[test]
        fn mutated_bytes_never_panic_the_reader(
            at in 0_usize..60, byte in any::<u8>(), cut in 0_usize..60,
        ) {
            let mut bytes = br#"{"path":"a.txt","lines":[1,2.5e3,{"from":-1}],"all":true}"#.to_vec();
            let length = bytes.len();
            bytes[at % length] = byte;
            bytes.truncate(length - cut % length);
            // Either answer is fine; no answer is not.
            drop(parse_args(&String::from_utf8_lossy(&bytes)));
        }
    }
}
