//! From an entry of a robot file to the description of its tool.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::catalog::RobotTool;
use crate::config::{EffectWord, ToolDef, Verb};
use crate::gate::RobotRules;
use crate::terms::{Access, Budget, Descriptor, Device, Effect, Motion, StopKind, Tier};

/// The shapes that a robot's tool can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Sets the latch word.
    Stop(StopKind),
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

impl Shape {
    pub(super) fn of(def: &ToolDef) -> Self {
        match (&def.verb, def.effect) {
            (Verb::Estop, _) => Self::Stop(StopKind::Estop),
            (Verb::Stop, _) | (_, EffectWord::Stop) => Self::Stop(StopKind::Stop),
            (Verb::State, _) => Self::State,
            (Verb::SafetyEvents, _) => Self::SafetyEvents,
            (Verb::Wire(_), EffectWord::Move | EffectWord::Hold) => Self::Motion,
            (Verb::Wire(_), EffectWord::Config) => Self::Config,
            (Verb::Wire(_), EffectWord::Observe) => Self::Read,
        }
    }
}

/// What every tool of a robot is made of.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    pub(super) descriptor: Descriptor,
    pub(super) robot: RobotTool,
}

impl Parts {
    /// Describes a tool; `None` when `rules` were not compiled from its file.
    pub(super) fn of(def: &ToolDef, index: u16, rules: &Arc<RobotRules>) -> Option<Self> {
        let robot = RobotTool::new(rules.clone(), index);
        let schema = robot.rules()?.schema_value().clone();
        let effect = effect(def);
        Some(Self {
            descriptor: Descriptor {
                name: def.name.clone(),
                description: def.describe.as_str().into(),
                schema,
                access: access(def, &effect),
                effect,
                budget: Budget::of_ms(u64::from(def.timeout_ms)),
                rule: Some(def.rule.clone()),
            },
            robot,
        })
    }

    /// Returns what is sent: the arguments with the constants of the robot file.
    pub(super) fn params(&self, args: &Map<String, Value>) -> Map<String, Value> {
        match self.robot.rules() {
            Some(rules) => rules.params(args),
            None => args.clone(),
        }
    }
}

fn effect(def: &ToolDef) -> Effect {
    let device = Device::new(&def.device);
    // A tool that moves without a tier is a fault of the loader: it gets the highest.
    let tier = def.tier.unwrap_or(Tier::EmergencyOverride);
    let motion = match (Shape::of(def), def.effect) {
        (Shape::Stop(kind), _) => return Effect::Stop { device, kind },
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

/// What changes the device runs alone on it, whatever the tier file says of other tools.
fn access(def: &ToolDef, effect: &Effect) -> Access {
    let alone = matches!(effect, Effect::Actuate { .. });
    if alone || (def.exclusive && !effect.is_stop()) {
        Access::Exclusive(def.device.as_str().into())
    } else {
        Access::Shared
    }
}
