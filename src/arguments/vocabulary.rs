//! The words of JSON Schema (draft 2020-12) that a schema may use: one list.
//!
//! What is not in it is refused when the tools load, so that no schema says something that nobody
//! checks. For what is in it the verdicts are those of the standard: `.ci/run` holds them against the
//! official test suite. Left out on purpose: references (providers do not follow them), conditions and
//! negations (no report can say what would fit), and what makes a check longer than its arguments.

use serde_json::{Map, Value};

use crate::terms::nearest;

/// The one dialect, as the `$schema` of a schema's top level may name it.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// What stands behind a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// A value that is no schema.
    Value,
    /// One schema.
    Schema,
    /// An array of schemas.
    Schemas,
    /// An object of schemas by the name of a property.
    Properties,
}

/// Every keyword that is accepted.
pub(super) const KEYWORDS: [(&str, Holds); 34] = [
    // Any value.
    ("type", Holds::Value),
    ("enum", Holds::Value),
    ("const", Holds::Value),
    // Numbers.
    ("minimum", Holds::Value),
    ("maximum", Holds::Value),
    ("exclusiveMinimum", Holds::Value),
    ("exclusiveMaximum", Holds::Value),
    ("multipleOf", Holds::Value),
    // Texts.
    ("minLength", Holds::Value),
    ("maxLength", Holds::Value),
    ("pattern", Holds::Value),
    // Arrays.
    ("items", Holds::Schema),
    ("prefixItems", Holds::Schemas),
    ("minItems", Holds::Value),
    ("maxItems", Holds::Value),
    ("uniqueItems", Holds::Value),
    // Objects.
    ("properties", Holds::Properties),
    ("required", Holds::Value),
    ("additionalProperties", Holds::Schema),
    ("minProperties", Holds::Value),
    ("maxProperties", Holds::Value),
    // Several forms.
    ("allOf", Holds::Schemas),
    ("anyOf", Holds::Schemas),
    ("oneOf", Holds::Schemas),
    // Words for people and models: they refuse nothing, `format` neither.
    ("title", Holds::Value),
    ("description", Holds::Value),
    ("default", Holds::Value),
    ("examples", Holds::Value),
    ("deprecated", Holds::Value),
    ("readOnly", Holds::Value),
    ("writeOnly", Holds::Value),
    ("format", Holds::Value),
    ("$comment", Holds::Value),
    ("$schema", Holds::Value),
];

/// Keywords whose branches are several forms of one value: what is meant there is not guessed.
pub(super) const FORMS: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Returns what stands behind a keyword, `None` when it is not accepted.
pub(super) fn holds(word: &str) -> Option<Holds> {
    let mut words = KEYWORDS.iter();
    words
        .find(|(known, _)| *known == word)
        .map(|(_, holds)| *holds)
}

/// Returns the keyword that was probably meant.
pub(super) fn meant(word: &str) -> Option<&'static str> {
    nearest(word, KEYWORDS.iter().map(|(known, _)| *known))
}

/// A schema inside of a schema.
#[derive(Debug, Clone, Copy)]
pub(super) struct Inner<'s> {
    /// The keyword, or the name of the property.
    pub(super) name: &'s str,
    /// The schema.
    pub(super) schema: &'s Value,
    /// Whether it is that of a property.
    pub(super) is_property: bool,
}

/// Returns the schemas directly inside of a schema.
pub(super) fn inside(schema: &Map<String, Value>) -> Vec<Inner<'_>> {
    let mut found = Vec::new();
    for (word, value) in schema {
        let inner = |schema| Inner {
            name: word,
            schema,
            is_property: false,
        };
        match holds(word) {
            None | Some(Holds::Value) => {}
            Some(Holds::Schema) => found.push(inner(value)),
            Some(Holds::Schemas) => {
                found.extend(value.as_array().into_iter().flatten().map(inner));
            }
            Some(Holds::Properties) => {
                let properties = value.as_object().into_iter().flatten();
                found.extend(properties.map(|(name, schema)| Inner {
                    name,
                    schema,
                    is_property: true,
                }));
            }
        }
    }
    found
}
