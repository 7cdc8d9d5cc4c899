//! The compiled rules of one tool: what the gate knows of it.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::goal::{Goal, Place};
use super::pace::Tempo;
use super::paths;
use super::range::Range;
use crate::config::{ConfigError, EffectWord, JsonPath, LeaseProfile, ToolDef};
use crate::terms::{Rule, Tier, ToolName};

/// The rules of one robot tool.
#[derive(Debug, Clone)]
pub struct ToolRules {
    pub(super) index: u16,
    pub(super) name: ToolName,
    pub(super) rule: Rule,
    pub(super) tier: Option<Tier>,
    pub(super) effect: EffectWord,
    /// Whether a call sends a command; `@state` and `@safety_events` send nothing.
    pub(super) sends: bool,
    pub(super) schema: Arc<Value>,
    /// The first example of the robot file that passes.
    pub(super) example: Option<Map<String, Value>>,
    pub(super) ranges: Vec<Range>,
    pub(super) constants: Vec<(JsonPath, Value)>,
    pub(super) control_source: Option<String>,
    /// For a tool that moves in a workspace.
    pub(super) place: Option<Place>,
    /// Largest age of the robot's state, ms.
    pub(super) freshness_ms: Option<u32>,
    pub(super) lease: Option<LeaseProfile>,
    /// How long a person may take to permit a call, ms; `None` where nobody is asked.
    pub(super) approval_ttl_ms: Option<u64>,
    pub(super) hold_ms: u32,
    pub(super) tempo: Tempo,
}

impl ToolRules {
    /// Returns the index in the robot file.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Returns the name of the tool.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// Returns the JSON Schema of the arguments that a model may give: units, the ranges in force and
    /// the frame are in the descriptions; constant members are not in it.
    pub fn schema_value(&self) -> &Arc<Value> {
        &self.schema
    }

    /// Returns the first arguments that the robot file shows to pass; `None` for a stop, which takes none.
    pub fn example(&self) -> Option<&Map<String, Value>> {
        self.example.as_ref()
    }

    /// Returns how long a person may take to permit a call, ms; `None` where nobody is asked.
    pub fn approval_ttl_ms(&self) -> Option<u64> {
        self.approval_ttl_ms
    }

    /// Returns the parameters as they are sent: the arguments, the constants of the robot file and,
    /// for verbs that take it, `control_source`.
    pub fn params(&self, args: &Map<String, Value>) -> Map<String, Value> {
        let mut params = args.clone();
        for (path, value) in &self.constants {
            paths::put(&mut params, path, value.clone());
        }
        if let Some(source) = &self.control_source {
            params.insert("control_source".to_owned(), Value::from(source.as_str()));
        }
        params
    }

    pub(super) fn goal(&self) -> Option<&Goal> {
        self.place.as_ref()?.goal.as_ref()
    }
}

/// Makes a fault of one tool; `key` is relative to the tool.
pub(super) fn fault(tool: &ToolDef, key: &str, problem: String, hint: &str) -> ConfigError {
    let dot = if key.is_empty() { "" } else { "." };
    ConfigError {
        place: tool.place.clone(),
        key: format!("tool.{}{dot}{key}", tool.name),
        problem,
        hint: hint.to_owned(),
    }
}
