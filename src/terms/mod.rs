//! The words that all rooms share.
//!
//! Nothing here opens a file, a socket or a thread, and nothing here decides: a type in this room
//! names a thing, gives its unit and range, and parses or prints it. The port traits
//! ([`Wire`], [`FactSink`], [`Lane`], [`Human`], [`ElevationPort`], [`Senses`], [`Clock`]) are the only seams to the outside world; `app`
//! chooses who stands behind them.

mod args_text;
mod call;
mod clock;
mod command;
mod counted;
mod descriptor;
mod effect;
mod elevation;
mod fact;
mod fact_kinds;
mod human;
mod keeping;
mod lane;
mod name;
mod nearest;
mod plain;
mod posture;
mod quantity;
mod refusal;
mod robot_port;
mod run_state;
mod sensor;
mod socket_peer;
mod tier;
mod wire;

pub use args_text::{ArgsTextError, parse_args};
pub use call::{Blame, Call, CallOrigin, CallReport, Outcome, Retry, ToolError};
pub use clock::{Clock, Mono};
pub use command::{
    ActuationCmd, CommandKind, LeaseTerms, PARAMS_BYTES_MAX, Params, SafetyEvent, SafetyEventKind,
};
pub use counted::counted;
pub use descriptor::{ARGS_DEPTH_MAX, Access, Budget, Descriptor, Rule, ToolSpec};
pub use effect::{Device, Effect, Motion};
pub use elevation::{
    ELEVATED_CALLS_MAX, ELEVATED_S_MAX, ELEVATED_TOOLS_MAX, ELEVATIONS_MAX, Elevated, ElevationEnd,
    ElevationId, ElevationPort, NoElevations, Raised,
};
pub use fact::{DropCause, Fact, FactClass, FactSink, InputFault};
pub use fact_kinds::FACT_KINDS;
pub use human::{ApprovalOutcome, ApprovalRequest, Approver, Human, Nobody, Said, Unasked};
pub use keeping::Keeping;
pub use lane::{Lane, LaneError, LaneReply, Message};
pub use name::{NameError, RobotId, ToolName};
pub use nearest::nearest;
pub use plain::{plain, steers};
pub use posture::{GraphTimer, Posture, Reading};
pub use quantity::{Kind, KindError};
pub use refusal::{Reason, Refusal};
pub use robot_port::RobotPort;
pub use run_state::{RunState, StopCause, StopKind};
pub use sensor::{
    SENSED_CHARS_MAX, SENSED_LIST_MAX, SENSOR_TOKENS, SENSOR_TOKENS_MAX, SENSOR_TOKENS_MIN,
    SENSORS_MAX, SensedValue, Senses, SensorReading, Surroundings,
};
pub use socket_peer::SocketPeer;
pub use tier::{Tier, TierError};
pub use wire::{Input, Output, PeerEvent, Wire, WireError, WireEvent};
