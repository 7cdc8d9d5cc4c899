//! Words of a stop that are said again and again.

use std::pin::pin;

use super::world::World;
use crate::robot::motion::drive;
use crate::terms::{CommandKind, Fact, RobotPort, RunState, StopCause, StopKind};

fn asked(world: &World, wanted: StopCause) -> usize {
    world.count(|f| matches!(f, Fact::StopAsked { cause, .. } if *cause == wanted))
}

fn begun(world: &World) -> usize {
    world.count(|f| matches!(f, Fact::StopBegun { .. }))
}

#[test]
fn a_storm_of_stops_is_one_stop_that_comes_to_its_end() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    for _ in 0..20 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    world.rover.loses = 2;
    let epoch = bridge.stop(StopKind::Stop, StopCause::ModelStop, None);
    let mut said = 1;
    while world.poll(future.as_mut()).is_none() {
        for _ in 0..50 {
            // As long as the stop stands: a word after its end is a stop of its own.
            if bridge.links.latch.word().stop {
                said += 1;
                assert_eq!(
                    bridge.stop(StopKind::Stop, StopCause::ModelStop, None),
                    epoch
                );
            }
        }
        world.tick();
    }
    assert!(said > 200, "{said}");
    assert_eq!(world.run(), RunState::Armed);
    assert_eq!((asked(&world, StopCause::ModelStop), begun(&world)), (1, 1));
    assert_eq!(world.heard("robot.release_control").len(), 1);
    let next = bridge.stop(StopKind::Stop, StopCause::ModelStop, None);
    assert!(next > epoch, "over: a further word is a stop of its own");
    assert_eq!(asked(&world, StopCause::ModelStop), 2);
}

#[test]
fn the_first_word_of_an_operator_is_recorded_also_when_it_adds_nothing() {
    let mut world = World::armed();
    let latch = world.parts.links.latch.clone();
    let epoch = latch.ask(StopKind::Stop, StopCause::Overspeed);
    for _ in 0..9 {
        let bridge = world.bridge();
        let joined = bridge.stop(StopKind::Stop, StopCause::OperatorStop, Some("ann"));
        assert_eq!(joined, epoch);
        assert_eq!(
            bridge.stop(StopKind::Stop, StopCause::ModelStop, None),
            epoch
        );
    }
    assert_eq!(asked(&world, StopCause::OperatorStop), 1);
    assert_eq!(asked(&world, StopCause::ModelStop), 1);
    assert_eq!(latch.word().cause, Some(StopCause::Overspeed));
    world.run_ms(400);
    assert_eq!((world.run(), begun(&world)), (RunState::Stopped, 1));
}

#[test]
fn a_stronger_word_is_never_swallowed() {
    let world = World::armed();
    let bridge = world.bridge();
    let words = [
        (StopKind::Stop, StopCause::ModelStop),
        (StopKind::Stop, StopCause::OperatorStop),
        (StopKind::Stop, StopCause::Shutdown),
        (StopKind::Estop, StopCause::ModelStop),
        (StopKind::Estop, StopCause::OperatorStop),
    ];
    let epochs = words.map(|(kind, cause)| bridge.stop(kind, cause, None));
    assert!(
        epochs.windows(2).all(|pair| pair[1] > pair[0]),
        "{epochs:?}"
    );
    let last = epochs[4];
    assert_eq!(bridge.stop(StopKind::Stop, StopCause::Shutdown, None), last);
    assert_eq!(
        bridge.stop(StopKind::Estop, StopCause::ModelStop, None),
        last
    );
    assert!(bridge.links.latch.word().estop && bridge.links.latch.word().ending);
}

#[test]
fn that_the_process_ends_is_not_swallowed_by_a_stronger_stop() {
    let world = World::armed();
    let bridge = world.bridge();
    let first = bridge.stop(StopKind::Estop, StopCause::OperatorStop, None);
    let second = bridge.stop(StopKind::Stop, StopCause::Shutdown, None);
    assert!(second > first && bridge.links.latch.word().ending);
}
