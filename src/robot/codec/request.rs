//! Requests: encoded for the robot without a heap, decoded on the robot's side.

use std::fmt::Write;
use std::time::SystemTime;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    CMD_REQUEST_BYTES_MAX, CMD_TOKEN, ENVELOPE_VERSION, SPEC_VERSION, WORD_CHARS_MAX, clamped,
    parse_object, text_of,
};
use crate::terms::InputFault;

/// Largest request that we send, bytes: parameters, verb, target and about 300 bytes of envelope.
pub const REQUEST_BYTES_MAX: usize = 2048;

/// The text of one request.
pub type RequestText = heapless::String<REQUEST_BYTES_MAX>;

/// A word in its JSON form, quotes and escapes included: rendered once, at start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonWord(String);

impl JsonWord {
    /// Renders a word.
    pub fn of(word: &str) -> Self {
        Self(Value::from(word).to_string())
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One request on its way out.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The verb.
    pub verb: &'a JsonWord,
    /// The robot's id.
    pub target: &'a JsonWord,
    /// The id that the answer must carry.
    pub id: [u8; 16],
    /// The wall time, for the robot's records.
    pub wall: SystemTime,
    /// The parameters: one JSON object as text.
    pub params: &'a str,
}

/// A request does not fit its buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("request exceeds {REQUEST_BYTES_MAX} bytes")]
pub struct TooLong;

/// Writes a request into `out`, which is emptied first. Allocates nothing.
///
/// # Errors
/// [`TooLong`] when it does not fit; `out` is then of no use.
pub fn encode_request(request: &Outgoing<'_>, out: &mut RequestText) -> Result<(), TooLong> {
    out.clear();
    let mut id = Uuid::encode_buffer();
    let id: &str = Uuid::from_bytes(request.id)
        .hyphenated()
        .encode_lower(&mut id);
    let ts = humantime::format_rfc3339_millis(clamped(request.wall));
    write!(
        out,
        "{{\"envelope_version\":\"{ENVELOPE_VERSION}\",\"spec_version\":\"{SPEC_VERSION}\",\
         \"verb\":{},\"target\":{},\"request_id\":\"{id}\",\"ts\":\"{ts}\",\
         \"auth\":{{\"cmd_token\":\"{CMD_TOKEN}\"}},\"params\":{}}}",
        request.verb.0, request.target.0, request.params
    )
    .map_err(|_full| TooLong)
}

/// A request as the robot's side reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The verb.
    pub verb: String,
    /// The robot that is meant.
    pub target: String,
    /// The id that the answer must carry, as it was written.
    pub request_id: String,
    /// The parameters; empty when the request has none.
    pub params: Map<String, Value>,
}

/// Reads a request.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_request(text: &str) -> Result<Request, InputFault> {
    let mut object = parse_object(text, CMD_REQUEST_BYTES_MAX)?;
    let word = |key| text_of(&object, key, WORD_CHARS_MAX).ok_or(InputFault::BadShape);
    let (verb, target, request_id) = (word("verb")?, word("target")?, word("request_id")?);
    let params = match object.remove("params") {
        Some(Value::Object(params)) => params,
        None | Some(Value::Null) => Map::new(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(InputFault::BadShape);
        }
    };
    Ok(Request {
        verb,
        target,
        request_id,
        params,
    })
}
