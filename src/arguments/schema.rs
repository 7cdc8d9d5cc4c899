//! A tool's schema, linted and compiled once, and the check of one call against it.
//!
//! Drafts other than 2020-12, remote references and backtracking patterns are not supported: a
//! check takes time linear in the arguments.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::problem::{self, json_type};
use super::report::{Issue, Report};
use super::size::{DEPTH_MAX, serialized_len, too_deep};
use super::{Arguments, lint};
use crate::terms::Budget;

/// The compiled schema of one tool.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    validator: Validator,
}

impl Schema {
    /// Lints and compiles a schema.
    ///
    /// # Errors
    /// All faults of the schema, each as one sentence that begins with the place.
    pub fn compile(schema: &Value) -> Result<Self, Vec<String>> {
        let faults = lint(schema);
        if !faults.is_empty() {
            return Err(faults);
        }
        let validator = jsonschema::draft202012::options()
            .with_pattern_options(PatternOptions::regex())
            .build(schema)
            .map_err(|error| vec![format!("{}: {error}", error.instance_path())])?;
        Ok(Self {
            value: schema.clone(),
            validator,
        })
    }

    /// Checks the arguments of one call of `tool`; the name is for the report only.
    ///
    /// # Errors
    /// A [`Report`] of all problems.
    pub fn check(&self, tool: &str, args: &Value) -> Result<Arguments, Report> {
        let report = Report::new(tool);
        let Some(map) = args.as_object() else {
            let found = json_type(args);
            return Err(report.with(Issue::at("", format!("must be an object, found {found}"))));
        };
        if let Some(issue) = oversize(args) {
            return Err(report.with(issue));
        }
        let report = problem::collect(report, &self.validator, (&self.value, args));
        if report.is_empty() {
            Ok(Arguments::checked(map.clone()))
        } else {
            Err(report)
        }
    }
}

fn oversize(args: &Value) -> Option<Issue> {
    if too_deep(args, DEPTH_MAX) {
        return Some(Issue::at("", format!("nested deeper than {DEPTH_MAX}")));
    }
    let max = Budget::ARGS_BYTES_MAX;
    match serialized_len(args, max) {
        Some(_) => None,
        None => Some(Issue::at("", format!("larger than {max} bytes"))),
    }
}
