//! Rates and last accepted numbers (skeleton).

use super::{RobotRules, ToolRules};

/// The numbers from which the steps of the next call of one tool count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepBase {}

impl StepBase {
    /// Counts every step from 0: the robot is at rest.
    pub fn at_rest() -> Self {
        Self::default()
    }
}

/// What was spent: rates of all tools, motion calls of the last minute, last accepted numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {}

impl Pace {
    /// Makes the pace of a robot of which nothing was called yet.
    pub fn new(rules: &RobotRules) -> Self {
        let _ = rules;
        Self {}
    }

    /// Makes the pace of a process without a robot.
    pub fn without_robot() -> Self {
        Self {}
    }

    /// Returns the numbers from which steps of `tool` count under this stop epoch.
    pub fn base(&self, tool: &ToolRules, epoch: u32) -> StepBase {
        let _ = (tool, epoch);
        StepBase::at_rest()
    }
}
