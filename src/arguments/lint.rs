//! What a schema must look like before a tool may carry it: every fault at once.
//!
//! The rules are those of the strictest model provider, plus three of our own: unknown members are
//! refused at every level, every property says what it is, and no word is used that nobody checks.

use std::fmt;

use serde_json::{Map, Value};

use super::size::{Excess, measure};
use super::vocabulary::{DIALECT, FORMS, holds, inside, meant};

/// Largest schema, bytes of compact JSON.
const SCHEMA_BYTES_MAX: usize = 65_536;
/// Deepest nesting of properties and items.
const SCHEMA_DEPTH_MAX: usize = 10;
/// Longest name of a property, bytes.
const NAME_BYTES_MAX: usize = 64;
/// Longest word of a faulty schema that is repeated, characters.
const WORD_CHARS_MAX: usize = 80;
/// Words that point to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$defs"];

/// One fault of a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaFault {
    /// Where: the names of properties and keywords; empty for the top level.
    pub place: String,
    /// What is wrong there.
    pub flaw: SchemaFlaw,
}

/// What can be wrong with a schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum SchemaFlaw {
    /// It is too large to be looked at.
    #[error("too large: {0}")]
    TooLarge(Excess),
    /// It is no object.
    #[error("must be a JSON object")]
    NotObject,
    /// It describes something else than an object of arguments.
    #[error("`type` must be `object`")]
    NotOfObjects,
    /// It begins with several forms, which model providers refuse.
    #[error("`{0}` is not accepted at the top level")]
    TopLevel(&'static str),
    /// Unknown members would be ignored.
    #[error("`additionalProperties` must be false")]
    Open,
    /// It nests too deeply.
    #[error("nested deeper than {0}")]
    TooDeep(usize),
    /// It points elsewhere.
    #[error("`{0}` must be inlined")]
    Reference(&'static str),
    /// It uses a word that is not checked.
    #[error("`{word}` is no keyword that is checked here{}", did_you_mean(.near))]
    Keyword {
        /// The word, cut to 80 characters.
        word: String,
        /// The keyword that was probably meant.
        near: Option<&'static str>,
    },
    /// It names another dialect.
    #[error("`$schema` may stand at the top level only, as {}", DIALECT)]
    Dialect,
    /// Its properties are no object.
    #[error("`properties` must be an object")]
    NotProperties,
    /// It requires what it does not know.
    #[error("`required` names {0}, which is no property")]
    Required(String),
    /// A property has a name that providers refuse.
    #[error("the name must fit [a-zA-Z0-9_-]{{1,64}}")]
    Name,
    /// A property does not say what it is.
    #[error("has no `{0}`")]
    Untold(&'static str),
    /// An alias leads nowhere, or away from a property.
    #[error("the alias `{from}` of `{to}` must name no property, and stand for one")]
    Alias {
        /// The other name.
        from: &'static str,
        /// What it stands for.
        to: &'static str,
    },
    /// The validator does not take it: a value of a keyword is wrong, or a pattern does not compile.
    #[error("{0}")]
    Unsound(String),
}

impl SchemaFault {
    pub(super) fn at(place: &str, flaw: SchemaFlaw) -> Self {
        Self {
            place: place.to_owned(),
            flaw,
        }
    }
}

impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() {
            "(schema)"
        } else {
            &self.place
        };
        write!(f, "{place}: {}", self.flaw)
    }
}

fn did_you_mean(near: &Option<&'static str>) -> String {
    near.map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

/// Returns all faults of a tool's schema.
pub fn lint(schema: &Value) -> Vec<SchemaFault> {
    let mut faults = words(schema);
    if faults
        .iter()
        .any(|fault| matches!(fault.flaw, SchemaFlaw::TooLarge(_)))
    {
        return faults;
    }
    let Some(root) = schema.as_object() else {
        faults.push(SchemaFault::at("", SchemaFlaw::NotObject));
        return faults;
    };
    let mut found = |flaw| faults.push(SchemaFault::at("", flaw));
    if root.get("type") != Some(&Value::from("object")) {
        found(SchemaFlaw::NotOfObjects);
    }
    for word in FORMS {
        if root.contains_key(word) {
            found(SchemaFlaw::TopLevel(word));
        }
    }
    if root.get("additionalProperties") != Some(&Value::Bool(false)) {
        found(SchemaFlaw::Open);
    }
    walk(&mut faults, "", root, SCHEMA_DEPTH_MAX);
    faults
}

/// Returns what is wrong with the size of a schema, else with its words, whatever it describes.
pub(super) fn words(schema: &Value) -> Vec<SchemaFault> {
    let mut faults = Vec::new();
    match measure(schema, SCHEMA_BYTES_MAX) {
        Err(excess) => faults.push(SchemaFault::at("", SchemaFlaw::TooLarge(excess))),
        // The measure bounds how deep this goes.
        Ok(_) => words_below(&mut faults, "", schema),
    }
    faults
}

fn words_below(faults: &mut Vec<SchemaFault>, at: &str, schema: &Value) {
    let Some(schema) = schema.as_object() else {
        return;
    };
    for (word, value) in schema {
        if let Some(flaw) = word_flaw(at, word, value) {
            faults.push(SchemaFault::at(at, flaw));
        }
    }
    for inner in inside(schema) {
        words_below(faults, &format!("{at}/{}", inner.name), inner.schema);
    }
}

fn word_flaw(at: &str, word: &str, value: &Value) -> Option<SchemaFlaw> {
    if word == "$schema" {
        let ours = at.is_empty() && value.as_str() == Some(DIALECT);
        return (!ours).then_some(SchemaFlaw::Dialect);
    }
    if holds(word).is_some() {
        return None;
    }
    if let Some(reference) = REFERENCES.into_iter().find(|known| *known == word) {
        return Some(SchemaFlaw::Reference(reference));
    }
    Some(SchemaFlaw::Keyword {
        word: short(word),
        near: meant(word),
    })
}

fn short(word: &str) -> String {
    word.chars().take(WORD_CHARS_MAX).collect()
}

fn walk(faults: &mut Vec<SchemaFault>, at: &str, schema: &Map<String, Value>, depth: usize) {
    let Some(left) = depth.checked_sub(1) else {
        faults.push(SchemaFault::at(at, SchemaFlaw::TooDeep(SCHEMA_DEPTH_MAX)));
        return;
    };
    let none = Map::new();
    let properties = match schema.get("properties") {
        None => &none,
        Some(Value::Object(properties)) => {
            if schema.get("additionalProperties") != Some(&Value::Bool(false)) && !at.is_empty() {
                faults.push(SchemaFault::at(at, SchemaFlaw::Open));
            }
            properties
        }
        Some(_) => {
            faults.push(SchemaFault::at(at, SchemaFlaw::NotProperties));
            &none
        }
    };
    required_are_properties(faults, at, schema, properties);
    for inner in inside(schema) {
        let at = format!("{at}/{}", inner.name);
        if inner.is_property {
            property_is_told(faults, &at, inner.name, inner.schema);
        }
        if let Some(schema) = inner.schema.as_object() {
            walk(faults, &at, schema, left);
        }
    }
}

fn required_are_properties(
    faults: &mut Vec<SchemaFault>,
    at: &str,
    schema: &Map<String, Value>,
    properties: &Map<String, Value>,
) {
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten() {
        let known = name
            .as_str()
            .is_some_and(|name| properties.contains_key(name));
        if !known {
            let name = short(&name.to_string());
            faults.push(SchemaFault::at(at, SchemaFlaw::Required(name)));
        }
    }
}

fn property_is_told(faults: &mut Vec<SchemaFault>, at: &str, name: &str, property: &Value) {
    let named = (1..=NAME_BYTES_MAX).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if !named {
        faults.push(SchemaFault::at(at, SchemaFlaw::Name));
    }
    for word in ["type", "description"] {
        if property.get(word).is_none() {
            faults.push(SchemaFault::at(at, SchemaFlaw::Untold(word)));
        }
    }
}
