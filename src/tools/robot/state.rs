//! The tool that tells the robot's latest state. It asks nobody: it answers from what was received.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::parts::Parts;
use crate::catalog::{CallCx, RobotTool, Tool};
use crate::terms::{Blame, Descriptor, Retry, RobotPort, ToolError};

/// Tells the latest state, its age, and whether the robot may move.
#[derive(Debug)]
pub(super) struct State(pub(super) Parts);

/// It takes nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StateArgs {}

impl Tool for State {
    type Args = StateArgs;

    fn describe(&self) -> Descriptor {
        self.0.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.0.robot.clone())
    }

    async fn run(&self, _cx: CallCx<'_>, _args: StateArgs) -> Result<String, ToolError> {
        let posture = self.0.bridge.posture();
        let Some(view) = self.0.bridge.state() else {
            return Err(ToolError::Failed {
                detail: "the robot has not reported a state yet".to_owned(),
                blame: Blame::Link,
                retry: Retry::Later,
            });
        };
        let told = json!({
            "age_ms": view.age_ms(posture.now),
            "run_state": posture.run,
            "stopped_because": posture.cause,
            "state": *view.state,
        });
        Ok(told.to_string())
    }
}
