//! What a robot's tool tells the model: short JSON. What the limits changed is told by the executor,
//! beside this text.

use serde_json::{Map, Value, json};

use crate::robot::{Answer, MotionEnd, StateView};
use crate::terms::{Blame, Mono, Retry, ToolError};

/// Tells how a motion ended and where the robot is now, as far as it is known.
pub(super) fn motion(end: &MotionEnd, state: Option<(&StateView, Mono)>) -> String {
    let mut told = Map::new();
    match end {
        MotionEnd::Arrived { .. } => told.insert("end".to_owned(), "arrived".into()),
        MotionEnd::Expired => told.insert("end".to_owned(), "time is over".into()),
        MotionEnd::Answered { answer } => {
            told.insert("answer".to_owned(), answer.data.clone());
            told.insert("end".to_owned(), "the robot answered ok".into())
        }
    };
    if let Some((view, now)) = state {
        told.insert("position_m".to_owned(), json!(view.reading.position));
        told.insert("speed_mps".to_owned(), json!(view.reading.speed));
        told.insert("state_age_ms".to_owned(), json!(view.age_ms(now)));
    }
    Value::Object(told).to_string()
}

/// Tells the data of an answer; an answer that is not `ok` is a failure.
pub(super) fn answer(answer: Answer) -> Result<String, ToolError> {
    if answer.ok {
        Ok(answer.data.to_string())
    } else {
        Err(ToolError::Failed {
            detail: format!("the robot answered {}: {}", answer.code, answer.msg),
            blame: blame(&answer.code),
            retry: retry(&answer.code),
        })
    }
}

/// The gate gives every call that moves or configures its permit; without one nothing is sent.
pub(super) fn no_permit() -> ToolError {
    ToolError::Failed {
        detail: "the grant of this call holds no permit".to_owned(),
        blame: Blame::Tool,
        retry: Retry::Never,
    }
}

fn blame(code: &str) -> Blame {
    match code {
        "INVALID_PARAMS" | "VERB_UNKNOWN" => Blame::Tool,
        _ => Blame::Link,
    }
}

fn retry(code: &str) -> Retry {
    match code {
        "INVALID_PARAMS" | "VERB_UNKNOWN" => Retry::Never,
        _ => Retry::Later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(ok: bool, code: &str) -> Answer {
        Answer {
            ok,
            code: code.to_owned(),
            msg: "words of the robot".to_owned(),
            data: json!({ "x": 1.5 }),
        }
    }

    #[test]
    fn the_data_of_a_good_answer_is_told_and_a_bad_one_is_a_failure() {
        let told = answer(answered(/* ok */ true, "0"));
        assert_eq!(told, Ok(r#"{"x":1.5}"#.to_owned()));
        for (code, retry) in [
            ("INVALID_PARAMS", Retry::Never),
            ("CONTROLLER_BUSY", Retry::Later),
        ] {
            let Err(ToolError::Failed {
                detail,
                retry: told,
                ..
            }) = answer(answered(/* ok */ false, code))
            else {
                panic!("{code} is no failure");
            };
            assert_eq!(told, retry);
            assert!(detail.contains(code), "{detail}");
        }
    }

    #[test]
    fn the_end_of_a_motion_is_told_in_short() {
        assert_eq!(
            motion(&MotionEnd::Expired, None),
            r#"{"end":"time is over"}"#
        );
        let answer = answered(/* ok */ true, "0");
        let told = motion(&MotionEnd::Answered { answer }, None);
        assert_eq!(
            told,
            r#"{"answer":{"x":1.5},"end":"the robot answered ok"}"#
        );
    }
}
