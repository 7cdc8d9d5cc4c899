//! Facts: one list of all that can happen. Metrics, audit, log, the summary of `sim` and the tests
//! are readings of it. One happening raises one fact, in the place where it happens.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    ApprovalOutcome, Approver, ElevationEnd, ElevationId, Input, Keeping, PeerEvent, Reason,
    RunState, SocketPeer, StopCause, StopKind, Tier,
};

/// How a fact is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FactClass {
    /// Stops, run states, latches: never dropped while there is room of its own.
    Safety,
    /// Who asked for what and what came of it.
    Audit,
    /// Fine detail; dropped first.
    Trace,
}

/// What is wrong with a message of the dataflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputFault {
    /// Larger than the cap of its input.
    Oversized,
    /// Not one UTF-8 string.
    NotText,
    /// Not JSON, or nested too deeply.
    NotJson,
    /// JSON of another shape than the envelope's.
    BadShape,
    /// Of another robot.
    WrongRobot,
    /// An answer to a request that nobody made.
    UnknownResponse,
    /// A second answer to the same request.
    DuplicateResponse,
    /// On an input that the envelope does not know.
    UnknownInput,
    /// A state whose number has not risen: an old one, said again.
    StaleSeq,
}

impl InputFault {
    /// All faults.
    pub const ALL: [Self; 9] = [
        Self::Oversized,
        Self::NotText,
        Self::NotJson,
        Self::BadShape,
        Self::WrongRobot,
        Self::UnknownResponse,
        Self::DuplicateResponse,
        Self::UnknownInput,
        Self::StaleSeq,
    ];

    /// Returns the label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Oversized => "oversized",
            Self::NotText => "not_text",
            Self::NotJson => "not_json",
            Self::BadShape => "bad_shape",
            Self::WrongRobot => "wrong_robot",
            Self::UnknownResponse => "unknown_response",
            Self::DuplicateResponse => "duplicate_response",
            Self::UnknownInput => "unknown_input",
            Self::StaleSeq => "stale_seq",
        }
    }
}

/// Why the last check kept a command back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropCause {
    /// A stop came between admission and send.
    Epoch,
    /// Its deadline had passed.
    Deadline,
    /// Its lease had run out.
    Lease,
    /// The Elevation that permitted it had ended.
    Elevation,
    /// The run state admits no motion.
    NotArmed,
    /// The queue to the sending thread was full.
    Full,
    /// The dataflow refused the frame.
    Send,
}

impl DropCause {
    /// All causes.
    pub const ALL: [Self; 7] = [
        Self::Epoch,
        Self::Deadline,
        Self::Lease,
        Self::Elevation,
        Self::NotArmed,
        Self::Full,
        Self::Send,
    ];

    /// Returns the label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Epoch => "epoch",
            Self::Deadline => "deadline",
            Self::Lease => "lease",
            Self::Elevation => "elevation",
            Self::NotArmed => "not_armed",
            Self::Full => "full",
            Self::Send => "send",
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// The process began to serve a robot.
    Started {
        /// Name of the robot file.
        robot: String,
        /// The robot's id.
        robot_id: String,
        /// Id of the board file.
        board: String,
        /// Process id.
        pid: u32,
        /// How often the dataflow restarted this node.
        restarts: u32,
        /// Whether the last run ended while armed, or was restarted.
        unclean: bool,
        /// The tier in force.
        tier: Tier,
        /// The binary's version.
        version: String,
    },
    /// The process ended in order.
    Ended {
        /// The exit code it ends with.
        code: u8,
    },
    /// Tools that the model is not shown.
    ToolsHidden {
        /// Why.
        reason: Reason,
        /// The tier they need.
        tier: Option<Tier>,
        /// How many.
        count: u32,
    },
    /// The robot advertised itself.
    Advert {
        /// Vendor.
        vendor: String,
        /// Model.
        model: String,
        /// Process id of the robot's node, when it says so.
        pid: Option<u32>,
        /// Dead-man time that it advertises, ms.
        deadman_ms: Option<u32>,
        /// Number of verbs.
        verbs: u32,
    },
    /// The advert claims another tier than the robot file; the file stands.
    AdvertTier {
        /// The verb, as in the robot file.
        verb: String,
        /// The tier of the file, `None` for a stop.
        file: Option<Tier>,
        /// What the advert claims, cut to 40 characters.
        claimed: String,
    },
    /// Verbs that the robot advertises and the robot file lacks: they are no tools.
    AdvertUnknown {
        /// How many.
        count: u32,
    },
    /// Verbs that the robot file sends and the advert lacks. The robot may know them all the same:
    /// not every robot lists the verbs that stop it.
    AdvertMissing {
        /// The verbs, those that stop the robot first, at most 32.
        verbs: Vec<String>,
    },
    /// A goal was given to the agent.
    GoalBegun {
        /// Number of the goal, from 1.
        goal: u32,
        /// Digest of its text; the text itself is not kept.
        digest: String,
        /// Who gave it.
        by: String,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// The agent finished a goal.
    GoalEnded {
        /// Number of the goal.
        goal: u32,
        /// Why it ended: `done`, or the budget or guard that ended it.
        why: String,
        /// Steps that the model took.
        steps: u32,
        /// Calls that could move the robot.
        actuations: u32,
    },
    /// A goal that waited was not begun.
    GoalDropped {
        /// Number of the goal.
        goal: u32,
        /// Digest of its text.
        digest: String,
        /// Who gave it.
        by: String,
        /// Why: `stopped` by a person before it began, or `shutdown`.
        why: String,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// The model was shown its robot, before a reply.
    SensorsShown {
        /// Number of the goal.
        goal: u32,
        /// How often the model was asked for it, this time included.
        step: u32,
        /// Digest of the text; the text itself is not kept.
        digest: String,
        /// Its length in tokens, by estimate.
        tokens: u32,
        /// How many readings it shows.
        readings: u32,
        /// How many of them are stale.
        stale: u32,
        /// How many of them are absent.
        absent: u32,
        /// How many readings found no room.
        left_out: u32,
    },
    /// A person was asked whether a call may run.
    ApprovalAsked {
        /// Id of the question.
        request: String,
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// The tier it needs.
        tier: Option<Tier>,
        /// Digest of the final arguments.
        args: String,
        /// How long the question stands, ms.
        ttl_ms: u64,
    },
    /// A question to a person ended, or was answered when it did not stand.
    ApprovalEnded {
        /// Id of the question, as it was answered; cut to 80 characters.
        request: String,
        /// How.
        outcome: ApprovalOutcome,
        /// Who answered, if somebody did.
        who: Option<String>,
        /// The reason that they gave.
        why: String,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// An operator gave a higher tier for some tools.
    ElevationGiven {
        /// Which.
        elevation: ElevationId,
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// Up to which tier.
        tier: Tier,
        /// For which tools.
        tools: Vec<String>,
        /// For how many calls.
        calls: u32,
        /// For how long, s.
        for_s: u32,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// A call was granted that an Elevation permits.
    ElevationUsed {
        /// Which.
        elevation: ElevationId,
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// The calls that are left.
        left: u32,
    },
    /// An Elevation ended.
    ElevationEnded {
        /// Which.
        elevation: ElevationId,
        /// Why.
        cause: ElevationEnd,
        /// The calls that it had left.
        left: u32,
    },
    /// A call was granted and runs.
    Granted {
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// The tier it needs.
        tier: Option<Tier>,
        /// Digest of the final arguments.
        args: String,
        /// What the limits changed, one sentence each.
        clamped: Vec<String>,
        /// What of the arguments was repaired, one sentence each; only for calls that move nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        repaired: Vec<String>,
        /// Who permitted it; `None` when nobody had to be asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approver: Option<Approver>,
    },
    /// A call that was granted ended.
    Finished {
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// Whether it is a robot's tool.
        robot: bool,
        /// `done`, `failed`, `timeout`, `cancelled`, `unknown`, `panicked`, `refused`.
        outcome: String,
        /// What went wrong, for all but `done`; empty then.
        detail: String,
        /// Time from the request to the answer, ms.
        took_ms: u64,
    },
    /// A call was refused. Counted once.
    Refused {
        /// The call's id.
        call: String,
        /// The name asked for, cut to 80 characters.
        tool: String,
        /// Why.
        reason: Reason,
        /// The tier the tool needs.
        needed: Option<Tier>,
        /// The tier in force.
        effective: Tier,
        /// The rule that decided.
        rule: Option<String>,
        /// What was wrong.
        detail: String,
    },
    /// Invalid arguments came again, the third time or more in one turn. The call raised its own
    /// `Refused` as well.
    InputLoop {
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// How often they came by now.
        times: u32,
    },
    /// A stop was asked for; the latch word is set.
    StopAsked {
        /// Which of the two.
        what: StopKind,
        /// Why.
        cause: StopCause,
        /// The epoch it began.
        epoch: u32,
        /// Who asked, when somebody did.
        by: Option<String>,
    },
    /// The stop sequence began.
    StopBegun {
        /// Which of the two.
        what: StopKind,
        /// Why.
        cause: StopCause,
        /// The epoch.
        epoch: u32,
    },
    /// A stop verb was handed to the dataflow.
    StopVerb {
        /// The verb.
        verb: String,
        /// Counts from 1 in each step of the sequence.
        nth: u16,
    },
    /// The robot answered a stop verb.
    StopAnswered {
        /// The verb.
        verb: String,
        /// Whether the answer was `ok`.
        ok: bool,
    },
    /// Standstill was confirmed after a stop.
    Standstill {
        /// From the stop to the confirmation, ms.
        after_ms: u32,
    },
    /// Standstill was not confirmed in time.
    StopNotConfirmed {
        /// From the stop, ms.
        after_ms: u32,
    },
    /// The run state changed.
    RunStateChanged {
        /// Before.
        from: RunState,
        /// After.
        to: RunState,
        /// The cause, when it was a stop.
        cause: Option<StopCause>,
    },
    /// An operator's order was carried out.
    OrderDone {
        /// `arm`, `disarm`, `reset`, `stop`, `estop` or `end`; the last three are asked for, not done.
        order: String,
        /// Who.
        who: String,
        /// Why.
        why: String,
        /// For how long, s; only for `arm`.
        for_s: Option<u32>,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// An operator's order, or a word on the control socket, was refused.
    OrderRefused {
        /// The order.
        order: String,
        /// Who.
        who: String,
        /// The checks that failed.
        failed: Vec<String>,
        /// The process that said so; `None` for a scenario, and in records of older releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        peer: Option<SocketPeer>,
    },
    /// Words on the control socket that changed nothing and were not recorded one by one: there were too
    /// many of them.
    WordsCounted {
        /// Who said them.
        from: String,
        /// Words that were refused.
        refused: u64,
        /// Stops, each carried out.
        stops: u64,
    },
    /// The latch was written to disk.
    LatchPersisted {
        /// The cause.
        cause: StopCause,
    },
    /// A command was handed to the dataflow.
    CommandSent {
        /// The verb.
        verb: String,
        /// The number of the call.
        call: u64,
        /// Whether it can move the robot.
        moves: bool,
        /// Whether it repeats a hold.
        repeat: bool,
    },
    /// The last check kept a command back.
    CommandDropped {
        /// The verb.
        verb: String,
        /// The number of the call.
        call: u64,
        /// Why.
        why: DropCause,
    },
    /// A heartbeat was handed to the dataflow.
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
    /// A message of the dataflow was ignored.
    InputIgnored {
        /// The input, `None` when it is not of the envelope.
        input: Option<Input>,
        /// What is wrong with it.
        fault: InputFault,
    },
    /// The robot reported its state.
    RobotState {
        /// Position, m.
        position: Option<[f64; 3]>,
        /// Speed, m/s.
        speed: Option<f64>,
        /// The word of the robot file's standstill path, cut to 40 characters.
        status: Option<String>,
    },
    /// The robot reported a safety event.
    RobotSafetyEvent {
        /// Its sequence number.
        seq: u64,
        /// Its kind, cut to 80 characters.
        what: String,
    },
    /// Something happened to a peer in the dataflow.
    Peer {
        /// What.
        event: PeerEvent,
        /// To whom.
        who: String,
    },
    /// A runtime parameter was set or deleted from outside.
    Param {
        /// Its name, cut to 80 characters.
        key: String,
        /// Whether it was honoured.
        accepted: bool,
    },
    /// The dataflow asked for something that this node does not do.
    GraphIgnored {
        /// What: `reload` or `unknown_event`.
        what: String,
    },
    /// Files that this process loaded have changed since: only a restart reads them.
    RestartRequired {
        /// The files.
        files: Vec<String>,
    },
    /// The dataflow asked this node to end.
    GraphStop,
    /// The timer of the dataflow stands still: no motion begins until it ticks again.
    GraphSilent {
        /// For how long, ms.
        ms: u32,
    },
    /// The timer of the dataflow ticks again and has for long enough: motion may begin.
    GraphBack {
        /// For how long none could begin, ms.
        after_ms: u32,
    },
    /// The event stream broke.
    GraphLost {
        /// What the dataflow said.
        detail: String,
    },
    /// A tool panicked.
    ToolPanicked {
        /// The tool.
        tool: String,
        /// The id under which the message is in the log.
        id: String,
    },
}

impl Fact {
    /// Returns how this fact is kept.
    pub fn class(&self) -> FactClass {
        match self {
            Self::StopAsked { .. }
            | Self::StopBegun { .. }
            | Self::StopVerb { .. }
            | Self::StopAnswered { .. }
            | Self::Standstill { .. }
            | Self::StopNotConfirmed { .. }
            | Self::RunStateChanged { .. }
            | Self::OrderDone { .. }
            | Self::ElevationGiven { .. }
            | Self::ElevationEnded { .. }
            | Self::LatchPersisted { .. }
            | Self::CommandDropped { .. }
            | Self::HeartbeatDropped
            | Self::SendFailed
            | Self::GraphSilent { .. }
            | Self::GraphBack { .. }
            | Self::GraphLost { .. } => FactClass::Safety,
            Self::Started { .. }
            | Self::Ended { .. }
            | Self::ToolsHidden { .. }
            | Self::Advert { .. }
            | Self::AdvertTier { .. }
            | Self::AdvertUnknown { .. }
            | Self::AdvertMissing { .. }
            | Self::GoalBegun { .. }
            | Self::GoalEnded { .. }
            | Self::GoalDropped { .. }
            | Self::OrderRefused { .. }
            | Self::WordsCounted { .. }
            | Self::SensorsShown { .. }
            | Self::ApprovalAsked { .. }
            | Self::ApprovalEnded { .. }
            | Self::ElevationUsed { .. }
            | Self::Granted { .. }
            | Self::Finished { .. }
            | Self::Refused { .. }
            | Self::InputLoop { .. }
            | Self::CommandSent { .. }
            | Self::Released
            | Self::LateTick { .. }
            | Self::RobotSafetyEvent { .. }
            | Self::Peer { .. }
            | Self::Param { .. }
            | Self::GraphIgnored { .. }
            | Self::RestartRequired { .. }
            | Self::GraphStop
            | Self::ToolPanicked { .. } => FactClass::Audit,
            Self::Heartbeat | Self::InputIgnored { .. } | Self::RobotState { .. } => {
                FactClass::Trace
            }
        }
    }
}

/// Where facts go.
pub trait FactSink: Send + Sync + fmt::Debug {
    /// Takes one fact. Never blocks: what does not fit is dropped by class and counted.
    fn raise(&self, fact: Fact);

    /// Asks that every fact of the safety class which this thread raised before be brought to the disk,
    /// and returns where to look whether it was. Never blocks.
    fn keep(&self) -> Keeping {
        Keeping::without_disk()
    }
}
