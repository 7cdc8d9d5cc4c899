//! The port to a language model: a conversation in, text and calls out.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use super::{Call, CallReport, ToolSpec};

/// One entry of the conversation.
#[derive(Debug, Clone)]
pub enum Message {
    /// What the runtime says of itself and of the rules.
    System(String),
    /// A goal or an answer of a person or peer.
    User(String),
    /// What the model said and the calls it asked for.
    Assistant(LaneReply),
    /// The reports of those calls, one for each, in the same order.
    Tools(Vec<CallReport>),
    /// What is known of the robot now. Always the last entry, and never in the next conversation: all
    /// before it stays byte for byte what it was. A lane sends it as the end of what a user says.
    Sensors(String),
}

/// A reply of the model: data, whatever it says.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneReply {
    /// The text; may be empty.
    pub text: String,
    /// The calls it asks for, in order; none means that the model is done.
    pub calls: Vec<Call>,
}

/// Why no reply came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// The lane has no further reply: a script that ended.
    #[error("the script of the model has no reply for step {step}")]
    Exhausted {
        /// The step that was asked for, counted from 1.
        step: u32,
    },
    /// A script wanted to see something in the sensor context that was not there.
    #[error(
        "step {step} of the script waits for `{wanted}` in the sensor context, and it is not there"
    )]
    Unseen {
        /// The step, counted from 1.
        step: u32,
        /// What it waits for.
        wanted: String,
    },
    /// The reply did not come in time.
    #[error("no reply of the model within {limit_ms} ms")]
    Late {
        /// The limit, ms.
        limit_ms: u64,
    },
}

/// A way to a model.
pub trait Lane: Send + fmt::Debug {
    /// Asks for the next reply.
    ///
    /// # Cancellation
    /// Dropping the future abandons the request; nothing has been executed.
    fn reply<'a>(
        &'a mut self,
        conversation: &'a [Message],
        tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<LaneReply, LaneError>>;
}
