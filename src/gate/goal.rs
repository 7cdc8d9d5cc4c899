//! Where a call would bring the robot, and whether it may go there from where it is.
#![deny(clippy::arithmetic_side_effects)]

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::fence::Fence;
use super::paths;
use crate::config::{JsonPath, Pose};
use crate::terms::{Mono, Posture};

/// A target in the frame of the workspace, m; an axis that is not given stays where the robot is.
pub(super) type Target = [Option<f64>; 3];

/// Where a tool's arguments hold its target.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Goal {
    /// In numbers, by axis.
    Axes([Option<JsonPath>; 3]),
    /// In the name of a pose.
    Named(JsonPath, BTreeMap<String, Pose>),
}

impl Goal {
    /// Returns the target of a call. Every axis is absent when the arguments name no pose.
    pub(super) fn target(&self, params: &Map<String, Value>) -> Target {
        match self {
            Self::Axes(axes) => axes.each_ref().map(|path| {
                let value = paths::find(params, path.as_ref()?)?;
                value.as_f64()
            }),
            Self::Named(path, poses) => {
                let name = paths::find(params, path).and_then(Value::as_str);
                let pose = name.and_then(|name| poses.get(name));
                pose.map_or([None; 3], |pose| [Some(pose.x), Some(pose.y), Some(pose.z)])
            }
        }
    }
}

/// The workspace of one tool's calls.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place {
    pub fence: Arc<Fence>,
    /// An older position is unknown, ms.
    pub max_age_ms: u32,
    /// How far a target may be from the robot, m.
    pub distance_max_m: f64,
    pub goal: Option<Goal>,
}

impl Place {
    /// Returns everything that stands against a call with this target.
    pub(super) fn objections(&self, target: Option<Target>, now: &Posture) -> Vec<String> {
        let Some(position) = self.position(now) else {
            let max = self.max_age_ms;
            return vec![format!(
                "the position of the robot is unknown, or older than {max} ms"
            )];
        };
        let Some(target) = target else {
            return Vec::new();
        };
        let mut point = position;
        for (axis, given) in point.iter_mut().zip(target) {
            *axis = given.unwrap_or(*axis);
        }
        let mut objections = self.fence.objections(point);
        let away = distance(position, point);
        let max = self.distance_max_m;
        if away > max || away.is_nan() {
            objections.push(format!(
                "the target is {away:.2} m from the robot, permitted are {max} m"
            ));
        }
        objections
    }

    fn position(&self, now: &Posture) -> Option<[f64; 3]> {
        let reading = now.reading?;
        let fresh = age_ms(reading.at, now) <= u64::from(self.max_age_ms);
        reading
            .position
            .filter(|position| fresh && position.iter().all(|axis| axis.is_finite()))
    }
}

/// Returns how old something is at the time of a posture, ms. What is of later than now is new.
pub(super) fn age_ms(at: Mono, now: &Posture) -> u64 {
    now.now.ms_since(at)
}

fn distance(from: [f64; 3], to: [f64; 3]) -> f64 {
    let squares = from.iter().zip(to).map(|(a, b)| (a - b).powi(2));
    squares.sum::<f64>().sqrt()
}
