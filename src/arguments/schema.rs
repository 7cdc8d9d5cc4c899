//! A tool's schema, linted and compiled once, and the check of one call against it.
//!
//! Drafts other than 2020-12, references, words outside of `vocabulary` and backtracking patterns
//! are not supported: a check takes time linear in the arguments.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};

use super::lint::{SchemaFault, SchemaFlaw};
use super::problem::{self, Known, json_type};
use super::report::{Flaw, Issue, Report};
use super::size::measure;
use super::{Arguments, example, lint, repair};
use crate::terms::Budget;

/// Another name under which a property is accepted: models know it from other runtimes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// The other name.
    pub from: &'static str,
    /// The property it stands for, at the top level.
    pub to: &'static str,
}

/// Arguments that fit, and what was done to make them fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended {
    /// The proof.
    pub args: Arguments,
    /// What was repaired, one sentence each without any value; empty when they fitted as they came.
    pub repairs: Vec<String>,
}

impl From<Arguments> for Mended {
    fn from(args: Arguments) -> Self {
        let repairs = Vec::new();
        Self { args, repairs }
    }
}

/// The compiled schema of one tool.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    validator: Validator,
    aliases: &'static [Alias],
}

impl Schema {
    /// Lints and compiles a schema.
    ///
    /// # Errors
    /// All its faults.
    pub fn compile(schema: &Value) -> Result<Self, Vec<SchemaFault>> {
        compiled(schema, lint::lint(schema))
    }

    /// Compiles a schema that need not be one of a tool: only its words are judged.
    #[cfg(test)]
    pub(super) fn compile_any(schema: &Value) -> Result<Self, Vec<SchemaFault>> {
        compiled(schema, lint::words(schema))
    }

    /// Accepts other names of properties, where repairs are permitted.
    ///
    /// # Errors
    /// Each alias that is the name of a property itself, or stands for none.
    pub fn with_aliases(mut self, aliases: &'static [Alias]) -> Result<Self, Vec<SchemaFault>> {
        let properties = self.value.get("properties");
        let known = |name: &str| properties.is_some_and(|all| all.get(name).is_some());
        let wrong = aliases
            .iter()
            .filter(|alias| known(alias.from) || !known(alias.to));
        let faults: Vec<SchemaFault> = wrong
            .map(|alias| {
                let (from, to) = (alias.from, alias.to);
                SchemaFault::at("", SchemaFlaw::Alias { from, to })
            })
            .collect();
        if faults.is_empty() {
            self.aliases = aliases;
            Ok(self)
        } else {
            Err(faults)
        }
    }

    /// Checks the arguments of one call of `tool` as they are; the name is for the report only.
    ///
    /// # Errors
    /// A [`Report`] of all problems.
    pub fn check(&self, tool: &str, args: &Value) -> Result<Arguments, Report> {
        let map = object(tool, args)?;
        let report = self.problems(readable(tool, args)?, args);
        if report.is_empty() {
            Ok(Arguments::checked(map.clone()))
        } else {
            Err(report)
        }
    }

    /// Checks the arguments of one call of `tool`; if they do not fit, repairs a copy and checks that.
    ///
    /// Only for calls that move nothing. A call is mended as a whole or not at all: a report is always
    /// about the values as they came, under the names of their properties.
    ///
    /// # Errors
    /// A [`Report`] of all problems of the arguments as they came.
    pub fn mend(&self, tool: &str, args: &Value) -> Result<Mended, Report> {
        let report = readable(tool, args)?;
        let named = self.renamed(args);
        let args = named.as_ref().unwrap_or(args);
        let report = match object(tool, args) {
            Ok(map) => {
                let report = self.problems(report, args);
                if report.is_empty() {
                    return Ok(Arguments::checked(map.clone()).into());
                }
                report
            }
            Err(report) => report,
        };
        self.repaired(args).ok_or(report)
    }

    /// Returns the smallest arguments that fit, made up from the schema; `None` when none were found.
    pub fn example(&self) -> Option<Value> {
        example::of(&self.value).filter(|args| self.check("", args).is_ok())
    }

    /// Returns whether the standard takes `value` for valid under this schema.
    #[cfg(test)]
    pub(super) fn takes(&self, value: &Value) -> bool {
        problem::collect(Report::new(""), &self.validator, (self.known(), value)).is_empty()
    }

    fn repaired(&self, args: &Value) -> Option<Mended> {
        let (value, repairs) = repair::repaired(&self.value, args)?;
        // A name may stand in the text of an object that came as text.
        let value = self.renamed(&value).unwrap_or(value);
        measure(&value, Budget::ARGS_BYTES_MAX).ok()?;
        let args = self.check("", &value).ok()?;
        Some(Mended { args, repairs })
    }

    /// Returns the arguments under the names of their properties; `None` when they have them already. A
    /// name that is given in both ways stays: the check refuses it.
    fn renamed(&self, args: &Value) -> Option<Value> {
        let map = args.as_object()?;
        let mut found = self
            .aliases
            .iter()
            .filter(|alias| map.contains_key(alias.from) && !map.contains_key(alias.to))
            .peekable();
        found.peek()?;
        let mut map = map.clone();
        for alias in found {
            if let Some(value) = map.remove(alias.from) {
                map.entry(alias.to).or_insert(value);
            }
        }
        Some(Value::Object(map))
    }

    fn problems(&self, report: Report, args: &Value) -> Report {
        let mut report = problem::collect(report, &self.validator, (self.known(), args));
        problem::fractions(&mut report, "", (&self.value, args));
        report
    }

    fn known(&self) -> Known<'_> {
        Known {
            schema: &self.value,
            aliases: self.aliases,
        }
    }
}

fn compiled(schema: &Value, faults: Vec<SchemaFault>) -> Result<Schema, Vec<SchemaFault>> {
    if !faults.is_empty() {
        return Err(faults);
    }
    let validator = jsonschema::draft202012::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map_err(|error| {
            let flaw = SchemaFlaw::Unsound(error.to_string());
            vec![SchemaFault::at(error.instance_path().as_str(), flaw)]
        })?;
    Ok(Schema {
        value: schema.clone(),
        validator,
        aliases: &[],
    })
}

/// Returns an empty report on arguments that may be read at all.
fn readable(tool: &str, args: &Value) -> Result<Report, Report> {
    let report = Report::new(tool);
    match measure(args, Budget::ARGS_BYTES_MAX) {
        Ok(_) => Ok(report),
        Err(excess) => Err(report.with(Issue::at("", Flaw::Excess(excess)))),
    }
}

fn object<'a>(tool: &str, args: &'a Value) -> Result<&'a Map<String, Value>, Report> {
    args.as_object().ok_or_else(|| {
        let (wanted, found) = ("an object".to_owned(), json_type(args));
        Report::new(tool).with(Issue::at("", Flaw::Type { wanted, found }))
    })
}
