//! Turns what the validator found into [`Issue`]s in our own words.
//!
//! The validator's own messages quote values; ours name the JSON type that was found and the bound
//! that was broken. A list of permitted values is told up to 20 of them.

use jsonschema::Validator;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind as Kind};
use serde_json::Value;

use super::report::{Issue, Report};
use crate::terms::nearest;

/// Most permitted values that are told.
const ENUM_SHOWN_MAX: usize = 20;

/// Collects all problems of `args` under `schema`, given as the pair of both.
pub(super) fn collect(
    mut report: Report,
    validator: &Validator,
    (schema, args): (&Value, &Value),
) -> Report {
    for error in validator.iter_errors(args) {
        for issue in issues(&error, schema) {
            report.push(issue);
        }
    }
    fractions(&mut report, "", (schema, args));
    report
}

/// Returns the name of a value's JSON type.
pub(super) fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn issues(error: &ValidationError<'_>, schema: &Value) -> Vec<Issue> {
    let at = error.instance_path().as_str();
    let kind = error.kind();
    if let Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } =
        kind
    {
        let known = siblings(error, schema);
        let unknown = |name: &String| {
            let near = nearest(name, known.iter().map(String::as_str));
            Issue::at(&child(at, name), "unknown").with_hint(near.map(meant))
        };
        return unexpected.iter().map(unknown).collect();
    }
    let issue = if let Kind::Required { property } = kind {
        Issue::at(&child(at, property.as_str().unwrap_or_default()), "missing")
    } else if let Kind::Enum { options } = kind {
        not_among(at, options, error.instance())
    } else if let Kind::Type { kind } = kind {
        Issue::at(at, wrong_type(kind, error.instance()))
    } else {
        Issue::at(at, broken(kind))
    };
    vec![issue]
}

/// Returns what bound was broken, or by what keyword the value does not fit.
fn broken(kind: &Kind) -> String {
    match kind {
        Kind::Minimum { limit } => format!("below {limit}"),
        Kind::Maximum { limit } => format!("above {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("not above {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("not below {limit}"),
        Kind::MinLength { limit } => format!("shorter than {limit} characters"),
        Kind::MaxLength { limit } => format!("longer than {limit} characters"),
        Kind::MinItems { limit } => format!("fewer than {limit} items"),
        Kind::MaxItems { limit } => format!("more than {limit} items"),
        Kind::AdditionalItems { limit } => format!("more than {limit} items"),
        Kind::MinProperties { limit } => format!("fewer than {limit} members"),
        Kind::MaxProperties { limit } => format!("more than {limit} members"),
        Kind::Pattern { pattern } => format!("does not fit the pattern {pattern}"),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::FalseSchema => "not permitted here".to_owned(),
        Kind::UniqueItems => "has the same item twice".to_owned(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            "fits none of the permitted forms".to_owned()
        }
        Kind::OneOfMultipleValid { .. } => "fits more than one of the permitted forms".to_owned(),
        Kind::AdditionalProperties { .. }
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::Contains
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::Custom { .. }
        | Kind::Enum { .. }
        | Kind::Format { .. }
        | Kind::FromUtf8 { .. }
        | Kind::MultipleOf { .. }
        | Kind::Not { .. }
        | Kind::PropertyNames { .. }
        | Kind::Referencing(_)
        | Kind::RegexEngineFailure { .. }
        | Kind::Required { .. }
        | Kind::Type { .. }
        | Kind::UnevaluatedItems { .. }
        | Kind::UnevaluatedProperties { .. } => format!("breaks `{}`", kind.keyword()),
    }
}

fn meant(near: &str) -> String {
    format!("did you mean `{near}`?")
}

fn wrong_type(wanted: &TypeKind, found: &Value) -> String {
    let wanted = match wanted {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several.into_iter().map(|one| one.to_string()).collect();
            names.join(" or ")
        }
    };
    format!("must be {wanted}, found {}", json_type(found))
}

fn not_among(at: &str, options: &Value, found: &Value) -> Issue {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<String> = all
        .iter()
        .take(ENUM_SHOWN_MAX)
        .map(Value::to_string)
        .collect();
    let mut message = format!("must be one of {}", shown.join(", "));
    let hidden = all.len().saturating_sub(shown.len());
    if hidden > 0 {
        message.push_str(&format!(" and {hidden} more"));
    }
    let near = found
        .as_str()
        .and_then(|word| nearest(word, all.iter().filter_map(Value::as_str)));
    Issue::at(at, message).with_hint(near.map(meant))
}

/// Returns the names that are known where an unknown one was found.
fn siblings(error: &ValidationError<'_>, schema: &Value) -> Vec<String> {
    let keyword = error.schema_path().as_str();
    let parent = keyword.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema
        .pointer(parent)
        .and_then(|here| here.get("properties"));
    let names = properties
        .and_then(Value::as_object)
        .map(|known| known.keys().cloned());
    names.into_iter().flatten().collect()
}

/// Finds whole numbers that were written with a fraction (`3.0`): JSON Schema takes them for
/// integers, the tools behind do not, and nothing is repaired here.
fn fractions(report: &mut Report, at: &str, (schema, value): (&Value, &Value)) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = schema.get("type") == Some(&Value::from("integer"));
            if whole && number.as_f64().is_some_and(|number| number.fract() == 0.0) {
                report.push(Issue::at(at, "must be written without a decimal point"));
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                if let Some(inner) = schema.get("properties").and_then(|known| known.get(name)) {
                    fractions(report, &child(at, name), (inner, member));
                }
            }
        }
        Value::Array(items) => {
            let prefix = schema.get("prefixItems");
            for (index, item) in items.iter().enumerate() {
                let inner = prefix
                    .and_then(|all| all.get(index))
                    .or(schema.get("items"));
                if let Some(inner) = inner {
                    fractions(report, &child(at, &index.to_string()), (inner, item));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the JSON Pointer to a member of the value at `at`.
fn child(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}
