//! A tool that moves the robot: its permit goes to the bridge, which lives the whole motion.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::describe::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::robot::Bridge;
use crate::terms::{Descriptor, ToolError};

/// Moves the robot, by a goal or for a moment.
#[derive(Debug)]
pub(super) struct Drive {
    parts: Parts,
    bridge: Arc<Bridge>,
}

impl Drive {
    pub(super) fn new(parts: Parts, bridge: Arc<Bridge>) -> Self {
        Self { parts, bridge }
    }
}

impl RawTool for Drive {
    fn describe(&self) -> Descriptor {
        self.parts.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.parts.robot.clone())
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let params = self.parts.params(&args);
            let permit = cx.into_permit().ok_or_else(text::no_permit)?;
            let end = self.bridge.motion(permit, &params).await?;
            let state = self.bridge.state();
            let now = self.bridge.now();
            Ok(text::motion(
                &end,
                state.as_ref().map(|state| (state, now)),
            ))
        })
    }
}
