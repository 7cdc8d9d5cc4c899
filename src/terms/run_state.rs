//! Run states of a robot and the causes of a stop: closed lists.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where the robot is in its life. Only [`RunState::Armed`] admits motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum RunState {
    /// Starting; nothing was checked yet.
    Boot = 0,
    /// Nothing may move until an operator arms.
    Disarmed = 1,
    /// An operator armed; a motion call would be admitted.
    Armed = 2,
    /// A motion call holds a lease.
    Moving = 3,
    /// The stop sequence runs.
    Stopping = 4,
    /// At rest after a fault; an operator must arm again.
    Stopped = 5,
    /// Locked on disk until a named person resets it.
    Latched = 6,
    /// Broken inside: the process ends.
    Fault = 7,
}

impl RunState {
    /// All states, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Boot,
        Self::Disarmed,
        Self::Armed,
        Self::Moving,
        Self::Stopping,
        Self::Stopped,
        Self::Latched,
        Self::Fault,
    ];

    /// Returns the number of this state, as kept in atomics.
    pub fn as_u8(self) -> u8 {
        self as u8
    }

    /// Returns the state of this number; a number out of range is a [`RunState::Fault`].
    pub fn from_u8(number: u8) -> Self {
        Self::ALL
            .into_iter()
            .find(|s| s.as_u8() == number)
            .unwrap_or(Self::Fault)
    }

    /// Returns the word used in records and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Boot => "boot",
            Self::Disarmed => "disarmed",
            Self::Armed => "armed",
            Self::Moving => "moving",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Latched => "latched",
            Self::Fault => "fault",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The two words that end motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopKind {
    /// Ends motion and voids every grant; the robot stays armed, or stopped after a fault.
    Stop,
    /// Does the same and latches, on disk, until a named person resets it.
    Estop,
}

impl fmt::Display for StopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stop => "stop",
            Self::Estop => "estop",
        })
    }
}

/// Why the robot was stopped. Closed: 17 causes, weakest first.
///
/// The number is the rank: of two causes that meet in one stop the higher one stays. The first three
/// leave the robot armed, all others do not, so that no ordinary end hides a reason not to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum StopCause {
    /// A motion call passed its deadline, or its hold time.
    Deadline = 1,
    /// The model called a stop tool.
    ModelStop = 2,
    /// An operator asked.
    OperatorStop = 3,
    /// The fleet asked.
    FleetStop = 4,
    /// The dataflow or the process is ending.
    Shutdown = 5,
    /// The call or the spine made no progress, so the lease ran out.
    LeaseLost = 6,
    /// The robot reported no state for too long.
    StaleState = 7,
    /// The robot left its workspace.
    Workspace = 8,
    /// The robot moved faster than its ceiling times the monitor's factor.
    Overspeed = 9,
    /// The robot's node is gone or restarted.
    BridgeLost = 10,
    /// Heartbeats could not be sent.
    HeartbeatFault = 11,
    /// The black box cannot be written.
    Blackbox = 12,
    /// The board reported a fault, or the process runs late.
    BoardFault = 13,
    /// The last run ended while armed.
    UncleanEnd = 14,
    /// Something inside broke.
    InternalFault = 15,
    /// The robot itself reported an emergency stop or a foreign controller.
    VendorEvent = 16,
    /// The emergency-stop input opened.
    EstopInput = 17,
}

impl StopCause {
    /// All causes, weakest first: of two causes in one tick the later one is reported.
    pub const ALL: [Self; 17] = [
        Self::Deadline,
        Self::ModelStop,
        Self::OperatorStop,
        Self::FleetStop,
        Self::Shutdown,
        Self::LeaseLost,
        Self::StaleState,
        Self::Workspace,
        Self::Overspeed,
        Self::BridgeLost,
        Self::HeartbeatFault,
        Self::Blackbox,
        Self::BoardFault,
        Self::UncleanEnd,
        Self::InternalFault,
        Self::VendorEvent,
        Self::EstopInput,
    ];

    /// Returns the number of this cause (1 to 17), as kept in atomics.
    pub fn as_u8(self) -> u8 {
        self as u8
    }

    /// Returns the cause of this number, `None` for 0 and for numbers above 17.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.as_u8() == number)
    }

    /// Returns whether a stop of this cause leaves the robot armed: an ordinary end or a stop that
    /// somebody asked for. Every other cause needs an operator to arm again.
    pub fn leaves_armed(self) -> bool {
        match self {
            Self::ModelStop | Self::OperatorStop | Self::Deadline => true,
            Self::FleetStop
            | Self::Shutdown
            | Self::LeaseLost
            | Self::StaleState
            | Self::Workspace
            | Self::Overspeed
            | Self::BridgeLost
            | Self::HeartbeatFault
            | Self::Blackbox
            | Self::BoardFault
            | Self::UncleanEnd
            | Self::InternalFault
            | Self::VendorEvent
            | Self::EstopInput => false,
        }
    }

    /// Returns whether a person stands behind this cause: at a console, in the fleet, at the button.
    pub fn is_a_persons(self) -> bool {
        match self {
            Self::OperatorStop | Self::FleetStop | Self::EstopInput => true,
            Self::ModelStop
            | Self::Shutdown
            | Self::Deadline
            | Self::LeaseLost
            | Self::StaleState
            | Self::Workspace
            | Self::Overspeed
            | Self::BridgeLost
            | Self::HeartbeatFault
            | Self::Blackbox
            | Self::BoardFault
            | Self::UncleanEnd
            | Self::InternalFault
            | Self::VendorEvent => false,
        }
    }

    /// Returns the word used in records and labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ModelStop => "model_stop",
            Self::OperatorStop => "operator_stop",
            Self::FleetStop => "fleet_stop",
            Self::Shutdown => "shutdown",
            Self::Deadline => "deadline",
            Self::LeaseLost => "lease_lost",
            Self::StaleState => "stale_state",
            Self::Workspace => "workspace",
            Self::Overspeed => "overspeed",
            Self::BridgeLost => "bridge_lost",
            Self::HeartbeatFault => "heartbeat_fault",
            Self::Blackbox => "blackbox",
            Self::BoardFault => "board_fault",
            Self::UncleanEnd => "unclean_end",
            Self::InternalFault => "internal_fault",
            Self::VendorEvent => "vendor_event",
            Self::EstopInput => "estop_input",
        }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_unknown_numbers_fail_closed() {
        for state in RunState::ALL {
            assert_eq!(RunState::from_u8(state.as_u8()), state);
        }
        assert_eq!(RunState::from_u8(200), RunState::Fault);
        for cause in StopCause::ALL {
            assert_eq!(StopCause::from_u8(cause.as_u8()), Some(cause));
        }
        assert_eq!(StopCause::from_u8(0), None);
        assert_eq!(StopCause::from_u8(18), None);
    }

    #[test]
    fn a_cause_that_does_not_leave_armed_beats_every_one_that_does() {
        let ranks = StopCause::ALL.map(StopCause::as_u8);
        assert!(ranks.is_sorted() && StopCause::ALL.is_sorted());
        assert_eq!(StopCause::ALL[0], StopCause::Deadline, "the weakest");
        let armed = StopCause::ALL.map(StopCause::leaves_armed);
        assert!(armed.is_sorted_by(|before, after| before >= after));
        assert!(StopCause::OperatorStop > StopCause::ModelStop);
    }
}
