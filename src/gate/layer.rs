//! One layer of policy, compiled, and what it objects to a tool.
//!
//! Deny wins over allow. A denied robot group refuses every need from its tier upwards, an allowed
//! one permits every need up to its tier; both concern robot tools only. Deciding asks the layers
//! only to word a refusal: `index` holds what they say together.

use std::collections::HashMap;

use crate::config::{Place, PolicyLayer, PolicyRule};
use crate::terms::{Descriptor, Reason, Tier, ToolName};

/// A layer, ready to be asked by name and tier.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    name: String,
    /// `None`: this layer limits nothing by allowing.
    allow: Option<Allow>,
    /// The lowest denied robot group: it covers all higher ones.
    deny: Option<(Tier, Place)>,
    names: HashMap<ToolName, Named>,
}

#[derive(Debug, Clone)]
struct Allow {
    /// The highest allowed robot group: it covers all lower ones.
    tier: Option<Tier>,
}

/// What a layer says of one tool by name.
#[derive(Debug, Clone, Default)]
struct Named {
    allowed: bool,
    denied: Option<Place>,
}

impl Layer {
    pub(super) fn of(file: &PolicyLayer) -> Self {
        let mut layer = Self {
            name: file.name.clone(),
            allow: file.allow.as_ref().map(|_| Allow { tier: None }),
            deny: None,
            names: HashMap::new(),
        };
        for (rule, place) in &file.deny {
            layer.add_deny(rule, place);
        }
        for (rule, _) in file.allow.iter().flatten() {
            layer.add_allow(rule);
        }
        layer
    }

    fn add_deny(&mut self, rule: &PolicyRule, place: &Place) {
        match rule {
            PolicyRule::RobotTier(tier) => {
                if self.deny.as_ref().is_none_or(|(lowest, _)| tier < lowest) {
                    self.deny = Some((*tier, place.clone()));
                }
            }
            PolicyRule::Exact(name) => {
                let named = self.names.entry(name.clone()).or_default();
                named.denied.get_or_insert_with(|| place.clone());
            }
        }
    }

    fn add_allow(&mut self, rule: &PolicyRule) {
        match rule {
            PolicyRule::RobotTier(tier) => {
                if let Some(allow) = &mut self.allow {
                    allow.tier = allow.tier.max(Some(*tier));
                }
            }
            PolicyRule::Exact(name) => self.names.entry(name.clone()).or_default().allowed = true,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the lowest robot group that this layer denies.
    pub(super) fn denied_tier(&self) -> Option<Tier> {
        self.deny.as_ref().map(|(tier, _)| *tier)
    }

    /// Returns the names that this layer speaks of.
    pub(super) fn names(&self) -> impl Iterator<Item = &ToolName> {
        self.names.keys()
    }

    /// Returns why this layer refuses a tool of this name and need, `None` when it does not. Without
    /// a name: any tool that it does not name.
    pub(super) fn objection(
        &self,
        name: Option<&ToolName>,
        needed: Option<Tier>,
    ) -> Option<Objection<'_>> {
        let named = name.and_then(|name| self.names.get(name));
        if let Some((tier, place)) = &self.deny
            && needed.is_some_and(|need| tier.refuses(need))
        {
            return Some(Objection::TierDenied(self, *tier, place));
        }
        if let Some(place) = named.and_then(|named| named.denied.as_ref()) {
            return Some(Objection::NameDenied(self, place));
        }
        let allow = self.allow.as_ref()?;
        let by_name = named.is_some_and(|named| named.allowed);
        let by_tier = match (allow.tier, needed) {
            (Some(tier), Some(need)) => tier.permits(need),
            (None, _) | (_, None) => false,
        };
        if by_name || by_tier {
            return None;
        }
        Some(match allow.tier.filter(|_| needed.is_some()) {
            Some(tier) => Objection::AboveAllowed(self, tier),
            None => Objection::NotAllowed(self),
        })
    }
}

/// Why a tool is refused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Objection<'a> {
    /// It needs more than the ceiling.
    Ceiling(Tier),
    /// Its tier is at or above a denied robot group.
    TierDenied(&'a Layer, Tier, &'a Place),
    /// Its name is denied.
    NameDenied(&'a Layer, &'a Place),
    /// Its tier is above the allowed robot groups, and its name is not allowed either.
    AboveAllowed(&'a Layer, Tier),
    /// Nothing in the list of allowed tools matches.
    NotAllowed(&'a Layer),
}

impl Objection<'_> {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Self::Ceiling(_) | Self::TierDenied(..) | Self::AboveAllowed(..) => {
                Reason::RobotTierGate
            }
            Self::NameDenied(..) | Self::NotAllowed(_) => Reason::PolicyDeny,
        }
    }

    /// Returns the rule that decided: of the robot file for the ceiling, else the layer's name.
    pub(super) fn rule(&self, tool: &Descriptor) -> Option<String> {
        match self {
            Self::Ceiling(_) => tool.rule.as_ref().map(|rule| rule.id.as_ref().to_owned()),
            Self::TierDenied(layer, ..)
            | Self::NameDenied(layer, _)
            | Self::AboveAllowed(layer, _)
            | Self::NotAllowed(layer) => Some(layer.name.clone()),
        }
    }

    /// Returns one sentence: the tool, the layer, the text of the rule and where it is written.
    pub(super) fn detail(&self, tool: &Descriptor) -> String {
        let name = &tool.name;
        let need = tool.effect.needed_tier().map_or("none", Tier::as_str);
        match self {
            Self::Ceiling(tier) => {
                format!("`{name}` needs the tier {need}; the ceiling is {tier}")
            }
            Self::TierDenied(layer, tier, place) => format!(
                "`{name}` needs the tier {need}; layer `{}` denies `group:robot:{tier}` ({place})",
                layer.name
            ),
            Self::NameDenied(layer, place) => {
                format!("layer `{}` denies `{name}` ({place})", layer.name)
            }
            Self::AboveAllowed(layer, tier) => format!(
                "`{name}` needs the tier {need}; layer `{}` allows `group:robot:{tier}` at most",
                layer.name
            ),
            Self::NotAllowed(layer) => {
                format!("layer `{}` does not allow `{name}`", layer.name)
            }
        }
    }
}
