//! What the pipeline must know of a tool before it calls it: data, never a list of names elsewhere.

use std::sync::Arc;

use serde::Serialize;

use super::{Effect, ToolName};

/// Deepest nesting of arguments, arrays and objects counted together. Chosen: a robot's deepest path
/// has 8 steps and a schema 10 levels; half of what the JSON parser itself would take.
pub const ARGS_DEPTH_MAX: usize = 64;

/// Who may run beside a call of this tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Runs beside other shared calls.
    Shared,
    /// Runs alone within its scope: one call per scope at a time.
    Exclusive(Arc<str>),
}

/// Bounds of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Time from the grant to the deadline, ms, 1 to 3 600 000.
    pub timeout_ms: u64,
    /// Largest serialised arguments, bytes. 1 048 576 at most.
    pub args_bytes_max: usize,
    /// Largest text given back to the model, bytes. What is beyond is cut and the cut is told.
    pub output_bytes_max: usize,
}

impl Budget {
    /// Largest serialised arguments of any call, bytes.
    pub const ARGS_BYTES_MAX: usize = 1_048_576;
    /// Usual cap of a reply, bytes. Chosen, not measured: about 4,000 tokens.
    pub const OUTPUT_BYTES_MAX: usize = 16_384;

    /// Makes a budget with this time and the usual sizes.
    pub const fn of_ms(timeout_ms: u64) -> Self {
        Self {
            timeout_ms,
            args_bytes_max: Self::ARGS_BYTES_MAX,
            output_bytes_max: Self::OUTPUT_BYTES_MAX,
        }
    }
}

/// Which rule of which file made this tool what it is: quoted in refusals and in the audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// The rule's name, such as `RV-02`.
    pub id: Arc<str>,
    /// One sentence of reason.
    pub why: Arc<str>,
}

/// Everything the pipeline needs to know of one tool.
#[derive(Debug, Clone)]
pub struct Descriptor {
    /// The name a model calls it by.
    pub name: ToolName,
    /// What it does, for the model.
    pub description: Arc<str>,
    /// JSON Schema of the arguments: an object with `additionalProperties: false`.
    pub schema: Arc<serde_json::Value>,
    /// What a call does to the world.
    pub effect: Effect,
    /// Who may run beside it.
    pub access: Access,
    /// Bounds of one call.
    pub budget: Budget,
    /// The rule of the robot file; `None` for tools that belong to no robot.
    pub rule: Option<Rule>,
}

/// A tool as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSpec {
    /// The name to call.
    pub name: ToolName,
    /// What it does.
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub parameters: Arc<serde_json::Value>,
}

impl From<&Descriptor> for ToolSpec {
    fn from(tool: &Descriptor) -> Self {
        Self {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: tool.schema.clone(),
        }
    }
}
