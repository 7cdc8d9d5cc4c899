//! What must hold after every round, judged from outside: from the frames that left, the events that
//! were raised, and what the world knows for itself.

use super::world::{Came, Rig, World};
use crate::safety::{CallEnd, Order, SafetyOut, Signs};
use crate::terms::{ActuationCmd, CommandKind, RunState, SafetyEventKind, StopCause};

/// The signs under which nothing may begin to move or go on.
const AGAINST: [Signs; 5] = [
    Signs::OVERSPEED,
    Signs::OUTSIDE,
    Signs::BLIND,
    Signs::VENDOR_ESTOP,
    Signs::FOREIGN,
];

/// Judges one round.
///
/// # Errors
/// The law that it broke.
pub(super) fn judge(rig: &Rig, world: &mut World, came: &Came) -> Result<(), String> {
    follow_states(world, came)?;
    for frame in &came.frames {
        match frame {
            SafetyOut::Command { cmd, .. } => command(rig, world, cmd)?,
            SafetyOut::Heartbeat { call } => heartbeat(rig, world, *call)?,
            SafetyOut::Release { epoch, .. } => {
                law(
                    *epoch == world.word.epoch,
                    "4: a release of an older epoch left",
                )?;
            }
            SafetyOut::StopVerb { .. } => {}
        }
    }
    standing(rig, world, came)
}

fn law(holds: bool, text: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(text.to_owned()) }
}

fn follow_states(world: &mut World, came: &Came) -> Result<(), String> {
    use RunState as R;
    for event in &came.events {
        let SafetyEventKind::State { from, to, .. } = event.kind else {
            continue;
        };
        let known = match (from, to) {
            (_, R::Stopping | R::Latched) => from != R::Latched,
            (R::Boot | R::Armed | R::Stopped, R::Disarmed)
            | (R::Armed, R::Moving)
            | (R::Stopping, R::Armed | R::Stopped | R::Disarmed) => true,
            (R::Disarmed, R::Armed) => accepted(came, |order| matches!(order, Order::Arm { .. })),
            (R::Latched, R::Disarmed) => accepted(came, |order| order == Order::Reset),
            (_, _) => false,
        };
        if !known {
            let law = if from == R::Latched { "2" } else { "table" };
            return Err(format!("{law}: {from} to {to} has no way"));
        }
        if from == R::Latched {
            law(!world.word.estop, "2: left latched under a latch word")?;
        }
        if to == R::Moving {
            let moves = |frame: &SafetyOut| matches!(frame, SafetyOut::Command { cmd, .. } if cmd.kind.moves());
            law(came.frames.iter().any(moves), "1: moving without a command")?;
        }
        if matches!(to, R::Disarmed | R::Stopped | R::Latched) {
            world.armed_until = None;
        }
        if let (R::Disarmed, Some((Order::Arm { for_ms }, _))) = (from, came.order) {
            world.armed_until = Some(world.now.plus_ms(u64::from(for_ms)));
        }
    }
    Ok(())
}

fn accepted(came: &Came, is: impl Fn(Order) -> bool) -> bool {
    came.order
        .is_some_and(|(order, failed)| is(order) && failed.is_none())
}

fn command(rig: &Rig, world: &World, cmd: &ActuationCmd) -> Result<(), String> {
    let (now, word, call) = (world.now, world.word, cmd.lease.call);
    law(
        cmd.epoch == word.epoch,
        "4: a command of an older epoch left",
    )?;
    law(!word.forbids_motion(), "1: a command left under a stop")?;
    law(now < cmd.deadline, "1: a command left after its deadline")?;
    let lives = |id| rig.links.shared.elevations.lives(id);
    let raised = cmd.lease.elevation.is_none_or(lives);
    law(raised, "7: a command left under an elevation that is over")?;
    let armed = world.armed_until.is_some_and(|until| now < until);
    law(armed, "1: a command left without an arming that lasts")?;
    if !cmd.kind.moves() {
        let kind = cmd.kind == CommandKind::Config;
        return law(
            kind && rig.links.shared.run() == RunState::Armed,
            "1: no config when armed",
        );
    }
    law(
        world.seen.peer_up,
        "1: a motion left for a robot that is gone",
    )?;
    law(fresh(world), "1: a motion left on a stale state")?;
    let against = AGAINST.iter().any(|sign| world.seen.signs.has(*sign));
    law(!against, "1: a motion left against a sign of the robot")?;
    let lives = rig.links.shared.lease_lives(call, now);
    law(
        lives && running(world, call),
        "1: a motion left without a live lease",
    )
}

fn heartbeat(rig: &Rig, world: &World, call: u64) -> Result<(), String> {
    let lives = rig.links.shared.lease_lives(call, world.now);
    law(lives, "5: a heartbeat left without a live lease")?;
    let gone = call != world.call || world.note.end == CallEnd::Dropped;
    law(!gone, "5: a heartbeat left for a call that is gone")?;
    law(fresh(world), "5: a heartbeat left on a stale state")?;
    law(!world.word.estop, "5: a heartbeat left under an estop")
}

fn running(world: &World, call: u64) -> bool {
    call == world.call && world.note.end == CallEnd::Running
}

fn fresh(world: &World) -> bool {
    let age_ms = world.now.ms_since(world.seen.at);
    world.seen.states != 0 && age_ms <= super::world::UNIT_MS
}

/// What must hold between two rounds.
fn standing(rig: &Rig, world: &World, came: &Came) -> Result<(), String> {
    let (run, word) = (rig.links.shared.run(), world.word);
    let may_move = matches!(run, RunState::Armed | RunState::Moving);
    law(
        !(may_move && word.ending),
        "6: armed although the process ends",
    )?;
    if came.frames.is_empty() && came.events.is_empty() && run == RunState::Boot {
        return Ok(()); // nothing has begun yet
    }
    law(
        !may_move || world.armed_until.is_some(),
        "1: armed without an order",
    )?;
    law(
        !word.estop || run == RunState::Latched,
        "2: not latched under a latch word",
    )?;
    let stopping = matches!(run, RunState::Stopping | RunState::Latched);
    law(
        !word.stop || stopping,
        "3: a stop is asked for and nothing stops",
    )?;
    let elevations = &rig.links.shared.elevations;
    let under = world.core.lease_elevation();
    law(
        run != RunState::Moving || under.is_none_or(|id| elevations.lives(id)),
        "7: moving under an elevation that is over",
    )?;
    let live = world.raised.is_some_and(|id| elevations.lives(id));
    let armed = matches!(run, RunState::Armed | RunState::Moving | RunState::Stopping);
    law(armed || !live, "7: an elevation outlives the arming")?;
    let ordinary = word.cause.is_none_or(|cause| cause == StopCause::Deadline);
    law(
        !word.stop || ordinary || !live,
        "7: an elevation outlives a stop",
    )?;
    let leased = rig
        .links
        .shared
        .lease_lives(world.core.lease_call(), world.now);
    law(
        run != RunState::Moving || leased,
        "1: moving without a live lease",
    )
}
