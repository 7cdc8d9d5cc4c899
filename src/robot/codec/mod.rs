//! The vendor envelope, SPEC-VENDOR-NODE-V1: text in, typed words out, and back.
//!
//! Requests are encoded into a fixed buffer without a heap. Everything that comes from a robot is
//! data: it is measured before it is parsed, its nesting is bounded by the parser, its texts are cut,
//! and both of the forms that robots use in the field are read. Nothing here looks meaning into a
//! verb, and nothing panics on any input.

mod advert;
mod event;
mod request;
mod response;
mod state;

pub use advert::{
    Advert, AdvertVerb, HeartbeatField, decode_advert, decode_advert_value, encode_advert,
};
pub use event::{RobotEvent, decode_event, encode_event};
pub use request::{
    JsonWord, Outgoing, REQUEST_BYTES_MAX, Request, RequestText, TooLong, decode_request,
    encode_request,
};
pub use response::{Response, decode_response, encode_response};
pub use state::{Holder, RobotState, decode_state, encode_state};

use std::time::SystemTime;

use serde_json::{Map, Value};

use crate::terms::InputFault;

/// Largest request that a robot's side reads, bytes.
pub const CMD_REQUEST_BYTES_MAX: usize = 65_536;
/// Largest answer that is read, bytes.
pub const CMD_RESPONSE_BYTES_MAX: usize = 1_048_576;
/// Largest advert that is read, bytes.
pub const CAPABILITIES_BYTES_MAX: usize = 262_144;
/// Largest state that is read, bytes.
pub const STATE_BYTES_MAX: usize = 65_536;
/// Largest safety event that is read, bytes.
pub const SAFETY_EVENT_BYTES_MAX: usize = 16_384;
/// Longest code, verb or name that is kept of a message, characters.
pub const WORD_CHARS_MAX: usize = 120;
/// Longest message for people that is kept of an answer, characters.
pub const MSG_CHARS_MAX: usize = 400;

/// The version of the envelope.
pub(super) const ENVELOPE_VERSION: &str = "1.0";
/// The version of the specification.
pub(super) const SPEC_VERSION: &str = "1.0.0";
/// Identifies this runtime to the robot. It is a constant: it authenticates nothing.
pub(super) const CMD_TOKEN: &str = "octos-edge";

/// Codes of the envelope.
pub mod code {
    /// Success.
    pub const OK: &str = "0";
    /// The parameters do not fit the verb.
    pub const INVALID_PARAMS: &str = "INVALID_PARAMS";
    /// Somebody else holds control, or a motion runs.
    pub const CONTROLLER_BUSY: &str = "CONTROLLER_BUSY";
    /// The robot's own failure.
    pub const VENDOR_ERROR: &str = "VENDOR_ERROR";
    /// The robot does not know the verb.
    pub const VERB_UNKNOWN: &str = "VERB_UNKNOWN";
    /// There is no robot behind the bridge.
    pub const BRIDGE_DOWN: &str = "BRIDGE_DOWN";
}

/// Verbs that all robots of the envelope share.
pub mod verb {
    /// Keeps the dead-man from firing.
    pub const HEARTBEAT: &str = "robot.heartbeat";
    /// Asks for the advert.
    pub const GET_CAPABILITIES: &str = "robot.get_capabilities";
}

/// Measures, then parses.
fn parse(text: &str, bytes_max: usize) -> Result<Value, InputFault> {
    if text.len() > bytes_max {
        return Err(InputFault::Oversized);
    }
    serde_json::from_str(text).map_err(|_bad| InputFault::NotJson)
}

/// Measures, then parses an object.
fn parse_object(text: &str, bytes_max: usize) -> Result<Map<String, Value>, InputFault> {
    match parse(text, bytes_max)? {
        Value::Object(object) => Ok(object),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(InputFault::BadShape)
        }
    }
}

/// The text under `key`, cut to `chars_max`.
fn text_of(object: &Map<String, Value>, key: &str, chars_max: usize) -> Option<String> {
    Some(cut(object.get(key)?.as_str()?, chars_max))
}

fn cut(text: &str, chars_max: usize) -> String {
    text.chars().take(chars_max).collect()
}

/// A time in ms; whole numbers from floats too, because some robots count in floats.
fn ms_of(value: &Value) -> Option<u32> {
    let whole = value.as_u64().or_else(|| {
        let float = value.as_f64().filter(|f| *f >= 0.0 && *f <= 1e9)?;
        format!("{:.0}", float.floor()).parse().ok()
    });
    u32::try_from(whole?).ok()
}

fn stamp(wall: SystemTime) -> String {
    humantime::format_rfc3339_millis(clamped(wall)).to_string()
}

/// The formatter covers the years 1970 to 9999; a wall clock beyond that is a broken clock, and a
/// record with a wrong time is better than none.
fn clamped(wall: SystemTime) -> SystemTime {
    let last = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(253_402_300_799);
    wall.clamp(SystemTime::UNIX_EPOCH, last)
}

#[cfg(test)]
mod tests;
