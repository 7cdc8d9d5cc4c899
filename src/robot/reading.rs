//! From a state's JSON to what tick and gate judge: position, speed, rest, control.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::codec::RobotState;
use super::plan;
use crate::config::RobotFile;
use crate::safety::Signs;
use crate::terms::{Mono, Reading};

/// Longest word of the robot's status that is kept, characters.
const STATUS_CHARS_MAX: usize = 40;

/// Says whether a position lies inside the workspace.
pub type Inside = Box<dyn Fn([f64; 3]) -> bool + Send>;

/// Reads states as the robot file says.
pub(super) struct Reader {
    robot: Arc<RobotFile>,
    inside: Inside,
    /// Above this speed the robot is too fast, m/s; `None` without a monitor.
    speed_max: Option<f64>,
    own_names: Vec<String>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("speed_max", &self.speed_max)
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Makes the reader. A monitor without a ceiling watches for any motion at all.
    pub(super) fn new(robot: Arc<RobotFile>, inside: Inside, ceiling_mps: Option<f64>) -> Self {
        let monitor = robot.monitor.as_ref();
        let speed_max = monitor.map(|m| m.factor * ceiling_mps.unwrap_or(0.0));
        Self {
            own_names: plan::own_names(&robot),
            robot,
            inside,
            speed_max,
        }
    }

    /// Reads one state: what the gate judges, the status word, and the signs for the tick.
    pub(super) fn read(&self, state: &RobotState, now: Mono) -> (Reading, Option<String>, Signs) {
        let body = &state.body;
        let space = self.robot.workspace.as_ref();
        let position = space.and_then(|s| position_of(s.position.find(body)?));
        let monitor = self.robot.monitor.as_ref();
        let speed = monitor.and_then(|m| m.path.find(body)?.as_f64());
        let standstill = &self.robot.stop.standstill;
        let status = standstill.path.find(body).and_then(word_of);
        let still = status
            .as_ref()
            .is_some_and(|w| standstill.any_of.contains(w));
        let blind =
            (space.is_some() && position.is_none()) || (monitor.is_some() && speed.is_none());
        let fast = match (speed, self.speed_max) {
            (Some(speed), Some(max)) => speed.abs() > max,
            (_, _) => false,
        };
        let ours = |name: &String| self.own_names.contains(name);
        let holder = state.holder.as_ref();
        let signs = Signs::default()
            .with(Signs::STILL, still)
            .with(Signs::OVERSPEED, fast)
            .with(Signs::OUTSIDE, position.is_some_and(|p| !(self.inside)(p)))
            .with(Signs::BLIND, blind)
            .with(Signs::VENDOR_ESTOP, state.estopped)
            .with(Signs::OURS, holder.is_some_and(ours))
            .with(Signs::FOREIGN, holder.is_some_and(|name| !ours(name)));
        let reading = Reading {
            at: now,
            position,
            speed,
        };
        let short = status.map(|w| w.chars().take(STATUS_CHARS_MAX).collect());
        (reading, short, signs)
    }
}

/// A position of two or three finite numbers; the third is 0 when it is missing.
fn position_of(value: &Value) -> Option<[f64; 3]> {
    let list = value.as_array()?;
    let number = |index: usize| list.get(index)?.as_f64().filter(|n| n.is_finite());
    match list.len() {
        2 => Some([number(0)?, number(1)?, 0.0]),
        3 => Some([number(0)?, number(1)?, number(2)?]),
        _ => None,
    }
}

/// The word at the path of standstill: a text, or a truth value written as one.
fn word_of(value: &Value) -> Option<String> {
    match value {
        Value::String(word) => Some(word.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
