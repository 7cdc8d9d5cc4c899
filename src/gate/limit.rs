//! Limits on arguments: every number of a call in its range, and the result as a proof.
//!
//! What may be clamped is clamped and told; everything else that is outside refuses the call, all
//! problems together. Nothing of the robot is looked at here: that is admission.
#![deny(clippy::arithmetic_side_effects)]

use serde_json::{Map, Number, Value};

use super::goal::Target;
use super::pace::{StepBase, Steps};
use super::range::{Judged, Range, WHOLE_ABS_MAX};
use super::{ToolRules, paths};
use crate::arguments::{Arguments, Flaw, Issue, serialized_len};
use crate::config::JsonPath;
use crate::terms::{Budget, PARAMS_BYTES_MAX, Reason, Refusal, Tier};

/// Arguments that keep every limit of their tool: what a call is admitted with.
///
/// Only [`ToolRules::limit`] and [`Limited::unlimited`] make one, both from checked [`Arguments`].
#[derive(Debug, Clone, PartialEq)]
pub struct Limited {
    pub(super) tool: Option<u16>,
    pub(super) steps: Steps,
    pub(super) target: Option<Target>,
    args: Arguments,
    clamped: Vec<String>,
}

impl Limited {
    /// Takes the arguments of a tool that belongs to no robot: it has no limits to keep.
    ///
    /// [`admit`](super::admit) refuses them for a tool that has rules.
    pub fn unlimited(args: Arguments) -> Self {
        Self {
            tool: None,
            steps: Steps::new(),
            target: None,
            args,
            clamped: Vec::new(),
        }
    }

    /// Returns the arguments, with the numbers that are in force.
    pub fn args(&self) -> &Arguments {
        &self.args
    }

    /// Returns what was changed, one sentence each; empty when nothing was.
    pub fn clamped(&self) -> &[String] {
        &self.clamped
    }
}

/// Arguments outside their limits, with all problems.
#[derive(Debug, Clone, PartialEq)]
pub struct Overrun {
    /// One sentence for each problem, with the permitted range and its unit. Never empty.
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
            hint: "call again with every argument inside its permitted range".to_owned(),
        }
    }
}

impl ToolRules {
    /// Judges the numbers of a call and the size of what would be sent.
    ///
    /// # Errors
    /// [`Overrun`] with everything that is outside its limit and may not be clamped.
    pub fn limit(&self, args: Arguments, base: &StepBase) -> Result<Limited, Overrun> {
        let mut found = Findings::default();
        for range in &self.ranges {
            found.judge(range, args.as_map(), base);
        }
        let Findings {
            changes,
            clamped,
            steps,
            mut problems,
        } = found;
        let args = args.with(|map| {
            for (path, value) in changes {
                paths::replace(map, path, value);
            }
        });
        let params = self.params(args.as_map());
        let target = self.goal().map(|goal| goal.target(&params));
        problems.extend(self.oversize(params));
        if problems.is_empty() {
            let tool = Some(self.index());
            Ok(Limited {
                tool,
                steps,
                target,
                args,
                clamped,
            })
        } else {
            let rule = self.rule.id.as_ref().to_owned();
            Err(Overrun {
                problems,
                needed: self.tier,
                rule,
            })
        }
    }

    /// Returns the numbers that would refuse the call once its shape is mended, so that one report tells
    /// everything. Steps and the size of what is sent depend on the mended call: they are not looked at.
    pub fn beyond(&self, args: &Map<String, Value>) -> impl Iterator<Item = Issue> {
        self.ranges.iter().filter_map(|range| {
            let number = paths::find(args, &range.path)?.as_f64()?;
            let problem = range.beyond(number)?;
            let pointer = paths::pointer(&range.path);
            Some(Issue::at(&pointer, Flaw::Limit(problem)))
        })
    }

    fn oversize(&self, params: Map<String, Value>) -> Option<String> {
        if !self.sends {
            return None;
        }
        let params = Value::Object(params);
        let length = serialized_len(&params, Budget::ARGS_BYTES_MAX);
        if length.is_some_and(|length| length <= PARAMS_BYTES_MAX) {
            return None;
        }
        let found = length.map_or("far more".to_owned(), |length| format!("{length} bytes"));
        Some(format!(
            "a command carries {PARAMS_BYTES_MAX} bytes of parameters, these are {found}"
        ))
    }
}

/// What was found out about the numbers of a call so far.
#[derive(Default)]
struct Findings<'r> {
    changes: Vec<(&'r JsonPath, Value)>,
    clamped: Vec<String>,
    problems: Vec<String>,
    steps: Steps,
}

impl<'r> Findings<'r> {
    fn judge(&mut self, range: &'r Range, args: &Map<String, Value>, base: &StepBase) {
        let given = paths::find(args, &range.path);
        let mut accepted = None;
        if let Some(value) = given {
            let number = value.as_f64().unwrap_or(f64::NAN);
            let last = range.step.map_or(0.0, |step| base.last(step.slot));
            match range.judge(number, last) {
                Judged::Keep => accepted = Some(number),
                Judged::Reject(problem) => self.problems.push(problem),
                Judged::Clamp(to, told) => match json_number(to, range.is_whole()) {
                    Some(value) => {
                        accepted = Some(to);
                        self.clamped.push(told);
                        self.changes.push((&range.path, value));
                    }
                    None => self.problems.push(told),
                },
            }
        }
        if let Some(step) = range.step {
            self.steps.set(step.slot, accepted);
        }
    }
}

/// Returns a number as JSON, whole ones without a decimal point; `None` when it is none.
fn json_number(number: f64, whole: bool) -> Option<Value> {
    if !whole {
        return Number::from_f64(number).map(Value::Number);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole already; the cast saturates, and the bound below refuses what it changed"
    )]
    let exact = number as i64;
    (exact.saturating_abs() <= WHOLE_ABS_MAX).then_some(Value::from(exact))
}
