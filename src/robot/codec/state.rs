//! The robot's latest state: a flat object, or one inside an envelope.
//!
//! What tells of danger is read against the robot: a word that is there and cannot be read counts as
//! an emergency stop, or as somebody else's control. Only `false`, `null` and absence say that there
//! is none.

use serde_json::{Map, Value};

use super::{STATE_BYTES_MAX, WORD_CHARS_MAX, cut, parse_object, text_of};
use crate::terms::InputFault;

/// One state.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotState {
    /// The robot's id, when it says so.
    pub robot_id: Option<String>,
    /// Its number, when it says so. It rises with each state and falls when the robot's node was
    /// restarted.
    pub seq: Option<u64>,
    /// Whether the robot reports an emergency stop of its own.
    pub estopped: bool,
    /// Who holds control.
    pub holder: Holder,
    /// The state itself, without an envelope.
    pub body: Value,
}

/// Who holds control of the robot, as its state says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holder {
    /// Nobody, or the state does not say.
    Nobody,
    /// One of this name, cut to 120 characters.
    Named(String),
    /// The state says somebody in a way that cannot be read.
    Unreadable,
}

/// Reads a state.
///
/// # Errors
/// What is wrong with the text. A number that is there and cannot be read is [`InputFault::BadShape`]:
/// a repetition could not be told from news.
pub fn decode_state(text: &str) -> Result<RobotState, InputFault> {
    let mut outer = parse_object(text, STATE_BYTES_MAX)?;
    let enveloped = outer.contains_key("envelope_version") || outer.contains_key("spec_version");
    let inner = ["state", "data", "payload"].into_iter().find_map(|key| {
        let inside = enveloped && outer.get(key).is_some_and(Value::is_object);
        inside.then(|| outer.remove(key)).flatten()
    });
    let id_of = |object: &Map<String, Value>| text_of(object, "robot_id", WORD_CHARS_MAX);
    let (robot_id, outer_seq, outer_estop) = (id_of(&outer), seq_of(&outer), is_estopped(&outer));
    let body = match inner {
        Some(Value::Object(body)) => body,
        Some(_) | None => outer,
    };
    let estopped = outer_estop || is_estopped(&body);
    let seq = outer_seq.and_then(|outer| Ok(outer.or(seq_of(&body)?)));
    Ok(RobotState {
        robot_id: robot_id.or_else(|| id_of(&body)),
        // An emergency stop is heard whatever stands beside it.
        seq: seq.or_else(|fault| if estopped { Ok(None) } else { Err(fault) })?,
        estopped,
        holder: holder_of(&body),
        body: Value::Object(body),
    })
}

fn seq_of(object: &Map<String, Value>) -> Result<Option<u64>, InputFault> {
    match object.get("seq") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => count_of(value).map(Some).ok_or(InputFault::BadShape),
    }
}

/// A whole number; from floats too, because some robots count in floats, as far as those are exact.
fn count_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let float = value.as_f64()?;
        let whole = (0.0..=9.0e15).contains(&float) && float.fract() == 0.0;
        whole.then(|| format!("{float:.0}").parse().ok()).flatten()
    })
}

fn is_estopped(object: &Map<String, Value>) -> bool {
    match object.get("estopped") {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(
            Value::Bool(true)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_),
        ) => true,
    }
}

fn holder_of(object: &Map<String, Value>) -> Holder {
    match object.get("controller_holder") {
        None | Some(Value::Null) => Holder::Nobody,
        Some(Value::String(name)) if name.is_empty() => Holder::Nobody,
        Some(Value::String(name)) => Holder::Named(cut(name, WORD_CHARS_MAX)),
        Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
            Holder::Unreadable
        }
    }
}

/// Writes a state, as a robot's side does: flat.
pub fn encode_state(body: &Map<String, Value>) -> String {
    Value::Object(body.clone()).to_string()
}
