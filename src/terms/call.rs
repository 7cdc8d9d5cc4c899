//! A call of a tool and what came of it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Refusal, StopKind};

/// A call as a model or a person asked for it: an allegation, nothing of it is checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The id that the answer carries; given by the model's wire or by the runtime.
    pub id: String,
    /// The name asked for: any text.
    pub tool: String,
    /// The arguments asked for: any JSON.
    pub args: Value,
}

/// Who asked for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallOrigin {
    /// A language model.
    Model,
    /// A person at the control socket or the terminal.
    Operator,
}

/// Whose fault a failure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// The caller asked for something that cannot be.
    Model,
    /// The tool.
    Tool,
    /// The board.
    Board,
    /// The way to the robot, or the robot.
    Link,
}

/// Whether calling again makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retry {
    /// Not with these arguments.
    Never,
    /// The same call may succeed now.
    Same,
    /// The same call may succeed later.
    Later,
}

/// Why a tool that ran has no result, told to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "error", rename_all = "snake_case")]
pub enum ToolError {
    /// The tool, the robot or the way to it failed.
    #[error("{detail}")]
    Failed {
        /// What failed, with the thing and the bound.
        detail: String,
        /// Whose fault it is.
        blame: Blame,
        /// Whether to call again.
        retry: Retry,
    },
    /// The deadline passed. A motion was stopped before this was reported.
    #[error("not done within {limit_ms} ms")]
    TimedOut {
        /// The limit, ms.
        limit_ms: u64,
    },
    /// The call was ended from outside.
    #[error("ended before it was done: {why}")]
    Cancelled {
        /// By what.
        why: String,
    },
    /// A command left and its answer never came: whether the robot did it is unknown.
    #[error("outcome unknown: {detail}")]
    OutcomeUnknown {
        /// What is known.
        detail: String,
    },
    /// The tool panicked; the message is in the log under this id.
    #[error("the tool broke (error {id})")]
    Panicked {
        /// The id in the log.
        id: String,
    },
    /// A check that stands after the grant refused: the command did not leave.
    #[error("{0}")]
    Refused(Box<Refusal>),
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// It ran and has a result.
    Done {
        /// The result, for the model.
        text: String,
        /// What the limits changed before it ran, one sentence each; empty when nothing.
        clamped: Vec<String>,
        /// What of the arguments was repaired before they were checked again, one sentence each.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repaired: Vec<String>,
    },
    /// It did not run.
    Refused(Refusal),
    /// It ran and failed.
    Failed(ToolError),
    /// It was a stop: the latch word is set. The rest happens without the caller.
    StopAccepted {
        /// Which of the two.
        kind: StopKind,
        /// The epoch that the stop began; every earlier grant is void.
        epoch: u32,
    },
}

impl Outcome {
    /// Returns the label of this outcome: `done`, `refused`, `failed`, `timeout`, `cancelled`,
    /// `unknown`, `panicked` or `stop`.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Refused(_) | Self::Failed(ToolError::Refused(_)) => "refused",
            Self::Failed(ToolError::Failed { .. }) => "failed",
            Self::Failed(ToolError::TimedOut { .. }) => "timeout",
            Self::Failed(ToolError::Cancelled { .. }) => "cancelled",
            Self::Failed(ToolError::OutcomeUnknown { .. }) => "unknown",
            Self::Failed(ToolError::Panicked { .. }) => "panicked",
            Self::StopAccepted { .. } => "stop",
        }
    }

    /// Returns the refusal, whichever stage it came from.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Failed(ToolError::Refused(refusal)) => Some(refusal),
            Self::Failed(_) | Self::Done { .. } | Self::StopAccepted { .. } => None,
        }
    }
}

/// The one answer to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallReport {
    /// The call's id.
    pub id: String,
    /// The name that was asked for, cut to 80 characters.
    pub tool: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Time from the request to the answer.
    pub took: Duration,
}
