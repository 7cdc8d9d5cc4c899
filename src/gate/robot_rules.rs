//! The compiled rules of one robot: those of each of its tools, with their examples passed.

use std::sync::Arc;

use super::rules::ToolRules;
use super::{compile, examples};
use crate::config::{ConfigError, RobotFile, Tiers};

/// The rules of one robot: one [`ToolRules`] for each tool, by its index in the robot file.
#[derive(Debug)]
pub struct RobotRules {
    tools: Vec<ToolRules>,
}

impl RobotRules {
    /// Compiles a robot file against the tier files, then runs all its examples.
    ///
    /// # Errors
    /// Every fault, each at its place in the robot file. The examples of a tool run only when its
    /// rules have no fault.
    pub fn compile(robot: &RobotFile, tiers: &Tiers) -> Result<Arc<Self>, Vec<ConfigError>> {
        let mut tools = Vec::new();
        let mut faults = Vec::new();
        for (index, tool) in (0..).zip(&robot.tools) {
            match compile::tool(robot, tiers, (index, tool)) {
                Ok(rules) => {
                    faults.extend(examples::run(robot, tool, &rules));
                    tools.push(rules);
                }
                Err(found) => faults.extend(found),
            }
        }
        if faults.is_empty() {
            Ok(Arc::new(Self { tools }))
        } else {
            Err(faults)
        }
    }

    /// Returns the rules of the tool at this index of the robot file.
    pub fn tool(&self, index: u16) -> Option<&ToolRules> {
        self.tools.get(usize::from(index))
    }

    /// Returns the rules of all tools, in the order of the robot file.
    pub fn tools(&self) -> &[ToolRules] {
        &self.tools
    }
}
