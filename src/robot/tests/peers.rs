//! Adverts, restarts, losses, probes: what becomes of a robot's node.

use std::pin::pin;

use serde_json::json;

use super::world::{World, advert, no_params, rover};
use crate::config::AdvertUnknown;
use crate::robot::Heard;
use crate::robot::motion::drive;
use crate::safety::{Boot, FailedChecks, Order};
use crate::terms::{
    CommandKind, Fact, Input, PeerEvent, RobotPort, RunState, StopCause, Tier, WireEvent,
};

const PROBE: &str = "robot.get_capabilities";

fn lost(event: PeerEvent) -> WireEvent {
    WireEvent::Peer {
        event,
        who: "rover".to_owned(),
    }
}

#[test]
fn the_robot_is_asked_for_its_advert_until_it_is_known_with_growing_patience() {
    let mut world = World::cold();
    world.rover.advertises = false;
    let begun = world.now().as_ms();
    world.run_ms(20_000);
    let asked: Vec<u64> = world
        .heard(PROBE)
        .iter()
        .map(|at| (at - begun) / 1_000)
        .collect();
    assert_eq!(asked, [0, 1, 3, 7, 12, 17]);
    assert!(
        world
            .order(Order::Arm { for_ms: 9 })
            .has(FailedChecks::ADVERT_UNSEEN)
    );
    world.rover.advertises = true;
    world.run_ms(6_000);
    let known = world.heard(PROBE).len();
    world.run_ms(20_000);
    assert_eq!(world.heard(PROBE).len(), known);
    assert_eq!(world.count(|f| matches!(f, Fact::Advert { .. })), 1);
    // The published form of what an answer already gave is no restart.
    world.advertise();
    assert_eq!(world.count(|f| matches!(f, Fact::Peer { .. })), 0);
}

#[test]
fn case_64_after_an_unclean_end_a_stop_verb_leaves_before_anything_else() {
    let boot = Boot {
        unclean: true,
        latched: None,
    };
    let mut world = World::begun(rover(), boot);
    // The sending thread may be the first to run.
    world.parts.outbox.step(&mut world.line);
    assert!(world.line.out.is_empty());
    world.run_ms(100);
    let first = &world.rover.heard[0].1;
    assert_eq!(first.verb, "vendor.octos.rover.stop");
    assert!(!world.heard(PROBE).is_empty());
    world.run_ms(300);
    assert_eq!(world.run(), RunState::Disarmed);
}

#[test]
fn case_07_an_advert_changes_no_tier_and_each_difference_is_told_once() {
    let mut robot = rover();
    robot.advert_unknown = AdvertUnknown::Report;
    let mut world = World::with(robot);
    world.advertise();
    world.run_ms(100);
    world.advertise();
    let told = |verb: &'static str, tier: Option<Tier>| {
        move |f: &Fact| {
            matches!(f, Fact::AdvertTier { verb: v, file, claimed }
                if v == verb && *file == tier && claimed == "emergency_override")
        }
    };
    let velocity = told("vendor.octos.rover.set_velocity", Some(Tier::SafeMotion));
    assert_eq!(world.count(velocity), 1);
    assert_eq!(world.count(told("vendor.octos.rover.stop", None)), 1);
    assert_eq!(world.count(|f| matches!(f, Fact::AdvertTier { .. })), 2);
    assert_eq!(
        world.count(|f| matches!(f, Fact::AdvertUnknown { count: 1 })),
        1
    );
}

#[test]
fn verbs_that_an_advert_lacks_are_told_once_the_stop_first_and_block_nothing() {
    let mut world = World::armed();
    let lacks = |f: &Fact| {
        matches!(f, Fact::AdvertMissing { verbs }
            if verbs[..2] == ["robot.estop", "robot.release_control"] && verbs.len() == 6
                && !verbs.iter().any(|v| v.ends_with(".stop") || v.ends_with("set_velocity")))
    };
    assert_eq!(world.count(lacks), 1);
    world.advertise();
    assert_eq!(world.count(|f| matches!(f, Fact::AdvertMissing { .. })), 1);
    // Another life, another advert; one that names no verb says nothing about them.
    let mut silent = advert();
    silent["pid"] = json!(43);
    silent["commands"] = json!([]);
    world.say(Input::Capabilities, &silent);
    assert_eq!(world.count(|f| matches!(f, Fact::Advert { .. })), 2);
    assert_eq!(world.count(|f| matches!(f, Fact::AdvertMissing { .. })), 1);
}

#[test]
fn a_second_advert_of_another_process_is_a_restart() {
    let mut world = World::armed();
    let mut other = advert();
    other["pid"] = json!(43);
    world.say(Input::Capabilities, &other);
    world.run_ms(400);
    let restarted = |f: &Fact| {
        matches!(
            f,
            Fact::Peer {
                event: PeerEvent::Restarted,
                ..
            }
        )
    };
    assert_eq!(world.count(restarted), 1);
    assert_eq!(world.run(), RunState::Stopped);
    assert_eq!(world.bridge().posture().cause, Some(StopCause::BridgeLost));
}

#[test]
fn a_second_advert_without_a_process_id_is_a_restart_unless_it_is_the_same_to_the_letter() {
    let mut world = World::cold();
    let mut plain = advert();
    plain.as_object_mut().unwrap().remove("pid");
    world.say(Input::Capabilities, &plain);
    world.say(Input::Capabilities, &plain);
    assert_eq!(world.count(|f| matches!(f, Fact::Peer { .. })), 0);
    plain["ts"] = json!("2026-01-01T00:00:09.000Z");
    world.say(Input::Capabilities, &plain);
    assert_eq!(world.count(|f| matches!(f, Fact::Peer { .. })), 1);
    assert!(world.parts.links.observed.advert_known());
}

#[test]
fn case_35_a_killed_robot_node_fails_its_calls_at_once_and_is_found_again() {
    for event in [PeerEvent::Closed, PeerEvent::Failed, PeerEvent::Restarted] {
        let mut world = World::armed();
        world.rover.goal_ms = 60_000;
        let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
        let read = world.cmd("rover_get_pose", CommandKind::Read);
        let bridge = world.bridge();
        let tool = bridge.tool(cmd.tool).unwrap();
        let params = no_params();
        {
            let mut future = pin!(drive(&bridge, tool, cmd));
            for _ in 0..20 {
                assert!(world.poll(future.as_mut()).is_none());
                world.tick();
            }
            world.rover.alive = false;
            let mut reading = pin!(bridge.ask(read, &params));
            assert!(world.poll(reading.as_mut()).is_none());
            let now = world.now();
            world.parts.inbox.handle(lost(event), now);
            let error = world.poll(future.as_mut()).unwrap().unwrap_err();
            assert!(error.to_string().starts_with("BRIDGE_DOWN"));
            let error = world.poll(reading.as_mut()).unwrap().unwrap_err();
            assert!(error.to_string().starts_with("BRIDGE_DOWN"));
        }
        assert!(!world.bridge().posture().bridge_up);
        world.run_ms(1_000);
        assert_eq!(world.run(), RunState::Stopping);
        // A new life: numbers begin anew, latch and holder are forgotten.
        world.rover.alive = true;
        world.rover.seq = 0;
        world.rover.status = "idle";
        world.rover.speed = 0.0;
        world.run_ms(2_000);
        assert!(world.parts.links.observed.advert_known(), "found by asking");
        assert_eq!(world.run(), RunState::Stopped);
        assert!(world.order(Order::Disarm).is_none());
        assert_eq!(world.run(), RunState::Disarmed);
    }
}

#[test]
fn a_falling_number_of_states_is_a_restart_and_a_repeated_one_is_not() {
    let mut world = World::armed();
    world.rover.seq -= 1;
    world.say_state();
    world.tick();
    assert_eq!(world.run(), RunState::Armed);
    world.rover.seq = 0;
    world.say_state();
    world.run_ms(300);
    assert_eq!(world.run(), RunState::Stopped);
    assert_eq!(world.count(|f| matches!(f, Fact::Peer { .. })), 1);
}

#[test]
fn a_recovered_input_and_a_closed_timer_lose_nothing() {
    let mut world = World::armed();
    let now = world.now();
    world.parts.inbox.handle(lost(PeerEvent::Recovered), now);
    let timer = WireEvent::Peer {
        event: PeerEvent::Closed,
        who: "tick".to_owned(),
    };
    world.parts.inbox.handle(timer, now);
    world.run_ms(100);
    assert_eq!(world.run(), RunState::Armed);
    assert_eq!(world.count(|f| matches!(f, Fact::Peer { .. })), 2);
}

#[test]
fn case_68_speed_above_the_monitor_is_a_stop() {
    let mut world = World::armed();
    world.rover.speed = 0.29;
    world.run_ms(100);
    assert_eq!(
        world.run(),
        RunState::Armed,
        "1.2 times 0.25 is not exceeded"
    );
    world.rover.speed = -0.31;
    world.run_ms(400);
    assert_eq!(world.run(), RunState::Stopped);
    assert_eq!(world.bridge().posture().cause, Some(StopCause::Overspeed));
}

#[test]
fn case_14_a_robot_that_leaves_its_workspace_while_moving_is_stopped() {
    let mut world = World::armed();
    world.rover.goal_ms = 60_000;
    let cmd = world.cmd("rover_go_to_pose", CommandKind::Move);
    let bridge = world.bridge();
    let mut future = pin!(drive(&bridge, bridge.tool(cmd.tool).unwrap(), cmd));
    for _ in 0..10 {
        assert!(world.poll(future.as_mut()).is_none());
        world.tick();
    }
    world.rover.position = [4.5, 0.0];
    let error = world.until(2_000, future.as_mut()).unwrap_err();
    assert!(error.to_string().contains("workspace"), "{error}");
    assert_eq!(world.run(), RunState::Stopped);
}

#[test]
fn case_44_a_foreign_holder_refuses_arming_and_stops_a_moving_robot() {
    let mut world = World::armed();
    world.rover.holder = json!("octos-edge");
    world.run_ms(100);
    assert_eq!(world.run(), RunState::Armed, "that is us");
    world.rover.holder = json!("someone-else");
    world.run_ms(400);
    assert_eq!(world.run(), RunState::Stopped);
    world.order(Order::Disarm);
    assert_eq!(
        world.order(Order::Arm { for_ms: 9 }),
        FailedChecks::FOREIGN_HOLDER
    );
}

#[test]
fn case_41_safety_events_latch_are_kept_and_gaps_are_told() {
    let mut world = World::armed();
    for (seq, kind) in [(4, "bumper"), (4, "bumper"), (7, "deadman"), (1, "boot")] {
        world.say(
            Input::SafetyEvent,
            &json!({ "robot_id": "rover-1", "seq": seq, "kind": kind }),
        );
    }
    world.run_ms(400);
    assert_eq!(world.run(), RunState::Latched);
    assert_eq!(world.bridge().posture().cause, Some(StopCause::VendorEvent));
    let notes = world.bridge().safety_events(0);
    let kept: Vec<_> = notes
        .iter()
        .map(|n| (n.seq, n.robot_seq, n.missed_before))
        .collect();
    assert_eq!(kept, [(1, Some(4), 0), (2, Some(7), 2), (3, Some(1), 0)]);
    assert_eq!(world.bridge().safety_events(2).len(), 1);
    let gap =
        |f: &Fact| matches!(f, Fact::RobotSafetyEvent { what, .. } if what.starts_with("gap"));
    assert_eq!(world.count(gap), 2);
}

#[test]
fn the_end_of_the_dataflow_stops_a_moving_robot_first() {
    let mut world = World::armed();
    let now = world.now();
    assert_eq!(world.parts.inbox.handle(WireEvent::Stop, now), Heard::Stop);
    assert!(world.bridge().posture().stopping);
    let bridge = world.bridge();
    assert!(world.until(1_000, pin!(bridge.at_rest())));
    assert_eq!(world.run(), RunState::Stopped);
    let heard = world
        .parts
        .inbox
        .handle(WireEvent::Broken("daemon gone".to_owned()), now);
    assert_eq!(heard, Heard::Lost);
    assert!(!world.bridge().posture().bridge_up);
    assert_eq!(
        world.count(|f| matches!(f, Fact::GraphStop | Fact::GraphLost { .. })),
        2
    );
}

#[test]
fn only_the_log_level_can_be_set_from_outside() {
    let mut world = World::cold();
    let now = world.now();
    let mut set = |key: &str, value: Option<&str>| {
        let event = WireEvent::Param {
            key: key.to_owned(),
            value: value.map(str::to_owned),
        };
        world.parts.inbox.handle(event, now)
    };
    assert_eq!(
        set("log_level", Some("\"debug\"")),
        Heard::LogLevel(Some("debug".to_owned()))
    );
    assert_eq!(set("log_level", None), Heard::LogLevel(None));
    assert_eq!(set("max_tier", Some("\"full_actuation\"")), Heard::Nothing);
    let refused = |f: &Fact| {
        matches!(
            f,
            Fact::Param {
                accepted: false,
                ..
            }
        )
    };
    assert_eq!(world.count(refused), 1);
}

#[test]
fn the_rovers_plan_is_that_of_its_files() {
    use crate::robot::{safety_plan, speed_ceiling_mps};
    let (robot, tiers) = (rover(), super::world::tiers());
    let board = super::world::board();
    let plan = safety_plan(&robot, &tiers, &board, Boot::default());
    assert_eq!(plan.steps.len(), 2);
    assert!(plan.steps[1].retry_empty && !plan.steps[0].retry_empty);
    assert_eq!(
        (plan.within_ms, plan.stale_after_ms, plan.idle_disarm_s),
        (500, 500, 300)
    );
    assert!(plan.has_release && !plan.waive_deadman);
    let ceiling = |tier| speed_ceiling_mps(&robot, &tiers, tier);
    assert_eq!(ceiling(Tier::SafeMotion), Some(0.25));
    assert_eq!(ceiling(Tier::Observe), None, "lowered");
    assert_eq!(ceiling(Tier::EmergencyOverride), Some(0.25), "never raised");
}
