//! The port between the robot room and a dataflow: small frames out, typed events in.
//!
//! No dora type crosses it: `node` translates. Payloads are text because every payload of the
//! vendor envelope is an Arrow string array of one element that holds JSON.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The inputs of either node of the vendor envelope, by their ids in the dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// A timer of the dataflow: liveness of the graph, or the robot's own step.
    Tick,
    /// Requests to a robot.
    CmdRequest,
    /// Answers of a robot.
    CmdResponse,
    /// What a robot advertises.
    Capabilities,
    /// The robot's latest state.
    State,
    /// Safety events of the robot.
    SafetyEvent,
}

impl Input {
    /// All inputs.
    pub const ALL: [Self; 6] = [
        Self::Tick,
        Self::CmdRequest,
        Self::CmdResponse,
        Self::Capabilities,
        Self::State,
        Self::SafetyEvent,
    ];

    /// Returns the id in the dataflow.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tick => "tick",
            Self::CmdRequest => "cmd_request",
            Self::CmdResponse => "cmd_response",
            Self::Capabilities => "capabilities",
            Self::State => "state",
            Self::SafetyEvent => "safety_event",
        }
    }

    /// Returns the input of this id, `None` when it is not one of the envelope.
    pub fn of_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|input| input.as_str() == id)
    }
}

/// The outputs of either node of the vendor envelope, by their ids in the dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Output {
    /// Requests to a robot.
    CmdRequest,
    /// Answers of a robot.
    CmdResponse,
    /// What a robot advertises.
    Capabilities,
    /// The robot's latest state.
    State,
    /// Safety events of the robot.
    SafetyEvent,
}

impl Output {
    /// All outputs.
    pub const ALL: [Self; 5] = [
        Self::CmdRequest,
        Self::CmdResponse,
        Self::Capabilities,
        Self::State,
        Self::SafetyEvent,
    ];

    /// Returns the id in the dataflow.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CmdRequest => "cmd_request",
            Self::CmdResponse => "cmd_response",
            Self::Capabilities => "capabilities",
            Self::State => "state",
            Self::SafetyEvent => "safety_event",
        }
    }
}

/// A frame could not be handed over.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("could not hand a frame to the dataflow: {0}")]
pub struct WireError(
    /// What the dataflow said.
    pub String,
);

/// The sending half of a node. One thread owns it.
pub trait Wire: Send + fmt::Debug {
    /// Hands one payload over. `Ok` proves nothing about its arrival: the dataflow may drop it.
    ///
    /// `request_id` travels in the metadata as well, for tracing and to shield the message from
    /// drop-oldest at the receiver.
    ///
    /// # Errors
    /// [`WireError`] when the dataflow is gone.
    fn send(
        &mut self,
        output: Output,
        payload: &str,
        request_id: Option<&str>,
    ) -> Result<(), WireError>;
}

/// What became of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PeerEvent {
    /// An input closed: its node is gone or has finished.
    Closed,
    /// An input came alive again after a timeout.
    Recovered,
    /// The node behind our inputs restarted: it forgot its latch.
    Restarted,
    /// The node behind our inputs failed.
    Failed,
}

/// One event of a dataflow, every kind handled on purpose.
#[derive(Debug, Clone, PartialEq)]
pub enum WireEvent {
    /// A payload. `text` is `None` when it was not one UTF-8 string.
    Data {
        /// Which input.
        input: Input,
        /// The payload, not yet parsed and of any size.
        text: Option<String>,
    },
    /// A payload on an input that is not of the envelope.
    Stray {
        /// The id of the input.
        input: String,
    },
    /// Something happened to a peer.
    Peer {
        /// What happened.
        event: PeerEvent,
        /// The node or input it happened to.
        who: String,
    },
    /// Somebody asked to set (`value` is JSON text) or delete (`None`) a runtime parameter.
    Param {
        /// The name of the parameter.
        key: String,
        /// The new value, `None` for a deletion.
        value: Option<String>,
    },
    /// The dataflow asks the node to end.
    Stop,
    /// The dataflow asks for a reload.
    Reload,
    /// The event stream broke: the daemon is gone.
    Broken(String),
    /// A kind of event that this build does not know.
    Unknown,
}
