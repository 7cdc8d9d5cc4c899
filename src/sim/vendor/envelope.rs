//! The envelope of the vendor nodes: requests in, four kinds of messages out.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::verbs;
use crate::terms::{Mono, Output, RobotId};

/// Largest request, bytes. Larger ones are ignored.
pub const REQUEST_BYTES_MAX: usize = 64 * 1024;
/// Longest request id, bytes: a UUID has 36.
const REQUEST_ID_BYTES_MAX: usize = 128;
/// Without a heartbeat for longer than this an armed rover stops itself, ms.
pub const DEAD_MAN_MS: u64 = 1000;

const ENVELOPE_VERSION: &str = "1.0";
const SPEC_VERSION: &str = "1.0.0";

/// One message of the robot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// On which output.
    pub output: Output,
    /// The payload, JSON.
    pub payload: String,
    /// The request that it answers.
    pub request_id: Option<String>,
}

/// A request to this robot.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Request {
    pub(super) verb: String,
    pub(super) id: String,
    pub(super) params: Map<String, Value>,
}

impl Request {
    /// Parses a request; the error says why the message is ignored.
    pub(super) fn parse(text: &str, robot: &RobotId) -> Result<Self, &'static str> {
        if text.len() > REQUEST_BYTES_MAX {
            return Err("too large");
        }
        let message: Value = serde_json::from_str(text).map_err(|_bad| "not JSON")?;
        let field = |key| message.get(key).and_then(Value::as_str);
        if field("target") != Some(robot.as_str()) {
            return Err("for another robot");
        }
        let (Some(verb), Some(id)) = (field("verb"), field("request_id")) else {
            return Err("without verb or request id");
        };
        if id.is_empty() || id.len() > REQUEST_ID_BYTES_MAX {
            return Err("with a bad request id");
        }
        let params = match message.get("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params.clone(),
            Some(_) => return Err("with parameters that are no object"),
        };
        Ok(Self {
            verb: verb.to_owned(),
            id: id.to_owned(),
            params,
        })
    }
}

/// What a request came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) code: &'static str,
    pub(super) msg: String,
    pub(super) data: Value,
}

impl Answer {
    pub(super) fn ok(data: Value) -> Self {
        Self {
            code: "0",
            msg: "ok".to_owned(),
            data,
        }
    }

    pub(super) fn refused(code: &'static str, msg: impl Into<String>) -> Self {
        Self {
            code,
            msg: msg.into(),
            data: json!({}),
        }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.code == "0"
    }
}

/// Prints messages, with wall times that follow from the robot's clock.
#[derive(Debug, Clone)]
pub(super) struct Printer {
    pub(super) robot_id: RobotId,
    pub(super) pid: u32,
    pub(super) wall_at_zero: SystemTime,
}

impl Printer {
    pub(super) fn response(&self, id: &str, answer: &Answer, now: Mono) -> Frame {
        let message = json!({
            "envelope_version": ENVELOPE_VERSION,
            "spec_version": SPEC_VERSION,
            "request_id": id,
            "ok": answer.is_ok(),
            "code": answer.code,
            "msg": answer.msg,
            "ts": self.time(now),
            "data": answer.data,
        });
        Frame {
            request_id: Some(id.to_owned()),
            ..frame(Output::CmdResponse, &message)
        }
    }

    pub(super) fn advert_frame(&self, now: Mono) -> Frame {
        frame(Output::Capabilities, &self.advert(now))
    }

    /// The advert, with the habits of vendors: one tier for everything, and the dead-man time at
    /// the top level.
    pub(super) fn advert(&self, now: Mono) -> Value {
        let command = |verb| json!({ "verb": verb, "safety_tier": "emergency_override" });
        json!({
            "robot_id": self.robot_id,
            "vendor": "octos",
            "model": "rover",
            "sdk_version": "1.0",
            "node_version": env!("CARGO_PKG_VERSION"),
            "ts": self.time(now),
            "pid": self.pid,
            "commands": verbs::ALL.map(command),
            "streams": ["state", "safety_event"],
            "heartbeat_timeout_ms": DEAD_MAN_MS,
        })
    }

    pub(super) fn state(&self, state: Value, now: Mono) -> Frame {
        self.event(Output::State, state, now)
    }

    pub(super) fn safety_event(&self, event: Value, now: Mono) -> Frame {
        self.event(Output::SafetyEvent, event, now)
    }

    fn event(&self, output: Output, mut event: Value, now: Mono) -> Frame {
        if let Value::Object(map) = &mut event {
            map.insert("robot_id".to_owned(), json!(self.robot_id));
            map.insert("ts".to_owned(), json!(self.time(now)));
        }
        frame(output, &event)
    }

    /// ISO 8601 with milliseconds; beyond the year 9999 its last second.
    fn time(&self, now: Mono) -> String {
        const LAST: Duration = Duration::from_secs(253_402_300_799);
        let origin = self.wall_at_zero.duration_since(UNIX_EPOCH);
        let since = origin
            .unwrap_or_default()
            .saturating_add(now.since(Mono::ZERO));
        humantime::format_rfc3339_millis(UNIX_EPOCH + since.min(LAST)).to_string()
    }
}

fn frame(output: Output, message: &Value) -> Frame {
    Frame {
        output,
        payload: message.to_string(),
        request_id: None,
    }
}
