//! What a model is shown of its robot before each reply, and the port that takes it.
//!
//! Readings are the robot's word: data of any shape, copied here into a bounded form. How they are
//! written down, within how many tokens, is the agent's matter; which are read, the robot file's.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Posture, Tier};

/// Fewest tokens that a robot file may grant: room for the heading, the run state and the marker of
/// a cut.
pub const SENSOR_TOKENS_MIN: u32 = 96;
/// Tokens that are granted when the robot file says nothing.
pub const SENSOR_TOKENS: u32 = 256;
/// Most tokens that a robot file may grant. Chosen: all readings of a robot, each at its longest.
pub const SENSOR_TOKENS_MAX: u32 = 4096;
/// Most readings of a robot.
pub const SENSORS_MAX: usize = 32;
/// Longest part of a text that is kept, characters.
pub const SENSED_CHARS_MAX: usize = 48;
/// Longest list of numbers that is kept: a pose and its orientation, with one to spare.
pub const SENSED_LIST_MAX: usize = 8;

/// One value of the robot's state.
#[derive(Debug, Clone, PartialEq)]
pub enum SensedValue {
    /// The state has nothing there, or there is no state.
    Absent,
    /// It is there and `null`.
    Null,
    /// A truth value.
    Flag(bool),
    /// A number; may be infinite or no number at all.
    Number(f64),
    /// A list of numbers, at most [`SENSED_LIST_MAX`]; a `null` in it is no number.
    Numbers(Vec<f64>),
    /// A text.
    Text {
        /// Its first [`SENSED_CHARS_MAX`] characters, as they came.
        begin: String,
        /// Its whole length, bytes.
        bytes: usize,
    },
    /// A table, a longer list, or one that is not of numbers: not shown.
    Other {
        /// `list` or `table`.
        what: &'static str,
        /// Its entries.
        len: usize,
    },
}

impl SensedValue {
    /// Copies a value of the state, bounded.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Flag(*flag),
            Value::Number(_) => Self::Number(number_of(value).unwrap_or(f64::NAN)),
            Value::String(text) => Self::Text {
                begin: text.chars().take(SENSED_CHARS_MAX).collect(),
                bytes: text.len(),
            },
            Value::Array(items) => numbers_of(items).unwrap_or(Self::Other {
                what: "list",
                len: items.len(),
            }),
            Value::Object(entries) => Self::Other {
                what: "table",
                len: entries.len(),
            },
        }
    }
}

/// One reading.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorReading {
    /// Its name in the robot file.
    pub name: Arc<str>,
    /// Its unit; `none` where there is none.
    pub unit: Arc<str>,
    /// The value.
    pub value: SensedValue,
    /// How long ago it arrived, ms; `None` before the first state.
    pub age_ms: Option<u64>,
    /// Older than this it is stale, ms.
    pub max_age_ms: u32,
}

impl SensorReading {
    /// Returns whether there is nothing to show.
    pub fn is_absent(&self) -> bool {
        self.value == SensedValue::Absent || self.age_ms.is_none()
    }

    /// Returns whether it is there and too old to be relied on.
    pub fn is_stale(&self) -> bool {
        let old = self
            .age_ms
            .is_some_and(|age| age > u64::from(self.max_age_ms));
        old && !self.is_absent()
    }
}

/// What is known of the robot at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Surroundings {
    /// The run state, and everything else that is our own word.
    pub posture: Posture,
    /// The tier in force.
    pub tier: Tier,
    /// The readings, in the order of the robot file: what comes first is cut last.
    pub readings: Vec<SensorReading>,
    /// How much of the prompt all this may take, tokens.
    pub tokens_max: u32,
}

/// The way to what is known of the robot.
pub trait Senses: Send + Sync + fmt::Debug {
    /// Takes what is known now. Asks nobody and never waits: what did not arrive is absent.
    fn sense(&self) -> Surroundings;
}

fn numbers_of(items: &[Value]) -> Option<SensedValue> {
    if items.len() > SENSED_LIST_MAX {
        return None;
    }
    let numbers: Option<Vec<f64>> = items.iter().map(number_of).collect();
    numbers.map(SensedValue::Numbers)
}

/// A number, or the `null` that many encoders write for one that is none.
fn number_of(value: &Value) -> Option<f64> {
    if value.is_null() {
        return Some(f64::NAN);
    }
    value.as_f64()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_any_shape_become_bounded() {
        assert_eq!(SensedValue::of(&json!(1.5)), SensedValue::Number(1.5));
        assert_eq!(SensedValue::of(&json!(false)), SensedValue::Flag(false));
        assert_eq!(SensedValue::of(&json!(null)), SensedValue::Null);
        assert_eq!(
            SensedValue::of(&json!([1, 2.5])),
            SensedValue::Numbers(vec![1.0, 2.5])
        );
        let SensedValue::Numbers(numbers) = SensedValue::of(&json!([1, null])) else {
            panic!("no numbers");
        };
        assert!(numbers[1].is_nan());
        let long = "é".repeat(5000);
        let SensedValue::Text { begin, bytes } = SensedValue::of(&json!(long)) else {
            panic!("no text");
        };
        assert_eq!((begin.chars().count(), bytes), (SENSED_CHARS_MAX, 10_000));
        for (value, what, len) in [
            (json!([1, "2"]), "list", 2),
            (json!(vec![0; 9]), "list", 9),
            (json!({ "a": 1 }), "table", 1),
        ] {
            assert_eq!(SensedValue::of(&value), SensedValue::Other { what, len });
        }
    }

    #[test]
    fn a_reading_is_stale_beyond_its_age_and_absent_without_one() {
        let reading = |age_ms| SensorReading {
            name: Arc::from("speed"),
            unit: Arc::from("m/s"),
            value: SensedValue::Number(0.0),
            age_ms,
            max_age_ms: 500,
        };
        assert!(!reading(Some(500)).is_stale() && reading(Some(501)).is_stale());
        assert!(reading(None).is_absent() && !reading(None).is_stale());
        let nothing = SensorReading {
            value: SensedValue::Absent,
            ..reading(Some(900))
        };
        assert!(nothing.is_absent() && !nothing.is_stale());
    }
}
