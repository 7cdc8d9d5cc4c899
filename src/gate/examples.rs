//! The examples of a robot file, run when it loads: each on its own, the robot armed, fresh and at
//! rest at home, steps counted from 0.
//!
//! They pass the same schema, limits and admission as the calls of a model; rates are not spent.

use serde_json::Value;

use super::admission::standing;
use super::pace::StepBase;
use super::rules::{ToolRules, fault};
use crate::arguments::Schema;
use crate::config::{ConfigError, EffectWord, Example, RobotFile, ToolDef};
use crate::terms::Posture;

/// What became of an example.
enum Outcome {
    /// It passed as it is written.
    Passed,
    /// It passed with other numbers, as these sentences say.
    Changed(String),
    /// It was refused at a stage, for these problems.
    Refused(&'static str, String),
}

/// Runs the examples of one tool and returns a fault for each that did not do what it must.
pub(super) fn run(robot: &RobotFile, tool: &ToolDef, rules: &ToolRules) -> Vec<ConfigError> {
    if tool.effect == EffectWord::Stop {
        return Vec::new();
    }
    let schema = match Schema::compile(rules.schema_value()) {
        Ok(schema) => schema,
        Err(faults) => {
            let hint = "shorten the names and the arguments of the tool";
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            return vec![fault(tool, "args", faults.join("; "), hint)];
        }
    };
    let home = robot
        .workspace
        .as_ref()
        .map_or([0.0; 3], |place| place.home);
    let now = Posture::at_rest(home);
    let judge = |example: &Example| judge(&schema, rules, (example, &now));
    let allowed = tool
        .allow
        .iter()
        .enumerate()
        .filter_map(|(index, example)| {
            let problem = must_pass(judge(example))?;
            let hint = "correct the example, or the limits it meets";
            Some(at(
                example,
                fault(tool, &format!("allow[{index}]"), problem, hint),
            ))
        });
    let refused = tool
        .refuse
        .iter()
        .enumerate()
        .filter_map(|(index, example)| {
            let problem = must_fail(judge(example))?;
            let hint = "narrow the limits until it is refused, or move it to allow";
            Some(at(
                example,
                fault(tool, &format!("refuse[{index}]"), problem, hint),
            ))
        });
    allowed.chain(refused).collect()
}

fn judge(schema: &Schema, rules: &ToolRules, (example, now): (&Example, &Posture)) -> Outcome {
    let args = Value::Object(example.args.clone());
    let args = match schema.check(rules.name().as_str(), &args) {
        Ok(args) => args,
        Err(report) => return Outcome::Refused("schema", report.to_string()),
    };
    let limited = match rules.limit(args, &StepBase::at_rest()) {
        Ok(limited) => limited,
        Err(overrun) => return Outcome::Refused("limit", overrun.problems.join("; ")),
    };
    let objections = standing(rules, &limited, now);
    if let Some(first) = objections.first() {
        let all: Vec<&str> = objections.iter().map(|one| one.detail.as_str()).collect();
        return Outcome::Refused(first.reason.as_str(), all.join("; "));
    }
    if limited.clamped().is_empty() {
        Outcome::Passed
    } else {
        Outcome::Changed(limited.clamped().join("; "))
    }
}

fn must_pass(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Passed => None,
        Outcome::Changed(how) => Some(format!("the example must pass unchanged: {how}")),
        Outcome::Refused(stage, why) => Some(format!(
            "the example must pass, and {stage} refuses it: {why}"
        )),
    }
}

fn must_fail(outcome: Outcome) -> Option<String> {
    match outcome {
        Outcome::Passed => Some("the example must be refused, and it passes".to_owned()),
        Outcome::Changed(how) => Some(format!(
            "the example must be refused, and it passes with a change: {how}"
        )),
        Outcome::Refused(..) => None,
    }
}

fn at(example: &Example, fault: ConfigError) -> ConfigError {
    ConfigError {
        place: example.place.clone(),
        ..fault
    }
}
