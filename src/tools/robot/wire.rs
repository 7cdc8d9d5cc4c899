//! A tool that puts a verb on the wire: it moves the robot, changes its set-up, or asks it something.

use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::parts::Parts;
use super::text;
use crate::catalog::{CallCx, RawTool, RobotTool};
use crate::terms::{Descriptor, ToolError};

/// What the verb does, and so which proof the bridge takes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Moves, by a goal or for a moment: the bridge takes the permit and lives the whole motion.
    Move,
    /// Changes the set-up: the bridge takes the permit and sends the verb once.
    Configure,
    /// Asks: the grant is enough.
    Read,
}

/// A tool with a verb of its own.
#[derive(Debug)]
pub(super) struct WireTool {
    pub(super) parts: Parts,
    pub(super) deed: Deed,
}

impl RawTool for WireTool {
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
            let (bridge, params) = (&self.parts.bridge, self.parts.params(&args));
            match self.deed {
                Deed::Read => text::answer(bridge.read(cx.grant(), &params).await?),
                Deed::Configure => {
                    let permit = cx.into_permit().ok_or_else(text::no_permit)?;
                    text::answer(bridge.configure(permit, &params).await?)
                }
                Deed::Move => {
                    let permit = cx.into_permit().ok_or_else(text::no_permit)?;
                    let end = bridge.motion(permit, &params).await?;
                    let state = bridge.state();
                    Ok(text::motion(
                        &end,
                        state.as_ref().map(|state| (state, bridge.now())),
                    ))
                }
            }
        })
    }
}
