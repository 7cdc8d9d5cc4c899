//! The tools of one robot, made from its robot file.
//!
//! The file says which tools there are and what they do; this folder knows only the few shapes that
//! they can have. Whatever the robot advertises adds nothing.

mod configure;
mod describe;
mod motion;
mod read;
mod safety_events;
mod state;
mod text;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use configure::Configure;
use describe::{Parts, Shape};
use motion::Drive;
use read::Read;
use safety_events::SafetyEvents;
use state::State;

use crate::catalog::CatalogBuilder;
use crate::config::RobotFile;
use crate::gate::RobotRules;
use crate::robot::Bridge;

/// Adds all tools of a robot: one for each entry of its file that `rules` were compiled from.
pub fn robot_tools(
    builder: CatalogBuilder,
    robot: &RobotFile,
    rules: &Arc<RobotRules>,
    bridge: &Arc<Bridge>,
) -> CatalogBuilder {
    let tools = robot.tools.iter().zip(0..);
    tools.fold(builder, |builder, (def, index)| {
        let Some(parts) = Parts::of(def, index, rules) else {
            return builder;
        };
        let bridge = bridge.clone();
        match Shape::of(def) {
            Shape::Stop(_) => builder.stop(parts.descriptor),
            Shape::Motion => builder.raw(Arc::new(Drive::new(parts, bridge))),
            Shape::Config => builder.raw(Arc::new(Configure::new(parts, bridge))),
            Shape::Read => builder.raw(Arc::new(Read::new(parts, bridge))),
            Shape::State => builder.tool(State::new(parts, bridge)),
            Shape::SafetyEvents => builder.tool(SafetyEvents::new(parts, bridge)),
        }
    })
}
