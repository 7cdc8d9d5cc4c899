//! Policy: a ceiling of tiers and any number of layers, of which each must permit.
//!
//! There is no operation that widens: a stack begins with [`PolicyStack::root`] and every further
//! step narrows it. What a live Elevation permits beyond the ceiling is part of what a decision is given
//! ([`PolicyStack::decide_raised`]); it stands above the ceiling alone, never above a layer. Deciding counts nothing, takes one look-up, and allocates only to word a refusal.
//! Rules that name tools which do not exist are found by [`super::check_policy`] when the files load.

use super::Verdict;
use super::index::Index;
use super::layer::{Layer, Objection};
use crate::config::{Approval, PolicyLayer, Tiers};
use crate::terms::{Descriptor, Reason, Refusal, Tier};

/// The policy in force: the ceiling of the robot file, and every layer.
#[derive(Debug, Clone)]
pub struct PolicyStack {
    ceiling: Tier,
    layers: Vec<Layer>,
    /// What the layers refuse together: follows `layers`.
    index: Index,
    asks: [bool; Tier::ALL.len()],
}

impl PolicyStack {
    /// Begins a stack under the `max_tier` of the robot file; without a robot, under
    /// [`Tier::Observe`].
    pub fn root(ceiling: Tier) -> Self {
        Self {
            ceiling,
            layers: Vec::new(),
            index: Index::default(),
            asks: [false; Tier::ALL.len()],
        }
    }

    /// Lowers the ceiling to `tier`. A tier above the ceiling changes nothing.
    #[must_use]
    pub fn lowered(mut self, tier: Tier) -> Self {
        self.ceiling = self.ceiling.min(tier);
        self
    }

    /// Adds a layer: from now on it must permit as well.
    #[must_use]
    pub fn layer(mut self, layer: &PolicyLayer) -> Self {
        self.layers.push(Layer::of(layer));
        self.index = Index::of(&self.layers);
        self
    }

    /// Asks a person before each call of a tier whose file says `approval = per_call`.
    #[must_use]
    pub fn ask(mut self, tiers: &Tiers) -> Self {
        for (asks, tier) in self.asks.iter_mut().zip(Tier::ALL) {
            *asks |= tiers.of(tier).approval != Approval::Never;
        }
        self
    }

    /// Returns the tier up to which robot tools can be permitted: the ceiling, lowered by every
    /// denied robot group. It stays [`Tier::Observe`] when even that one is denied.
    pub fn effective(&self) -> Tier {
        self.layers
            .iter()
            .filter_map(Layer::denied_tier)
            .fold(self.ceiling, |tier, denied| tier.min(below(denied)))
    }

    /// Decides whether `tool` may be called. Total and pure; a stop is always permitted.
    ///
    /// When the ceiling and several layers refuse, the refusal tells all of them and takes its
    /// reason from the first.
    pub fn decide(&self, tool: &Descriptor) -> Verdict {
        self.decide_under(self.ceiling, tool)
    }

    /// Decides as [`PolicyStack::decide`] does, for a tool that a live Elevation raises to `tier`. A layer
    /// that refuses it still does, and a tier that asks a person still asks.
    pub fn decide_raised(&self, tool: &Descriptor, tier: Tier) -> Verdict {
        self.decide_under(self.ceiling.max(tier), tool)
    }

    fn decide_under(&self, ceiling: Tier, tool: &Descriptor) -> Verdict {
        if tool.effect.is_stop() {
            return Verdict::Allow;
        }
        if self.refuses(ceiling, tool) {
            return Verdict::Refuse(self.refusal(ceiling, tool));
        }
        let asks = |need| {
            Tier::ALL
                .into_iter()
                .zip(self.asks)
                .any(|pair| pair == (need, true))
        };
        if tool.effect.needed_tier().is_some_and(asks) {
            Verdict::Ask
        } else {
            Verdict::Allow
        }
    }

    fn refuses(&self, ceiling: Tier, tool: &Descriptor) -> bool {
        let needed = tool.effect.needed_tier();
        let over = needed.is_some_and(|need| !ceiling.permits(need));
        over || self.index.refuses(&tool.name, needed)
    }

    pub(super) fn objections<'a>(
        &'a self,
        ceiling: Tier,
        tool: &'a Descriptor,
    ) -> impl Iterator<Item = Objection<'a>> {
        let needed = tool.effect.needed_tier();
        let over = needed.filter(|need| !ceiling.permits(*need));
        let ceiling = over.map(|_| Objection::Ceiling(ceiling));
        let layers = self.layers.iter();
        let layers = layers.filter_map(move |layer| layer.objection(Some(&tool.name), needed));
        ceiling.into_iter().chain(layers)
    }

    /// Returns the ceiling of the robot file, as `--tier` lowered it.
    pub(super) fn ceiling(&self) -> Tier {
        self.ceiling
    }

    fn refusal(&self, ceiling: Tier, tool: &Descriptor) -> Refusal {
        let effective = self.effective();
        let first = self.objections(ceiling, tool).next();
        let reason = first.map_or(Reason::PolicyDeny, |first| first.reason());
        let hint = if reason == Reason::RobotTierGate {
            format!("use a tool of the tier {effective} or below; only an operator can permit more")
        } else {
            "use another tool; only an operator can change the policy".to_owned()
        };
        let details: Vec<String> = self
            .objections(ceiling, tool)
            .map(|one| one.detail(tool))
            .collect();
        Refusal {
            reason,
            needed: tool.effect.needed_tier(),
            effective,
            rule: first.and_then(|first| first.rule(tool)),
            detail: details.join("\n"),
            hint,
        }
    }
}

/// Returns the tier below `tier`; the lowest is its own.
fn below(tier: Tier) -> Tier {
    let lower = Tier::ALL.into_iter().rev().find(|lower| *lower < tier);
    lower.unwrap_or(Tier::Observe)
}
