//! The robot's latest state: a flat object, or one inside an envelope.

use serde_json::{Map, Value};

use super::{STATE_BYTES_MAX, WORD_CHARS_MAX, parse_object, text_of};
use crate::terms::InputFault;

/// One state.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotState {
    /// The robot's id, when it says so.
    pub robot_id: Option<String>,
    /// Its number, when it says so. It falls when the robot's node was restarted.
    pub seq: Option<u64>,
    /// Whether the robot reports an emergency stop of its own.
    pub estopped: bool,
    /// Who holds control, when somebody does.
    pub holder: Option<String>,
    /// The state itself, without an envelope.
    pub body: Value,
}

/// Reads a state.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_state(text: &str) -> Result<RobotState, InputFault> {
    let mut outer = parse_object(text, STATE_BYTES_MAX)?;
    let enveloped = outer.contains_key("envelope_version") || outer.contains_key("spec_version");
    let inner = ["state", "data", "payload"].into_iter().find_map(|key| {
        let inside = enveloped && outer.get(key).is_some_and(Value::is_object);
        inside.then(|| outer.remove(key)).flatten()
    });
    let id_of = |object: &Map<String, Value>| text_of(object, "robot_id", WORD_CHARS_MAX);
    let seq_of = |object: &Map<String, Value>| object.get("seq").and_then(Value::as_u64);
    let (robot_id, seq) = (id_of(&outer), seq_of(&outer));
    let body = match inner {
        Some(Value::Object(body)) => body,
        Some(_) | None => outer,
    };
    let holder = text_of(&body, "controller_holder", WORD_CHARS_MAX);
    Ok(RobotState {
        robot_id: robot_id.or_else(|| id_of(&body)),
        seq: seq.or_else(|| seq_of(&body)),
        estopped: body.get("estopped").and_then(Value::as_bool) == Some(true),
        holder: holder.filter(|name| !name.is_empty()),
        body: Value::Object(body),
    })
}

/// Writes a state, as a robot's side does: flat.
pub fn encode_state(body: &Map<String, Value>) -> String {
    Value::Object(body.clone()).to_string()
}
