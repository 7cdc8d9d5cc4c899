//! A tool that asks the robot something.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::parts::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::terms::{Descriptor, ToolError};

/// Sends one verb that reads and tells what the robot answered.
#[derive(Debug)]
pub(super) struct Read(pub(super) Parts);

impl RawTool for Read {
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
            text::answer(self.0.bridge.read(cx.grant(), &params).await?)
        })
    }
}
