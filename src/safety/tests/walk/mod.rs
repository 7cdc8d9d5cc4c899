//! Every state that can be reached by any order of happenings, and the laws in each of them.
//!
//! The walk is breadth first and ends when nothing new is found, so it is a proof for the plan and the
//! happenings that it is given, and the first broken law has the shortest way to it. It drives the real
//! step: its state is put in, one thing happens, and what came out is judged. Time is counted in ticks
//! of five seconds, so that the fixed times of the stop sequence are two of them.
//!
//! Not part of it: the last check of the sending thread (`robot`), and a dataflow that lets nothing in
//! any more, whose stop goes on until the process ends.

mod laws;
mod robots;
mod world;

use std::collections::{HashSet, VecDeque};
use std::fmt::Write as _;

use crate::safety::sequence::StopRun;
use crate::safety::{AnswerClass, Boot, CallEnd, Order, Signs};
use crate::terms::{CommandKind, RunState, StopCause, StopKind};
use robots::Settled;
use world::{ARM, Deed, Rig, UNIT_MS, World};

/// States at which a walk gives up: it was to find them all.
const STATES_MAX: usize = 100_000;

/// The way to a state: the state before it, and what happened there.
type Way = Vec<(usize, Option<Deed>)>;

/// Walks from every root through every state that `deeds` can reach; fails with the shortest way to a
/// broken law.
fn walk(roots: &[Boot], deeds: &[Deed]) {
    let mut rig = Rig::new();
    let mut settled = Settled::default();
    let (mut known, mut kinds) = (HashSet::new(), HashSet::new());
    let mut way: Way = Vec::new();
    let mut ahead = VecDeque::new();
    for boot in roots {
        ahead.push_back((way.len(), World::of(*boot)));
        way.push((way.len(), None));
    }
    while let Some((at, world)) = ahead.pop_front() {
        for deed in deeds.iter().filter(|deed| world.can(**deed)) {
            let mut next = world.clone();
            let came = rig.after(&mut next, *deed);
            let judged = laws::judge(&rig, &mut next, &came);
            if !known.insert(rig.shape(&next)) && judged.is_ok() {
                continue;
            }
            let here = way.len();
            way.push((at, Some(*deed)));
            let judged = judged.and_then(|()| {
                if rig.links.shared.standing().stop_active {
                    settled.by_all(&mut rig, &next)?;
                }
                if kinds.insert(kind_of(&next)) {
                    every_cause(&mut rig, &next, &mut settled)?;
                }
                Ok(())
            });
            if let Err(broken) = judged {
                panic!("{broken}\n{}", told(&way, here));
            }
            assert!(here < STATES_MAX, "more than {STATES_MAX} states");
            ahead.push_back((here, next));
        }
    }
    assert!(way.len() > 1_000, "{} states are no walk", way.len());
}

/// What tells states apart roughly: one of each is stopped for every cause.
fn kind_of(world: &World) -> (RunState, [bool; 7]) {
    let (seen, word) = (&world.seen, world.word);
    let more = [
        world.core.stop().is_some_and(StopRun::in_verbs),
        world.core.lease_call() != 0,
        seen.peer_up,
        seen.signs.has(Signs::STILL),
        world.now.ms_since(seen.at) <= UNIT_MS,
        word.stop,
        word.ending,
    ];
    (world.core.run(), more)
}

/// A stop and an estop of every cause that there is end here too, whatever the robot does.
fn every_cause(rig: &mut Rig, world: &World, settled: &mut Settled) -> Result<(), String> {
    for cause in StopCause::ALL {
        for kind in [StopKind::Stop, StopKind::Estop] {
            let mut next = world.clone();
            let deed = Deed::Ask(kind, cause);
            let came = rig.after(&mut next, deed);
            laws::judge(rig, &mut next, &came)
                .and_then(|()| settled.by_all(rig, &next))
                .map_err(|broken| format!("{broken}, after {deed:?}"))?;
        }
    }
    Ok(())
}

/// The way to a state, one happening a line.
fn told(way: &Way, to: usize) -> String {
    let mut deeds = Vec::new();
    let mut at = to;
    while let Some((before, Some(deed))) = way.get(at) {
        deeds.push(deed);
        at = *before;
    }
    let mut text = format!("{} happenings from root {at}:\n", deeds.len());
    for deed in deeds.iter().rev() {
        writeln!(text, "  {deed:?}").unwrap();
    }
    text
}

const CLEAN: Boot = Boot {
    unclean: false,
    latched: None,
};
const UNCLEAN: Boot = Boot {
    unclean: true,
    latched: None,
};
const LATCHED: Boot = Boot {
    unclean: false,
    latched: Some(StopCause::OperatorStop),
};
const UNCLEAN_AND_LATCHED: Boot = Boot {
    unclean: true,
    latched: Some(StopCause::OperatorStop),
};

fn tick(says: Option<Signs>, lives: bool) -> Deed {
    Deed::Tick {
        says,
        lives,
        sends: true,
    }
}

fn signs(still: bool, more: Signs) -> Option<Signs> {
    Some(more.with(Signs::STILL, still))
}

/// What every walk has: time, orders, a call, and a robot that can be heard.
fn daily() -> Vec<Deed> {
    vec![
        tick(None, true),
        tick(signs(true, Signs::default()), true),
        tick(signs(false, Signs::default()), true),
        Deed::Greet,
        Deed::Order(ARM),
        Deed::Order(Order::Reset),
        Deed::Go(CommandKind::Move),
        Deed::Answer(AnswerClass::Ok),
        Deed::Released(true),
    ]
}

const MODEL_STOP: Deed = Deed::Ask(StopKind::Stop, StopCause::ModelStop);
const OPERATOR_ESTOP: Deed = Deed::Ask(StopKind::Estop, StopCause::OperatorStop);

#[test]
fn every_order_of_commands_and_stops_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([
        MODEL_STOP,
        OPERATOR_ESTOP,
        Deed::Ask(StopKind::Stop, StopCause::Workspace),
        Deed::Order(Order::Disarm),
        Deed::GoLate(CommandKind::Move),
        Deed::GoThenAsk(CommandKind::Move, StopKind::Stop, StopCause::ModelStop),
    ]);
    walk(&[CLEAN, UNCLEAN, LATCHED, UNCLEAN_AND_LATCHED], &deeds);
}

#[test]
fn every_sign_of_the_robot_in_every_state_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([
        tick(signs(true, Signs::OURS), true),
        tick(signs(false, Signs::OURS), true),
        tick(signs(false, Signs::OVERSPEED), true),
        tick(signs(false, Signs::OUTSIDE), true),
        tick(signs(true, Signs::BLIND), true),
        tick(signs(true, Signs::VENDOR_ESTOP), true),
        tick(signs(true, Signs::FOREIGN), true),
    ]);
    walk(&[CLEAN, UNCLEAN], &deeds);
}

#[test]
fn every_loss_of_progress_and_every_end_of_a_call_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([
        tick(None, false),
        tick(signs(false, Signs::default()), false),
        Deed::Tick {
            says: signs(false, Signs::default()),
            lives: true,
            sends: false,
        },
        Deed::Freeze,
        Deed::Go(CommandKind::Hold),
        Deed::Again(CommandKind::Hold),
        Deed::Again(CommandKind::Move),
        Deed::End(CallEnd::Arrived),
        Deed::End(CallEnd::Over),
        Deed::End(CallEnd::Dropped),
    ]);
    walk(&[CLEAN], &deeds);
}

#[test]
fn every_answer_of_the_robot_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([
        MODEL_STOP,
        Deed::Answer(AnswerClass::InvalidParams),
        Deed::Answer(AnswerClass::Refused),
        Deed::Released(false),
    ]);
    walk(&[CLEAN], &deeds);
}

#[test]
fn every_loss_and_return_of_the_robot_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([Deed::PeerLost, Deed::Restart]);
    walk(&[CLEAN, UNCLEAN], &deeds);
}

#[test]
fn every_end_of_an_elevation_in_every_state_keeps_the_laws() {
    let mut deeds = daily();
    deeds.extend([
        MODEL_STOP,
        OPERATOR_ESTOP,
        Deed::Order(Order::Disarm),
        Deed::GoRaised(CommandKind::Move),
        Deed::GoRaised(CommandKind::Hold),
        Deed::Again(CommandKind::Hold),
        Deed::Lower,
        Deed::End(CallEnd::Arrived),
        Deed::End(CallEnd::Dropped),
    ]);
    walk(&[CLEAN], &deeds);
}

#[test]
fn once_the_process_ends_nothing_is_armed_in_any_order() {
    let mut deeds = daily();
    deeds.extend([
        Deed::Ask(StopKind::Stop, StopCause::Shutdown),
        Deed::GoThenAsk(CommandKind::Move, StopKind::Stop, StopCause::Shutdown),
        OPERATOR_ESTOP,
        Deed::Go(CommandKind::Config),
    ]);
    walk(&[CLEAN], &deeds);
}
