//! The smallest arguments that a schema takes, made up from it: shown to a caller that is stuck.
//!
//! Only required members are in it. What the schema itself offers (`const`, `enum`, `examples`,
//! `default`) comes first. The result is a proposal: whoever asks for it checks it.

use serde_json::{Map, Number, Value};

use super::problem::types;

/// Most characters and items that are made up to reach a least length.
const LENGTH_MAX: u64 = 16;
/// Deepest nesting that is made up; a schema goes 10 deep.
const DEPTH_MAX: usize = 10;

/// Returns a proposal for arguments under `schema`.
pub(super) fn of(schema: &Value) -> Option<Value> {
    made(schema, DEPTH_MAX)
}

fn made(schema: &Value, depth: usize) -> Option<Value> {
    let left = depth.checked_sub(1)?;
    if let Some(offered) = offered(schema) {
        return Some(offered.clone());
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(forms) = schema.get(word).and_then(Value::as_array) {
            return forms.iter().find_map(|form| made(form, left));
        }
    }
    match types(schema).into_iter().find(|word| *word != "null")? {
        "object" => object(schema, left),
        "array" => array(schema, left),
        "string" => text(schema),
        "integer" | "number" => number(schema),
        "boolean" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// Returns a value that the schema itself names.
fn offered(schema: &Value) -> Option<&Value> {
    let first = |word| schema.get(word).and_then(Value::as_array)?.first();
    schema
        .get("const")
        .or_else(|| first("examples"))
        .or_else(|| schema.get("default"))
        .or_else(|| first("enum"))
}

fn object(schema: &Value, left: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let member = |name: &str| {
        let inner = schema.get("properties")?.get(name)?;
        Some((name.to_owned(), made(inner, left)?))
    };
    names
        .map(member)
        .collect::<Option<Map<_, _>>>()
        .map(Value::Object)
}

fn array(schema: &Value, left: usize) -> Option<Value> {
    let item = |index: u64| {
        let index = usize::try_from(index).ok()?;
        let first = schema.get("prefixItems").and_then(|all| all.get(index));
        made(first.or(schema.get("items"))?, left)
    };
    let least = least(schema, "minItems")?;
    (0..least)
        .map(item)
        .collect::<Option<_>>()
        .map(Value::Array)
}

fn text(schema: &Value) -> Option<Value> {
    let length = usize::try_from(least(schema, "minLength")?).ok()?;
    Some(Value::from("x".repeat(length)))
}

/// Returns a least length, `None` when it is more than should be made up.
fn least(schema: &Value, word: &str) -> Option<u64> {
    let length = schema.get(word).and_then(Value::as_u64).unwrap_or(0);
    (length <= LENGTH_MAX).then_some(length)
}

/// Returns 0, or the bound or the multiple that is nearest to it, whichever the bounds take.
fn number(schema: &Value) -> Option<Value> {
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    let lo = bound("minimum");
    let hi = bound("maximum");
    let above = bound("exclusiveMinimum");
    let below = bound("exclusiveMaximum");
    let proposals = [
        Some(0.0),
        lo.map(f64::ceil),
        hi.map(f64::floor),
        above.map(|edge| edge.floor() + 1.0),
        below.map(|edge| edge.ceil() - 1.0),
        lo,
        hi,
        bound("multipleOf"),
    ];
    let inside = |number: &f64| {
        lo.is_none_or(|lo| *number >= lo)
            && hi.is_none_or(|hi| *number <= hi)
            && above.is_none_or(|edge| *number > edge)
            && below.is_none_or(|edge| *number < edge)
    };
    let number = proposals.into_iter().flatten().find(inside)?;
    if number.fract() == 0.0 && number.abs() < 1e15 {
        let whole = format!("{number:.0}").parse::<i64>().ok()?;
        return Some(Value::from(whole));
    }
    Number::from_f64(number).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn required_members_alone_are_made_up_and_keep_their_bounds() {
        let schema = json!({
            "type": "object",
            "required": ["path", "mode", "lines", "share", "on", "nested"],
            "properties": {
                "path": { "type": "string", "minLength": 1 },
                "mode": { "type": "string", "enum": ["fast", "slow"] },
                "lines": { "type": "array", "minItems": 2, "items": { "type": "integer", "minimum": 1 } },
                "share": { "type": "number", "exclusiveMinimum": 2.5 },
                "on": { "type": "boolean" },
                "nested": { "type": "object", "required": ["n"], "properties": {
                    "n": { "anyOf": [{ "type": "null" }, { "type": "integer", "maximum": -3 }] },
                } },
                "optional": { "type": "string" },
            },
        });
        assert_eq!(
            of(&schema),
            Some(json!({
                "path": "x", "mode": "fast", "lines": [1, 1], "share": 3, "on": false,
                "nested": { "n": -3 },
            }))
        );
    }

    #[test]
    fn what_the_schema_offers_comes_first_and_what_is_too_long_is_not_made_up() {
        let offered = json!({ "type": "string", "examples": ["src/main.rs"], "default": "." });
        assert_eq!(of(&offered), Some(json!("src/main.rs")));
        assert_eq!(of(&json!({ "type": "string", "minLength": 5_000 })), None);
        assert_eq!(of(&json!({})), None);
    }
}
