//! What every tool of a robot is made of.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::catalog::RobotTool;
use crate::gate::RobotRules;
use crate::robot::{Bridge, Described};
use crate::terms::Descriptor;

/// A description, the rules behind it and the way to the robot.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) descriptor: Descriptor,
    pub(super) robot: RobotTool,
    pub(super) bridge: Arc<Bridge>,
}

impl Parts {
    pub(super) fn new(tool: &Described, rules: &Arc<RobotRules>, bridge: &Arc<Bridge>) -> Self {
        Self {
            descriptor: tool.descriptor.clone(),
            robot: RobotTool::new(rules.clone(), tool.index),
            bridge: bridge.clone(),
        }
    }

    /// Returns what is sent: the arguments with the constants of the robot file.
    pub(super) fn params(&self, args: &Map<String, Value>) -> Map<String, Value> {
        match self.robot.rules() {
            Some(rules) => rules.params(args),
            None => args.clone(),
        }
    }
}
