//! What a robot says it can do. Hints only: nothing in an advert gives anybody anything.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::{CAPABILITIES_BYTES_MAX, WORD_CHARS_MAX, cut, ms_of, parse_object, stamp, text_of};
use crate::terms::InputFault;

/// Most verbs that are read of an advert.
const VERBS_MAX: usize = 1024;

/// One verb of an advert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdvertVerb {
    /// The verb.
    pub verb: String,
    /// The tier that the robot claims for it.
    pub safety_tier: Option<String>,
}

/// An advert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advert {
    /// The robot's id.
    pub robot_id: String,
    /// Vendor; empty when it does not say.
    pub vendor: String,
    /// Model; empty when it does not say.
    pub model: String,
    /// Process id of the robot's node, when it says so.
    pub pid: Option<u32>,
    /// The dead-man time, ms: of the top level, or of the member `safety`. `None` for neither.
    pub heartbeat_timeout_ms: Option<u32>,
    /// Its verbs, the first 1024.
    pub commands: Vec<AdvertVerb>,
    /// When it was written, as it says: tells two adverts of one text apart from a repetition.
    pub ts: Option<String>,
}

/// Where an advert tells the dead-man time. Robots do either; both are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatField {
    /// `heartbeat_timeout_ms` of the advert itself, as robots in the field have it.
    TopLevel,
    /// `heartbeat_timeout_ms` of its member `safety`, as the specification has it.
    Safety,
}

/// Reads an advert.
///
/// # Errors
/// What is wrong with the text.
pub fn decode_advert(text: &str) -> Result<Advert, InputFault> {
    advert_of(&parse_object(text, CAPABILITIES_BYTES_MAX)?)
}

/// Reads an advert that came as the result of an answer.
///
/// # Errors
/// [`InputFault::BadShape`] when it is none.
pub fn decode_advert_value(value: &Value) -> Result<Advert, InputFault> {
    advert_of(value.as_object().ok_or(InputFault::BadShape)?)
}

/// Writes an advert, as a robot's side does, with the dead-man time in `field`.
pub fn encode_advert(advert: &Advert, field: HeartbeatField, wall: SystemTime) -> String {
    let commands: Vec<Value> = advert
        .commands
        .iter()
        .map(|c| json!({ "verb": c.verb, "safety_tier": c.safety_tier }))
        .collect();
    let timeout = json!(advert.heartbeat_timeout_ms);
    let (member, dead_man) = match field {
        HeartbeatField::TopLevel => ("heartbeat_timeout_ms", timeout),
        HeartbeatField::Safety => ("safety", json!({ "heartbeat_timeout_ms": timeout })),
    };
    json!({
        "robot_id": advert.robot_id,
        "vendor": advert.vendor,
        "model": advert.model,
        "pid": advert.pid,
        (member): dead_man,
        "commands": commands,
        "streams": ["state", "safety_event"],
        "ts": advert.ts.clone().unwrap_or_else(|| stamp(wall)),
    })
    .to_string()
}

fn advert_of(object: &Map<String, Value>) -> Result<Advert, InputFault> {
    let robot_id = text_of(object, "robot_id", WORD_CHARS_MAX).ok_or(InputFault::BadShape)?;
    let commands = match object.get("commands") {
        Some(Value::Array(list)) => list.iter().take(VERBS_MAX).filter_map(verb_of).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            return Err(InputFault::BadShape);
        }
    };
    let nested = || object.get("safety")?.get("heartbeat_timeout_ms");
    let timeout = object.get("heartbeat_timeout_ms").filter(|v| !v.is_null());
    Ok(Advert {
        robot_id,
        vendor: text_of(object, "vendor", WORD_CHARS_MAX).unwrap_or_default(),
        model: text_of(object, "model", WORD_CHARS_MAX).unwrap_or_default(),
        pid: object.get("pid").and_then(ms_of),
        heartbeat_timeout_ms: timeout.or_else(nested).and_then(ms_of),
        commands,
        ts: text_of(object, "ts", WORD_CHARS_MAX),
    })
}

/// A verb is an object, or only its name.
fn verb_of(value: &Value) -> Option<AdvertVerb> {
    if let Some(name) = value.as_str() {
        return Some(AdvertVerb {
            verb: cut(name, WORD_CHARS_MAX),
            safety_tier: None,
        });
    }
    let object = value.as_object()?;
    Some(AdvertVerb {
        verb: text_of(object, "verb", WORD_CHARS_MAX)?,
        safety_tier: text_of(object, "safety_tier", WORD_CHARS_MAX),
    })
}
