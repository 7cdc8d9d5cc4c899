//! Limits on arguments (skeleton).

use crate::arguments::Arguments;
use crate::terms::{Reason, Refusal, Tier};

use super::{StepBase, ToolRules};

/// Arguments that keep every limit of their tool: what a call is admitted with.
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    tool: Option<u16>,
    args: Arguments,
    clamped: Vec<String>,
}

impl Limited {
    /// Takes the arguments of a tool that belongs to no robot: there is no limit to keep.
    pub fn unlimited(args: Arguments) -> Self {
        Self {
            tool: None,
            args,
            clamped: Vec::new(),
        }
    }

    /// Returns the arguments, with the numbers that are in force now.
    pub fn args(&self) -> &Arguments {
        &self.args
    }

    /// Returns what was changed, one sentence each; empty when nothing was.
    pub fn clamped(&self) -> &[String] {
        &self.clamped
    }
}

/// Numbers outside their limits: all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Overrun {
    /// One sentence for each problem, with the permitted range and its unit.
    pub problems: Vec<String>,
    /// The tier the tool needs.
    pub needed: Option<Tier>,
    /// The `id` of the tool's rule in the robot file.
    pub rule: String,
}

impl Overrun {
    /// Turns the problems into the refusal of a call under the tier in force.
    pub fn into_refusal(self, effective: Tier) -> Refusal {
        Refusal {
            reason: Reason::Limit,
            needed: self.needed,
            effective,
            rule: Some(self.rule),
            detail: self.problems.join("\n"),
            hint: "call again with every number inside its permitted range".to_owned(),
        }
    }
}

impl ToolRules {
    /// Judges every number of a call.
    ///
    /// # Errors
    /// [`Overrun`] with all numbers that are outside their limits and may not be clamped.
    pub fn limit(&self, args: Arguments, base: &StepBase) -> Result<Limited, Overrun> {
        let _ = base;
        Ok(Limited {
            tool: Some(self.index()),
            args,
            clamped: Vec::new(),
        })
    }
}
