//! A rig for the tests of this room: the shipped rover, and calls that take the way of a real one.

use std::sync::Arc;

use serde_json::Value;

use super::{Admission, Grant, Limited, Pace, RobotRules, Subject, ToolRules, admit};
use crate::arguments::Schema;
use crate::config::{ConfigError, EffectWord, RobotFile, Tiers, ToolDef, Verb};
use crate::terms::{
    Access, Budget, Descriptor, Device, Effect, Mono, Motion, Posture, Reason, Refusal, StopKind,
    Tier,
};

const OBSERVE: &str = include_str!("../../tiers/observe.toml");
const SAFE: &str = include_str!("../../tiers/safe_motion.toml");
const FULL: &str = include_str!("../../tiers/full_actuation.toml");
const EMERGENCY: &str = include_str!("../../tiers/emergency_override.toml");
const ROVER: &str = include_str!("../../tiers/robots/rover-sim.toml");

/// Returns the shipped tiers.
pub(super) fn tiers() -> Tiers {
    Tiers::parse([OBSERVE, SAFE, FULL, EMERGENCY]).unwrap()
}

/// Returns the shipped tiers with other ceilings of linear speed (m/s) at the two moving tiers.
pub(super) fn tiers_with_speeds(safe: f64, full: f64) -> Tiers {
    let safe_text = replaced(
        SAFE,
        "linear_speed_mps = 0.25",
        &format!("linear_speed_mps = {safe}"),
    );
    let full_text = replaced(
        FULL,
        "linear_speed_mps = 1.0",
        &format!("linear_speed_mps = {full}"),
    );
    Tiers::parse([OBSERVE, &safe_text, &full_text, EMERGENCY]).unwrap()
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "`{old}` is not in the file any more");
    text.replace(old, new)
}

/// Returns the shipped rover, with each pair of texts replaced.
pub(super) fn rover(changes: &[(&str, &str)]) -> RobotFile {
    parse_rover(changes, &tiers())
}

pub(super) fn parse_rover(changes: &[(&str, &str)], tiers: &Tiers) -> RobotFile {
    let mut text = ROVER.to_owned();
    for (old, new) in changes {
        text = replaced(&text, old, new);
    }
    RobotFile::parse("tiers/robots/rover-sim.toml", &text, tiers).unwrap()
}

/// Returns the faults of the rover after these changes, each as one line.
pub(super) fn faults(changes: &[(&str, &str)]) -> Vec<String> {
    let found = RobotRules::compile(&rover(changes), &tiers()).unwrap_err();
    found.iter().map(ConfigError::to_string).collect()
}

/// Builds the descriptor of a robot tool, as the tools of the robot do.
pub(super) fn descriptor(tool: &ToolDef, rules: &ToolRules) -> Descriptor {
    let device = Device::new(&tool.device);
    let actuate = |motion| Effect::Actuate {
        tier: tool.tier.unwrap(),
        device: device.clone(),
        motion,
    };
    let effect = match tool.effect {
        EffectWord::Observe => Effect::Observe { tier: tool.tier },
        EffectWord::Move => actuate(Motion::Move),
        EffectWord::Hold => actuate(Motion::Hold),
        EffectWord::Config => actuate(Motion::Config),
        EffectWord::Stop => Effect::Stop {
            device: device.clone(),
            kind: if tool.verb == Verb::Stop {
                StopKind::Stop
            } else {
                StopKind::Estop
            },
        },
    };
    Descriptor {
        name: tool.name.clone(),
        description: Arc::from(tool.describe.as_str()),
        schema: rules.schema_value().clone(),
        effect,
        access: Access::Shared,
        budget: Budget::of_ms(u64::from(tool.timeout_ms)),
        rule: Some(tool.rule.clone()),
    }
}

/// The rover, armed and at rest at home, and what was spent on it.
#[derive(Debug)]
pub(super) struct Rig {
    pub robot: RobotFile,
    pub rules: Arc<RobotRules>,
    pub pace: Pace,
    pub now: Posture,
}

impl Rig {
    pub(super) fn new() -> Self {
        Self::with(&[])
    }

    pub(super) fn with(changes: &[(&str, &str)]) -> Self {
        Self::under(changes, &tiers())
    }

    pub(super) fn under(changes: &[(&str, &str)], tiers: &Tiers) -> Self {
        let robot = parse_rover(changes, tiers);
        let rules = RobotRules::compile(&robot, tiers).unwrap();
        Self {
            pace: Pace::new(&rules),
            now: Posture::at_rest([0.0; 3]),
            robot,
            rules,
        }
    }

    pub(super) fn descriptor(&self, name: &str) -> Descriptor {
        let place = self
            .robot
            .tools
            .iter()
            .position(|tool| tool.name.as_str() == name)
            .unwrap();
        descriptor(&self.robot.tools[place], &self.rules.tools()[place])
    }

    pub(super) fn tool(&self, name: &str) -> &ToolRules {
        let mut tools = self.rules.tools().iter();
        tools.find(|tool| tool.name().as_str() == name).unwrap()
    }

    /// Lets time pass; the robot goes on reporting its state.
    pub(super) fn wait(&mut self, ms: u64) {
        self.now.now = self.now.now.plus_ms(ms);
        if let Some(reading) = &mut self.now.reading {
            reading.at = self.now.now;
        }
    }

    /// Stops the robot: a new epoch.
    pub(super) fn stop(&mut self) {
        self.now.epoch += 1;
    }

    pub(super) fn limit(&self, name: &str, args: &Value) -> Result<Limited, Refusal> {
        let tool = self.tool(name);
        let schema = Schema::compile(tool.schema_value()).unwrap();
        let checked = schema.check(name, args).map_err(|report| Refusal {
            reason: Reason::Schema,
            needed: None,
            effective: Tier::SafeMotion,
            rule: None,
            detail: report.to_string(),
            hint: String::new(),
        })?;
        let base = self.pace.base(tool, self.now.epoch);
        tool.limit(checked, &base)
            .map_err(|overrun| overrun.into_refusal(Tier::SafeMotion))
    }

    pub(super) fn admit(&mut self, name: &str, args: &Limited) -> Result<Grant, Refusal> {
        let descriptor = self.descriptor(name);
        let rules = self.rules.clone();
        let tool = rules
            .tools()
            .iter()
            .find(|tool| tool.name().as_str() == name);
        let ask = Admission {
            subject: Subject::of(&descriptor, tool).unwrap(),
            args,
            call: 7,
            effective: descriptor
                .effect
                .needed_tier()
                .max(Some(Tier::SafeMotion))
                .unwrap(),
            elevation: None,
        };
        admit(ask, &self.now, &mut self.pace)
    }

    /// Takes a call all the way from its arguments to its grant.
    pub(super) fn call(&mut self, name: &str, args: Value) -> Result<(Grant, Limited), Refusal> {
        let limited = self.limit(name, &args)?;
        let grant = self.admit(name, &limited)?;
        Ok((grant, limited))
    }

    /// Calls, and asserts that it is refused for this reason and that nothing was spent.
    pub(super) fn refused(&mut self, name: &str, args: Value, reason: Reason) -> Refusal {
        let before = self.pace.clone();
        let refusal = self.call(name, args).unwrap_err();
        assert_eq!(refusal.reason, reason, "{refusal}");
        assert_eq!(self.pace, before, "a refused call must spend nothing");
        refusal
    }
}

/// Returns the time `ms` after the rig's beginning.
pub(super) fn after(ms: u64) -> Mono {
    Mono::from_ms(1).plus_ms(ms)
}
