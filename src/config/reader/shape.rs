//! The shapes of values: functions from a node to a value, which report what does not fit.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;

use serde_json::{Map, Value};

use super::node::Node;
use crate::terms::{RobotId, Tier, nearest};

/// Largest magnitude of a number, 2^53: up to here every whole number is exact as a float.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// `schema = 1`: the only version there is.
pub(crate) fn schema(node: Node<'_>) -> Option<()> {
    match node.as_i64() {
        Some(1) => Some(()),
        _ => node.unfit("`1`, the only schema of this release"),
    }
}

/// A truth value.
pub(crate) fn flag(node: Node<'_>) -> Option<bool> {
    node.as_bool()
        .or_else(|| node.unfit_bare("`true` or `false`"))
}

/// A whole number in a range.
pub(crate) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(Node<'_>) -> Option<T>
where
    T: TryFrom<i64> + PartialOrd + Display,
{
    move |node| {
        let found = node.as_i64().and_then(|whole| T::try_from(whole).ok());
        found.filter(|whole| range.contains(whole)).or_else(|| {
            let (least, most) = (range.start(), range.end());
            node.unfit_bare(&format!("a whole number from {least} to {most}"))
        })
    }
}

/// A number in a range.
pub(crate) fn number(range: RangeInclusive<f64>) -> impl Fn(Node<'_>) -> Option<f64> {
    move |node| {
        // Neither an infinite value nor one that is no number is in any range of ours.
        let found = node.as_f64().filter(|number| range.contains(number));
        found.or_else(|| {
            let (least, most) = (range.start(), range.end());
            node.unfit_bare(&format!("a number from {least} to {most}"))
        })
    }
}

/// Any finite number of at most 2^53 in magnitude.
pub(crate) fn finite(node: Node<'_>) -> Option<f64> {
    let found = node.as_f64().filter(|number| number.abs() <= EXACT_MAX);
    found.or_else(|| node.unfit_bare("a finite number of at most 2^53"))
}

/// A text of one line, of this many bytes.
pub(crate) fn text(bytes: RangeInclusive<usize>) -> impl Fn(Node<'_>) -> Option<String> {
    lines(
        bytes,
        /* what */ "a text of one line",
        char::is_control,
    )
}

/// A text that may have several lines, of this many bytes.
pub(crate) fn prose(bytes: RangeInclusive<usize>) -> impl Fn(Node<'_>) -> Option<String> {
    lines(
        bytes,
        /* what */ "a text",
        |c| c.is_control() && c != '\n',
    )
}

fn lines(
    bytes: RangeInclusive<usize>,
    what: &'static str,
    unwanted: fn(char) -> bool,
) -> impl Fn(Node<'_>) -> Option<String> {
    move |node| match node.as_str() {
        Some(text) if bytes.contains(&text.len()) && !text.contains(unwanted) => {
            Some(text.to_owned())
        }
        _ => node.unfit(&format!(
            "{what} of {} to {} bytes",
            bytes.start(),
            bytes.end()
        )),
    }
}

/// One of some words.
pub(crate) fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(Node<'_>) -> Option<T> {
    move |node| pick(&node, words.iter().copied())
}

/// One of the names of a closed list.
pub(crate) fn named<T: Copy>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl Fn(Node<'_>) -> Option<T> {
    move |node| pick(&node, all.iter().map(|one| (name(*one), *one)))
}

/// Exactly this word.
pub(crate) fn exactly(wanted: &'static str) -> impl Fn(Node<'_>) -> Option<()> {
    move |node| pick(&node, [(wanted, ())].into_iter())
}

fn pick<T>(node: &Node<'_>, words: impl Iterator<Item = (&'static str, T)> + Clone) -> Option<T> {
    let found = words.clone().find(|(word, _)| node.as_str() == Some(word));
    if let Some((_, value)) = found {
        return Some(value);
    }
    let names = words.map(|(word, _)| word);
    let hint = match nearest(node.as_str().unwrap_or_default(), names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{} describes this key", node.guide()),
    };
    let allowed: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let allowed = allowed.join(", ");
    let needs = if allowed.contains(", ") {
        "one of "
    } else {
        ""
    };
    node.fault(
        format!("found {}, needs {needs}{allowed}", node.found()),
        hint,
    );
    None
}

/// A text that a parser of ours accepts.
pub(crate) fn parsed<T, E: Display>(
    parse: impl Fn(&str) -> Result<T, E>,
) -> impl Fn(Node<'_>) -> Option<T> {
    move |node| {
        let Some(text) = node.as_str() else {
            return node.unfit("a text");
        };
        match parse(text) {
            Ok(value) => Some(value),
            Err(error) => {
                node.fault(
                    error.to_string(),
                    format!("{} describes this key", node.guide()),
                );
                None
            }
        }
    }
}

/// The name of a tier.
pub(crate) fn tier(node: Node<'_>) -> Option<Tier> {
    if let Some(Ok(tier)) = node.as_str().map(str::parse) {
        return Some(tier);
    }
    // What fits none of the names is reported as every word is.
    named(&Tier::ALL, Tier::as_str)(node)
}

/// The name of the file without its ending, which must be fit for a robot id.
pub(crate) fn stem_of(file: &str) -> impl Fn(Node<'_>) -> Option<String> {
    let stem = Path::new(file)
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    move |node| {
        let name = parsed(RobotId::parse)(node.clone())?;
        if name.as_str() == stem {
            return Some(stem.to_owned());
        }
        node.fault(
            format!(
                "found {}, needs the name of its file, `{stem}`",
                node.found()
            ),
            "rename the file or change this key: both are the one name",
        );
        None
    }
}

/// A list of this many values of one shape. Every element is read, also after a bad one.
pub(crate) fn list<T>(
    length: RangeInclusive<usize>,
    shape: impl Fn(Node<'_>) -> Option<T>,
) -> impl Fn(Node<'_>) -> Option<Vec<T>> {
    move |node| {
        let items = node.clone().items()?;
        if !length.contains(&items.len()) {
            let (least, most) = (length.start(), length.end());
            let needs = if least == most {
                format!("a list of {least}")
            } else {
                format!("a list of {least} to {most}")
            };
            return node.unfit(&needs);
        }
        let values: Vec<Option<T>> = items.into_iter().map(&shape).collect();
        values.into_iter().collect()
    }
}

/// A table of any JSON.
pub(crate) fn object(node: Node<'_>) -> Option<Map<String, Value>> {
    match node.clone().json()? {
        Value::Object(members) => Some(members),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            node.unfit("a table")
        }
    }
}
