//! Turns what the validator found into [`Issue`]s in our own words.
//!
//! The validator's own messages quote values; ours name the JSON type that was found and the bound
//! that was broken. A list of permitted values is told up to 20 of them.

use jsonschema::Validator;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind as Kind};
use serde_json::Value;

use super::report::{Flaw, Issue, Report};
use super::schema::Alias;
use crate::terms::nearest;

/// Most permitted values that are told.
const ENUM_SHOWN_MAX: usize = 20;

/// Collects all problems of `args` under `schema`, given as the pair of both, as the standard has them.
///
/// Once the report is full the others are only counted, so that a flood of problems costs no hints.
pub(super) fn collect(
    mut report: Report,
    validator: &Validator,
    (known, args): (Known<'_>, &Value),
) -> Report {
    for error in validator.iter_errors(args) {
        if report.has_room() {
            issues(&error, known, &mut report);
        } else {
            report.count(unexpected(error.kind()).map_or(1, <[String]>::len));
        }
    }
    report
}

/// What a schema knows, for hints.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'s> {
    /// The schema.
    pub(super) schema: &'s Value,
    /// Other names of its top-level properties.
    pub(super) aliases: &'s [Alias],
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

fn issues(error: &ValidationError<'_>, known: Known<'_>, report: &mut Report) {
    let at = error.instance_path().as_str();
    let kind = error.kind();
    if let Some(unexpected) = unexpected(kind) {
        unknown(at, unexpected, (siblings(error, known).as_slice(), report));
        return;
    }
    report.push(if let Kind::Required { property } = kind {
        let name = property.as_str().unwrap_or_default();
        Issue::at(&child(at, name), Flaw::Missing)
    } else if let Kind::Enum { options } = kind {
        not_among(at, options, error.instance())
    } else if let Kind::Type { kind } = kind {
        Issue::at(at, wrong_type(kind, error.instance()))
    } else {
        Issue::at(at, broken(kind))
    });
}

/// Returns the names that are not known, if that is what is wrong.
fn unexpected(kind: &Kind) -> Option<&[String]> {
    if let Kind::AdditionalProperties { unexpected } = kind {
        return Some(unexpected);
    }
    None
}

/// Reports names that are not known, each with the name that stands for what was probably meant.
fn unknown(at: &str, names: &[String], (known, report): (&[(&str, &str)], &mut Report)) {
    for (nth, name) in names.iter().enumerate() {
        if !report.has_room() {
            report.count(names.len().saturating_sub(nth));
            return;
        }
        let near = nearest(name, known.iter().map(|(known, _)| *known));
        let stands_for = known.iter().find(|(known, _)| Some(*known) == near);
        let hint = stands_for.map(|(_, name)| meant(name));
        report.push(Issue::at(&child(at, name), Flaw::Unknown).with_hint(hint));
    }
}

/// Returns what bound was broken, or by what keyword the value does not fit.
fn broken(kind: &Kind) -> Flaw {
    match kind {
        Kind::Minimum { limit } => Flaw::Bound(format!("below {limit}")),
        Kind::Maximum { limit } => Flaw::Bound(format!("above {limit}")),
        Kind::ExclusiveMinimum { limit } => Flaw::Bound(format!("not above {limit}")),
        Kind::ExclusiveMaximum { limit } => Flaw::Bound(format!("not below {limit}")),
        Kind::MultipleOf { multiple_of } => Flaw::Bound(format!("no multiple of {multiple_of}")),
        Kind::MinLength { limit } => Flaw::Bound(format!("shorter than {limit} characters")),
        Kind::MaxLength { limit } => Flaw::Bound(format!("longer than {limit} characters")),
        Kind::MinItems { limit } => Flaw::Bound(format!("fewer than {limit} items")),
        Kind::MaxItems { limit } => Flaw::Bound(format!("more than {limit} items")),
        Kind::AdditionalItems { limit } => Flaw::Bound(format!("more than {limit} items")),
        Kind::MinProperties { limit } => Flaw::Bound(format!("fewer than {limit} members")),
        Kind::MaxProperties { limit } => Flaw::Bound(format!("more than {limit} members")),
        Kind::UniqueItems => Flaw::Bound("has the same item twice".to_owned()),
        Kind::Pattern { pattern } => Flaw::Pattern(pattern.clone()),
        Kind::Constant { expected_value } => Flaw::Constant(expected_value.to_string()),
        Kind::FalseSchema => Flaw::Forbidden,
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => Flaw::NoForm,
        Kind::OneOfMultipleValid { .. } => Flaw::ManyForms,
        Kind::AdditionalProperties { .. }
        | Kind::BacktrackLimitExceeded { .. }
        | Kind::Contains
        | Kind::ContentEncoding { .. }
        | Kind::ContentMediaType { .. }
        | Kind::Custom { .. }
        | Kind::Enum { .. }
        | Kind::Format { .. }
        | Kind::FromUtf8 { .. }
        | Kind::Not { .. }
        | Kind::PropertyNames { .. }
        | Kind::Referencing(_)
        | Kind::RegexEngineFailure { .. }
        | Kind::Required { .. }
        | Kind::Type { .. }
        | Kind::UnevaluatedItems { .. }
        | Kind::UnevaluatedProperties { .. } => Flaw::Keyword(kind.keyword().to_owned()),
    }
}

fn meant(near: &str) -> String {
    format!("did you mean `{near}`?")
}

fn wrong_type(wanted: &TypeKind, found: &Value) -> Flaw {
    let wanted = match wanted {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several.into_iter().map(|one| one.to_string()).collect();
            names.join(" or ")
        }
    };
    let found = json_type(found);
    Flaw::Type { wanted, found }
}

fn not_among(at: &str, options: &Value, found: &Value) -> Issue {
    let all = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<String> = all
        .iter()
        .take(ENUM_SHOWN_MAX)
        .map(Value::to_string)
        .collect();
    let mut permitted = shown.join(", ");
    let hidden = all.len().saturating_sub(shown.len());
    if hidden > 0 {
        permitted.push_str(&format!(" and {hidden} more"));
    }
    let near = found
        .as_str()
        .and_then(|word| nearest(word, all.iter().filter_map(Value::as_str)));
    Issue::at(at, Flaw::Choice(permitted)).with_hint(near.map(meant))
}

/// Returns the names that are known where an unknown one was found, each with the name of the property
/// that it stands for.
fn siblings<'s>(error: &ValidationError<'_>, known: Known<'s>) -> Vec<(&'s str, &'s str)> {
    let keyword = error.schema_path().as_str();
    let parent = keyword.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = known
        .schema
        .pointer(parent)
        .and_then(|here| here.get("properties"))
        .and_then(Value::as_object);
    let names = properties.into_iter().flatten();
    let mut names: Vec<(&str, &str)> = names
        .map(|(name, _)| (name.as_str(), name.as_str()))
        .collect();
    if parent.is_empty() {
        names.extend(known.aliases.iter().map(|alias| (alias.from, alias.to)));
    }
    names
}

/// Finds whole numbers that were written with a fraction (`3.0`): JSON Schema takes them for
/// integers, the tools behind do not.
pub(super) fn fractions(report: &mut Report, at: &str, (schema, value): (&Value, &Value)) {
    match value {
        Value::Number(number) if number.is_f64() => {
            let wanted = types(schema);
            let whole = wanted.contains(&"integer") && !wanted.contains(&"number");
            if whole && number.as_f64().is_some_and(|number| number.fract() == 0.0) {
                report.push(Issue::at(at, Flaw::Fraction));
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

/// Returns the JSON types that a schema names; none when it names none.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        None | Some(_) => Vec::new(),
    }
}

/// Returns the JSON Pointer to a member of the value at `at`.
pub(super) fn child(at: &str, name: &str) -> String {
    format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"))
}
