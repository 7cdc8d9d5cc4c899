//! The compiled rules of one robot (skeleton).

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::config::{ConfigError, RobotFile, Tiers};

/// The rules of one robot: one [`ToolRules`] for each tool, by its index in the robot file.
#[derive(Debug)]
pub struct RobotRules {
    tools: Vec<ToolRules>,
}

impl RobotRules {
    /// Compiles a robot file against the tier files and runs all its examples.
    ///
    /// # Errors
    /// All faults, each at its place in the robot file.
    pub fn compile(robot: &RobotFile, tiers: &Tiers) -> Result<Arc<Self>, Vec<ConfigError>> {
        let _ = tiers;
        let rules = robot.tools.iter().zip(0..).map(|(_, index)| ToolRules {
            index,
            schema: Arc::new(json!({})),
        });
        Ok(Arc::new(Self {
            tools: rules.collect(),
        }))
    }

    /// Returns the rules of the tool at this index of the robot file.
    pub fn tool(&self, index: u16) -> Option<&ToolRules> {
        self.tools.get(usize::from(index))
    }
}

/// The rules of one robot tool.
#[derive(Debug)]
pub struct ToolRules {
    index: u16,
    schema: Arc<Value>,
}

impl ToolRules {
    /// Returns the index in the robot file.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Returns the JSON Schema of the arguments that a model may give.
    pub fn schema_value(&self) -> &Arc<Value> {
        &self.schema
    }

    /// Returns the parameters as they are sent: the arguments, the constants of the robot file and,
    /// for verbs that take it, `control_source`.
    pub fn params(&self, args: &Map<String, Value>) -> Map<String, Value> {
        args.clone()
    }
}
