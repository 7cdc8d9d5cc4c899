//! From a state's JSON to what tick and gate judge: position, speed, rest, control.
//!
//! The robot's word that it stands still is believed only when what is watched of it says the same:
//! the speed of `[monitor]`; without one, two positions in a row at one place. A watched value that is
//! missing, of another type or not finite is unknown, and an unknown one confirms no rest.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::codec::{Holder, RobotState};
use super::plan;
use crate::config::RobotFile;
use crate::safety::Signs;
use crate::terms::{Mono, Reading, Tier};

/// Longest word of the robot's status that is kept, characters.
const STATUS_CHARS_MAX: usize = 40;
/// Slower than this counts as standing still, m/s. Chosen: above the noise of wheel encoders at rest,
/// a twelfth of the slowest tier's ceiling; what creeps at it goes 1 cm in half a second.
const REST_SPEED_MPS: f64 = 0.02;
/// Two positions in a row nearer than this are one place, m. Chosen: the noise of indoor positioning
/// at rest; a robot at 0.2 m/s goes as far from one state of 20 Hz to the next.
const REST_MOVE_M: f64 = 0.01;

/// Says whether a position lies inside the workspace.
pub type Inside = Box<dyn Fn([f64; 3]) -> bool + Send>;

/// Reads states as the robot file says.
pub(super) struct Reader {
    robot: Arc<RobotFile>,
    inside: Inside,
    /// Above this speed the robot is too fast, m/s; `None` without a monitor.
    speed_max: Option<f64>,
    /// The same while a call runs that an Elevation permits, for each tier.
    raised_max: [Option<f64>; Tier::ALL.len()],
    own_names: Vec<String>,
    /// The position of the state before, m.
    last_position: Option<[f64; 3]>,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("speed_max", &self.speed_max)
            .finish_non_exhaustive()
    }
}

impl Reader {
    /// Makes the reader. A monitor without a ceiling watches for any motion at all: for what is
    /// faster than rest.
    pub(super) fn new(robot: Arc<RobotFile>, inside: Inside, ceiling_mps: Option<f64>) -> Self {
        let monitor = robot.monitor.as_ref();
        let speed_max = monitor.map(|m| m.factor * ceiling_mps.unwrap_or(REST_SPEED_MPS));
        Self {
            own_names: plan::own_names(&robot),
            robot,
            inside,
            speed_max,
            raised_max: [speed_max; Tier::ALL.len()],
            last_position: None,
        }
    }

    /// Watches for these ceilings, m/s, while a call of their tier runs that an Elevation permits.
    pub(super) fn watch_raised(&mut self, ceilings_mps: [Option<f64>; Tier::ALL.len()]) {
        let Some(factor) = self.robot.monitor.as_ref().map(|monitor| monitor.factor) else {
            return;
        };
        let max = |ceiling: Option<f64>| Some(factor * ceiling.unwrap_or(REST_SPEED_MPS));
        self.raised_max = ceilings_mps.map(max);
    }

    /// Forgets the state before: the robot's node is gone.
    pub(super) fn forget(&mut self) {
        self.last_position = None;
    }

    /// Reads one state: what the gate judges, the status word, and the signs for the tick. `raised` is
    /// the tier to which an Elevation raises the call that runs.
    pub(super) fn read(
        &mut self,
        state: &RobotState,
        (now, raised): (Mono, Option<Tier>),
    ) -> (Reading, Option<String>, Signs) {
        let body = &state.body;
        let space = self.robot.workspace.as_ref();
        let position = space.and_then(|s| position_of(s.position.find(body)?));
        let monitor = self.robot.monitor.as_ref();
        let speed = monitor.and_then(|m| finite(m.path.find(body)?));
        let standstill = &self.robot.stop.standstill;
        let status = standstill.path.find(body).and_then(word_of);
        let says_still = status
            .as_ref()
            .is_some_and(|w| standstill.any_of.contains(w));
        let still = says_still && self.seems_still(position, speed);
        let blind =
            (space.is_some() && position.is_none()) || (monitor.is_some() && speed.is_none());
        let fast = match (speed, self.speed_max(raised)) {
            (Some(speed), Some(max)) => speed.abs() > max,
            (_, _) => false,
        };
        let (ours, foreign) = match &state.holder {
            Holder::Nobody => (false, false),
            Holder::Named(name) => {
                let ours = self.own_names.contains(name);
                (ours, !ours)
            }
            Holder::Unreadable => (false, true),
        };
        let signs = Signs::default()
            .with(Signs::STILL, still)
            .with(Signs::OVERSPEED, fast)
            .with(Signs::OUTSIDE, position.is_some_and(|p| !(self.inside)(p)))
            .with(Signs::BLIND, blind)
            .with(Signs::VENDOR_ESTOP, state.estopped)
            .with(Signs::OURS, ours)
            .with(Signs::FOREIGN, foreign);
        self.last_position = position;
        let reading = Reading {
            at: now,
            position,
            speed,
        };
        let short = status.map(|w| w.chars().take(STATUS_CHARS_MAX).collect());
        (reading, short, signs)
    }

    fn speed_max(&self, raised: Option<Tier>) -> Option<f64> {
        let Some(tier) = raised else {
            return self.speed_max;
        };
        let mut of_tiers = Tier::ALL.into_iter().zip(self.raised_max);
        let found = of_tiers.find(|(one, _)| *one == tier);
        found.map_or(self.speed_max, |(_, max)| max)
    }

    /// Whether what is watched agrees with a word of rest.
    fn seems_still(&self, position: Option<[f64; 3]>, speed: Option<f64>) -> bool {
        if self.robot.monitor.is_some() {
            return speed.is_some_and(|speed| speed.abs() < REST_SPEED_MPS);
        }
        if self.robot.workspace.is_none() {
            return true; // nothing is watched: the word is all there is
        }
        let pair = self.last_position.zip(position);
        pair.is_some_and(|(before, now)| distance_m(before, now) < REST_MOVE_M)
    }
}

/// Returns the distance between two points, m.
pub(super) fn distance_m(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

fn finite(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite())
}

/// A position of two or three finite numbers; the third is 0 when it is missing.
fn position_of(value: &Value) -> Option<[f64; 3]> {
    let list = value.as_array()?;
    let number = |index: usize| list.get(index).and_then(finite);
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
