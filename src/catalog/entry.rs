//! One tool of the catalog: its description, its compiled schema and its body.

use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt};
use serde_json::{Map, Value};

use super::CallCx;
use super::tool::Erased;
use crate::arguments::Schema;
use crate::gate::{RobotRules, ToolRules};
use crate::terms::{Blame, Descriptor, Retry, ToolError};

/// The rules of one tool of a robot file.
#[derive(Debug, Clone)]
pub struct RobotTool {
    rules: Arc<RobotRules>,
    index: u16,
}

impl RobotTool {
    /// Names the tool at `index` of the robot file. Whether it exists is checked when the catalog
    /// is built.
    pub fn new(rules: Arc<RobotRules>, index: u16) -> Self {
        Self { rules, index }
    }

    /// Returns the index in the robot file.
    pub fn index(&self) -> u16 {
        self.index
    }

    /// Returns the rules; `None` when the robot file has no such tool.
    pub fn rules(&self) -> Option<&ToolRules> {
        self.rules.tool(self.index)
    }
}

/// What a tool does when it is called.
#[derive(Debug)]
pub(super) enum Body {
    /// A stop: the executor does it without the tool.
    Stop,
    /// Code.
    Code(Arc<dyn Erased>),
}

/// One tool.
#[derive(Debug)]
pub struct Entry {
    pub(super) descriptor: Descriptor,
    pub(super) schema: Schema,
    pub(super) robot: Option<RobotTool>,
    pub(super) body: Body,
}

impl Entry {
    /// Returns what the pipeline knows of the tool.
    pub fn descriptor(&self) -> &Descriptor {
        &self.descriptor
    }

    /// Returns the compiled schema of its arguments.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the rules of the robot file that bind it; `None` when it is no robot's tool.
    pub fn rules(&self) -> Option<&ToolRules> {
        self.robot.as_ref().and_then(RobotTool::rules)
    }

    /// Runs the tool. The context holds the grant, so only a call that passed comes here.
    pub(crate) fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        match &self.body {
            Body::Code(code) => code.run(cx, args),
            Body::Stop => future::ready(Err(without_body())).boxed(),
        }
    }
}

fn without_body() -> ToolError {
    ToolError::Failed {
        detail: "a stop has no body to run".to_owned(),
        blame: Blame::Tool,
        retry: Retry::Never,
    }
}
