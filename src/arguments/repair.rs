//! Repairs of arguments that are almost right: what a model means beyond doubt is taken for it.
//!
//! Five of them, each lossless, each only where a value does not fit the types that its schema names:
//! a decimal text to an integer, `3.0` to `3`, `"true"` and `"false"` to a boolean, JSON text to the
//! object or array that is wanted, a single value to an array of one. Nothing is guessed where a schema
//! permits several forms. The caller checks the result again and keeps it only as a whole; nothing here
//! may be asked for a call that moves a robot.

use serde_json::{Number, Value};

use super::problem::{child, types};
use super::report::cut_chars;
use super::vocabulary::FORMS;
use crate::terms::parse_args;

/// Most repairs that are told one by one; the others are counted.
const TOLD_MAX: usize = 12;
/// Longest decimal text that can be an integer, bytes: the sign and the digits of the largest.
const DIGITS_MAX: usize = 20;
/// Largest whole number that its floating form keeps exactly: 2^53 - 1.
const WHOLE_ABS_MAX: f64 = 9_007_199_254_740_991.0;

/// Returns a repaired copy of `args` and what was done, one sentence each; `None` when nothing was.
pub(super) fn repaired(schema: &Value, args: &Value) -> Option<(Value, Vec<String>)> {
    let mut value = args.clone();
    let mut told = Told::default();
    place(&mut told, "", (schema, &mut value));
    if told.lines.is_empty() {
        return None;
    }
    Some((value, told.done()))
}

#[derive(Debug, Default)]
struct Told {
    lines: Vec<String>,
    more: usize,
}

impl Told {
    fn add(&mut self, at: &str, what: &str) {
        if self.lines.len() < TOLD_MAX {
            let at = if at.is_empty() { "(arguments)" } else { at };
            self.lines.push(format!("{}: {what}", cut_chars(at)));
        } else {
            self.more = self.more.saturating_add(1);
        }
    }

    fn done(mut self) -> Vec<String> {
        if self.more > 0 {
            self.lines.push(format!("+{} more", self.more));
        }
        self.lines
    }
}

/// Repairs one place, then what is inside. As deep as the schema, which the lint bounds.
fn place(told: &mut Told, at: &str, (schema, value): (&Value, &mut Value)) {
    if FORMS.iter().any(|word| schema.get(word).is_some()) {
        return;
    }
    if let Some((new, what)) = better(schema, value) {
        *value = new;
        told.add(at, what);
    }
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties");
            for (name, member) in members {
                if let Some(inner) = properties.and_then(|all| all.get(name)) {
                    place(told, &child(at, name), (inner, member));
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                let first = schema.get("prefixItems").and_then(|all| all.get(index));
                if let Some(inner) = first.or(schema.get("items")) {
                    place(told, &child(at, &index.to_string()), (inner, item));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns what a value that is of no wanted type stands for beyond doubt, and what that repair is.
fn better(schema: &Value, value: &Value) -> Option<(Value, &'static str)> {
    let wanted = types(schema);
    let wants = |word| wanted.contains(&word);
    let fits = match value {
        Value::Null => wants("null"),
        Value::Bool(_) => wants("boolean"),
        Value::Number(number) => wants("number") || (wants("integer") && !number.is_f64()),
        Value::String(_) => wants("string"),
        Value::Array(_) => wants("array"),
        Value::Object(_) => wants("object"),
    };
    if wanted.is_empty() || fits {
        return None;
    }
    let read = match value {
        Value::String(text) => of_text(text, wants),
        Value::Number(number) if wants("integer") => {
            whole(number).map(|new| (new, "a whole number was read without its decimal point"))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    };
    read.or_else(|| {
        let list = wants("array") && schema.get("prefixItems").is_none() && !value.is_null();
        list.then(|| {
            let one = Value::Array(vec![value.clone()]);
            (one, "a single value was read as an array of one")
        })
    })
}

fn of_text(text: &str, wants: impl Fn(&'static str) -> bool) -> Option<(Value, &'static str)> {
    if let Some(number) = decimal(text).filter(|_| wants("integer")) {
        return Some((Value::Number(number), "a text was read as an integer"));
    }
    if wants("boolean") && (text == "true" || text == "false") {
        return Some((Value::Bool(text == "true"), "a text was read as a boolean"));
    }
    let (object, array) = (wants("object"), wants("array"));
    let begins = text.trim_start().bytes().next();
    if !((object && begins == Some(b'{')) || (array && begins == Some(b'['))) {
        return None;
    }
    match parse_args(text) {
        Ok(read @ Value::Object(_)) if object => Some((read, "a text was read as an object")),
        Ok(read @ Value::Array(_)) if array => Some((read, "a text was read as an array")),
        Ok(_) | Err(_) => None,
    }
}

/// Reads a whole number as JSON writes it: no plus, no zeros before it, no spaces.
fn decimal(text: &str) -> Option<Number> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    if !plain || !canonical || text == "-0" || text.len() > DIGITS_MAX {
        return None;
    }
    let signed = text.parse::<i64>().ok().map(Number::from);
    signed.or_else(|| text.parse::<u64>().ok().map(Number::from))
}

/// Reads a number without a fraction as an integer, when that loses nothing.
fn whole(number: &Number) -> Option<Value> {
    let number = number.as_f64()?;
    if number.fract() != 0.0 || number.abs() > WHOLE_ABS_MAX {
        return None;
    }
    // Without a fraction and below 2^53 every digit is printed.
    let exact = format!("{number:.0}").parse::<i64>().ok()?;
    Some(Value::from(exact))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: Value, value: Value, expected: Option<Value>) {
        let found = repaired(&schema, &value).map(|(value, _)| value);
        assert_eq!(found, expected, "{value} under {schema}");
    }

    #[test]
    fn what_is_meant_beyond_doubt_is_read() {
        let integer = json!({ "type": "integer" });
        check(integer.clone(), json!("30"), Some(json!(30)));
        check(integer.clone(), json!("-7"), Some(json!(-7)));
        check(integer.clone(), json!("0"), Some(json!(0)));
        check(
            integer.clone(),
            json!(u64::MAX.to_string()),
            Some(json!(u64::MAX)),
        );
        check(integer.clone(), json!(3.0), Some(json!(3)));
        check(integer.clone(), json!(-0.0), Some(json!(0)));
        let optional = json!({ "type": ["integer", "null"] });
        check(optional, json!("4"), Some(json!(4)));
        let boolean = json!({ "type": "boolean" });
        check(boolean.clone(), json!("true"), Some(json!(true)));
        check(boolean, json!("false"), Some(json!(false)));
        let list = json!({ "type": "array", "items": { "type": "integer" } });
        check(list.clone(), json!("[1, 2]"), Some(json!([1, 2])));
        check(list.clone(), json!(5), Some(json!([5])));
        check(list, json!("5"), Some(json!([5])));
        let object = json!({ "type": "object", "properties": { "n": integer } });
        check(object, json!(r#"{"n":"1"}"#), Some(json!({ "n": 1 })));
    }

    #[test]
    fn what_fits_and_what_is_in_doubt_is_left_alone() {
        let integer = json!({ "type": "integer" });
        for text in ["abc", "", "-", "+1", "01", "-0", "1.0", "1e3", " 1", "0x10"] {
            check(integer.clone(), json!(text), None);
        }
        check(integer.clone(), json!("99999999999999999999"), None);
        for number in [0.5, 1e300, 9_007_199_254_740_992.0] {
            check(integer.clone(), json!(number), None);
        }
        check(json!({ "type": "number" }), json!("0.5"), None);
        check(json!({ "type": "number" }), json!(3.0), None);
        check(json!({ "type": "string" }), json!("30"), None);
        check(json!({ "type": ["string", "integer"] }), json!("30"), None);
        check(json!({ "type": "boolean" }), json!("True"), None);
        check(json!({ "type": "boolean" }), json!(1), None);
        check(json!({ "type": "object" }), json!("{"), None);
        check(json!({ "type": "array" }), json!(null), None);
        let pair = json!({ "type": "array", "prefixItems": [integer] });
        check(pair, json!(1), None);
        check(json!({}), json!("1"), None);
        for word in FORMS {
            let forms = json!({ "type": "integer", word: [{ "minimum": 0 }] });
            check(forms, json!("30"), None);
        }
    }

    #[test]
    fn many_repairs_are_told_in_few_lines() {
        let schema = json!({ "type": "array", "items": { "type": "integer" } });
        let (_, told) = repaired(&schema, &json!(vec!["1"; 40])).unwrap();
        assert_eq!(told.len(), TOLD_MAX + 1);
        assert_eq!(told[0], "/0: a text was read as an integer");
        assert_eq!(told[TOLD_MAX], "+28 more");
    }
}
