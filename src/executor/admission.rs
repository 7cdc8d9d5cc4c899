//! The stages that look at the robot: limits, approval, admission. No await lies between them.

use super::lift::{Lifted, Looking};
use super::pipeline::Ports;
use super::refuse;
use super::stages::Checked;
use super::turn::Asked;
use crate::arguments::Arguments;
use crate::gate::{self, Admission, Grant, Lift, Limited, Pace};
use crate::terms::{Approver, Effect, ElevationPort, Posture, Refusal};

/// The arguments that a person has permitted, and that person; `None` when nobody had to be asked.
pub(super) type Approved = Option<(Arguments, Approver)>;

/// A call that passed every stage.
#[derive(Debug)]
pub(super) struct Admitted<'a> {
    pub(super) grant: Grant,
    /// What it took from an Elevation.
    pub(super) lifted: Option<Lifted<'a>>,
    pub(super) limited: Limited,
    pub(super) number: u64,
    pub(super) approver: Option<Approver>,
}

/// Judges the numbers of a call and then the robot as it stands at this moment.
///
/// The steps of its numbers count from the epoch in which it was asked for. If a stop came since,
/// a call that moves the robot is void: it was thought out for a robot that was not stopped.
pub(super) fn admit<'p>(
    (asked, checked, number): (&Asked<'_>, &Checked<'_>, u64),
    (ports, approved): (&'p Ports, Approved),
    pace: &mut Pace,
) -> Result<Admitted<'p>, Refusal> {
    let limited = limit(asked, checked, pace)?;
    let (permitted, approver) = approved.unzip();
    if permitted.is_some_and(|args| args != *limited.args()) {
        return Err(refuse::other_numbers(asked, checked.entry.descriptor()));
    }
    let now = ports.robot.posture();
    not_void(asked, checked, &now)?;
    let elevations = &*ports.elevations;
    let ask = (checked, number);
    let grant = grant(ask, (&limited, &now), (pace, elevations))?;
    Ok(Admitted {
        lifted: Lifted::of(&grant, elevations),
        grant,
        limited,
        number,
        approver,
    })
}

/// Asks the gate for the grant of a call on one snapshot of the robot.
pub(super) fn grant(
    (checked, number): (&Checked<'_>, u64),
    (limited, now): (&Limited, &Posture),
    (pace, elevations): (&mut Pace, &dyn ElevationPort),
) -> Result<Grant, Refusal> {
    let admission = Admission {
        subject: checked.subject,
        args: limited,
        call: number,
        effective: checked.effective,
        elevation: checked.elevation.map(|id| Lift {
            id,
            port: elevations,
        }),
    };
    gate::admit(admission, now, pace)
}

pub(super) fn limit(
    asked: &Asked<'_>,
    checked: &Checked<'_>,
    pace: &Pace,
) -> Result<Limited, Refusal> {
    let args = checked.args.clone();
    match checked.entry.rules() {
        None => Ok(Limited::unlimited(args)),
        Some(rules) => rules
            .limit(args, &pace.base(rules, asked.epoch))
            .map_err(|overrun| overrun.into_refusal(checked.effective)),
    }
}

/// Judges a call as [`admit`] would, for somebody who wants to know before a person is asked.
pub(super) fn would_pass(
    (asked, checked): (&Asked<'_>, &Checked<'_>),
    (limited, now): (&Limited, &Posture),
    (pace, elevations): (&mut Pace, &dyn ElevationPort),
) -> Result<(), Refusal> {
    not_void(asked, checked, now)?;
    // A grant of no call: it is dropped on the spot, and nothing is taken from an Elevation.
    let looking = Looking(elevations);
    grant((checked, 0), (limited, now), (pace, &looking)).map(drop)
}

/// Returns whether no stop has made the call void since it was asked for.
pub(super) fn not_void(
    asked: &Asked<'_>,
    checked: &Checked<'_>,
    now: &Posture,
) -> Result<(), Refusal> {
    let tool = checked.entry.descriptor();
    let moves = matches!(tool.effect, Effect::Actuate { .. });
    // A latched robot is refused by the gate, which has more to say about it.
    if !moves || now.latched {
        Ok(())
    } else if now.person_stops != asked.turn.person_stops {
        Err(refuse::stopped_by_a_person(asked, tool))
    } else if now.epoch != asked.epoch {
        Err(refuse::stopped_since(asked, tool))
    } else {
        Ok(())
    }
}
