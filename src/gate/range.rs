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
/// Largest magnitude of a whole number: 2^53 - 1, up to which every JSON reader keeps it exactly.
pub(super) const WHOLE_ABS_MAX: i64 = 9_007_199_254_740_991;
const WHOLE_EDGE: f64 = 9_007_199_254_740_991.0;
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
        let edge = if whole { WHOLE_EDGE } else { FLOAT_ABS_MAX };
        let floor = if arg.kind_of == ArgType::U64 {
            0.0
        } else {
            -edge
        };
        let own_lo = arg.min.unwrap_or(floor).max(floor);
        let own_hi = arg.max.unwrap_or(edge).min(edge);
        let bound = ceiling.map_or(edge, |(_, bound)| bound);
        // Asked first: the smaller of a number and NaN is the number, so NaN would be no bound.
        let bounds = [Some(bound), arg.min, arg.max];
        let finite = bounds.iter().flatten().all(|bound| bound.is_finite());
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
        if !value.is_finite() {
            return Judged::Reject(format!("`{}` is no finite number", self.name));
        }
        if self.lo <= value && value <= self.hi && self.in_step(value, last) {
            return Judged::Keep;
        }
        let Self { name, unit, .. } = self;
        let permitted = self.permitted(last);
        let (lo, hi) = self.within_step(last);
        match self.on_limit {
            OnLimit::Clamp if lo <= hi => {
                let to = value.max(lo).min(hi);
                let told = format!("`{name}` was set to {to}{unit}, not {value}: {permitted}");
                Judged::Clamp(to, told)
            }
            OnLimit::Clamp | OnLimit::Reject => {
                Judged::Reject(format!("`{name}` is {value}{unit}: {permitted}"))
            }
        }
    }

    /// Returns what a number should have been that refuses its call whatever came before; without the
    /// number itself. A number that would be clamped refuses nothing.
    pub(super) fn beyond(&self, value: f64) -> Option<String> {
        let outside = !(self.lo..=self.hi).contains(&value);
        (outside && self.on_limit == OnLimit::Reject)
            .then(|| format!("must be {}", self.in_force()))
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
            WHOLE_EDGE
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
        let mut notes = self.ceiling_note();
        if let Some(step) = self.step {
            notes.push_str(&format!("; changes by {}{} at most", step.max, self.unit));
        }
        notes
    }

    /// Returns the tier whose ceiling is narrower than the argument's own bounds.
    pub(super) fn ceiling_of(&self) -> Option<Tier> {
        self.ceiling_of
    }

    /// Returns the largest step with its unit.
    pub(super) fn step_text(&self) -> Option<String> {
        Some(format!("{}{}", self.step?.max, self.unit))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Returns the smallest and the largest number of the range that are one step from `last`.
    fn within_step(&self, last: f64) -> (f64, f64) {
        let Some(step) = self.step else {
            return (self.lo, self.hi);
        };
        let lo = self.lo.max(last - step.max);
        let hi = self.hi.min(last + step.max);
        rounded_inward(lo, hi, self.whole)
    }

    /// The range with whose ceiling it is.
    fn in_force(&self) -> String {
        self.text() + &self.ceiling_note()
    }

    fn ceiling_note(&self) -> String {
        self.ceiling_of
            .map(|tier| format!(" (ceiling of {tier})"))
            .unwrap_or_default()
    }

    fn permitted(&self, last: f64) -> String {
        let mut text = format!("permitted is {}", self.in_force());
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::config::{PathStep, Place};

    fn arg(kind_of: ArgType, bounds: Option<(f64, f64)>) -> ArgDef {
        ArgDef {
            place: Place {
                file: Arc::from("f"),
                line: 1,
            },
            path: JsonPath(vec![PathStep::Key("a".to_owned())]),
            written: "a".to_owned(),
            kind_of,
            unit: "N".to_owned(),
            kind: None,
            free: None,
            min: bounds.map(|(min, _)| min),
            max: bounds.map(|(_, max)| max),
            max_step: None,
            required: true,
            constant: None,
            on_limit: OnLimit::Clamp,
            one_of_poses: false,
        }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn a_ceiling_bounds_the_magnitude_both_ways() {
        let force = arg(ArgType::F64, Some((-100.0, 60.0)));
        let range = Range::of(&force, Some((Tier::FullActuation, 40.0))).unwrap();
        assert_eq!(range.text(), "-40 to 40 N");
        assert!(matches!(range.judge(-41.0, 0.0), Judged::Clamp(to, _) if near(to, -40.0)));
    }

    #[test]
    fn whole_numbers_are_rounded_inward() {
        let count = arg(ArgType::I64, Some((-3.0, 3.0)));
        let range = Range::of(&count, Some((Tier::SafeMotion, 2.5))).unwrap();
        assert_eq!(range.text(), "-2 to 2 N");
        let range = range.with_step(Step { max: 1.5, slot: 0 }).unwrap();
        assert!(matches!(range.judge(2.0, 0.0), Judged::Clamp(to, _) if near(to, 1.0)));
    }

    #[test]
    fn a_number_without_bounds_still_ends_where_it_stays_exact() {
        assert_eq!(
            Range::of(&arg(ArgType::U64, None), None).unwrap().text(),
            "at least 0 N"
        );
        assert_eq!(
            Range::of(&arg(ArgType::F64, None), None).unwrap().text(),
            "any number N"
        );
        let range = Range::of(&arg(ArgType::F64, None), None).unwrap();
        assert!(matches!(range.judge(1e300, 0.0), Judged::Clamp(to, _) if near(to, FLOAT_ABS_MAX)));
    }

    #[test]
    fn what_is_not_finite_is_rejected_even_where_others_are_clamped() {
        let range = Range::of(&arg(ArgType::F64, Some((-1.0, 1.0))), None).unwrap();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(range.judge(bad, 0.0), Judged::Reject(_)), "{bad}");
        }
        assert!(Range::of(&arg(ArgType::F64, Some((-1.0, f64::NAN))), None).is_err());
        assert!(Range::of(&arg(ArgType::F64, None), Some((Tier::Observe, f64::NAN))).is_err());
    }

    proptest! {
        #[test]
        fn a_clamped_number_passes_when_it_is_judged_again(
            lo in -5.0..0.0_f64, hi in 0.0..5.0_f64, ceiling in 0.01..6.0_f64,
            max in 0.01..3.0_f64, near in 0.0..1.0_f64, value in -20.0..20.0_f64,
        ) {
            let number = arg(ArgType::F64, Some((lo, hi)));
            let range = Range::of(&number, Some((Tier::SafeMotion, ceiling))).unwrap();
            let range = range.with_step(Step { max, slot: 0 }).unwrap();
            let last = lo.max(-ceiling) * near;
            if let Judged::Clamp(to, _) = range.judge(value, last) {
                prop_assert!(to.abs() <= ceiling && to >= lo && to <= hi);
                prop_assert_eq!(range.judge(to, last), Judged::Keep);
            }
        }
    }
}
