//! The catalog under one policy, pinned for a turn.
//!
//! A view is also made of the Elevations that live when it is made: what one of them permits is marked
//! with it, and a call needs that very one to live when it is granted.
//!
//! Every tool is judged once, when the view is made; a look-up afterwards is one hash, however many
//! tools there are. Judging counts nothing. A stop is never hidden, whatever the policy says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::builder::Catalog;
use super::entry::Entry;
use crate::gate::{PolicyStack, Verdict};
use crate::terms::{Effect, Elevated, ElevationId, Reason, Tier, ToolName, ToolSpec, nearest};

/// One tool with the verdict of the policy over it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The tool.
    pub entry: &'a Entry,
    /// What the policy says of any call of it.
    pub verdict: &'a Verdict,
    /// The Elevation without which the policy would refuse it.
    pub elevation: Option<ElevationId>,
    /// The tier up to which calls of this tool are permitted.
    pub effective: Tier,
}

/// How many tools are not shown, for one reason and one tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Why.
    pub reason: Reason,
    /// The tier they need.
    pub tier: Option<Tier>,
    /// How many.
    pub count: u32,
}

/// What one turn may see and call.
#[derive(Debug)]
pub struct ToolView {
    catalog: Arc<Catalog>,
    verdicts: Vec<Said>,
    specs: Vec<ToolSpec>,
    fingerprint: String,
    hidden: Vec<Hidden>,
    effective: Tier,
    elevations: BTreeSet<ElevationId>,
}

/// What is said of one tool.
#[derive(Debug, Clone)]
struct Said {
    verdict: Verdict,
    raised: Option<(ElevationId, Tier)>,
}

impl Catalog {
    /// Judges every tool and pins the result.
    pub fn view(self: &Arc<Self>, policy: &PolicyStack) -> Arc<ToolView> {
        self.view_under(policy, &[])
    }

    /// Judges every tool under the Elevations that live and pins the result.
    pub fn view_under(
        self: &Arc<Self>,
        policy: &PolicyStack,
        elevated: &[Elevated],
    ) -> Arc<ToolView> {
        let judged = self.entries().iter();
        let judged = judged.map(|entry| judge((policy, elevated), entry));
        let verdicts: Vec<Said> = judged.collect();
        let specs = visible(self.entries(), &verdicts);
        Arc::new(ToolView {
            fingerprint: fingerprint(&specs),
            hidden: hidden(&verdicts),
            effective: policy.effective(),
            elevations: elevations(&verdicts),
            catalog: self.clone(),
            verdicts,
            specs,
        })
    }
}

impl ToolView {
    /// Returns the visible tools, sorted by name: the same bytes for the same tools, always.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.specs
    }

    /// Returns the BLAKE3 hash of the serialised [`ToolView::specs`], hexadecimal.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the tool of this exact name, hidden ones included; `None` when there is none.
    pub fn find(&self, name: &str) -> Option<Judged<'_>> {
        let index = self.catalog.index_of(name)?;
        let entry = self.catalog.entries().get(index)?;
        Some(self.judged(entry, self.verdicts.get(index)?))
    }

    /// Returns the visible tool that `name` most likely stands for.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.specs.iter().map(|spec| spec.name.as_str()))
    }

    /// Returns how many tools are hidden, by reason and tier.
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// Returns the tier up to which calls are permitted, of tools that no Elevation raises.
    pub fn effective(&self) -> Tier {
        self.effective
    }

    /// Returns all tools with their verdicts, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = Judged<'_>> {
        let entries = self.catalog.entries().iter();
        entries
            .zip(&self.verdicts)
            .map(|(entry, said)| self.judged(entry, said))
    }

    /// Returns the Elevations on which this view counts.
    pub fn elevations(&self) -> &BTreeSet<ElevationId> {
        &self.elevations
    }

    fn judged<'a>(&self, entry: &'a Entry, said: &'a Said) -> Judged<'a> {
        Judged {
            entry,
            verdict: &said.verdict,
            elevation: said.raised.map(|(id, _)| id),
            effective: said.raised.map_or(self.effective, |(_, tier)| tier),
        }
    }

    /// Returns the names of the tools that can move or configure a robot.
    pub fn actuating(&self) -> BTreeSet<ToolName> {
        self.tools()
            .map(|judged| judged.entry.descriptor())
            .filter(|tool| matches!(tool.effect, Effect::Actuate { .. }))
            .map(|tool| tool.name.clone())
            .collect()
    }
}

fn judge((policy, elevated): (&PolicyStack, &[Elevated]), entry: &Entry) -> Said {
    let tool = entry.descriptor();
    let plain = |verdict| Said {
        verdict,
        raised: None,
    };
    if tool.effect.is_stop() {
        return plain(Verdict::Allow);
    }
    let verdict = policy.decide(tool);
    if verdict.refusal().is_none() {
        return plain(verdict);
    }
    let mut raises = elevated.iter().filter(|one| one.is_for(&tool.name));
    let Some(one) = raises.next() else {
        return plain(verdict);
    };
    let raised = policy.decide_raised(tool, one.tier);
    if raised.refusal().is_some() {
        return plain(raised);
    }
    Said {
        verdict: raised,
        raised: Some((one.id, one.tier)),
    }
}

fn visible(entries: &[Entry], verdicts: &[Said]) -> Vec<ToolSpec> {
    let shown = entries.iter().zip(verdicts).filter(|(_, said)| {
        // A call that needs a person's word is shown: somebody may be there to give it.
        matches!(said.verdict, Verdict::Allow | Verdict::Ask)
    });
    shown
        .map(|(entry, _)| ToolSpec::from(entry.descriptor()))
        .collect()
}

fn elevations(verdicts: &[Said]) -> BTreeSet<ElevationId> {
    let raised = verdicts.iter().filter_map(|said| said.raised);
    raised.map(|(id, _)| id).collect()
}

fn hidden(verdicts: &[Said]) -> Vec<Hidden> {
    let mut counts: BTreeMap<(Reason, Option<Tier>), u32> = BTreeMap::new();
    for said in verdicts {
        if let Verdict::Refuse(refusal) = &said.verdict {
            let count = counts.entry((refusal.reason, refusal.needed)).or_default();
            *count = count.saturating_add(1);
        }
    }
    counts
        .into_iter()
        .map(|((reason, tier), count)| Hidden {
            reason,
            tier,
            count,
        })
        .collect()
}

fn fingerprint(specs: &[ToolSpec]) -> String {
    // Names, texts and JSON values always serialise.
    let text = serde_json::to_string(specs).unwrap_or_default();
    blake3::hash(text.as_bytes()).to_hex().to_string()
}
