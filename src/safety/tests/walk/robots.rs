//! Four robots that are left alone with a stop: each must bring it to its end.

use std::collections::HashMap;

use super::laws;
use super::world::{Deed, Rig, World};
use crate::safety::{AnswerClass, SafetyOut, Signs};
use crate::terms::{RunState, StopCause};

/// Ticks within which a stop ends, whatever the robot does: the wait for a robot that is gone, the
/// time to confirm rest and the release take seven.
const SETTLED_MAX: u32 = 10;

/// How the robot takes a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Robot {
    /// It stands still after the first verb and answers everything.
    Obeys,
    /// It says nothing any more.
    IsSilent,
    /// It refuses every verb and moves on.
    Refuses,
    /// It answers everything and moves on.
    DriftsOn,
}

impl Robot {
    const ALL: [Self; 4] = [Self::Obeys, Self::IsSilent, Self::Refuses, Self::DriftsOn];

    fn says(self, world: &World) -> Option<Signs> {
        let stopped = world.verb.is_some_and(|(serial, ..)| {
            world.core.stop().is_none_or(|stop| stop.serial() == serial)
        });
        match self {
            Self::Obeys => Some(Signs::default().with(Signs::STILL, stopped)),
            Self::IsSilent => None,
            Self::Refuses | Self::DriftsOn => Some(Signs::default()),
        }
    }

    fn answer(self) -> Option<AnswerClass> {
        match self {
            Self::Obeys | Self::DriftsOn => Some(AnswerClass::Ok),
            Self::IsSilent => None,
            Self::Refuses => Some(AnswerClass::Refused),
        }
    }
}

/// Stops that were seen to come to their end, by robot and shape, with the ticks that it took.
#[derive(Debug, Default)]
pub(super) struct Settled(HashMap<(Robot, u64), u32>);

impl Settled {
    /// Lets each of the four robots take the stop that is under way in `world`.
    ///
    /// # Errors
    /// How it did not come to an end.
    pub(super) fn by_all(&mut self, rig: &mut Rig, world: &World) -> Result<(), String> {
        let mut robots = Robot::ALL.into_iter();
        robots.try_for_each(|robot| self.stop(rig, world, robot))
    }

    fn stop(&mut self, rig: &mut Rig, world: &World, robot: Robot) -> Result<(), String> {
        let rests = world.core.stop().is_none_or(|stop| !stop.in_verbs());
        let mut world = world.clone();
        let mut shapes = Vec::new();
        let mut known = None;
        for _ in 0..SETTLED_MAX {
            if is_over(rig, &world, robot) {
                known = Some(0);
                break;
            }
            self.tick(rig, &mut world, robot)?;
            let shape = rig.shape(&world);
            if let Some(ticks) = self.0.get(&(robot, shape)) {
                known = Some(*ticks);
                break;
            }
            shapes.push(shape);
        }
        let Some(after) = known else {
            let run = world.core.run();
            return Err(format!(
                "3: {robot:?}: no end within {SETTLED_MAX} ticks, {run}"
            ));
        };
        for (ticks, shape) in (after + 1..).zip(shapes.into_iter().rev()) {
            if ticks > SETTLED_MAX {
                return Err(format!("3: {robot:?}: the end took {ticks} ticks"));
            }
            self.0.insert((robot, shape), ticks);
        }
        if after == 0 {
            ended_well(&world, robot, rests)
        } else {
            Ok(())
        }
    }

    fn tick(&mut self, rig: &mut Rig, world: &mut World, robot: Robot) -> Result<(), String> {
        let says = robot.says(world);
        let (lives, sends) = (true, true);
        let came = rig.after(world, Deed::Tick { says, lives, sends });
        laws::judge(rig, world, &came).map_err(|broken| format!("{robot:?}: {broken}"))?;
        let Some(class) = robot.answer() else {
            return Ok(());
        };
        for frame in &came.frames {
            let answer = match frame {
                SafetyOut::StopVerb { .. } => Deed::Answer(class),
                SafetyOut::Release { .. } => Deed::Released(class == AnswerClass::Ok),
                SafetyOut::Heartbeat { .. } | SafetyOut::Command { .. } => continue,
            };
            let came = rig.after(world, answer);
            laws::judge(rig, world, &came).map_err(|broken| format!("{robot:?}: {broken}"))?;
        }
        Ok(())
    }
}

/// Whether a stop has come to its end: the robot rests, or it is latched. One that obeys must rest.
fn is_over(rig: &Rig, world: &World, robot: Robot) -> bool {
    let stands = rig.links.shared.standing();
    match world.core.run() {
        RunState::Stopped | RunState::Disarmed | RunState::Armed => !stands.stop_active,
        RunState::Latched => robot != Robot::Obeys || !stands.stop_active,
        RunState::Boot | RunState::Moving | RunState::Stopping | RunState::Fault => false,
    }
}

fn ended_well(world: &World, robot: Robot, rested: bool) -> Result<(), String> {
    let run = world.core.run();
    if run == RunState::Armed {
        let cause = world.word.cause;
        let ordinary = cause.is_none_or(StopCause::leaves_armed);
        if !ordinary || world.word.ending {
            return Err(format!("3: {robot:?}: armed after {cause:?}"));
        }
    }
    let moves_on = matches!(robot, Robot::Refuses | Robot::DriftsOn);
    if moves_on && !rested && run != RunState::Latched {
        return Err(format!("3: {robot:?}: it moves on and is {run}"));
    }
    Ok(())
}
