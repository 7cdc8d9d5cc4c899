//! Admission (skeleton).

use crate::terms::{Descriptor, Effect, Posture, Reason, Refusal, Tier};

use super::{Grant, Limited, Pace, ToolRules};

/// A tool whose calls can be admitted: no stop, and no actuating tool without rules.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    tool: &'a Descriptor,
    rules: Option<&'a ToolRules>,
}

/// A tool whose calls can never be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// Stops leave the pipeline before it: nothing may stand between a stop and its effect.
    #[error("a stop is never admitted: it acts at once")]
    Stop,
    /// Nothing says what the tool may do to the robot.
    #[error("a tool that changes a robot has no rules in a robot file")]
    NoRules,
}

impl<'a> Subject<'a> {
    /// Pairs a tool with its rules; `rules` is `None` for tools that belong to no robot.
    ///
    /// # Errors
    /// [`SubjectError`] for a stop, and for an actuating tool without rules.
    pub fn of(tool: &'a Descriptor, rules: Option<&'a ToolRules>) -> Result<Self, SubjectError> {
        match (&tool.effect, rules) {
            (Effect::Stop { .. }, _) => Err(SubjectError::Stop),
            (Effect::Actuate { .. }, None) => Err(SubjectError::NoRules),
            (Effect::Actuate { .. } | Effect::Observe { .. } | Effect::Mutate, _) => {
                Ok(Self { tool, rules })
            }
        }
    }
}

/// One call that asks to be admitted.
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    /// The tool.
    pub subject: Subject<'a>,
    /// Its arguments, already within their limits.
    pub args: &'a Limited,
    /// The number of the call, above 0: its lease carries it.
    pub call: u64,
    /// The tier in force, for the refusal.
    pub effective: Tier,
}

/// Admits a call on a new snapshot of the robot, or says everything that stands against it.
///
/// # Errors
/// A [`Refusal`]; nothing was spent then.
pub fn admit(ask: Admission<'_>, now: &Posture, pace: &mut Pace) -> Result<Grant, Refusal> {
    let _ = pace;
    if now.latched {
        return Err(Refusal {
            reason: Reason::EstopLatched,
            needed: ask.subject.tool.effect.needed_tier(),
            effective: ask.effective,
            rule: None,
            detail: "latched".to_owned(),
            hint: String::new(),
        });
    }
    Ok(Grant {
        epoch: now.epoch,
        deadline: now.now.plus_ms(ask.subject.tool.budget.timeout_ms),
        output_bytes_max: ask.subject.tool.budget.output_bytes_max,
        tier: ask.subject.tool.effect.needed_tier(),
        tool: ask.subject.rules.map_or(u16::MAX, ToolRules::index),
        permit: None,
    })
}
