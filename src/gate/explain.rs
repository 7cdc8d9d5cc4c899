//! What people ask of the rules: who decides over a tool, and what is permitted of each number.
//!
//! Nothing here decides. It words the same objections and ranges by which [`PolicyStack::decide`] and
//! [`ToolRules::limit`] decide, so that an explanation cannot differ from a decision.
#![deny(clippy::arithmetic_side_effects)]

use serde_json::{Map, Value};

use super::layer::Objection;
use super::pace::StepBase;
use super::range::{Judged, Range};
use super::{PolicyStack, ToolRules, paths};
use crate::config::{JsonPath, Place};
use crate::terms::{Descriptor, Tier};

/// One rule of the policy that stands against a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decider {
    /// The name of the layer; `None` for the ceiling of the robot file.
    pub layer: Option<String>,
    /// The rule as it is written, or what it comes to.
    pub rule: String,
    /// Where it is written; `None` for the ceiling and for what a list lacks.
    pub place: Option<Place>,
}

/// One number of a tool under its limits, on a robot at rest.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberLimit {
    /// The argument's path in the parameters.
    pub path: JsonPath,
    /// The argument as the robot file writes it.
    pub name: String,
    /// The range in force with its unit, such as `-0.2 to 0.25 m/s`.
    pub range: String,
    /// The tier whose ceiling is narrower than the argument's own bounds.
    pub ceiling_of: Option<Tier>,
    /// The largest change from call to call, with its unit.
    pub step: Option<String>,
    /// The number that was given; `None` when it was not, or was no number.
    pub given: Option<f64>,
    /// What is done with it.
    pub outcome: NumberOutcome,
}

/// What is done with a number.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberOutcome {
    /// It was not given.
    Absent,
    /// It is sent as it is.
    Kept,
    /// This one is sent instead; the sentence tells the model.
    Clamped(f64, String),
    /// The call is refused; the sentence tells the model.
    Refused(String),
}

impl PolicyStack {
    /// Returns every rule that stands against a tool, in the order in which they are told; empty when
    /// the tool may be called, as every stop may.
    pub fn against(&self, tool: &Descriptor) -> Vec<Decider> {
        if tool.effect.is_stop() {
            return Vec::new();
        }
        self.objections(self.ceiling(), tool)
            .map(|one| decider(&one))
            .collect()
    }
}

fn decider(objection: &Objection<'_>) -> Decider {
    let (layer, rule, place) = match objection {
        Objection::Ceiling(tier) => (None, format!("the ceiling is {tier}"), None),
        Objection::TierDenied(layer, tier, place) => (
            Some(layer),
            format!("deny `group:robot:{tier}`"),
            Some((*place).clone()),
        ),
        Objection::NameDenied(layer, place) => (
            Some(layer),
            "deny by name".to_owned(),
            Some((*place).clone()),
        ),
        Objection::AboveAllowed(layer, tier) => (
            Some(layer),
            format!("allow `group:robot:{tier}` at most"),
            None,
        ),
        Objection::NotAllowed(layer) => (Some(layer), "not in `allow`".to_owned(), None),
    };
    Decider {
        layer: layer.map(|layer| layer.name().to_owned()),
        rule,
        place,
    }
}

impl ToolRules {
    /// Returns the limits of every number that a model gives, with what would become of those in
    /// `args`: the steps count from 0.
    pub fn numbers(&self, args: &Map<String, Value>) -> Vec<NumberLimit> {
        let base = StepBase::at_rest();
        let number = |range: &Range| number(range, args, &base);
        self.ranges.iter().map(number).collect()
    }
}

fn number(range: &Range, args: &Map<String, Value>, base: &StepBase) -> NumberLimit {
    let given = paths::find(args, &range.path).and_then(Value::as_f64);
    let last = range.step.map_or(0.0, |step| base.last(step.slot));
    let outcome = match given.map(|value| range.judge(value, last)) {
        None => NumberOutcome::Absent,
        Some(Judged::Keep) => NumberOutcome::Kept,
        Some(Judged::Clamp(to, told)) => NumberOutcome::Clamped(to, told),
        Some(Judged::Reject(told)) => NumberOutcome::Refused(told),
    };
    NumberLimit {
        path: range.path.clone(),
        name: range.name.clone(),
        range: range.text(),
        ceiling_of: range.ceiling_of(),
        step: range.step_text(),
        given,
        outcome,
    }
}
