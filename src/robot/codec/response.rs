//! Answers of a robot.

use std::time::SystemTime;

use serde_json::{Value, json};

use super::{
    CMD_RESPONSE_BYTES_MAX, ENVELOPE_VERSION, MSG_CHARS_MAX, SPEC_VERSION, WORD_CHARS_MAX, cut,
    parse_object, stamp, text_of,
};
use crate::terms::InputFault;

/// One answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The id of the request, as it was written.
    pub request_id: String,
    /// Whether the robot did, or accepted, what was asked.
    pub ok: bool,
    /// The code; `"0"` on success.
    pub code: String,
    /// A message for people.
    pub msg: String,
    /// The result.
    pub data: Value,
}

/// Reads an answer.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_response(text: &str) -> Result<Response, InputFault> {
    let mut object = parse_object(text, CMD_RESPONSE_BYTES_MAX)?;
    let ok = object
        .get("ok")
        .and_then(Value::as_bool)
        .ok_or(InputFault::BadShape)?;
    let request_id = text_of(&object, "request_id", WORD_CHARS_MAX).ok_or(InputFault::BadShape)?;
    let code = match object.get("code") {
        Some(Value::String(code)) => cut(code, WORD_CHARS_MAX),
        Some(Value::Number(code)) => code.to_string(),
        None | Some(Value::Null) => String::new(),
        Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
            return Err(InputFault::BadShape);
        }
    };
    Ok(Response {
        request_id,
        ok,
        code,
        msg: text_of(&object, "msg", MSG_CHARS_MAX).unwrap_or_default(),
        data: object.remove("data").unwrap_or(Value::Null),
    })
}

/// Writes an answer, as a robot's side does.
pub fn encode_response(response: &Response, wall: SystemTime) -> String {
    json!({
        "envelope_version": ENVELOPE_VERSION,
        "spec_version": SPEC_VERSION,
        "request_id": response.request_id,
        "ok": response.ok,
        "code": response.code,
        "msg": response.msg,
        "ts": stamp(wall),
        "data": response.data,
    })
    .to_string()
}
