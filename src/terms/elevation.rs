//! An Elevation: a higher tier for named tools, for a count of calls and a time.
//!
//! Only a named operator's word makes one, and it holds for as long as the connection that the word
//! came through stays open. There is no nonce: the open connection is what nobody can say again, and a
//! number is never given twice in one life. Nothing here decides or counts: the live ones are in
//! `safety`, the gate is told of them, and whoever reads this room learns their words and bounds.

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::{Mono, Tier, ToolName};

/// Elevations that may live at once. Chosen: one for each operator who can watch one robot; fewer than
/// the seats of the control socket, so that those who hold one never take all of them.
pub const ELEVATIONS_MAX: usize = 4;
/// Tools of one Elevation. Chosen: more than one task needs.
pub const ELEVATED_TOOLS_MAX: usize = 8;
/// Calls of one Elevation. Chosen: more are a reason to raise `max_tier` in the robot file.
pub const ELEVATED_CALLS_MAX: u32 = 100;
/// Longest time of an Elevation, s: that of an arming.
pub const ELEVATED_S_MAX: u32 = 3600;

/// The number of an Elevation, from 1; never given twice in one life of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ElevationId(NonZeroU32);

impl ElevationId {
    /// Makes the id of this number, `None` for 0.
    pub fn new(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }

    /// Returns the number.
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for ElevationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Why an Elevation ended. Closed: 9 causes, a label of `octos_edge_elevations_ended_total`.
///
/// After every one of them but [`ElevationEnd::UsedUp`] a call that runs above the ceiling is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ElevationEnd {
    /// Its time was over.
    Time = 1,
    /// Its calls were used up and the last of them has ended.
    UsedUp = 2,
    /// The connection of the operator who gave it is gone.
    OperatorLost = 3,
    /// Somebody stopped the robot.
    Stop = 4,
    /// Somebody, or the robot itself, stopped it in an emergency.
    Estop = 5,
    /// The robot was disarmed, by an order or by itself.
    Disarm = 6,
    /// Something was wrong and the robot was stopped for it.
    Fault = 7,
    /// The robot said nothing for too long, or its node is gone.
    LinkLost = 8,
    /// The process ends.
    Shutdown = 9,
}

impl ElevationEnd {
    /// All causes.
    pub const ALL: [Self; 9] = [
        Self::Time,
        Self::UsedUp,
        Self::OperatorLost,
        Self::Stop,
        Self::Estop,
        Self::Disarm,
        Self::Fault,
        Self::LinkLost,
        Self::Shutdown,
    ];

    /// Returns the number of this cause (1 to 9), as kept in atomics.
    pub fn as_u8(self) -> u8 {
        self as u8
    }

    /// Returns the cause of this number, `None` for every other number.
    pub fn from_u8(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|end| end.as_u8() == number)
    }

    /// Returns the word used in records and labels.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::UsedUp => "used_up",
            Self::OperatorLost => "operator_lost",
            Self::Stop => "stop",
            Self::Estop => "estop",
            Self::Disarm => "disarm",
            Self::Fault => "fault",
            Self::LinkLost => "link_lost",
            Self::Shutdown => "shutdown",
        }
    }

    /// Returns what happened, for people.
    pub fn told(self) -> &'static str {
        match self {
            Self::Time => "its time is over",
            Self::UsedUp => "its calls are used up",
            Self::OperatorLost => "the operator who gave it is gone",
            Self::Stop => "the robot was stopped",
            Self::Estop => "the robot was stopped in an emergency",
            Self::Disarm => "the robot is not armed any more",
            Self::Fault => "something was wrong and the robot was stopped",
            Self::LinkLost => "the robot was not heard",
            Self::Shutdown => "the process ends",
        }
    }
}

impl fmt::Display for ElevationEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A live Elevation, as a view of the tools is judged with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elevated {
    /// Which.
    pub id: ElevationId,
    /// Up to which tier.
    pub tier: Tier,
    /// For which tools.
    pub tools: Vec<ToolName>,
}

impl Elevated {
    /// Returns whether it is for this tool.
    pub fn is_for(&self, tool: &ToolName) -> bool {
        self.tools.contains(tool)
    }
}

/// One call, taken from an Elevation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raised {
    /// Which.
    pub id: ElevationId,
    /// When its time is over: the call ends by then.
    pub until: Mono,
    /// The calls that are left.
    pub left: u32,
}

/// The live Elevations, for those who admit calls.
pub trait ElevationPort: Send + Sync + fmt::Debug {
    /// Says what [`ElevationPort::take`] would, and takes nothing.
    ///
    /// # Errors
    /// Why the Elevation is over.
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd>;

    /// Takes one call, as one step: of two that ask for the last one gets it.
    ///
    /// # Errors
    /// Why the Elevation is over; nothing was taken.
    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd>;

    /// Notes which call was taken, for the terminal of the operator.
    fn used(&self, raised: Raised, call: &str, tool: &str);

    /// Notes that a call which was taken has ended.
    fn give_back(&self, id: ElevationId);
}

/// No Elevation lives, and none ever will.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoElevations;

impl ElevationPort for NoElevations {
    fn look(&self, _id: ElevationId) -> Result<Raised, ElevationEnd> {
        Err(ElevationEnd::OperatorLost)
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.look(id)
    }

    fn used(&self, _raised: Raised, _call: &str, _tool: &str) {}

    fn give_back(&self, _id: ElevationId) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_and_no_number_is_no_cause() {
        for end in ElevationEnd::ALL {
            assert_eq!(ElevationEnd::from_u8(end.as_u8()), Some(end));
        }
        assert_eq!(ElevationEnd::from_u8(0), None);
        assert_eq!(ElevationEnd::from_u8(10), None);
        assert_eq!(ElevationId::new(0), None);
    }
}
