//! Tools that do what a test tells them, and their descriptions.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::sleep;

use super::{Notes, NotingRobot};
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::config::{EffectWord, ToolDef, Verb};
use crate::terms::{
    Access, Budget, Descriptor, Device, Effect, Motion, Reason, Refusal, RobotPort, StopCause,
    StopKind, Tier, ToolError, ToolName,
};

/// What a test tool does.
#[derive(Debug, Clone)]
pub(in crate::executor::tests) enum Does {
    Answer(String),
    SleepMs(u64),
    Panic,
    PanicWhenDropped,
    Fail,
    RefuseLate,
    Stop(Arc<NotingRobot>),
}

/// Notes when it is dropped before it ended.
struct Running<'a> {
    name: &'a str,
    notes: &'a Notes,
    ended: bool,
    panics: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.notes.add(format!("{} dropped", self.name));
            assert!(!self.panics, "a panic while dropping");
        }
    }
}

#[derive(Debug)]
pub(super) struct TestTool {
    pub(super) descriptor: Descriptor,
    pub(super) robot: Option<RobotTool>,
    pub(super) does: Does,
    pub(super) notes: Notes,
}

impl TestTool {
    async fn act(&self) -> Result<String, ToolError> {
        match &self.does {
            Does::Answer(text) => Ok(text.clone()),
            Does::SleepMs(ms) => {
                sleep(Duration::from_millis(*ms)).await;
                Ok("slept".to_owned())
            }
            Does::Panic => panic!("secret of the tool"),
            Does::PanicWhenDropped => std::future::pending().await,
            Does::Fail => Err(ToolError::OutcomeUnknown {
                detail: "no answer".to_owned(),
            }),
            Does::RefuseLate => Err(ToolError::Refused(Box::new(Refusal {
                reason: Reason::LeaseExpired,
                needed: None,
                effective: Tier::SafeMotion,
                rule: None,
                detail: "the lease ran out".to_owned(),
                hint: String::new(),
            }))),
            Does::Stop(robot) => {
                robot.stop(StopKind::Stop, StopCause::OperatorStop, Some("eve"));
                Ok("stopped meanwhile".to_owned())
            }
        }
    }
}

impl RawTool for TestTool {
    fn describe(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        self.robot.clone()
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        let name = self.descriptor.name.as_str();
        self.notes.add(format!("{name} begins"));
        Box::pin(async move {
            let _cx = cx;
            let mut running = Running {
                name,
                notes: &self.notes,
                ended: false,
                panics: matches!(self.does, Does::PanicWhenDropped),
            };
            let result = self.act().await;
            running.ended = true;
            self.notes.add(format!("{name} ends"));
            result
        })
    }
}

/// A tool that belongs to no robot.
pub(super) fn plain(name: &str, access: Access, timeout_ms: u64) -> Descriptor {
    Descriptor {
        name: ToolName::parse(name).unwrap(),
        description: "a tool of the tests".into(),
        schema: Arc::new(json!({
            "type": "object",
            "properties": {},
            "additionalProperties": false,
        })),
        effect: Effect::Observe { tier: None },
        access,
        budget: Budget {
            output_bytes_max: 100,
            ..Budget::of_ms(timeout_ms)
        },
        rule: None,
    }
}

/// The rover's tool, described as the robot room would.
pub(super) fn rover_tool(def: &ToolDef, schema: Arc<Value>) -> Descriptor {
    let device = Device::new(&def.device);
    let actuate = |motion| Effect::Actuate {
        tier: def.tier.unwrap(),
        device: device.clone(),
        motion,
    };
    let stop = |kind| Effect::Stop {
        device: device.clone(),
        kind,
    };
    let effect = match (def.effect, &def.verb) {
        (EffectWord::Observe, _) => Effect::Observe { tier: def.tier },
        (EffectWord::Move, _) => actuate(Motion::Move),
        (EffectWord::Hold, _) => actuate(Motion::Hold),
        (EffectWord::Config, _) => actuate(Motion::Config),
        (EffectWord::Stop, Verb::Estop) => stop(StopKind::Estop),
        (EffectWord::Stop, _) => stop(StopKind::Stop),
    };
    Descriptor {
        name: def.name.clone(),
        description: def.describe.as_str().into(),
        schema,
        access: match effect {
            Effect::Actuate { .. } => Access::Exclusive(def.device.as_str().into()),
            Effect::Observe { .. } | Effect::Mutate | Effect::Stop { .. } => Access::Shared,
        },
        effect,
        budget: Budget::of_ms(u64::from(def.timeout_ms)),
        rule: Some(def.rule.clone()),
    }
}
