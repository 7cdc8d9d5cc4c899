//! Fixed-size words of the actuation path: nothing here touches a heap.

use super::{ElevationEnd, ElevationId, Mono, RunState, StopCause};

/// Largest parameters of one command, bytes of JSON. Longer motion arguments are refused at `limit`.
pub const PARAMS_BYTES_MAX: usize = 1024;

/// The parameters of a command: one JSON object as text.
pub type Params = heapless::String<PARAMS_BYTES_MAX>;

/// What a command does on the robot's side, as far as the checks before the send must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandKind {
    /// Starts a motion that ends by itself.
    Move,
    /// Starts or prolongs a motion that expires by itself.
    Hold,
    /// Changes the robot's set-up.
    Config,
    /// Reads. Passes in every state: it needs neither lease nor arming.
    Read,
}

impl CommandKind {
    /// Returns whether this command can move the robot.
    pub fn moves(self) -> bool {
        matches!(self, Self::Move | Self::Hold)
    }
}

/// The lease that a motion call asks for. Source: the tier file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTerms {
    /// The number of the call; 0 for reads.
    pub call: u64,
    /// Progress is looked for this often, ms.
    pub renew_ms: u32,
    /// Without progress for this long the lease is lost, ms.
    pub lost_after_ms: u32,
    /// The lease ends at this age whatever happens, ms.
    pub hard_max_ms: u32,
    /// For a hold: without a repeat for this long the motion ends, ms; 0 for all others.
    pub hold_ms: u32,
    /// The Elevation that permits the call: the call ends with it; `None` when it needs none.
    pub elevation: Option<ElevationId>,
}

/// One command on its way to the robot.
#[derive(Debug, Clone)]
pub struct ActuationCmd {
    /// The request id: a UUID.
    pub id: [u8; 16],
    /// Index of the tool in the robot file: gives the verb.
    pub tool: u16,
    /// What it does.
    pub kind: CommandKind,
    /// The stop epoch under which it was admitted.
    pub epoch: u32,
    /// After this time it must not leave.
    pub deadline: Mono,
    /// The lease it runs under.
    pub lease: LeaseTerms,
    /// The parameters, JSON.
    pub params: Params,
}

/// What happened on the safety path: small and of fixed size. The recorder turns it into a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SafetyEvent {
    /// When.
    pub at: Mono,
    /// What.
    pub kind: SafetyEventKind,
}

/// The kinds of [`SafetyEvent`], with their small arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SafetyEventKind {
    /// The run state changed.
    State {
        /// Before.
        from: RunState,
        /// After.
        to: RunState,
        /// Why, when a stop was the cause.
        cause: Option<StopCause>,
    },
    /// The tick itself asked for a stop; the latch word is set.
    StopAsked {
        /// Why.
        cause: StopCause,
        /// Whether it latches.
        estop: bool,
        /// The new epoch.
        epoch: u32,
    },
    /// A stop began.
    StopBegun {
        /// Why.
        cause: StopCause,
        /// Whether it latches.
        estop: bool,
        /// The new epoch.
        epoch: u32,
    },
    /// A stop verb was handed over: `step` of the stop sequence, for the `nth` time.
    StopVerb {
        /// Index in the stop sequence.
        step: u8,
        /// Counts from 1 in each step.
        nth: u16,
    },
    /// The robot answered a stop verb.
    StopAnswered {
        /// Index in the stop sequence.
        step: u8,
        /// Whether the answer was `ok`.
        ok: bool,
    },
    /// Standstill was confirmed after a stop.
    Standstill {
        /// Time from the stop to the confirmation, ms.
        after_ms: u32,
    },
    /// Standstill was not confirmed in time: escalated.
    NotConfirmed {
        /// Time from the stop, ms.
        after_ms: u32,
    },
    /// A command was handed over.
    Sent {
        /// Index of the tool.
        tool: u16,
        /// The number of the call.
        call: u64,
        /// Whether it was a repeat of a hold.
        repeat: bool,
    },
    /// The last check kept a command back.
    Dropped {
        /// Index of the tool.
        tool: u16,
        /// The number of the call.
        call: u64,
        /// Why.
        why: super::DropCause,
    },
    /// A heartbeat was handed over.
    Heartbeat,
    /// The last check kept a heartbeat back.
    HeartbeatDropped,
    /// Control was released after standstill.
    Released,
    /// The dataflow refused a frame.
    SendFailed,
    /// The safety tick came late.
    LateTick {
        /// By how much, ms.
        late_ms: u32,
    },
    /// The timer of the dataflow stands still.
    GraphSilent {
        /// For how long, ms.
        ms: u32,
    },
    /// The timer of the dataflow ticks again and has for long enough.
    GraphBack {
        /// For how long no motion could begin, ms.
        after_ms: u32,
    },
    /// An Elevation ended.
    Lowered {
        /// Which.
        elevation: ElevationId,
        /// Why.
        cause: ElevationEnd,
        /// The calls that it had left.
        left: u32,
    },
    /// An operator's order was carried out or refused.
    Order {
        /// Its number.
        seq: u32,
        /// The failed checks as bits; 0 when it was carried out.
        failed: u32,
    },
}
