//! Messages that nobody meant, freezes, and a wire that fails.

use std::pin::pin;

use proptest::prelude::*;
use serde_json::json;

use super::world::{World, no_params};
use crate::robot::motion::drive;
use crate::robot::{Asked, Ids};
use crate::safety::Opening;
use crate::terms::{
    CommandKind, DropCause, ElevationEnd, Fact, Input, InputFault, RunState, StopCause, StopKind,
    Tier, ToolError, WireEvent,
};

fn ignored(world: &World, wanted: InputFault) -> usize {
    world.count(|f| matches!(f, Fact::InputIgnored { fault, .. } if *fault == wanted))
}

#[test]
fn case_40_every_kind_of_bad_message_is_counted_and_changes_nothing() {
    let mut world = World::armed();
    let now = world.now();
    world.say_text(Input::CmdResponse, &format!("\"{}\"", "x".repeat(2 << 20)));
    let raw = WireEvent::Data {
        input: Input::State,
        text: None,
    };
    world.parts.inbox.handle(raw, now);
    world.say_text(Input::State, "not json");
    world.say_text(Input::Capabilities, "[1]");
    world.say(Input::State, &json!({ "robot_id": "rover-2", "seq": 1 }));
    world.say(Input::Capabilities, &json!({ "robot_id": "rover-2" }));
    world.say(
        Input::CmdResponse,
        &json!({ "request_id": "nobody", "ok": true }),
    );
    let stray = WireEvent::Stray {
        input: "camera".to_owned(),
    };
    world.parts.inbox.handle(stray, now);
    world.say_text(Input::CmdRequest, "{}");
    world.say_text(Input::Tick, "anything");
    let counts = InputFault::ALL.map(|fault| ignored(&world, fault));
    assert_eq!(counts, [1, 1, 1, 1, 2, 1, 0, 2, 0]);
    world.run_ms(100);
    assert_eq!(world.run(), RunState::Armed);
}

#[test]
fn case_40_a_second_answer_is_ignored_and_an_answer_to_an_earlier_life_confirms_nothing() {
    let mut world = World::armed();
    let cmd = world.cmd("rover_get_pose", CommandKind::Read);
    let id = uuid::Uuid::from_bytes(cmd.id).to_string();
    let bridge = world.bridge();
    let params = no_params();
    assert!(world.until(1_000, pin!(bridge.ask(cmd, &params))).is_ok());
    world.say(Input::CmdResponse, &json!({ "request_id": id, "ok": true }));
    assert_eq!(ignored(&world, InputFault::DuplicateResponse), 1);

    world.rover.answers = false;
    world.bridge();
    world
        .parts
        .links
        .latch
        .ask(StopKind::Stop, StopCause::ModelStop);
    world.tick();
    let asked = Asked::Stop {
        serial: 1,
        step: 0,
        nth: 1,
        empty: false,
    };
    for (seed, faults) in [(10, 1), (11, 1), (11, 1)] {
        let id = uuid::Uuid::from_bytes(Ids::seeded(seed).derived(asked)).to_string();
        world.say(Input::CmdResponse, &json!({ "request_id": id, "ok": true }));
        assert_eq!(ignored(&world, InputFault::UnknownResponse), faults);
    }
    assert_eq!(ignored(&world, InputFault::DuplicateResponse), 2);
    world.run_ms(300);
    assert_eq!(world.count(|f| matches!(f, Fact::StopAnswered { .. })), 1);
}

#[test]
fn case_60_a_latch_set_between_the_tick_and_the_send_keeps_the_command_back() {
    let mut world = World::armed();
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    assert!(world.poll(future.as_mut()).is_none());
    let now = world.now();
    world.parts.safety.step(now); // the command is in the queue to the sending thread
    world
        .parts
        .links
        .latch
        .ask(StopKind::Stop, StopCause::OperatorStop);
    let error = world.until(2_000, future.as_mut()).unwrap_err();
    assert!(matches!(error, ToolError::Refused(_)), "{error:?}");
    assert!(world.heard("vendor.octos.rover.go_to_pose").is_empty());
    let epoch = |f: &Fact| {
        matches!(
            f,
            Fact::CommandDropped {
                why: DropCause::Epoch,
                ..
            }
        )
    };
    assert_eq!(world.count(epoch), 1);
}

#[test]
fn case_70_a_command_whose_elevation_ends_between_the_tick_and_the_send_does_not_leave() {
    for kind in [CommandKind::Move, CommandKind::Config] {
        let tool = match kind {
            CommandKind::Config => "robot_release_control",
            CommandKind::Move | CommandKind::Hold | CommandKind::Read => "rover_go_to_pose",
        };
        let mut world = World::armed();
        let elevations = &world.parts.links.shared.elevations;
        let opening = Opening {
            tier: Tier::EmergencyOverride,
            calls: 1,
            until: world.now().plus_ms(60_000),
            falls: world.parts.links.latch.falls(),
        };
        let id = elevations.open(opening).unwrap();
        elevations.take(id, (world.now(), opening.falls)).unwrap();
        let mut cmd = world.cmd(tool, kind);
        cmd.lease.elevation = Some(id);
        assert!(world.parts.links.shared.calls.open(cmd.lease.call));
        assert!(world.bridge().submit(cmd));
        let now = world.now();
        world.parts.safety.step(now); // the command is in the queue to the sending thread
        world.parts.links.shared.elevations.let_go(id);
        world.parts.outbox.step(&mut world.line);
        let left = world.line.out.iter();
        let left = left.filter(|text| text.contains("go_to_pose") || text.contains("release"));
        assert_eq!(left.count(), 0, "{kind:?}");
        world.tick();
        let dropped = |f: &Fact| {
            let elevation = DropCause::Elevation;
            matches!(f, Fact::CommandDropped { why, .. } if *why == elevation)
        };
        let ended = |f: &Fact| {
            let lost = ElevationEnd::OperatorLost;
            matches!(f, Fact::ElevationEnded { cause, .. } if *cause == lost)
        };
        assert_eq!(
            (world.count(dropped), world.count(ended)),
            (1, 1),
            "{kind:?}"
        );
    }
}

#[test]
fn a_release_that_waits_when_a_stop_is_asked_for_does_not_leave() {
    let mut world = World::armed();
    world.rover.goal_ms = 300;
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    while world.bridge().state().unwrap().state["nav_status"] != "arrived" {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    assert!(world.poll(future.as_mut()).is_none());
    let now = world.now();
    world.parts.safety.step(now); // the release is in the queue
    world
        .parts
        .links
        .latch
        .ask(StopKind::Stop, StopCause::ModelStop);
    world.parts.outbox.step(&mut world.line);
    assert!(
        world
            .line
            .out
            .iter()
            .all(|text| !text.contains("release_control"))
    );
    assert!(world.until(2_000, future.as_mut()).is_ok());
    assert_eq!(world.heard("robot.release_control").len(), 1);
    assert!(!world.heard("vendor.octos.rover.stop").is_empty());
}

#[test]
fn case_61_a_freeze_between_the_tick_and_the_send_keeps_motion_and_heartbeats_back() {
    let mut world = World::armed();
    let cmd = world.cmd("rover_set_velocity", CommandKind::Hold);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    for _ in 0..15 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    // A repetition and perhaps a heartbeat wait for the sending thread; then everything freezes.
    world.jump(200);
    world.say_state();
    assert!(world.poll(future.as_mut()).is_none());
    let now = world.now();
    world.parts.safety.step(now);
    world.jump(5_000);
    let before = world.rover.heard.len();
    world.parts.outbox.step(&mut world.line);
    world.round();
    world.run_ms(1_000);
    let error = world.until(2_000, future.as_mut()).unwrap_err();
    assert!(matches!(error, ToolError::Cancelled { .. }), "{error:?}");
    let after: Vec<_> = world.rover.heard[before..]
        .iter()
        .map(|(_, r)| r.verb.clone())
        .collect();
    assert!(!after.is_empty());
    let stops =
        |v: &String| v.ends_with(".stop") || v == "robot.estop" || v.ends_with("release_control");
    assert!(after.iter().all(stops), "{after:?}");
    assert_eq!(world.run(), RunState::Stopped);
}

#[test]
fn case_62_three_lost_stop_messages_are_repeated_and_recorded() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    for _ in 0..20 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    world.rover.loses = 3;
    world
        .parts
        .links
        .latch
        .ask(StopKind::Stop, StopCause::ModelStop);
    assert!(world.until(2_000, future.as_mut()).is_err());
    assert_eq!(world.rover.status, "idle");
    assert_eq!(world.run(), RunState::Armed);
    for nth in 1..=4 {
        let verb = |f: &Fact| matches!(f, Fact::StopVerb { verb, nth: n } if verb == "vendor.octos.rover.stop" && *n == nth);
        assert_eq!(world.count(verb), 1, "{nth}");
    }
}

#[test]
fn a_wire_that_fails_is_recorded_and_the_robot_is_latched_in_the_end() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    world.poll(future.as_mut());
    world.line.broken = true;
    let error = world.until(3_000, future.as_mut()).unwrap_err();
    // The heartbeat that goes first failed, so the command was kept back.
    assert!(matches!(error, ToolError::Refused(_)), "{error:?}");
    let fault = |f: &Fact| {
        matches!(
            f,
            Fact::StopAsked {
                cause: StopCause::HeartbeatFault,
                ..
            }
        )
    };
    assert_eq!(world.count(fault), 1);
    world.run_ms(1_000);
    assert_eq!(world.run(), RunState::Latched, "no stop verb ever left");
    assert!(world.count(|f| matches!(f, Fact::SendFailed)) > 0);
}

#[test]
fn the_state_of_the_robot_is_told_when_it_moved_or_changed() {
    let mut world = World::cold();
    world.run_ms(500);
    let told = |world: &World| world.count(|f| matches!(f, Fact::RobotState { .. }));
    assert_eq!(told(&world), 1);
    world.rover.position = [0.019, 0.0];
    world.run_ms(100);
    assert_eq!(told(&world), 1);
    world.rover.position = [0.021, 0.0];
    world.run_ms(100);
    assert_eq!(told(&world), 2);
    world.rover.status = "following";
    world.run_ms(100);
    assert_eq!(told(&world), 3);
    let view = world.bridge().state().unwrap();
    assert_eq!(view.reading.position, Some([0.021, 0.0, 0.0]));
    assert!(!view.still && view.age_ms(world.now()) <= 50);
    assert_eq!(*world.bridge().state_changes().borrow(), view.seq);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn case_40_no_message_panics_or_arms(input in 0usize..6, text in "\\PC{0,200}", broken in any::<bool>()) {
        let mut world = World::cold();
        world.say_text(Input::ALL[input], &text);
        let now = world.now();
        if broken {
            world.parts.inbox.handle(WireEvent::Broken(text), now);
        }
        world.run_ms(50);
        prop_assert!(world.run() != RunState::Armed && world.run() != RunState::Moving);
    }
}
