//! What is known of the robot, for the model: the readings that the robot file names, with their age.
//!
//! It asks nobody: everything comes from the latest state that arrived, which is copied bounded. It
//! takes no lock that a command, a stop or the tick passes.

use std::sync::Arc;

use super::{Bridge, StateView};
use crate::config::SensorDef;
use crate::terms::{Mono, RobotPort as _, SensedValue, Senses, SensorReading, Surroundings, Tier};

/// Reads the sensors of the robot file.
#[derive(Debug)]
pub struct RobotSenses {
    bridge: Arc<Bridge>,
    tier: Tier,
}

impl RobotSenses {
    /// Makes them; `tier` is the one in force.
    pub fn new(bridge: Arc<Bridge>, tier: Tier) -> Self {
        Self { bridge, tier }
    }
}

impl Senses for RobotSenses {
    fn sense(&self) -> Surroundings {
        // The state first: it is then no younger than the moment at which its age is taken.
        let view = self.bridge.state();
        let posture = self.bridge.posture();
        let sensors = &self.bridge.robot.sensors;
        let readings = sensors.readings.iter();
        Surroundings {
            readings: readings
                .map(|def| reading(def, view.as_ref(), posture.now))
                .collect(),
            posture,
            tier: self.tier,
            tokens_max: sensors.tokens_max,
        }
    }
}

fn reading(def: &SensorDef, view: Option<&StateView>, now: Mono) -> SensorReading {
    let value = view.and_then(|view| def.path.find(&view.state));
    SensorReading {
        name: def.name.clone(),
        unit: def.unit.clone(),
        value: value.map_or(SensedValue::Absent, SensedValue::of),
        age_ms: view.map(|view| view.age_ms(now)),
        max_age_ms: def.max_age_ms,
    }
}
