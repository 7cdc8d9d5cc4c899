//! Safety events of a robot.

use std::time::SystemTime;

use serde_json::{Map, Value};

use super::{SAFETY_EVENT_BYTES_MAX, WORD_CHARS_MAX, parse_object, stamp, text_of};
use crate::terms::InputFault;

/// Longest kind that is kept, characters.
const KIND_CHARS_MAX: usize = 80;
/// The members that may name the kind, in the order in which they are looked for.
const KIND_KEYS: [&str; 4] = ["kind", "event", "event_type", "type"];

/// One safety event.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotEvent {
    /// The robot's id, when it says so.
    pub robot_id: Option<String>,
    /// Its number, when it says so.
    pub seq: Option<u64>,
    /// What happened, cut to 80 characters; `unnamed` when it does not say.
    pub what: String,
    /// The whole event.
    pub body: Value,
}

/// Reads a safety event.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_event(text: &str) -> Result<RobotEvent, InputFault> {
    let body = parse_object(text, SAFETY_EVENT_BYTES_MAX)?;
    let what = KIND_KEYS
        .into_iter()
        .find_map(|key| text_of(&body, key, KIND_CHARS_MAX));
    Ok(RobotEvent {
        robot_id: text_of(&body, "robot_id", WORD_CHARS_MAX),
        seq: body.get("seq").and_then(Value::as_u64),
        what: what.unwrap_or_else(|| "unnamed".to_owned()),
        body: Value::Object(body),
    })
}

/// Writes a safety event, as a robot's side does. `more` are further members.
pub fn encode_event(
    robot_id: &str,
    seq: u64,
    what: &str,
    (more, wall): (&Map<String, Value>, SystemTime),
) -> String {
    let mut body = more.clone();
    body.insert("robot_id".to_owned(), robot_id.into());
    body.insert("seq".to_owned(), seq.into());
    body.insert("kind".to_owned(), what.into());
    body.insert("ts".to_owned(), stamp(wall).into());
    Value::Object(body).to_string()
}
