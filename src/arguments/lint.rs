//! What a schema must look like before a tool may carry it: every fault at once.
//!
//! The rules are those of the strictest model provider, plus two of our own: unknown members are
//! refused at every level, and every property says what it is.

use serde_json::{Map, Value};

use super::size::serialized_len;

/// Largest schema, bytes of compact JSON.
const SCHEMA_BYTES_MAX: usize = 65_536;
/// Deepest nesting of properties and items.
const SCHEMA_DEPTH_MAX: usize = 10;
/// Longest name of a property, bytes.
const NAME_BYTES_MAX: usize = 64;

/// Returns all faults of a schema, each as one sentence that begins with the place.
pub fn lint(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if serialized_len(schema, SCHEMA_BYTES_MAX).is_none() {
        faults.push(format!(
            "(schema): larger than {SCHEMA_BYTES_MAX} bytes, or nested too deeply"
        ));
        return faults;
    }
    let Some(root) = schema.as_object() else {
        faults.push("(schema): must be a JSON object".to_owned());
        return faults;
    };
    if root.get("type") != Some(&Value::from("object")) {
        faults.push("(schema): `type` must be `object`".to_owned());
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        if root.contains_key(word) {
            faults.push(format!(
                "(schema): `{word}` is not accepted at the top level"
            ));
        }
    }
    if root.get("additionalProperties") != Some(&Value::Bool(false)) {
        faults.push("(schema): `additionalProperties` must be false".to_owned());
    }
    walk(&mut faults, "", root, SCHEMA_DEPTH_MAX);
    faults
}

fn walk(faults: &mut Vec<String>, at: &str, schema: &Map<String, Value>, depth: usize) {
    let Some(left) = depth.checked_sub(1) else {
        faults.push(format!("{at}: nested deeper than {SCHEMA_DEPTH_MAX}"));
        return;
    };
    let place = if at.is_empty() { "(schema)" } else { at };
    for word in ["$ref", "$dynamicRef"] {
        if schema.contains_key(word) {
            faults.push(format!("{place}: `{word}` must be inlined"));
        }
    }
    let none = Map::new();
    let properties = match schema.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => {
            if schema.get("additionalProperties") != Some(&Value::Bool(false)) && !at.is_empty() {
                faults.push(format!("{place}: `additionalProperties` must be false"));
            }
            properties
        }
        Some(_) => {
            faults.push(format!("{place}: `properties` must be an object"));
            &none
        }
    };
    required_are_properties(faults, place, schema, properties);
    for (name, property) in properties {
        let at = format!("{at}/{name}");
        property_is_told(faults, &at, name, property);
        descend(faults, &at, property, left);
    }
    for word in ["items", "additionalProperties", "not"] {
        if let Some(inner) = schema.get(word) {
            descend(faults, &format!("{at}/{word}"), inner, left);
        }
    }
    for word in ["prefixItems", "anyOf", "oneOf", "allOf"] {
        for inner in schema
            .get(word)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            descend(faults, &format!("{at}/{word}"), inner, left);
        }
    }
}

fn descend(faults: &mut Vec<String>, at: &str, schema: &Value, depth: usize) {
    if let Some(schema) = schema.as_object() {
        walk(faults, at, schema, depth);
    }
}

fn required_are_properties(
    faults: &mut Vec<String>,
    place: &str,
    schema: &Map<String, Value>,
    properties: &Map<String, Value>,
) {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten() {
        let known = name
            .as_str()
            .is_some_and(|name| properties.contains_key(name));
        if !known {
            faults.push(format!(
                "{place}: `required` names {name}, which is no property"
            ));
        }
    }
}

fn property_is_told(faults: &mut Vec<String>, at: &str, name: &str, property: &Value) {
    let named = (1..=NAME_BYTES_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !named {
        faults.push(format!("{at}: the name must fit [a-zA-Z0-9_-]{{1,64}}"));
    }
    for word in ["type", "description"] {
        if property.get(word).is_none() {
            faults.push(format!("{at}: has no `{word}`"));
        }
    }
}
