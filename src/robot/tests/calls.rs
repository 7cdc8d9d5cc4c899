//! Calls of tools: reads, moves, holds, and the ways in which they end.

use std::pin::pin;

use serde_json::Value;

use super::world::{World, no_params, rover};
use crate::robot::MotionEnd;
use crate::robot::bridge::params_of;
use crate::robot::motion::{configure, drive};
use crate::safety::Order;
use crate::terms::{
    CommandKind, DropCause, Fact, Reason, RobotPort, RunState, StopCause, StopKind, ToolError,
};

const GO: &str = "rover_go_to_pose";
const VELOCITY: &str = "rover_set_velocity";
const HEARTBEAT: &str = "robot.heartbeat";
const STOP: &str = "vendor.octos.rover.stop";
const RELEASE: &str = "robot.release_control";

macro_rules! driving {
    ($world:ident, $bridge:ident, $cmd:ident, $future:ident) => {
        let $bridge = $world.bridge();
        let tool = $bridge.tool($cmd.tool).unwrap();
        let mut $future = pin!(drive(&$bridge, tool, $cmd));
    };
}

#[test]
fn a_read_is_answered_in_any_run_state() {
    let mut world = World::cold();
    world.run_ms(100);
    assert_eq!(world.run(), RunState::Disarmed);
    let cmd = world.cmd("rover_get_pose", CommandKind::Read);
    let bridge = world.bridge();
    let params = no_params();
    let answer = world.until(1_000, pin!(bridge.ask(cmd, &params))).unwrap();
    assert!(answer.ok);
    assert_eq!(world.heard("vendor.octos.rover.get_pose").len(), 1);
}

#[test]
fn a_read_without_an_answer_ends_at_its_deadline() {
    let mut world = World::cold();
    world.rover.answers = false;
    let mut cmd = world.cmd("rover_get_pose", CommandKind::Read);
    cmd.deadline = world.now().plus_ms(300);
    let bridge = world.bridge();
    let params = no_params();
    let begun = world.now();
    let error = world
        .until(1_000, pin!(bridge.ask(cmd, &params)))
        .unwrap_err();
    assert_eq!(error, ToolError::TimedOut { limit_ms: 3_000 });
    assert_eq!(world.now().ms_since(begun), 300);
}

#[test]
fn case_33_a_move_runs_under_heartbeats_and_ends_with_a_release() {
    let mut world = World::armed();
    world.rover.goal_ms = 3_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    let end = world.until(6_000, future.as_mut()).unwrap();
    assert!(matches!(end, MotionEnd::Arrived { ref state } if state["nav_status"] == "arrived"));
    assert_eq!(world.run(), RunState::Armed);
    let beats = world.heard(HEARTBEAT);
    let go = world.heard("vendor.octos.rover.go_to_pose");
    assert_eq!(go.len(), 1, "motion is sent once");
    assert!(beats[0] <= go[0] && beats.len() >= 9);
    assert!(beats.windows(2).all(|pair| pair[1] - pair[0] <= 350));
    assert_eq!(world.heard(RELEASE).len(), 1);
    assert!(world.heard(STOP).is_empty());
    let verbs: Vec<_> = world
        .rover
        .heard
        .iter()
        .map(|(_, r)| r.verb.clone())
        .collect();
    let at = verbs
        .iter()
        .position(|v| v.ends_with("go_to_pose"))
        .unwrap();
    assert_eq!(verbs[at - 1], HEARTBEAT, "heartbeat, then the command");
    world.run_ms(2_000);
    assert_eq!(world.heard(HEARTBEAT).len(), beats.len(), "then silence");
}

#[test]
fn arrival_counts_only_after_the_beginning_was_seen() {
    let mut world = World::armed();
    world.rover.status = "arrived"; // of an earlier goal
    world.run_ms(100);
    world.rover.goal_ms = 500;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    let begun = world.now();
    assert!(world.until(3_000, future.as_mut()).is_ok());
    assert!(world.now().ms_since(begun) >= 500);
}

#[test]
fn a_hold_is_repeated_until_its_time_is_over_and_then_stopped() {
    let mut world = World::armed();
    let cmd = world.cmd(VELOCITY, CommandKind::Hold);
    driving!(world, bridge, cmd, future);
    let end = world.until(6_000, future.as_mut()).unwrap();
    assert_eq!(end, MotionEnd::Expired);
    let sent = world.heard("vendor.octos.rover.set_velocity");
    assert!((14..=16).contains(&sent.len()), "{}", sent.len());
    assert!(sent.windows(2).all(|pair| pair[1] - pair[0] <= 220));
    assert!(!world.heard(STOP).is_empty());
    assert_eq!(world.run(), RunState::Armed);
    assert_eq!(
        world.count(|f| matches!(f, Fact::CommandSent { repeat: true, .. })),
        sent.len() - 1
    );
}

#[test]
fn case_17_dropping_the_future_stops_the_robot() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let dropped = {
        let cmd = world.cmd(GO, CommandKind::Move);
        driving!(world, bridge, cmd, future);
        for _ in 0..50 {
            assert!(world.poll(future.as_mut()).is_none());
            world.tick();
        }
        world.now().as_ms()
    };
    let bridge = world.bridge();
    let rest = world.until(3_000, pin!(bridge.at_rest()));
    assert!(rest);
    assert!(world.heard(STOP)[0] <= dropped + 20);
    assert!(world.heard(HEARTBEAT).iter().all(|at| *at <= dropped));
    assert_eq!(world.run(), RunState::Armed);
    assert_eq!(world.rover.status, "idle");
}

#[test]
fn case_18_the_deadline_of_a_move_stops_it_and_says_so() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let mut cmd = world.cmd(GO, CommandKind::Move);
    cmd.deadline = world.now().plus_ms(1_000);
    driving!(world, bridge, cmd, future);
    let error = world.until(4_000, future.as_mut()).unwrap_err();
    assert!(matches!(error, ToolError::TimedOut { .. }), "{error:?}");
    assert!(!world.heard(STOP).is_empty());
    assert_eq!(world.run(), RunState::Armed);
    assert_eq!(world.rover.status, "idle");
}

#[test]
fn a_move_that_nobody_answers_is_of_unknown_outcome_and_never_sent_again() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    world.rover.answers = false;
    let mut cmd = world.cmd(GO, CommandKind::Move);
    cmd.deadline = world.now().plus_ms(1_000);
    driving!(world, bridge, cmd, future);
    let error = world.until(4_000, future.as_mut()).unwrap_err();
    assert!(
        matches!(error, ToolError::OutcomeUnknown { .. }),
        "{error:?}"
    );
    assert_eq!(world.heard("vendor.octos.rover.go_to_pose").len(), 1);
    assert_eq!(world.rover.status, "idle");
}

#[test]
fn a_robot_that_refuses_a_move_is_told_to_stop_and_the_model_is_told() {
    let mut world = World::armed();
    world.rover.busy = true;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    let error = world.until(2_000, future.as_mut()).unwrap_err();
    assert!(error.to_string().contains("CONTROLLER_BUSY"));
    assert_eq!(world.run(), RunState::Armed);
}

#[test]
fn a_stop_ends_the_call_with_its_cause_and_voids_what_waits() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    let old = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    for _ in 0..20 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    assert!(world.bridge().posture().moving);
    world
        .bridge()
        .stop(StopKind::Stop, StopCause::OperatorStop, Some("ann"));
    assert!(world.bridge().posture().stopping);
    let error = world.until(3_000, future.as_mut()).unwrap_err();
    assert!(error.to_string().contains("operator_stop"), "{error}");
    assert!(error.to_string().contains("at rest"));
    assert_eq!(world.run(), RunState::Armed);
    let by = |f: &Fact| matches!(f, Fact::StopAsked { by: Some(by), .. } if by == "ann");
    assert_eq!(world.count(by), 1);
    // The grant of before the stop is void.
    let goes = world.heard("vendor.octos.rover.go_to_pose").len();
    driving!(world, bridge, old, late);
    let error = world.until(2_000, late.as_mut()).unwrap_err();
    assert!(
        matches!(error, ToolError::Refused(ref r) if r.reason == Reason::LeaseExpired),
        "{error:?}"
    );
    assert_eq!(world.heard("vendor.octos.rover.go_to_pose").len(), goes);
}

#[test]
fn a_call_that_outlasts_the_arming_says_so() {
    let mut world = World::cold();
    world.run_ms(100);
    assert!(world.order(Order::Arm { for_ms: 500 }).is_none());
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    let error = world.until(3_000, future.as_mut()).unwrap_err();
    let ToolError::Cancelled { why } = error else {
        panic!("{error:?}");
    };
    assert!(
        why.contains("armed ran out") && why.contains("at rest"),
        "{why}"
    );
    assert_eq!(world.run(), RunState::Disarmed);
    // The next one is late by itself.
    assert!(world.order(Order::Arm { for_ms: 60_000 }).is_none());
    let mut cmd = world.cmd(GO, CommandKind::Move);
    cmd.deadline = world.now().plus_ms(500);
    driving!(world, bridge2, cmd, late);
    let error = world.until(3_000, late.as_mut()).unwrap_err();
    assert!(matches!(error, ToolError::TimedOut { .. }), "{error:?}");
}

#[test]
fn an_estop_ends_the_call_and_latches() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    world.until(20, pin!(async {}));
    for _ in 0..20 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    world
        .bridge()
        .stop(StopKind::Estop, StopCause::ModelStop, None);
    let error = world.until(3_000, future.as_mut()).unwrap_err();
    assert!(matches!(error, ToolError::Cancelled { .. }));
    assert!(world.bridge().posture().latched);
    assert_eq!(world.run(), RunState::Latched);
    assert_eq!(world.rover.status, "idle");
    assert!(world.order(Order::Reset).is_none());
    assert_eq!(world.run(), RunState::Disarmed);
}

#[test]
fn one_motion_at_a_time() {
    let mut world = World::armed();
    let cmd = world.cmd(GO, CommandKind::Move);
    let mut second = world.cmd(GO, CommandKind::Move);
    second.lease.call = cmd.lease.call + 8;
    let third = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    assert!(world.poll(future.as_mut()).is_none());
    assert!(
        world.bridge().posture().moving,
        "before the tick knows of it"
    );
    world.tick();
    driving!(world, bridge2, second, other);
    let error = world.poll(other.as_mut()).unwrap().unwrap_err();
    assert!(matches!(error, ToolError::Refused(ref r) if r.reason == Reason::Busy));
    driving!(world, bridge3, third, last);
    assert!(world.poll(last.as_mut()).is_none());
    world.tick();
    let error = world.poll(last.as_mut()).unwrap().unwrap_err();
    assert!(matches!(error, ToolError::Refused(ref r) if r.reason == Reason::NotArmed));
    assert_eq!(world.heard("vendor.octos.rover.go_to_pose").len(), 1);
}

#[test]
fn a_change_of_the_set_up_is_answered_and_moves_nothing() {
    let mut world = World::armed();
    let cmd = world.cmd("robot_release_control", CommandKind::Config);
    let bridge = world.bridge();
    let tool = bridge.tool(cmd.tool).unwrap();
    let answer = world
        .until(1_000, pin!(configure(&bridge, tool, cmd)))
        .unwrap();
    assert!(answer.ok);
    assert_eq!(world.run(), RunState::Armed);
    assert!(world.heard(HEARTBEAT).is_empty());
    world.order(Order::Disarm);
    let cmd = world.cmd("robot_release_control", CommandKind::Config);
    let error = world
        .until(1_000, pin!(configure(&bridge, tool, cmd)))
        .unwrap_err();
    assert!(matches!(error, ToolError::Refused(ref r) if r.reason == Reason::NotArmed));
}

#[test]
fn case_45_a_full_queue_of_commands_is_busy_and_its_depth_is_known() {
    let mut world = World::armed();
    let bridge = world.bridge();
    for _ in 0..15 {
        let cmd = world.cmd(GO, CommandKind::Move);
        assert!(bridge.submit(cmd));
    }
    assert_eq!(bridge.commands_waiting(), 15);
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, b, cmd, future);
    let error = world.poll(future.as_mut()).unwrap().unwrap_err();
    assert!(matches!(error, ToolError::Refused(ref r) if r.reason == Reason::Busy));
    world.tick();
    assert_eq!(bridge.commands_waiting(), 0);
    // None of them had a live call.
    assert!(world.heard("vendor.octos.rover.go_to_pose").is_empty());
    let dropped = |f: &Fact| {
        matches!(
            f,
            Fact::CommandDropped {
                why: DropCause::Lease,
                ..
            }
        )
    };
    assert_eq!(world.count(dropped), 15);
}

#[test]
fn case_65_a_blocked_spine_ends_the_lease_although_the_call_lives() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    for _ in 0..60 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    world.spins = false;
    let stuck = world.now().as_ms();
    let error = world.until(4_000, future.as_mut()).unwrap_err();
    assert!(error.to_string().contains("lease_lost"), "{error}");
    assert!(world.heard(STOP)[0] <= stuck + 2_000 + 20);
    assert_eq!(world.run(), RunState::Stopped);
}

#[test]
fn a_pulse_alone_is_no_progress() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd(GO, CommandKind::Move);
    driving!(world, bridge, cmd, future);
    assert!(world.poll(future.as_mut()).is_none());
    world.tick();
    let call = world.call;
    let before = world.parts.links.shared.calls.note(call).polls;
    world.rover.alive = false;
    for _ in 0..20 {
        world.tick();
        assert!(world.poll(future.as_mut()).is_none());
    }
    assert!(world.parts.links.shared.calls.note(call).polls <= before + 1);
}

#[test]
fn the_parameters_carry_who_controls_where_the_verb_takes_that_and_are_bounded() {
    let file = rover();
    let tool = |name: &str| file.tools.iter().find(|t| t.name.as_str() == name).unwrap();
    let mut args = no_params();
    args.insert("x".to_owned(), 1.5.into());
    let params: Value = serde_json::from_str(&params_of(tool(GO), &args).unwrap()).unwrap();
    assert_eq!(
        params,
        serde_json::json!({ "x": 1.5, "control_source": "octos-edge" })
    );
    let bare = params_of(tool("rover_get_pose"), &args).unwrap();
    assert_eq!(bare.as_str(), r#"{"x":1.5}"#);
    args.insert("y".to_owned(), "z".repeat(1_100).into());
    let error = params_of(tool(GO), &args).unwrap_err();
    assert!(error.to_string().contains("exceed 1024"));
}
