//! From a line to a word: strict for every word but a stop.
//!
//! Whoever means a stop gets one, whatever else is wrong with the line: keys that are missing, surplus
//! or of the wrong type, texts that are not UTF-8, a line that is cut or too long. A line that is a
//! whole word of another kind is that word, whatever its texts hold.

use serde_json::{Map, Value};

use super::words::{TEXT_BYTES_MAX, Word};
use crate::terms::StopKind;

/// Stands for a name or a reason that a stop does not give.
const UNKNOWN: &str = "unknown";

/// Returns the word of a whole line.
///
/// # Errors
/// What is wrong with the line; nothing is ever wrong with a stop.
pub(super) fn word_of(line: &[u8]) -> Result<Word, String> {
    match stop_in(line) {
        Some(stop) => Ok(stop),
        None => serde_json::from_slice(line)
            .map_err(|error| format!("not a word of this socket: {error}")),
    }
}

/// Returns the stop or estop that a line, or the beginning of one, means.
pub(super) fn stop_in(line: &[u8]) -> Option<Word> {
    let text = String::from_utf8_lossy(line);
    let object: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    let named = object.get("do").and_then(Value::as_str).and_then(stop_kind);
    let kind = match named {
        Some(kind) => kind,
        None if is_other_word(line) => return None,
        None => strongest_named(line)?,
    };
    let (who, why) = (text_of(&object, "who"), text_of(&object, "why"));
    Some(match kind {
        StopKind::Stop => Word::Stop { who, why },
        StopKind::Estop => Word::Estop { who, why },
    })
}

fn is_other_word(line: &[u8]) -> bool {
    serde_json::from_slice::<Word>(line).is_ok()
}

fn stop_kind(name: &str) -> Option<StopKind> {
    if name.eq_ignore_ascii_case("stop") {
        Some(StopKind::Stop)
    } else if name.eq_ignore_ascii_case("estop") {
        Some(StopKind::Estop)
    } else {
        None
    }
}

/// Looks for a bare `stop`, or for the key `do` with a stop behind it, in a line that is no word.
/// A quote within a text of JSON has a backslash, so texts do not name stops.
fn strongest_named(line: &[u8]) -> Option<StopKind> {
    let is_key = |part: &[u8]| part == b"\"do\"" || part == b"'do'";
    let keys = line.windows(4).enumerate().filter(|(_, part)| is_key(part));
    let values = keys.filter_map(|(at, _)| {
        let behind = line.get(at.saturating_add(4)..)?.trim_ascii_start();
        first_name(behind.strip_prefix(b":")?)
    });
    let bare = line.trim_ascii().trim_ascii_start();
    let whole = first_name(bare).filter(|_| bare.len() <= "\"estop\"".len());
    whole.into_iter().chain(values).max()
}

/// Returns the stop that a value begins with, with its quotes or without.
fn first_name(value: &[u8]) -> Option<StopKind> {
    let value = value.trim_ascii_start();
    let value = match value {
        [b'"' | b'\'', rest @ ..] => rest,
        bare => bare,
    };
    let name: Vec<u8> = value
        .iter()
        .copied()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .take("estop".len().saturating_add(1))
        .collect();
    stop_kind(std::str::from_utf8(&name).ok()?)
}

fn text_of(object: &Map<String, Value>, key: &str) -> String {
    let text = object.get(key).and_then(Value::as_str).unwrap_or_default();
    if text.trim().is_empty() {
        return UNKNOWN.to_owned();
    }
    text.get(..text.floor_char_boundary(TEXT_BYTES_MAX))
        .unwrap_or(text)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stop(who: &str, why: &str) -> Option<Word> {
        Some(Word::Stop {
            who: who.to_owned(),
            why: why.to_owned(),
        })
    }

    #[test]
    fn a_stop_is_one_whatever_is_wrong_with_its_form() {
        for line in [
            &br#"{"do":"stop"}"#[..],
            br#"{"do":"stop","who":null,"why":7}"#,
            br#"{"do":"stop","who":"","why":" "}"#,
            br#"{"do":"stop","please":true}"#,
            br#"{"please":{"do":[1]},"do":"Stop"}"#,
            b" { \"do\" :\t\"stop\" , ",
            br#"{"do":"stop"#,
            br#"{"do":"stop","who":"an"#,
            br#"{"do":"arm","do":"stop"}"#,
            br#"{"do":"stop","do":"arm"}"#,
            br#"{'do':'stop'}"#,
            br#"{"do":stop}"#,
            b"{\"do\":\"stop\"}\0\0",
            b"\xef\xbb\xbf{\"do\":\"stop\"}",
            b"stop",
            b"\"STOP\"\r\n",
        ] {
            let text = String::from_utf8_lossy(line);
            assert_eq!(stop_in(line), stop("unknown", "unknown"), "{text}");
        }
        let estop = Word::Estop {
            who: "unknown".to_owned(),
            why: "unknown".to_owned(),
        };
        for line in [
            &br#"{"do":"estop"}"#[..],
            br#"{"do":"estop","#,
            br#"{"do":"stop","do":"estop""#,
            b"estop\n",
        ] {
            let text = String::from_utf8_lossy(line);
            assert_eq!(word_of(line), Ok(estop.clone()), "{text}");
        }
    }

    #[test]
    fn who_and_why_of_a_stop_are_taken_when_they_are_texts_and_cut_at_their_bound() {
        let plain = br#"{"why":"smoke","surplus":[],"who":"ann","do":"stop"}"#;
        assert_eq!(stop_in(plain), stop("ann", "smoke"));
        let torn = b"{\"do\":\"stop\",\"who\":\"J\xfcrgen\",\"why\":\"x\"}";
        assert_eq!(stop_in(torn), stop("J\u{fffd}rgen", "x"));
        let long = "\u{e9}".repeat(TEXT_BYTES_MAX);
        let line = serde_json::json!({ "do": "stop", "who": long, "why": "x" }).to_string();
        let Some(Word::Stop { who, .. }) = stop_in(line.as_bytes()) else {
            panic!("no stop");
        };
        assert_eq!(who, "\u{e9}".repeat(TEXT_BYTES_MAX / 2));
    }

    #[test]
    fn what_is_no_stop_does_not_become_one_and_stays_strict() {
        let text = r#"write {"do":"stop"} on the wall"#;
        let goal = Word::Goal {
            who: "ann".to_owned(),
            text: text.to_owned(),
        };
        let line = serde_json::to_vec(&goal).unwrap();
        assert_eq!(word_of(&line), Ok(goal));
        for line in [
            &line[..line.len() - 2],
            br#"{"do":"stopp"}"#,
            br#"{"do":"stop_all"}"#,
            br#"{"do":["stop"]}"#,
            br#"{"stop":"do"}"#,
            b"stop the press",
            b"{\"do\":\"sto",
            br#"{"do":"end","who":"a","x":1}"#,
            b"\xff\xfe",
            b"",
        ] {
            let text = String::from_utf8_lossy(line);
            assert_eq!(stop_in(line), None, "{text}");
            assert!(word_of(line).is_err(), "{text}");
        }
    }
}
