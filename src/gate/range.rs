//! The permitted numbers of one argument: own bounds ⊓ ceiling ⊓ step, and what is done outside.
//!
//! The magnitude of every quantity is bounded both ways: a force of -100 N is as much as one of
//! 100 N. Nothing that is not finite passes, and an empty range is a fault of the files, found when
//! they load, not of the call.
#![deny(clippy::arithmetic_side_effects)]

use crate::config::{ArgDef, ArgType, JsonPath, OnLimit};
use crate::terms::Tier;

/// Largest magnitude of a number with a fraction. Chosen: beyond it a micrometre is lost, and sums
/// of squares stay finite far below the end of the type.
pub(super) const FLOAT_ABS_MAX: f64 = 1e15;
/// Largest magnitude of a whole number: 2^53 - 1, the last one that JSON numbers keep exactly.
pub(super) const WHOLE_ABS_MAX: f64 = 9_007_199_254_740_991.0;
/// Two steps that differ by less are equal: the rounding of one subtraction near 1.
const STEP_TOLERANCE: f64 = 1e-9;

/// The largest change of one argument from call to call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// In the unit of the argument.
    pub max: f64,
    /// Where the last accepted number is kept.
    pub slot: usize,
}

/// The permitted numbers of one argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Range {
    pub path: JsonPath,
    /// The path as the robot file writes it.
    pub name: String,
    /// The unit as it follows a number: empty for a bare one, else with a leading space.
    unit: String,
    lo: f64,
    hi: f64,
    /// The tier whose ceiling is narrower than the argument's own bounds.
    ceiling_of: Option<Tier>,
    pub step: Option<Step>,
    whole: bool,
    on_limit: OnLimit,
}

/// What became of a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Judged {
    /// It stays.
    Keep,
    /// It became this one; the sentence tells the model.
    Clamp(f64, String),
    /// The call is refused; the sentence tells the model.
    Reject(String),
}

impl Range {
    /// Makes the range of `arg` under the ceiling of its tier, if its kind has one.
    ///
    /// # Errors
    /// One sentence when no number can ever pass.
    pub(super) fn of(arg: &ArgDef, ceiling: Option<(Tier, f64)>) -> Result<Self, String> {
        let whole = matches!(arg.kind_of, ArgType::U64 | ArgType::I64);
        let edge = if whole { WHOLE_ABS_MAX } else { FLOAT_ABS_MAX };
        let floor = if arg.kind_of == ArgType::U64 {
            0.0
        } else {
            -edge
        };
        let own_lo = arg.min.unwrap_or(floor).max(floor);
        let own_hi = arg.max.unwrap_or(edge).min(edge);
        let bound = ceiling.map_or(edge, |(_, bound)| bound);
        let narrower = own_lo < -bound || own_hi > bound;
        let (lo, hi) = rounded_inward(own_lo.max(-bound), own_hi.min(bound), whole);
        let range = Self {
            path: arg.path.clone(),
            name: arg.written.clone(),
            unit: unit_after(&arg.unit),
            lo,
            hi,
            ceiling_of: ceiling.filter(|_| narrower).map(|(tier, _)| tier),
            step: None,
            whole,
            on_limit: arg.on_limit,
        };
        let finite = bound.is_finite() && lo.is_finite() && hi.is_finite();
        if finite && lo <= hi {
            Ok(range)
        } else {
            Err(format!(
                "no number can pass: the range in force is {}",
                range.text()
            ))
        }
    }

    /// Adds the largest step.
    ///
    /// # Errors
    /// One sentence when no step from 0 leads into the range.
    pub(super) fn with_step(mut self, step: Step) -> Result<Self, String> {
        let reachable = self.lo <= step.max && -self.hi <= step.max;
        if step.max.is_finite() && step.max > 0.0 && reachable {
            self.step = Some(step);
            return Ok(self);
        }
        Err(format!(
            "no number can pass: steps count from 0 and a step of {} does not reach {}",
            step.max,
            self.text()
        ))
    }

    /// Judges one number; `last` is the number from which its step counts.
    pub(super) fn judge(&self, value: f64, last: f64) -> Judged {
        let (lo, hi) = self.now(last);
        if !value.is_finite() {
            return Judged::Reject(format!("`{}` is no finite number", self.name));
        }
        if lo <= value && value <= hi {
            return Judged::Keep;
        }
        let permitted = self.permitted(last);
        match self.on_limit {
            OnLimit::Clamp if lo <= hi => {
                let to = value.max(lo).min(hi);
                let Self { name, unit, .. } = self;
                let told = format!("`{name}` was set to {to}{unit}, not {value}: {permitted}");
                Judged::Clamp(to, told)
            }
            OnLimit::Clamp | OnLimit::Reject => {
                let Self { name, unit, .. } = self;
                Judged::Reject(format!("`{name}` is {value}{unit}: {permitted}"))
            }
        }
    }

    /// Returns whether the number that was accepted for `last` is still one step from it.
    pub(super) fn in_step(&self, value: f64, last: f64) -> bool {
        self.step
            .is_none_or(|step| (value - last).abs() <= step.max + STEP_TOLERANCE)
    }

    /// Returns the range in force for people and models, such as `-0.2 to 0.25 m/s`.
    pub(super) fn text(&self) -> String {
        let Self { lo, hi, unit, .. } = self;
        let edge = if self.whole {
            WHOLE_ABS_MAX
        } else {
            FLOAT_ABS_MAX
        };
        match (*lo > -edge, *hi < edge) {
            (true, true) => format!("{lo} to {hi}{unit}"),
            (true, false) => format!("at least {lo}{unit}"),
            (false, true) => format!("at most {hi}{unit}"),
            (false, false) => format!("any number{unit}"),
        }
    }

    /// Returns what follows the range in a description: whose ceiling it is, how far one step goes.
    pub(super) fn notes(&self) -> String {
        let mut notes = String::new();
        if let Some(tier) = self.ceiling_of {
            notes.push_str(&format!(" (ceiling of {tier})"));
        }
        if let Some(step) = self.step {
            notes.push_str(&format!("; changes by {}{} at most", step.max, self.unit));
        }
        notes
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the smallest and the largest number that pass when the last one was `last`.
    fn now(&self, last: f64) -> (f64, f64) {
        let Some(step) = self.step else {
            return (self.lo, self.hi);
        };
        let reach = step.max + STEP_TOLERANCE;
        let (lo, hi) = (self.lo.max(last - reach), self.hi.min(last + reach));
        rounded_inward(lo, hi, self.whole)
    }

    fn permitted(&self, last: f64) -> String {
        let mut text = format!("permitted is {}", self.text());
        if let Some(tier) = self.ceiling_of {
            text.push_str(&format!(" (ceiling of {tier})"));
        }
        if let Some(step) = self.step {
            let Self { unit, .. } = self;
            text.push_str(&format!(", and a step of {}{unit} from {last}", step.max));
        }
        text
    }
}

fn rounded_inward(lo: f64, hi: f64, whole: bool) -> (f64, f64) {
    if whole {
        (lo.ceil(), hi.floor())
    } else {
        (lo, hi)
    }
}

fn unit_after(unit: &str) -> String {
    if unit == "none" {
        String::new()
    } else {
        format!(" {unit}")
    }
}
