//! All layers of a stack as one table, so that deciding costs one look-up however many there are.
//!
//! The table is made from the layers' own objections when a layer is added. It says only whether
//! some layer refuses; which one, and why, is asked of the layers themselves.

use std::collections::HashMap;

use super::layer::Layer;
use crate::terms::{Tier, ToolName};

/// What every layer together refuses, by name and need.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    /// Of the tools that no layer names.
    others: Needs,
    named: HashMap<ToolName, Needs>,
}

impl Index {
    pub(super) fn of(layers: &[Layer]) -> Self {
        let names = layers.iter().flat_map(Layer::names);
        Self {
            others: Needs::refused(layers, None),
            named: names
                .map(|name| (name.clone(), Needs::refused(layers, Some(name))))
                .collect(),
        }
    }

    /// Returns whether some layer refuses a tool of this name and need.
    pub(super) fn refuses(&self, name: &ToolName, needed: Option<Tier>) -> bool {
        self.named.get(name).unwrap_or(&self.others).has(needed)
    }
}

/// A set of needs: one bit for each tier, one for no tier.
#[derive(Debug, Clone, Copy, Default)]
struct Needs(u8);

impl Needs {
    fn refused(layers: &[Layer], name: Option<&ToolName>) -> Self {
        let needs = Tier::ALL.into_iter().map(Some).chain([None]);
        let refused = needs.filter(|need| {
            let objects = |layer: &Layer| layer.objection(name, *need).is_some();
            layers.iter().any(objects)
        });
        Self(refused.fold(0, |bits, need| bits | bit(need)))
    }

    fn has(self, need: Option<Tier>) -> bool {
        self.0 & bit(need) != 0
    }
}

fn bit(need: Option<Tier>) -> u8 {
    match need {
        None => 1,
        Some(Tier::Observe) => 1 << 1,
        Some(Tier::SafeMotion) => 1 << 2,
        Some(Tier::FullActuation) => 1 << 3,
        Some(Tier::EmergencyOverride) => 1 << 4,
    }
}
