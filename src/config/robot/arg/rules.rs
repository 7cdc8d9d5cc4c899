//! What the keys of an argument must be to each other, to its tool and to the tool's tier.

use serde_json::Value;

use super::{ArgContext, ArgType, Draft};
use crate::config::EffectWord;
use crate::config::reader::Table;
use crate::terms::Kind;

/// Keys that say nothing beside `const`.
const NOT_WITH_CONST: [&str; 8] = [
    "kind", "free", "min", "max", "max_step", "required", "on_limit", "one_of",
];
/// Keys that say something of numbers only.
const OF_NUMBERS: [&str; 5] = ["kind", "min", "max", "max_step", "on_limit"];
/// Keys that limit a number.
const LIMITS: [&str; 4] = ["kind", "min", "max", "max_step"];

/// Reports everything that does not fit.
pub(super) fn judge(t: &Table<'_>, arg: &Draft, context: ArgContext<'_>) {
    if t.has("const") {
        judge_constant(t, arg);
        return;
    }
    if let Some(kind_of) = arg.kind_of {
        judge_type(t, arg, kind_of);
    }
    judge_range(t, arg);
    judge_unit(t, arg);
    judge_kind(t, arg, context);
    if let Some(effect) = context.effect {
        judge_motion(t, arg, effect);
    }
}

fn judge_constant(t: &Table<'_>, arg: &Draft) {
    for key in NOT_WITH_CONST.into_iter().filter(|key| t.has(key)) {
        t.fault(
            key,
            "changes nothing beside `const`",
            "remove it, or remove `const`",
        );
    }
    let (Some(kind_of), Some(constant)) = (arg.kind_of, &arg.constant) else {
        return;
    };
    let fits = match kind_of {
        ArgType::F64 => constant.is_number(),
        ArgType::U64 => constant.is_u64(),
        ArgType::I64 => constant.is_i64(),
        ArgType::Bool => constant.is_boolean(),
        ArgType::String => constant.is_string(),
    };
    if !fits {
        let hint = "a constant is sent as it is written: write a value of the argument's type";
        t.fault(
            "const",
            format!("`{}` is not of the type", shortened(constant)),
            hint,
        );
    }
}

fn judge_type(t: &Table<'_>, arg: &Draft, kind_of: ArgType) {
    if !kind_of.is_number() {
        for key in OF_NUMBERS.into_iter().filter(|key| t.has(key)) {
            t.fault(key, "changes nothing: only numbers have it", "remove it");
        }
        if arg.unit.as_deref().is_some_and(|unit| unit != "none") {
            t.fault(
                "unit",
                "needs `none`: this type has no unit",
                "write unit = \"none\"",
            );
        }
    }
    if t.has("one_of") && kind_of != ArgType::String {
        t.fault(
            "one_of",
            "needs type = \"string\"",
            "a pose is named by a text",
        );
    }
    let whole = matches!(kind_of, ArgType::U64 | ArgType::I64);
    for (key, bound) in [
        ("min", arg.min),
        ("max", arg.max),
        ("max_step", arg.max_step),
    ] {
        let Some(bound) = bound else { continue };
        if whole && bound.fract().abs() > 0.0 {
            t.fault(
                key,
                format!("found `{bound}`, needs a whole number"),
                "the type is whole",
            );
        } else if kind_of == ArgType::U64 && bound < 0.0 {
            t.fault(
                key,
                format!("found `{bound}`, needs at least 0"),
                "the type is u64",
            );
        }
    }
    if t.has("on_limit") && !LIMITS.into_iter().any(|key| t.has(key)) {
        t.fault(
            "on_limit",
            "changes nothing: the argument has no limit",
            "remove it",
        );
    }
}

fn judge_range(t: &Table<'_>, arg: &Draft) {
    if let (Some(min), Some(max)) = (arg.min, arg.max)
        && min > max
    {
        t.fault(
            "min",
            format!("found `{min}`, needs at most max, {max}"),
            "swap the two",
        );
    }
}

fn judge_unit(t: &Table<'_>, arg: &Draft) {
    if let (Some(unit), Some(kind)) = (&arg.unit, arg.kind)
        && unit != kind.unit()
    {
        let wanted = kind.unit();
        let problem = format!("found \"{unit}\", needs \"{wanted}\", the unit of {kind}");
        t.fault("unit", problem, format!("write the numbers in {wanted}"));
    }
}

fn judge_kind(t: &Table<'_>, arg: &Draft, context: ArgContext<'_>) {
    let Some(kind) = arg.kind else { return };
    if t.has("free") {
        let hint = "keep the kind when a ceiling bounds the number, else the reason";
        t.fault("free", "stands beside `kind`", hint);
    }
    let target = kind.target_axis().is_some();
    if target && !context.workspace {
        t.fault(
            "kind",
            format!("`{kind}` needs a [workspace]"),
            "add one: it bounds targets",
        );
    }
    if target && arg.required == Some(false) {
        let hint = "remove it: half a target cannot be judged";
        t.fault("required", "a target must be given", hint);
    }
    // A target is bounded by its distance from where the robot is.
    let bounding = if target { Kind::Distance } else { kind };
    if let Some(profile) = context.profile
        && !profile.ceilings.contains_key(&bounding)
    {
        let problem = format!(
            "`{kind}` is not bounded by the ceilings of {}",
            profile.tier
        );
        let key = bounding.ceiling_key().unwrap_or_default();
        let hint = format!(
            "add `{key}` to tiers/{}.toml, or choose another tier",
            profile.tier
        );
        t.fault("kind", problem, hint);
    }
}

/// Judges what only arguments of tools that move need, and only they may have.
fn judge_motion(t: &Table<'_>, arg: &Draft, effect: EffectWord) {
    if !effect.moves() {
        for key in ["free", "max_step", "one_of"]
            .into_iter()
            .filter(|key| t.has(key))
        {
            t.fault(
                key,
                format!("changes nothing: `{effect}` does not move"),
                "remove it",
            );
        }
        return;
    }
    let accounted = t.has("kind") || t.has("free") || t.has("one_of");
    match arg.kind_of {
        Some(ArgType::F64 | ArgType::U64 | ArgType::I64) if !accounted => t.fault(
            "kind",
            format!("missing: a number of a `{effect}` tool needs `kind`, or `free` with a reason"),
            "name the quantity so that its ceiling bounds it",
        ),
        Some(ArgType::String) if !accounted => t.fault(
            "one_of",
            format!("missing: a text of a `{effect}` tool may name a place"),
            "write one_of = \"poses\", `const` when it is always the same, or `free` with the reason",
        ),
        Some(_) | None => {}
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}
