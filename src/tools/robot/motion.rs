//! A tool that moves the robot: its permit goes to the bridge, which lives the whole motion.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::parts::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::terms::{Descriptor, ToolError};

/// Moves the robot, by a goal or for a moment.
#[derive(Debug)]
pub(super) struct Drive(pub(super) Parts);

impl RawTool for Drive {
    fn describe(&self) -> Descriptor {
        self.0.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.0.robot.clone())
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let params = self.0.params(&args);
            let permit = cx.into_permit().ok_or_else(text::no_permit)?;
            let end = self.0.bridge.motion(permit, &params).await?;
            let state = self.0.bridge.state();
            let now = self.0.bridge.now();
            Ok(text::motion(&end, state.as_ref().map(|state| (state, now))))
        })
    }
}
