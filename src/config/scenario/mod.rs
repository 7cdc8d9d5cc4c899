//! Scenario files `dataflows/scenarios/<name>.toml`: what the scripted model says, what the operator
//! does, and what must come of it.
//!
//! Nothing here is judged against a robot file: a script may call tools that do not exist, to show
//! that they are refused.

mod fault;
mod read;
mod when;

use serde_json::{Map, Value};

pub use fault::{Fault, FaultAct, Loss};

use super::Place;
use crate::terms::{Reason, RunState, StopCause, StopKind, Tier};

/// A condition of an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Condition {
    /// The robot has travelled this far since the goal was given, m.
    MovedM(f64),
    /// This much time has passed since the goal was given, ms.
    AfterMs(u64),
    /// This many calls of the model were answered.
    Answered(u32),
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    /// Once the robot is known and its state is fresh, before the goal is given.
    Ready,
    /// When the condition holds.
    Once(Condition),
}

/// What the operator does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperatorAct {
    /// Arms.
    Arm {
        /// Why.
        why: String,
        /// For how long, s, 1 to 3600.
        for_s: u32,
    },
    /// Disarms.
    Disarm {
        /// Why.
        why: String,
    },
    /// Stops.
    Stop {
        /// Why.
        why: String,
    },
    /// Stops and latches.
    Estop {
        /// Why.
        why: String,
    },
    /// Resets the latch.
    Reset {
        /// Why.
        why: String,
    },
    /// Raises the tier for some tools, from a terminal that stays open.
    Elevate {
        /// Why.
        why: String,
        /// Up to which tier.
        tier: Tier,
        /// For which tools; any texts, to show that a wrong one is refused.
        tools: Vec<String>,
        /// For how many calls.
        calls: u32,
        /// For how long, s.
        for_s: u32,
    },
    /// Closes every terminal from which a tier was raised.
    HangUp,
}

/// One thing the operator does.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Where it is written.
    pub place: Place,
    /// When.
    pub when: When,
    /// What.
    pub act: OperatorAct,
}

/// What the operator says to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptedAnswer {
    /// Yes.
    Approve,
    /// No.
    Deny,
    /// Nothing: the time runs out.
    Silent,
}

/// A call in the script.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedCall {
    /// The name; any text, also of tools that do not exist.
    pub tool: String,
    /// The arguments; any object.
    pub args: Map<String, Value>,
}

/// One reply of the scripted model.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptedTurn {
    /// What must stand in the sensor context that it is shown; else it says nothing and the goal ends.
    pub sees: Vec<String>,
    /// What it says.
    pub say: String,
    /// What it calls, in order.
    pub calls: Vec<ScriptedCall>,
}

/// A refusal that must have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedRefusal {
    /// The tool.
    pub tool: String,
    /// The reason.
    pub reason: Reason,
    /// The tier it needs; `None` when not written: any.
    pub tier: Option<Tier>,
    /// How often exactly.
    pub times: u32,
}

/// A stop that must have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedStop {
    /// Which of the two.
    pub kind: StopKind,
    /// Who: `operator`, `model` or `runtime`.
    pub by: String,
    /// Whether standstill was confirmed.
    pub standstill: bool,
    /// Why; `None` when not written: any cause.
    pub cause: Option<StopCause>,
}

/// What must come of a scenario. What is not written is not judged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    /// Refusals: exactly these, no others.
    pub refused: Option<Vec<ExpectedRefusal>>,
    /// Stops that were asked for, in order: exactly these.
    pub stops: Option<Vec<ExpectedStop>>,
    /// Motion commands that reached the robot after the first stop and before a later arm.
    pub commands_after_stop: Option<u32>,
    /// Ranges of the end pose, m.
    pub end_x: Option<[f64; 2]>,
    /// As `end_x`.
    pub end_y: Option<[f64; 2]>,
    /// The run state when the goal had ended.
    pub end_state: Option<RunState>,
    /// Whether the robot stands still at the end, by its own journal.
    pub at_rest: Option<bool>,
}

/// A rehearsal.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file.
    pub place: Place,
    /// Its name, the file's stem.
    pub name: String,
    /// Name of the robot file.
    pub robot: String,
    /// Id of the board file.
    pub board: String,
    /// File name of the dataflow, in the folder above the scenarios.
    pub dataflow: String,
    /// Seed of the simulated robot.
    pub seed: u64,
    /// Not over by then: the job failed, s, 1 to 3600.
    pub limit_s: u32,
    /// What the agent is asked to do.
    pub goal: String,
    /// Name of the operator that this run plays.
    pub operator: String,
    /// What the operator says to the questions of calls that need a person's word, in order. When it is
    /// empty nobody can be asked.
    pub answers: Vec<ScriptedAnswer>,
    /// What the operator does.
    pub events: Vec<Event>,
    /// What goes wrong on the way.
    pub faults: Vec<Fault>,
    /// What the model says, in order.
    pub turns: Vec<ScriptedTurn>,
    /// What must come of it.
    pub expect: Expect,
}

impl Scenario {
    /// Returns whether the operator answers questions.
    pub fn is_attended(&self) -> bool {
        !self.answers.is_empty()
    }
}
