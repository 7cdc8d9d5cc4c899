//! A tool that changes the robot's set-up and moves nothing by itself.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::parts::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::terms::{Descriptor, ToolError};

/// Sends one verb, once, and tells what the robot answered.
#[derive(Debug)]
pub(super) struct Configure(pub(super) Parts);

impl RawTool for Configure {
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
            text::answer(self.0.bridge.configure(permit, &params).await?)
        })
    }
}
