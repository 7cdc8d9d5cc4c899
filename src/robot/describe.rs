//! From the entries of a robot file to the descriptions of its tools.
//!
//! The file alone says what a tool is. Nothing that the robot advertises comes in here.

use std::sync::Arc;

use crate::config::{EffectWord, RobotFile, ToolDef, Verb};
use crate::gate::RobotRules;
use crate::terms::{Access, Budget, Descriptor, Device, Effect, Motion, StopKind, Tier};

/// The shapes that a robot's tool can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Sets the latch word; sends nothing by itself.
    Stop,
    /// Moves the robot.
    Motion,
    /// Changes its set-up.
    Config,
    /// Asks it.
    Read,
    /// Answers from its latest state.
    State,
    /// Answers from its safety events.
    SafetyEvents,
}

/// One tool of a robot file.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its index in the robot file.
    pub index: u16,
    /// What it does on the wire.
    pub shape: Shape,
    /// What the pipeline must know of it.
    pub descriptor: Descriptor,
}

/// Describes all tools of a robot file. An entry without rules is left out: `rules` were compiled
/// from another file then, and nothing bounds its numbers.
pub fn describe(robot: &RobotFile, rules: &RobotRules) -> Vec<Described> {
    let entries = robot.tools.iter().zip(0..);
    entries
        .filter_map(|(def, index)| {
            let schema = rules.tool(index)?.schema_value().clone();
            Some(Described {
                index,
                shape: shape(def),
                descriptor: descriptor(def, schema),
            })
        })
        .collect()
}

fn shape(def: &ToolDef) -> Shape {
    match (&def.verb, def.effect) {
        (Verb::Stop | Verb::Estop, _) | (_, EffectWord::Stop) => Shape::Stop,
        (Verb::State, _) => Shape::State,
        (Verb::SafetyEvents, _) => Shape::SafetyEvents,
        (Verb::Wire(_), EffectWord::Move | EffectWord::Hold) => Shape::Motion,
        (Verb::Wire(_), EffectWord::Config) => Shape::Config,
        (Verb::Wire(_), EffectWord::Observe) => Shape::Read,
    }
}

fn descriptor(def: &ToolDef, schema: Arc<serde_json::Value>) -> Descriptor {
    let effect = effect(def);
    Descriptor {
        name: def.name.clone(),
        description: def.describe.as_str().into(),
        schema,
        access: access(def, &effect),
        effect,
        budget: Budget::of_ms(u64::from(def.timeout_ms)),
        rule: Some(def.rule.clone()),
    }
}

fn effect(def: &ToolDef) -> Effect {
    let device = Device::new(&def.device);
    // The loader gives every tool but a stop its tier; should one lack it, it needs the highest.
    let tier = def.tier.unwrap_or(Tier::EmergencyOverride);
    let motion = match (shape(def), def.effect) {
        (Shape::Stop, _) => {
            let kind = match def.verb {
                Verb::Estop => StopKind::Estop,
                Verb::Stop | Verb::State | Verb::SafetyEvents | Verb::Wire(_) => StopKind::Stop,
            };
            return Effect::Stop { device, kind };
        }
        (_, EffectWord::Observe) => return Effect::Observe { tier: Some(tier) },
        (_, EffectWord::Move) => Motion::Move,
        (_, EffectWord::Hold) => Motion::Hold,
        (_, EffectWord::Config | EffectWord::Stop) => Motion::Config,
    };
    Effect::Actuate {
        tier,
        device,
        motion,
    }
}

/// What changes the device runs alone on it, whatever its tier file says of other tools.
fn access(def: &ToolDef, effect: &Effect) -> Access {
    let alone = matches!(effect, Effect::Actuate { .. });
    if alone || (def.exclusive && !effect.is_stop()) {
        Access::Exclusive(def.device.as_str().into())
    } else {
        Access::Shared
    }
}
