//! Why a call was refused: one closed list, and the typed answer to the model.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Tier;

/// The reason of a refusal. Closed: 19 values, the labels of `octos_edge_denial_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// No tool has this name.
    UnknownTool,
    /// The tool answers only to other tools.
    InternalOnly,
    /// A policy entry or a guard hook refuses it.
    PolicyDeny,
    /// The policy requires a tag that the tool lacks.
    TagGate,
    /// The tool is not for this context.
    ContextGate,
    /// The tool needs a higher tier than is permitted now.
    RobotTierGate,
    /// The arguments do not fit the schema, or are too large.
    Schema,
    /// A number is outside its limit.
    Limit,
    /// A person said no.
    ApprovalDenied,
    /// The call needs a person's word and no person can be asked.
    ApprovalUnavailable,
    /// The robot is latched until a named person resets it.
    EstopLatched,
    /// There is no robot behind the bridge.
    BridgeDown,
    /// No operator armed the robot.
    NotArmed,
    /// The robot's state is too old to act on.
    StaleState,
    /// A target lies outside the workspace, or the position is unknown.
    Workspace,
    /// A condition of the installation forbids motion now.
    Interlock,
    /// Too many calls in too little time.
    Rate,
    /// The device, or the queue to it, is taken.
    Busy,
    /// The grant ran out before the command left.
    LeaseExpired,
}

impl Reason {
    /// All reasons.
    pub const ALL: [Self; 19] = [
        Self::UnknownTool,
        Self::InternalOnly,
        Self::PolicyDeny,
        Self::TagGate,
        Self::ContextGate,
        Self::RobotTierGate,
        Self::Schema,
        Self::Limit,
        Self::ApprovalDenied,
        Self::ApprovalUnavailable,
        Self::EstopLatched,
        Self::BridgeDown,
        Self::NotArmed,
        Self::StaleState,
        Self::Workspace,
        Self::Interlock,
        Self::Rate,
        Self::Busy,
        Self::LeaseExpired,
    ];

    /// Returns the label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::InternalOnly => "internal_only",
            Self::PolicyDeny => "policy_deny",
            Self::TagGate => "tag_gate",
            Self::ContextGate => "context_gate",
            Self::RobotTierGate => "robot_tier_gate",
            Self::Schema => "schema",
            Self::Limit => "limit",
            Self::ApprovalDenied => "approval_denied",
            Self::ApprovalUnavailable => "approval_unavailable",
            Self::EstopLatched => "estop_latched",
            Self::BridgeDown => "bridge_down",
            Self::NotArmed => "not_armed",
            Self::StaleState => "stale_state",
            Self::Workspace => "workspace",
            Self::Interlock => "interlock",
            Self::Rate => "rate",
            Self::Busy => "busy",
            Self::LeaseExpired => "lease_expired",
        }
    }

    /// Returns the label of the counter that older dashboards read
    /// (`octos_tool_policy_denial_total`), `None` when that counter does not count this reason.
    pub fn compatibility_label(self) -> Option<&'static str> {
        match self {
            Self::RobotTierGate => Some("robot_tier_gate"),
            Self::PolicyDeny | Self::TagGate | Self::ContextGate | Self::InternalOnly => {
                Some("policy_deny")
            }
            Self::UnknownTool
            | Self::Schema
            | Self::Limit
            | Self::ApprovalDenied
            | Self::ApprovalUnavailable
            | Self::EstopLatched
            | Self::BridgeDown
            | Self::NotArmed
            | Self::StaleState
            | Self::Workspace
            | Self::Interlock
            | Self::Rate
            | Self::Busy
            | Self::LeaseExpired => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A refusal: a typed answer to the model, never an exception.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// Which check refused.
    pub reason: Reason,
    /// The tier the tool needs; `None` when the tool has none or is unknown.
    pub needed: Option<Tier>,
    /// The tier in force when it was refused.
    pub effective: Tier,
    /// The `id` of the rule in the robot file or the policy layer that decided, `None` for built-ins.
    pub rule: Option<String>,
    /// What is wrong, with the thing and the bound. All problems of the stage, one per line.
    pub detail: String,
    /// What would help: the way out.
    pub hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused ({}): {}", self.reason, self.detail)
    }
}

impl std::error::Error for Refusal {}
