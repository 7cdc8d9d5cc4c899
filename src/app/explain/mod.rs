//! `explain`: what would become of a call, which rule decides, and what the call would need.
//!
//! The verdict is that of the pipeline itself ([`preview`]) on the robot as its examples see it:
//! armed, fresh, at rest at home. Nothing is sent, counted or written.
//!
//! A call that would be refused is a job that failed, as for `tools call` and for scripts that ask before
//! they act: the command ends with 1. The name of no tool is such a call.

mod needs;
#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;
use serde_json::{Map, Value};

use super::exit::{AppError, Exit};
use super::paper::Paper;
use super::requests::ExplainRequest;
use super::settings::Settings;
use crate::config::{Place, ToolDef};
use crate::executor::{Passing, Preview, Stage, preview};
use crate::gate::{NumberLimit, NumberOutcome, Pace};
use crate::terms::{Call, Reason, Refusal, Tier, parse_args};
use needs::needs;

/// What would become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ExplainVerdict {
    /// It would be granted as it is, or with the repairs that the detail tells.
    Allowed,
    /// It would be granted with other numbers.
    Clamped,
    /// It would be granted if a person says yes to it.
    Asks,
    /// It would be refused.
    Refused,
    /// It is a stop: it acts whatever stands against other calls.
    Stop,
}

impl ExplainVerdict {
    /// Returns the code with which the command ends: 1 for a call that would be refused.
    pub fn exit(self) -> Exit {
        match self {
            Self::Allowed | Self::Clamped | Self::Asks | Self::Stop => Exit::Done,
            Self::Refused => Exit::JobFailed,
        }
    }
}

/// One rule that decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExplainRule {
    /// `robot file`, `tier file`, `--tier` or the name of a policy layer.
    pub layer: String,
    /// The rule: its id, or its words.
    pub rule: String,
    /// File and line; `None` for what stands on the command line.
    pub place: Option<String>,
}

/// One number of the call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainNumber {
    /// The argument, as the robot file writes it.
    pub argument: String,
    /// The range in force, with its unit.
    pub permitted: String,
    /// The tier whose ceiling is narrower than the argument's own bounds.
    pub ceiling_of: Option<Tier>,
    /// The largest change from call to call, with its unit.
    pub step: Option<String>,
    /// The number in the call.
    pub given: Option<f64>,
    /// The number that would be sent.
    pub sent: Option<f64>,
    /// Where the limit is written.
    pub place: Option<String>,
}

/// The answer of `explain`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The tool that was asked for.
    pub tool: String,
    /// The robot file.
    pub robot: String,
    /// What would become of the call.
    pub verdict: ExplainVerdict,
    /// The stage that refuses; `None` when none does.
    pub stage: Option<&'static str>,
    /// Why it would be refused.
    pub reason: Option<Reason>,
    /// What is wrong, one sentence a line, or what was changed.
    pub detail: Vec<String>,
    /// The way out, as the model is told it.
    pub hint: Option<String>,
    /// The way out that only an operator has; no model is ever told it.
    pub operator_hint: Option<String>,
    /// The rules that decide, strongest first.
    pub decided_by: Vec<ExplainRule>,
    /// The effect of the tool, as its file writes it.
    pub effect: Option<&'static str>,
    /// The tier that the tool needs.
    pub needed: Option<Tier>,
    /// The tier in force.
    pub effective: Tier,
    /// What became of a tier that was asked for and lies above the robot file's ceiling.
    pub lowered: Option<String>,
    /// Its numbers.
    pub numbers: Vec<ExplainNumber>,
    /// What a robot must be for such a call to be admitted, and the bounds of the call.
    pub needs: Vec<String>,
}

/// Explains one call. Nothing is done.
///
/// # Errors
/// [`AppError::Usage`] when the arguments are no JSON or no robot can be chosen, [`AppError::Config`]
/// with every fault of the files.
pub fn explain(settings: &Settings, request: &ExplainRequest) -> Result<Explanation, AppError> {
    let args = parse_args(&request.args).map_err(|error| AppError::Usage {
        problem: format!("the arguments cannot be read: {error}"),
        hint: "quote them for the shell: '{\"x\": 1.0}'; a tool without arguments takes '{}'"
            .to_owned(),
    })?;
    let paper = Paper::load(settings, request.robot.as_deref(), request.tier)?;
    Ok(explained(&paper, &request.tool, args))
}

fn explained(paper: &Paper, tool: &str, args: Value) -> Explanation {
    let def = paper.def(tool);
    let none = Map::new();
    let limits = numbers(paper, def, args.as_object().unwrap_or(&none));
    let call = Call {
        id: "explain".to_owned(),
        tool: tool.to_owned(),
        args,
    };
    let mut pace = Pace::new(&paper.book.rules);
    let preview = preview(&paper.turn(), &call, &paper.at_rest(), &mut pace);
    let blank = Explanation {
        tool: tool.chars().take(80).collect(),
        robot: paper.book.robot.robot.clone(),
        verdict: ExplainVerdict::Allowed,
        stage: None,
        reason: None,
        detail: Vec::new(),
        hint: None,
        operator_hint: None,
        decided_by: Vec::new(),
        effect: def.map(|def| def.effect.as_str()),
        needed: def.and_then(|def| def.tier),
        effective: paper.view.effective(),
        lowered: lowered(paper),
        numbers: limits
            .iter()
            .map(|limit| number(limit, def, &preview))
            .collect(),
        needs: def.map_or(Vec::new(), |def| needs(def, &paper.book)),
    };
    match preview {
        Preview::Stop => Explanation {
            verdict: ExplainVerdict::Stop,
            decided_by: def.map(of_robot_file).into_iter().collect(),
            ..blank
        },
        Preview::Pass(passing) => Explanation {
            verdict: if passing.limited.clamped().is_empty() {
                ExplainVerdict::Allowed
            } else {
                ExplainVerdict::Clamped
            },
            detail: changes(&passing),
            decided_by: def.map(of_robot_file).into_iter().collect(),
            ..blank
        },
        Preview::Asks(passing, ttl_ms) => Explanation {
            verdict: ExplainVerdict::Asks,
            detail: asks(&passing, ttl_ms),
            decided_by: def
                .and_then(|def| of_approval(paper, def))
                .into_iter()
                .collect(),
            ..blank
        },
        Preview::Refused(stage, refusal) => Explanation {
            verdict: ExplainVerdict::Refused,
            stage: Some(stage.as_str()),
            reason: Some(refusal.reason),
            detail: refusal.detail.lines().map(str::to_owned).collect(),
            decided_by: deciders(paper, def, (stage, &refusal), &limits),
            operator_hint: elevation(paper, tool, &refusal),
            hint: Some(refusal.hint).filter(|hint| !hint.is_empty()),
            ..blank
        },
    }
}

/// The word by which an operator lifts a tool above the ceiling for some calls; `None` where that would
/// not permit it, as where a layer of the policy refuses it too.
fn elevation(paper: &Paper, tool: &str, refusal: &Refusal) -> Option<String> {
    if refusal.reason != Reason::RobotTierGate {
        return None;
    }
    let judged = paper.view.find(tool)?;
    let (tool, need) = (judged.entry.descriptor(), refusal.needed?);
    let lifted = paper.policy.decide_raised(tool, need);
    lifted.refusal().is_none().then(|| {
        format!(
            "an operator of an armed robot can lift it for some calls: `octos-edge ctl elevate --tier {need} \
             --tool {} --calls 1 --for 60s --why …`",
            tool.name
        )
    })
}

/// No option raises a ceiling: a higher tier that was asked for is not the one in force, and says so.
fn lowered(paper: &Paper) -> Option<String> {
    let robot = &paper.book.robot;
    let asked = paper.tier.filter(|tier| *tier > robot.max_tier)?;
    Some(format!(
        "--tier {asked} was lowered to {}, the max_tier of {}",
        robot.max_tier, robot.max_tier_at
    ))
}

/// What a person would be asked, and what was changed before.
fn asks(passing: &Passing, ttl_ms: u64) -> Vec<String> {
    let ttl_s = ttl_ms / 1000;
    let mut detail = vec![format!(
        "a person must say yes to each call within {ttl_s} s"
    )];
    detail.extend(changes(passing));
    detail
}

/// What was repaired, then what was clamped.
fn changes(passing: &Passing) -> Vec<String> {
    [&*passing.repaired, passing.limited.clamped()].concat()
}

fn numbers(paper: &Paper, def: Option<&ToolDef>, args: &Map<String, Value>) -> Vec<NumberLimit> {
    let rules = paper.book.rules.tools().iter();
    let rules = rules
        .into_iter()
        .find(|rules| def.is_some_and(|def| def.name == *rules.name()));
    rules.map_or(Vec::new(), |rules| rules.numbers(args))
}

fn number(limit: &NumberLimit, def: Option<&ToolDef>, preview: &Preview) -> ExplainNumber {
    let passes = matches!(preview, Preview::Pass(_) | Preview::Asks(..));
    let sent = match &limit.outcome {
        NumberOutcome::Kept => limit.given,
        NumberOutcome::Clamped(to, _) => Some(*to),
        NumberOutcome::Absent | NumberOutcome::Refused(_) => None,
    };
    ExplainNumber {
        argument: limit.name.clone(),
        permitted: limit.range.clone(),
        ceiling_of: limit.ceiling_of,
        step: limit.step.clone(),
        given: limit.given,
        sent: sent.filter(|_| passes),
        place: place_of(def, limit).map(Place::to_string),
    }
}

fn place_of<'d>(def: Option<&'d ToolDef>, limit: &NumberLimit) -> Option<&'d Place> {
    let args = def?.args.iter();
    let arg = args.into_iter().find(|arg| arg.path == limit.path)?;
    Some(&arg.place)
}

/// The entry of the robot file, by its id.
fn of_robot_file(def: &ToolDef) -> ExplainRule {
    ExplainRule {
        layer: "robot file".to_owned(),
        rule: format!("{}: {}", def.rule.id, def.rule.why),
        place: Some(def.place.to_string()),
    }
}

/// The rule of the tier file that asks for a person's word.
fn of_approval(paper: &Paper, def: &ToolDef) -> Option<ExplainRule> {
    let tier = def.tier?;
    Some(ExplainRule {
        layer: "tier file".to_owned(),
        rule: format!("approval of {tier} is per_call"),
        place: Some(paper.book.tiers.of(tier).place.to_string()),
    })
}

/// Returns the rules behind a refusal.
fn deciders(
    paper: &Paper,
    def: Option<&ToolDef>,
    (stage, refusal): (Stage, &Refusal),
    limits: &[NumberLimit],
) -> Vec<ExplainRule> {
    let Some(def) = def else { return Vec::new() };
    match stage {
        Stage::Resolve => Vec::new(),
        Stage::Decide => by_policy(paper, def, refusal),
        Stage::Limits => limits
            .iter()
            .filter(|limit| matches!(limit.outcome, NumberOutcome::Refused(_)))
            .map(|limit| by_limit(paper, def, limit))
            .collect(),
        Stage::Arguments | Stage::Admission => vec![of_robot_file(def)],
    }
}

fn by_policy(paper: &Paper, def: &ToolDef, refusal: &Refusal) -> Vec<ExplainRule> {
    let Some(judged) = paper.view.find(def.name.as_str()) else {
        return Vec::new();
    };
    let against = paper.policy.against(judged.entry.descriptor()).into_iter();
    let robot = &paper.book.robot;
    let policy_file = paper
        .book
        .policy
        .as_ref()
        .map(|file| file.place.to_string());
    let rule = |decider: crate::gate::Decider| match decider.layer {
        // The lower of the two is the ceiling.
        None => match paper.tier.filter(|tier| *tier < robot.max_tier) {
            Some(tier) => ExplainRule {
                layer: "--tier".to_owned(),
                rule: format!("lowers the ceiling to {tier}"),
                place: None,
            },
            None => ExplainRule {
                layer: "robot file".to_owned(),
                rule: format!("max_tier is {}", robot.max_tier),
                place: Some(robot.max_tier_at.to_string()),
            },
        },
        Some(layer) => ExplainRule {
            layer,
            rule: decider.rule,
            place: decider
                .place
                .map(|place| place.to_string())
                .or_else(|| policy_file.clone()),
        },
    };
    let mut rules: Vec<ExplainRule> = against.map(rule).collect();
    // What the tool needs is the other half of the answer.
    if refusal.reason == Reason::RobotTierGate {
        rules.push(of_robot_file(def));
    }
    rules
}

/// Whether it is the ceiling that refuses a number, and not its own bounds or its step.
fn is_above(paper: &Paper, def: &ToolDef, (limit, tier): (&NumberLimit, Tier)) -> bool {
    let arg = def.args.iter().find(|arg| arg.path == limit.path);
    let ceilings = &paper.book.tiers.of(tier).ceilings;
    let ceiling = arg
        .and_then(|arg| arg.kind)
        .and_then(|kind| ceilings.get(&kind));
    match (limit.given, ceiling) {
        (Some(given), Some(ceiling)) => given.abs() > *ceiling,
        (_, _) => false,
    }
}

fn by_limit(paper: &Paper, def: &ToolDef, limit: &NumberLimit) -> ExplainRule {
    let rule = format!("{}: `{}` is {}", def.rule.id, limit.name, limit.range);
    match limit
        .ceiling_of
        .filter(|tier| is_above(paper, def, (limit, *tier)))
    {
        Some(tier) => ExplainRule {
            layer: "tier file".to_owned(),
            rule: format!("{rule}, ceiling of {tier}"),
            place: Some(paper.book.tiers.of(tier).place.to_string()),
        },
        None => ExplainRule {
            layer: "robot file".to_owned(),
            rule,
            place: place_of(Some(def), limit).map(Place::to_string),
        },
    }
}
