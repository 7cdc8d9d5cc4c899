//! The words of the control socket.

use serde::{Deserialize, Serialize};

use crate::terms::{ElevationEnd, ElevationId, RunState, StopCause, StopKind, Tier};

/// Longest line of either direction, bytes.
pub(super) const LINE_BYTES_MAX: usize = 16 * 1024;
/// Longest `who`, `why` and goal, bytes. Those of a stop are cut there, the others refused.
pub(super) const TEXT_BYTES_MAX: usize = 4096;

/// What a person, or a command of this binary, asks of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Word {
    /// How is the robot?
    Status,
    /// Arm it.
    Arm {
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// For how long, s, 1 to 3600.
        for_s: u32,
    },
    /// Disarm it. Stops it first when it moves.
    Disarm {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
    /// Stop it.
    Stop {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
    /// Stop it and latch.
    Estop {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
    /// Release the latch, or acknowledge a fault. Never resumes motion.
    Reset {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
    /// Say yes to a call that waits for a person's word.
    Approve {
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// Id of the question, as `status` tells it.
        request: String,
    },
    /// Say no to it.
    Deny {
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// Id of the question, as `status` tells it.
        request: String,
    },
    /// Raise the tier for some tools, for as long as this connection stays open.
    Elevate {
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// Up to which tier.
        tier: Tier,
        /// For which tools, 1 to 8.
        tools: Vec<String>,
        /// For how many calls, 1 to 100.
        calls: u32,
        /// For how long, s, 1 to 3600.
        for_s: u32,
    },
    /// Give the agent a goal.
    Goal {
        /// Who.
        who: String,
        /// What to do.
        text: String,
    },
    /// End the node in order.
    End {
        /// Who.
        who: String,
    },
}

impl Word {
    /// Returns the word itself.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Arm { .. } => "arm",
            Self::Disarm { .. } => "disarm",
            Self::Stop { .. } => "stop",
            Self::Estop { .. } => "estop",
            Self::Reset { .. } => "reset",
            Self::Approve { .. } => "approve",
            Self::Deny { .. } => "deny",
            Self::Elevate { .. } => "elevate",
            Self::Goal { .. } => "goal",
            Self::End { .. } => "end",
        }
    }

    /// Returns who says it; a status needs no name.
    pub fn who(&self) -> &str {
        match self {
            Self::Status => "",
            Self::Arm { who, .. }
            | Self::Disarm { who, .. }
            | Self::Stop { who, .. }
            | Self::Estop { who, .. }
            | Self::Reset { who, .. }
            | Self::Approve { who, .. }
            | Self::Deny { who, .. }
            | Self::Elevate { who, .. }
            | Self::Goal { who, .. }
            | Self::End { who } => who,
        }
    }

    /// Returns whether a process that descends from the runtime may say it.
    pub fn is_open_to_children(&self) -> bool {
        match self {
            Self::Status | Self::Stop { .. } | Self::Estop { .. } => true,
            Self::Arm { .. }
            | Self::Disarm { .. }
            | Self::Reset { .. }
            | Self::Approve { .. }
            | Self::Deny { .. }
            | Self::Elevate { .. }
            | Self::Goal { .. }
            | Self::End { .. } => false,
        }
    }
}

/// The state of the agent's goal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalStatus {
    /// Number of the latest goal; 0 before the first.
    pub number: u32,
    /// Whether it is under way.
    pub running: bool,
    /// Why it ended; `None` while it runs and before the first.
    pub ended: Option<String>,
    /// Calls of the model that were answered.
    pub answered: u32,
    /// Goals that wait behind it. A stop by a person ends them.
    #[serde(default)]
    pub waiting: u32,
    /// For how long it has been under way, s; `None` when it is not.
    #[serde(default)]
    pub age_s: Option<u64>,
}

/// A call that waits for a person's word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApproval {
    /// Id of the question.
    pub request: String,
    /// The tool.
    pub tool: String,
    /// The final arguments, as JSON; cut at 2 KiB.
    pub args: String,
    /// The tier that the tool needs.
    pub needed: Option<Tier>,
    /// The rule of the robot file that the call falls under.
    pub rule: Option<String>,
    /// How long the question still stands, ms.
    pub left_ms: u64,
}

/// An Elevation that lives.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElevationStatus {
    /// Its number.
    pub elevation: ElevationId,
    /// Who gave it.
    pub who: String,
    /// Why.
    pub why: String,
    /// Up to which tier.
    pub tier: Tier,
    /// For which tools.
    pub tools: Vec<String>,
    /// The calls that are left.
    pub calls_left: u32,
    /// Calls that run under it.
    pub calls_running: u32,
    /// How long it still lives at most, ms.
    pub left_ms: u64,
}

/// What happens to an Elevation, told to the connection that holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "news", rename_all = "snake_case")]
pub enum ElevationNews {
    /// It is given, for as long as the connection stays open.
    Given {
        /// Its number.
        elevation: ElevationId,
        /// Who gave it.
        who: String,
        /// Up to which tier.
        tier: Tier,
        /// For which tools.
        tools: Vec<String>,
        /// For how many calls.
        calls: u32,
        /// For how long, ms.
        left_ms: u64,
    },
    /// A call was granted that it permits.
    Used {
        /// Its number.
        elevation: ElevationId,
        /// The call's id: any text.
        call: String,
        /// The tool.
        tool: String,
        /// The calls that are left.
        left: u32,
    },
    /// It is over.
    Ended {
        /// Its number.
        elevation: ElevationId,
        /// Why.
        cause: ElevationEnd,
        /// The calls that it had left.
        left: u32,
    },
}

/// The state of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The robot's id.
    pub robot_id: String,
    /// Process id of the node.
    pub pid: u32,
    /// The run state.
    pub run: RunState,
    /// The stop epoch.
    pub epoch: u32,
    /// The tier in force.
    pub tier: Tier,
    /// The cause of the last stop.
    pub cause: Option<StopCause>,
    /// What the last stop was.
    #[serde(default)]
    pub last_stop: Option<StopKind>,
    /// Whether the robot is known, its state is fresh and no stop is under way.
    pub ready: bool,
    /// Checks that arming would fail now.
    pub arming_blocked_by: Vec<String>,
    /// Position, m.
    pub position: Option<[f64; 3]>,
    /// Speed, m/s.
    pub speed: Option<f64>,
    /// Age of the state, ms.
    pub state_age_ms: Option<u64>,
    /// The agent's goal.
    pub goal: GoalStatus,
    /// Calls that wait for a person's word, oldest first.
    #[serde(default)]
    pub approvals: Vec<PendingApproval>,
    /// Elevations that live, oldest first.
    #[serde(default)]
    pub elevations: Vec<ElevationStatus>,
    /// Where metrics are served, with the port that was chosen; `None` when nobody asked for them.
    #[serde(default)]
    pub metrics: Option<String>,
    /// Files that were loaded and are no longer what they were, each with what became of it: the old
    /// ones count until a restart.
    #[serde(default)]
    pub restart_required: Vec<String>,
}

/// The answer to a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// The state.
    Status(Box<Status>),
    /// It is done.
    Done {
        /// What was done, with its numbers.
        text: String,
    },
    /// A node that was asked to end, once what came of it is known: its process goes next.
    Ending {
        /// Its process.
        pid: u32,
        /// Whether the robot is seen to be at rest; `None` when that was not known in time.
        at_rest: Option<bool>,
        /// The code with which the process ends, as far as it is known.
        code: Option<u8>,
    },
    /// What happens to the Elevation that this connection holds; more of them follow.
    Elevation(ElevationNews),
    /// It was not done.
    Refused {
        /// Each check that failed.
        failed: Vec<String>,
    },
}

impl Answer {
    pub(in crate::app) fn refused(why: impl Into<String>) -> Self {
        Self::Refused {
            failed: vec![why.into()],
        }
    }
}

/// Returns what is wrong with a name and a reason, `None` when nothing is.
pub(in crate::app) fn name_problem(who: &str, why: &str) -> Option<String> {
    if who.trim().is_empty() {
        Some("`who` is empty: say who asks".to_owned())
    } else if why.trim().is_empty() {
        Some("`why` is empty: say why".to_owned())
    } else if who.len() > TEXT_BYTES_MAX || why.len() > TEXT_BYTES_MAX {
        Some(format!("`who` or `why` exceeds {TEXT_BYTES_MAX} bytes"))
    } else {
        None
    }
}
