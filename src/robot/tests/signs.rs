//! What a state says: danger that cannot be read, old news, and a word of rest against the figures.

use serde_json::{Value, json};

use super::world::{World, rover};
use crate::safety::{FailedChecks, Order, Signs};
use crate::terms::{Fact, Input, InputFault, RobotPort, RunState, StopCause, StopKind};

/// Says the next state with one member changed.
fn say_with(world: &mut World, key: &str, value: &Value) {
    let mut state = world.next_state();
    state[key] = value.clone();
    world.say(Input::State, &state);
}

fn ended(world: &mut World, key: &str, value: &Value) -> (RunState, Option<StopCause>) {
    say_with(world, key, value);
    world.run_ms(400);
    (world.run(), world.bridge().posture().cause)
}

#[test]
fn an_estop_or_a_holder_of_another_type_counts_as_danger() {
    for danger in [
        json!("true"),
        json!(1),
        json!("false"),
        json!({ "on": true }),
    ] {
        let end = ended(&mut World::armed(), "estopped", &danger);
        let expected = (RunState::Latched, Some(StopCause::VendorEvent));
        assert_eq!(end, expected, "{danger}");
    }
    for somebody in [
        json!(7),
        json!(["octos-edge"]),
        json!({ "name": "octos-edge" }),
    ] {
        let end = ended(&mut World::armed(), "controller_holder", &somebody);
        let expected = (RunState::Stopped, Some(StopCause::VendorEvent));
        assert_eq!(end, expected, "{somebody}");
    }
    for calm in [json!(false), Value::Null] {
        let end = ended(&mut World::armed(), "estopped", &calm);
        assert_eq!(end, (RunState::Armed, None), "{calm}");
    }
}

#[test]
fn a_speed_or_a_position_of_another_type_is_unknown_and_confirms_no_rest() {
    let bad = [
        ("speed", json!("0.0")),
        ("speed", Value::Null),
        ("speed", json!([0.0])),
        ("pose", json!({ "position": "home" })),
        ("pose", json!({ "position": [0.0] })),
        ("pose", json!({ "position": [0.0, "1.0", 0.0] })),
        ("pose", json!({ "position": [0.0, 1.0, null] })),
        ("pose", json!({ "position": { "x": 0.0, "y": 0.0 } })),
    ];
    for (key, value) in bad {
        let mut world = World::cold();
        world.run_ms(100);
        world.rover.alive = false;
        say_with(&mut world, key, &value);
        let failed = world.order(Order::Arm { for_ms: 9 });
        assert!(failed.has(FailedChecks::BLIND), "{key} {value}");
        let blind_to_speed = key == "speed";
        assert_eq!(failed.has(FailedChecks::NOT_AT_REST), blind_to_speed);
    }
    let huge = r#"{"seq":1,"nav_status":"idle","speed":1e999,"pose":{"position":[0,0]}}"#;
    let mut world = World::cold();
    world.say_text(Input::State, huge);
    assert_eq!(world.parts.links.observed.states(), 0, "no JSON at all");
}

fn stale(world: &World) -> usize {
    let old = |f: &Fact| {
        matches!(
            f,
            Fact::InputIgnored {
                fault: InputFault::StaleSeq,
                ..
            }
        )
    };
    world.count(old)
}

#[test]
fn a_state_that_is_said_again_is_no_news() {
    let mut world = World::armed();
    let cached = world.next_state();
    world.say(Input::State, &cached);
    world.rover.alive = false;
    let (seen, view) = (world.parts.links.observed.seen(), world.bridge().state());
    for _ in 0..60 {
        world.tick();
        world.say(Input::State, &cached);
    }
    assert_eq!(stale(&world), 60);
    assert_eq!(
        world.parts.links.observed.seen(),
        seen,
        "neither fresh nor still"
    );
    assert_eq!(world.bridge().state(), view, "and the spine is not woken");
    world.order(Order::Disarm);
    let failed = world.order(Order::Arm { for_ms: 9_000 });
    assert_eq!(failed, FailedChecks::STATE_STALE);
    world.rover.alive = true;
    world.run_ms(100);
    assert!(world.order(Order::Arm { for_ms: 9_000 }).is_none());
}

#[test]
fn a_state_that_is_said_again_confirms_no_rest() {
    let mut world = World::armed();
    let cached = world.next_state();
    world.say(Input::State, &cached);
    world.rover.alive = false;
    world
        .parts
        .links
        .latch
        .ask(StopKind::Stop, StopCause::OperatorStop);
    for _ in 0..40 {
        world.tick();
        world.say(Input::State, &cached);
    }
    assert_eq!(world.run(), RunState::Stopping);
    assert_eq!(world.count(|f| matches!(f, Fact::Standstill { .. })), 0);
}

#[test]
fn the_last_state_of_a_lost_robot_does_not_bring_it_back() {
    let mut world = World::armed();
    let cached = world.next_state();
    world.say(Input::State, &cached);
    world.rover.alive = false;
    let now = world.now();
    let closed = crate::terms::WireEvent::Peer {
        event: crate::terms::PeerEvent::Closed,
        who: "rover".to_owned(),
    };
    world.parts.inbox.handle(closed, now);
    world.say(Input::State, &cached);
    assert!(!world.bridge().posture().bridge_up);
    assert_eq!(stale(&world), 1);
    // Another life begins to count anew.
    world.rover.seq = 0;
    world.say_state();
    assert!(world.bridge().posture().bridge_up);
}

#[test]
fn a_danger_is_heard_although_the_number_did_not_rise() {
    let mut world = World::armed();
    world.rover.seq -= 1;
    assert_eq!(
        ended(&mut world, "estopped", &json!(true)),
        (RunState::Latched, Some(StopCause::VendorEvent))
    );
    assert_eq!(stale(&world), 1);
}

#[test]
fn states_without_numbers_are_all_news() {
    let mut world = World::cold();
    for _ in 0..3 {
        say_with(&mut world, "seq", &Value::Null);
    }
    assert_eq!(world.parts.links.observed.seen().still_run, 3);
}

#[test]
fn a_word_of_rest_is_not_believed_while_the_speed_says_otherwise() {
    let still = |speed: f64| {
        let mut world = World::cold();
        world.rover.speed = speed;
        world.say_state();
        let signs = world.parts.links.observed.seen().signs;
        assert_eq!(
            signs.has(Signs::STILL),
            world.bridge().state().unwrap().still
        );
        signs.has(Signs::STILL)
    };
    assert!(still(0.0) && still(0.019) && still(-0.019));
    assert!(!still(0.021) && !still(-0.021) && !still(0.2));

    let mut world = World::armed();
    world.rover.speed = 0.1; // it says `idle` and rolls on, whatever it answers
    world.run_ms(100);
    world.rover.deaf = true;
    world
        .bridge()
        .stop(StopKind::Stop, StopCause::OperatorStop, Some("ann"));
    world.run_ms(600);
    assert_eq!(world.run(), RunState::Latched, "rest was not confirmed");
}

#[test]
fn without_a_monitor_two_positions_at_one_place_are_rest() {
    let mut robot = rover();
    robot.monitor = None;
    let mut world = World::with(robot.clone());
    let mut still = |x: f64| {
        world.rover.position = [x, 0.0];
        world.say_state();
        world.parts.links.observed.seen().signs.has(Signs::STILL)
    };
    assert!(!still(0.0), "one position proves nothing");
    assert!(still(0.009) && still(0.0));
    assert!(!still(0.011) && still(0.011));
    assert!(!still(0.5));

    robot.workspace = None;
    let mut world = World::with(robot);
    world.say_state();
    let signs = world.parts.links.observed.seen().signs;
    assert!(signs.has(Signs::STILL), "the word is all there is");
}
