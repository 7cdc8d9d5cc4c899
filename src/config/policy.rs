//! `octos-edge.toml`: the `[policy]` section. Rules narrow what the robot file permits.

use super::Place;
use crate::terms::{Tier, ToolName};

/// One entry of an allow or deny list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyRule {
    /// `group:robot:<tier>`: allowing it permits needs up to the tier, denying it refuses needs from
    /// the tier upwards. It matches robot tools only.
    RobotTier(Tier),
    /// `=name` or `name`: one tool.
    Exact(ToolName),
}

/// One layer of policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyLayer {
    /// The layer's name, quoted in refusals: `policy`.
    pub name: String,
    /// What it allows: `None` is no limit, `Some([])` is nothing.
    pub allow: Option<Vec<(PolicyRule, Place)>>,
    /// What it denies. Deny wins.
    pub deny: Vec<(PolicyRule, Place)>,
}

/// The resolved `octos-edge.toml`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// The file.
    pub place: Place,
    /// Its layer.
    pub layer: PolicyLayer,
}
