//! What the pipeline would answer to a call on one posture of the robot: for people who ask why.
//!
//! It walks the stages that a real call walks, with their own functions. It runs no tool, asks for no
//! stop, counts nothing and raises nothing; a grant that it gets is dropped on the spot.

use super::Turn;
use super::admission::{limit, would_pass};
use super::stages::examine;
use super::turn::Asked;
use crate::gate::{Limited, Pace};
use crate::terms::{Call, ElevationPort, NoElevations, Posture, Reason, Refusal};

/// A stage of the pipeline, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Is there such a tool? A stop leaves here.
    Resolve,
    /// Do tier and policy permit it?
    Decide,
    /// Do size and shape of the arguments fit?
    Arguments,
    /// Are all numbers within their limits?
    Limits,
    /// Does the robot, as it stands, permit it?
    Admission,
}

impl Stage {
    /// All stages.
    pub const ALL: [Self; 5] = [
        Self::Resolve,
        Self::Decide,
        Self::Arguments,
        Self::Limits,
        Self::Admission,
    ];

    /// Returns the word for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Decide => "decide",
            Self::Arguments => "arguments",
            Self::Limits => "limits",
            Self::Admission => "admission",
        }
    }

    /// Returns the stage that refuses for this reason before the limits.
    fn of_early(reason: Reason) -> Self {
        match reason {
            Reason::UnknownTool | Reason::InternalOnly => Self::Resolve,
            Reason::PolicyDeny | Reason::TagGate | Reason::ContextGate | Reason::RobotTierGate => {
                Self::Decide
            }
            Reason::Schema
            | Reason::Limit
            | Reason::ApprovalDenied
            | Reason::ApprovalUnavailable
            | Reason::EstopLatched
            | Reason::BridgeDown
            | Reason::NotArmed
            | Reason::StaleState
            | Reason::Workspace
            | Reason::Interlock
            | Reason::Rate
            | Reason::Busy
            | Reason::LeaseExpired => Self::Arguments,
        }
    }
}

/// A call that every stage lets pass.
#[derive(Debug, Clone, PartialEq)]
pub struct Passing {
    /// Its arguments, with what the limits changed.
    pub limited: Limited,
    /// What of its arguments was repaired, one sentence each.
    pub repaired: Vec<String>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Preview {
    /// A stop: it acts at once, whatever else is in the call.
    Stop,
    /// Every stage lets it pass, with these arguments.
    Pass(Box<Passing>),
    /// It would pass, if a person says yes to these arguments within so many ms.
    Asks(Box<Passing>, u64),
    /// A stage refuses it.
    Refused(Stage, Box<Refusal>),
}

/// Returns what would become of a call. `pace` is spent as a real one would be.
pub fn preview(turn: &Turn, call: &Call, now: &Posture, pace: &mut Pace) -> Preview {
    let found = turn.view.find(&call.tool);
    if found.is_some_and(|judged| judged.entry.descriptor().effect.is_stop()) {
        return Preview::Stop;
    }
    let asked = Asked {
        turn,
        call,
        at: now.now,
        epoch: now.epoch,
    };
    match walk(&asked, now, pace) {
        Ok((passing, None)) => Preview::Pass(Box::new(passing)),
        Ok((passing, Some(ttl_ms))) => Preview::Asks(Box::new(passing), ttl_ms),
        Err((stage, refusal)) => Preview::Refused(stage, Box::new(refusal)),
    }
}

fn walk(
    asked: &Asked<'_>,
    now: &Posture,
    pace: &mut Pace,
) -> Result<(Passing, Option<u64>), (Stage, Refusal)> {
    let at = |stage| move |refusal| (stage, refusal);
    let checked = examine(asked).map_err(|refusal| (Stage::of_early(refusal.reason), refusal))?;
    let limited = limit(asked, &checked, pace).map_err(at(Stage::Limits))?;
    let ahead = (pace, &NoElevations as &dyn ElevationPort);
    would_pass((asked, &checked), (&limited, now), ahead).map_err(at(Stage::Admission))?;
    let repaired = checked.repaired;
    Ok((Passing { limited, repaired }, checked.asks_for_ms))
}
