//! The tool that tells the robot's safety events, so that an agent can see why it was stopped.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::parts::Parts;
use crate::catalog::{CallCx, RobotTool, Tool};
use crate::terms::{Descriptor, RobotPort, ToolError};

/// Tells the safety events that were received.
#[derive(Debug)]
pub(super) struct SafetyEvents(pub(super) Parts);

/// Which events.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsArgs {
    /// Only events with a higher number; all that are kept when it is absent.
    #[serde(default)]
    since: Option<u64>,
}

impl Tool for SafetyEvents {
    type Args = EventsArgs;

    fn describe(&self) -> Descriptor {
        self.0.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.0.robot.clone())
    }

    async fn run(&self, _cx: CallCx<'_>, args: EventsArgs) -> Result<String, ToolError> {
        let now = self.0.bridge.posture().now;
        let notes = self.0.bridge.safety_events(args.since.unwrap_or(0));
        // The events themselves are left out: with 128 of them kept, they would drown the answer.
        let events: Vec<Value> = notes
            .iter()
            .map(|note| {
                json!({
                    "seq": note.seq,
                    "what": note.what,
                    "age_ms": now.ms_since(note.at),
                    "missed_before": note.missed_before,
                })
            })
            .collect();
        Ok(json!({ "events": events }).to_string())
    }
}
