//! The envelope as the robot's side writes it: the codec of `robot`, with times from the robot's
//! own clock.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::dialect::Dialect;
use crate::robot::codec::{
    Advert, AdvertVerb, HeartbeatField, Request, Response, code, decode_request, encode_advert,
    encode_event, encode_response, encode_state,
};
use crate::terms::{InputFault, Mono, Output, RobotId};

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

impl Frame {
    fn of(output: Output, payload: String) -> Self {
        Self {
            output,
            payload,
            request_id: None,
        }
    }
}

/// Reads a request to this robot; the fault says why a message is ignored.
pub(super) fn read(text: &str, robot: &RobotId) -> Result<Request, InputFault> {
    let request = decode_request(text)?;
    if request.target != robot.as_str() {
        return Err(InputFault::WrongRobot);
    }
    if request.request_id.is_empty() {
        return Err(InputFault::BadShape);
    }
    Ok(request)
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
            code: code::OK,
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
        self.code == code::OK
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
        let response = Response {
            request_id: id.to_owned(),
            ok: answer.is_ok(),
            code: answer.code.to_owned(),
            msg: answer.msg.clone(),
            data: answer.data.clone(),
        };
        Frame {
            request_id: Some(id.to_owned()),
            ..Frame::of(
                Output::CmdResponse,
                encode_response(&response, self.wall(now)),
            )
        }
    }

    pub(super) fn advert_frame(&self, dialect: &Dialect, now: Mono) -> Frame {
        Frame::of(Output::Capabilities, self.advert_text(dialect, now))
    }

    /// The advert as the result of an answer.
    pub(super) fn advert(&self, dialect: &Dialect, now: Mono) -> Value {
        // What was printed as JSON is JSON.
        serde_json::from_str(&self.advert_text(dialect, now)).unwrap_or_default()
    }

    pub(super) fn state(&self, mut state: Map<String, Value>) -> Frame {
        state.insert("robot_id".to_owned(), json!(self.robot_id));
        Frame::of(Output::State, encode_state(&state))
    }

    pub(super) fn safety_event(&self, (seq, reason): (u64, &str), now: Mono) -> Frame {
        let more = Map::from_iter([("reason".to_owned(), json!(reason))]);
        let about = (&more, self.wall(now));
        let text = encode_event(self.robot_id.as_str(), seq, "estop", about);
        Frame::of(Output::SafetyEvent, text)
    }

    /// The habits of vendors: one tier for everything. The vendor is that of the body, whatever it speaks;
    /// the model is the name of the robot file, so that nobody takes one robot for another.
    fn advert_text(&self, dialect: &Dialect, now: Mono) -> String {
        let dead_man = dialect.dead_man();
        let told = dead_man.and_then(|dead_man| Some((dead_man.told?, dead_man.after_ms)));
        let command = |verb: &str| AdvertVerb {
            verb: verb.to_owned(),
            safety_tier: Some("emergency_override".to_owned()),
        };
        let advert = Advert {
            robot_id: self.robot_id.as_str().to_owned(),
            vendor: "octos".to_owned(),
            model: dialect.model().to_owned(),
            pid: Some(self.pid),
            heartbeat_timeout_ms: told.map(|(_, after_ms)| after_ms),
            commands: dialect.verbs().map(command).collect(),
            ts: None,
        };
        let field = told.map_or(HeartbeatField::TopLevel, |(field, _)| field);
        encode_advert(&advert, field, self.wall(now))
    }

    /// The wall time at `now`; at the origin when it cannot be told.
    fn wall(&self, now: Mono) -> SystemTime {
        let since = now.since(Mono::ZERO);
        self.wall_at_zero
            .checked_add(since)
            .unwrap_or(self.wall_at_zero)
    }
}
