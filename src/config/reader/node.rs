//! A value of a file and the place it stands at.

use serde_json::{Map, Number, Value};
use toml::de::{DeTable, DeValue};

use super::faults::Faults;
use crate::config::{ConfigError, Place};

/// Longest part of a found value or key that is quoted, characters.
const QUOTE_CHARS_MAX: usize = 60;

/// A value, its line and its path from the root.
#[derive(Debug, Clone)]
pub(crate) struct Node<'d> {
    faults: &'d Faults,
    pub(super) value: &'d DeValue<'d>,
    line: u32,
    path: String,
}

impl<'d> Node<'d> {
    pub(super) fn root(faults: &'d Faults, value: &'d DeValue<'d>) -> Self {
        Self {
            faults,
            value,
            line: 1,
            path: String::new(),
        }
    }

    /// Returns this node under another path: a tool is quoted by its name, not by its number.
    pub(crate) fn called(self, path: String) -> Self {
        Self { path, ..self }
    }

    /// Reports a fault of this value.
    pub(crate) fn fault(&self, problem: impl Into<String>, hint: impl Into<String>) {
        self.report(ConfigError {
            place: self.place(),
            key: self.path.clone(),
            problem: problem.into(),
            hint: hint.into(),
        });
    }

    /// Reports that the value is not what is needed, and returns `None`.
    pub(crate) fn unfit<T>(&self, needs: &str) -> Option<T> {
        let hint = format!("{} describes this key", self.faults.guide());
        self.fault(format!("found {}, needs {needs}", self.found()), hint);
        None
    }

    /// As [`Node::unfit`], where a number or a truth value is needed: those are often quoted by mistake.
    pub(crate) fn unfit_bare<T>(&self, needs: &str) -> Option<T> {
        let bare = |text: &str| text.parse::<f64>().is_ok() || text.parse::<bool>().is_ok();
        if !self.as_str().is_some_and(bare) {
            return self.unfit(needs);
        }
        let problem = format!("found {}, needs {needs}", self.found());
        self.fault(problem, "write it without quotes");
        None
    }

    /// Reads the value as a table of free names: its entries by name.
    pub(crate) fn entries(self) -> Option<Vec<(&'d str, Self)>> {
        let DeValue::Table(entries) = self.value else {
            return self.unfit("a table");
        };
        let nodes = entries
            .iter()
            .map(|(key, value)| {
                (
                    key.get_ref().as_ref(),
                    self.entry(key.get_ref(), entries, value.get_ref()),
                )
            })
            .collect();
        Some(nodes)
    }

    /// Reads the value as a list: its elements.
    pub(crate) fn items(self) -> Option<Vec<Self>> {
        let DeValue::Array(elements) = self.value else {
            return self.unfit("a list");
        };
        let nodes = elements
            .iter()
            .enumerate()
            .map(|(index, element)| Self {
                faults: self.faults,
                value: element.get_ref(),
                line: self.faults.line_of(element.span().start),
                path: format!("{}[{index}]", self.path),
            })
            .collect();
        Some(nodes)
    }

    /// Returns the text when the value is one.
    pub(crate) fn as_str(&self) -> Option<&'d str> {
        self.value.as_str()
    }

    /// Returns the text under `key` when the value is a table that has it. Reports nothing.
    pub(crate) fn peek(&self, key: &str) -> Option<&'d str> {
        self.value.get(key)?.get_ref().as_str()
    }

    /// Returns the whole number when the value is one that fits.
    pub(crate) fn as_i64(&self) -> Option<i64> {
        let written = self.value.as_integer()?;
        i64::from_str_radix(written.as_str(), written.radix()).ok()
    }

    /// Returns the number when the value is one; it may be infinite or no number at all.
    pub(crate) fn as_f64(&self) -> Option<f64> {
        match self.value.as_float() {
            Some(written) => written.as_str().parse().ok(),
            // The nearest float of a whole number; the shapes keep to where every one is exact.
            None => self.as_i64().map(|whole| whole as f64),
        }
    }

    /// Returns the truth value when the value is one.
    pub(crate) fn as_bool(&self) -> Option<bool> {
        self.value.as_bool()
    }

    /// Returns the value as JSON; reports what JSON does not have.
    pub(crate) fn json(self) -> Option<Value> {
        match self.value {
            DeValue::String(text) => Some(Value::String(text.as_ref().to_owned())),
            DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
            DeValue::Integer(_) => match self.as_i64() {
                Some(whole) => Some(Value::from(whole)),
                None => self.unfit("a whole number of at most 63 bits"),
            },
            DeValue::Float(_) => match self.as_f64().and_then(Number::from_f64) {
                Some(number) => Some(Value::Number(number)),
                None => self.unfit("a finite number"),
            },
            DeValue::Datetime(_) => self.unfit("a value that JSON has: write the date as text"),
            DeValue::Array(_) => {
                let values: Vec<_> = self.items()?.into_iter().map(Self::json).collect();
                values.into_iter().collect::<Option<_>>().map(Value::Array)
            }
            DeValue::Table(_) => {
                let members: Vec<_> = self
                    .entries()?
                    .into_iter()
                    .map(|(key, node)| Some((key.to_owned(), node.json()?)))
                    .collect();
                let members: Option<Map<_, _>> = members.into_iter().collect();
                members.map(Value::Object)
            }
        }
    }

    /// Returns the path from the root.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Returns where the value stands.
    pub(crate) fn place(&self) -> Place {
        self.faults.place(self.line)
    }

    /// Returns the document that describes the keys of this file.
    pub(crate) fn guide(&self) -> &'static str {
        self.faults.guide()
    }

    /// Returns the node of the entry `key` of a table that is this node's value.
    pub(super) fn entry(
        &self,
        key: &str,
        entries: &'d DeTable<'d>,
        value: &'d DeValue<'d>,
    ) -> Self {
        Self {
            faults: self.faults,
            value,
            line: self.line_of_key(key, entries),
            path: self.path_of(key),
        }
    }

    /// Returns the line of a key, or of the table when it lacks the key.
    pub(super) fn line_of_key(&self, key: &str, entries: &DeTable<'_>) -> u32 {
        entries
            .get_key_value(key)
            .map_or(self.line, |(written, _)| {
                self.faults.line_of(written.span().start)
            })
    }

    /// Returns the path of a key of this table.
    pub(super) fn path_of(&self, key: &str) -> String {
        let key = key_of(key);
        if self.path.is_empty() {
            key
        } else {
            format!("{}.{key}", self.path)
        }
    }

    /// Reports a fault that was put together elsewhere.
    pub(super) fn report(&self, fault: ConfigError) {
        self.faults.add(fault);
    }

    /// Returns the value as it is quoted in faults.
    pub(crate) fn found(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("the text \"{}\"", quote(text)),
            DeValue::Integer(number) => format!("`{}`", quote(&number.to_string())),
            DeValue::Float(number) => format!("`{}`", quote(&number.to_string())),
            DeValue::Boolean(flag) => format!("`{flag}`"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(elements) => format!("a list of {}", elements.len()),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }
}

/// Returns a key as a path quotes it: in quotes unless it is bare.
pub(crate) fn key_of(key: &str) -> String {
    let bare = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    if !key.is_empty() && key.bytes().all(bare) {
        quote(key)
    } else {
        format!("\"{}\"", quote(key))
    }
}

/// Returns text fit for one line of a message: cut, and without control characters.
pub(crate) fn quote(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let mut quoted: String = text.chars().take(QUOTE_CHARS_MAX).map(shown).collect();
    if text.chars().nth(QUOTE_CHARS_MAX).is_some() {
        quoted.push('…');
    }
    quoted
}
