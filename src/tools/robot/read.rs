//! A tool that asks the robot something.

use std::sync::Arc;

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::describe::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::robot::Bridge;
use crate::terms::{Descriptor, ToolError};

/// Sends one verb that reads and tells what the robot answered.
#[derive(Debug)]
pub(super) struct Read {
    parts: Parts,
    bridge: Arc<Bridge>,
}

impl Read {
    pub(super) fn new(parts: Parts, bridge: Arc<Bridge>) -> Self {
        Self { parts, bridge }
    }
}

impl RawTool for Read {
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
            text::answer(self.bridge.read(cx.grant(), &params).await?)
        })
    }
}
