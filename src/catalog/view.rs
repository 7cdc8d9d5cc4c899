//! The catalog under one policy, pinned for a turn.
//!
//! Every tool is judged once, when the view is made; a look-up afterwards is one hash, however many
//! tools there are. Judging counts nothing. A stop is never hidden, whatever the policy says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::builder::Catalog;
use super::entry::Entry;
use crate::gate::{PolicyStack, Verdict};
use crate::terms::{Effect, Reason, Tier, ToolName, ToolSpec, nearest};

/// One tool with the verdict of the policy over it.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The tool.
    pub entry: &'a Entry,
    /// What the policy says of any call of it.
    pub verdict: &'a Verdict,
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
    verdicts: Vec<Verdict>,
    specs: Vec<ToolSpec>,
    fingerprint: String,
    hidden: Vec<Hidden>,
    effective: Tier,
}

impl Catalog {
    /// Judges every tool and pins the result.
    pub fn view(self: &Arc<Self>, policy: &PolicyStack) -> Arc<ToolView> {
        let verdicts: Vec<Verdict> = self
            .entries()
            .iter()
            .map(|entry| judge(policy, entry))
            .collect();
        let specs = visible(self.entries(), &verdicts);
        Arc::new(ToolView {
            fingerprint: fingerprint(&specs),
            hidden: hidden(&verdicts),
            effective: policy.effective(),
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
        Some(Judged {
            entry: self.catalog.entries().get(index)?,
            verdict: self.verdicts.get(index)?,
        })
    }

    /// Returns the visible tool that `name` most likely stands for.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.specs.iter().map(|spec| spec.name.as_str()))
    }

    /// Returns how many tools are hidden, by reason and tier.
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// Returns the tier up to which calls are permitted.
    pub fn effective(&self) -> Tier {
        self.effective
    }

    /// Returns all tools with their verdicts, sorted by name.
    pub fn tools(&self) -> impl Iterator<Item = Judged<'_>> {
        let entries = self.catalog.entries().iter();
        entries
            .zip(&self.verdicts)
            .map(|(entry, verdict)| Judged { entry, verdict })
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

fn judge(policy: &PolicyStack, entry: &Entry) -> Verdict {
    if entry.descriptor().effect.is_stop() {
        Verdict::Allow
    } else {
        policy.decide(entry.descriptor())
    }
}

fn visible(entries: &[Entry], verdicts: &[Verdict]) -> Vec<ToolSpec> {
    let shown = entries.iter().zip(verdicts).filter(|(_, verdict)| {
        // A call that needs a person's word is shown: somebody may be there to give it.
        matches!(verdict, Verdict::Allow | Verdict::Ask)
    });
    shown
        .map(|(entry, _)| ToolSpec::from(entry.descriptor()))
        .collect()
}

fn hidden(verdicts: &[Verdict]) -> Vec<Hidden> {
    let mut counts: BTreeMap<(Reason, Option<Tier>), u32> = BTreeMap::new();
    for verdict in verdicts {
        if let Verdict::Refuse(refusal) = verdict {
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
