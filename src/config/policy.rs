//! `octos-edge.toml`: the `[policy]` section. Rules narrow what the robot file permits.
//!
//! Whether a denied name is the name of a tool is judged where the tools are known, in `gate`.

use std::path::Path;

use super::reader::{self, Node, Parsed, Source, Table, list, schema};
use super::{ConfigErrors, Place, file};
use crate::terms::{Tier, ToolName};

const GUIDE: &str = "tiers/README.md";
/// Most entries of one list. Chosen: the figure up to which decisions are measured.
const RULES_MAX: usize = 200;

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

impl PolicyFile {
    /// Loads a file.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn load(path: &Path) -> Result<Self, ConfigErrors> {
        let bytes = file::read(path, "--config names the file")?;
        Self::parse_bytes(&file::quoted(path), &bytes).done()
    }

    /// Parses the text of a file.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigErrors> {
        Self::parse_bytes(file, text.as_bytes()).done()
    }

    pub(crate) fn parse_bytes(file: &str, bytes: &[u8]) -> Parsed<Self> {
        let source = Source {
            file,
            bytes,
            guide: GUIDE,
        };
        reader::read(source, |root| root.table(policy_file))
    }
}

fn policy_file(t: &mut Table<'_>) -> Option<PolicyFile> {
    t.must("schema", schema);
    let layer = t.must("policy", |node| node.table(layer));
    for key in ["model", "hooks", "sandbox", "metrics", "state"] {
        t.later(
            key,
            "a section comes with the part that reads it; this release reads [policy]",
        );
    }
    Some(PolicyFile {
        place: t.file(),
        layer: layer?,
    })
}

fn layer(t: &mut Table<'_>) -> Option<PolicyLayer> {
    let allow = t.may("allow", list(0..=RULES_MAX, placed_rule));
    let deny = t.may("deny", list(0..=RULES_MAX, placed_rule));
    for key in ["ask", "require_tags", "bash_file_writes"] {
        t.later(key, "this release reads `allow` and `deny`");
    }
    for key in ["profile", "provider", "groups", "effects", "test"] {
        t.later(
            key,
            "further layers, groups and tests come with the tools they speak of",
        );
    }
    Some(PolicyLayer {
        name: "policy".to_owned(),
        allow,
        deny: deny.unwrap_or_default(),
    })
}

fn placed_rule(node: Node<'_>) -> Option<(PolicyRule, Place)> {
    let place = node.place();
    Some((rule(&node)?, place))
}

fn rule(node: &Node<'_>) -> Option<PolicyRule> {
    let Some(written) = node.as_str() else {
        return node.unfit("a text: `group:robot:<tier>`, `=name` or `name`");
    };
    let parsed = if let Some(tier) = written.strip_prefix("group:robot:") {
        tier.parse()
            .map(PolicyRule::RobotTier)
            .map_err(|error| error.to_string())
    } else if written.starts_with("group:") {
        Err(format!(
            "found {}, needs `group:robot:<tier>`, the only group so far",
            node.found()
        ))
    } else if written.ends_with('*') {
        Err(format!(
            "found {}, a pattern: patterns come later",
            node.found()
        ))
    } else {
        let name = written.strip_prefix('=').unwrap_or(written);
        ToolName::parse(name)
            .map(PolicyRule::Exact)
            .map_err(|error| error.to_string())
    };
    match parsed {
        Ok(rule) => Some(rule),
        Err(problem) => {
            node.fault(problem, "write `group:robot:<tier>`, `=name` or `name`");
            None
        }
    }
}
