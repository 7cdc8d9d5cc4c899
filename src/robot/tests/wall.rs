//! A wall clock that jumps changes nothing but the stamps of the requests.

use std::pin::pin;
use std::sync::atomic::Ordering;

use super::world::World;
use crate::robot::motion::drive;
use crate::terms::{CommandKind, RunState};

type Life = (Vec<(u64, String)>, Vec<(u64, RunState)>);

/// A drive to its deadline, a hold that ends by itself, and a drive whose spine stands still: what the
/// robot heard and when, and where each ended.
fn life(restless: bool) -> Life {
    let mut world = World::armed();
    world.clock.1.store(restless, Ordering::SeqCst);
    world.rover.goal_ms = 60_000;
    let mut ends = Vec::new();
    for (tool, kind, spins) in [
        ("rover_go_to_pose", CommandKind::Move, true),
        ("rover_set_velocity", CommandKind::Hold, true),
        ("rover_go_to_pose", CommandKind::Move, false),
    ] {
        world.spins = spins;
        let mut cmd = world.cmd(tool, kind);
        cmd.deadline = world.now().plus_ms(4_000);
        let bridge = world.bridge();
        let tool = bridge.tool(cmd.tool).unwrap();
        let driven = world.until(20_000, pin!(drive(&bridge, tool, cmd)));
        assert!(driven.is_err() || kind == CommandKind::Hold);
        world.run_ms(1_000);
        ends.push((world.now().as_ms(), world.run()));
    }
    let heard = world.rover.heard.iter();
    let heard = heard.map(|(at, request)| (*at, request.verb.clone()));
    (heard.collect(), ends)
}

#[test]
fn case_47_a_wall_clock_that_jumps_a_day_back_and_forth_changes_no_lease_hold_or_deadline() {
    let (heard, ends) = life(false);
    assert!(heard.len() > 30, "{heard:?}");
    assert_eq!(
        ends[1].1,
        RunState::Armed,
        "deadline and hold leave it armed"
    );
    assert_eq!(ends[2].1, RunState::Stopped, "a lost lease does not");
    assert_eq!(life(true), (heard, ends));
}
