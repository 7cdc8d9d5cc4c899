//! The tools of one robot, made from its robot file.
//!
//! The file says which tools there are and what they do; this folder knows only the few shapes that
//! they can have. Whatever the robot advertises adds nothing.

mod parts;
mod safety_events;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod wire;

use std::sync::Arc;

use parts::Parts;
use safety_events::SafetyEvents;
use state::State;
use wire::{Deed, WireTool};

use crate::catalog::CatalogBuilder;
use crate::gate::RobotRules;
use crate::robot::{Bridge, Described, Shape};

/// Adds the described tools of a robot. `rules` and the descriptions are of the same robot file;
/// a tool for which that does not hold is a fault of the catalog.
#[must_use]
pub fn robot_tools(
    builder: CatalogBuilder,
    tools: &[Described],
    rules: &Arc<RobotRules>,
    bridge: &Arc<Bridge>,
) -> CatalogBuilder {
    tools.iter().fold(builder, |builder, tool| {
        let parts = Parts::new(tool, rules, bridge);
        match tool.shape {
            Shape::Stop => builder.stop(parts.descriptor),
            Shape::Motion => builder.raw(wire(parts, Deed::Move)),
            Shape::Config => builder.raw(wire(parts, Deed::Configure)),
            Shape::Read => builder.raw(wire(parts, Deed::Read)),
            Shape::State => builder.tool(State(parts)),
            Shape::SafetyEvents => builder.tool(SafetyEvents(parts)),
        }
    })
}

fn wire(parts: Parts, deed: Deed) -> Arc<WireTool> {
    Arc::new(WireTool { parts, deed })
}
