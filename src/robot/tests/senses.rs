//! What is known of the robot for the model: read where the robot file says, aged, and never waited for.

use serde_json::{Value, json};

use super::world::{World, rover};
use crate::robot::RobotSenses;
use crate::terms::{Input, RunState, SensedValue, Senses as _, SensorReading, Surroundings, Tier};

fn seen(world: &World) -> Surroundings {
    RobotSenses::new(world.bridge(), Tier::SafeMotion).sense()
}

fn reading(world: &World, name: &str) -> SensorReading {
    let mut readings = seen(world).readings.into_iter();
    readings.find(|one| &*one.name == name).unwrap()
}

#[test]
fn before_the_first_state_every_reading_is_absent_and_afterwards_only_what_the_state_lacks() {
    let mut world = World::cold();
    let cold = seen(&world);
    assert!(cold.readings.iter().all(SensorReading::is_absent));
    assert_eq!(cold.readings.len(), rover().sensors.readings.len());
    assert_eq!((cold.tier, cold.tokens_max), (Tier::SafeMotion, 256));
    assert!(!cold.posture.bridge_up);
    world.run_ms(100);
    let warm = seen(&world);
    let absent = warm.readings.iter().filter(|one| one.is_absent());
    let absent: Vec<&str> = absent.map(|one| &*one.name).collect();
    assert_eq!(absent, ["battery"], "the state of this rover has none");
    assert_eq!(warm.posture.run, RunState::Disarmed);
    let position = reading(&world, "position");
    assert_eq!(position.value, SensedValue::Numbers(vec![0.0; 3]));
    assert_eq!(&*position.unit, "m");
}

#[test]
fn a_silent_robot_grows_stale_at_its_bound_and_its_last_words_stay() {
    let mut world = World::armed();
    world.rover.alive = false;
    world.say_state();
    world.jump(500);
    let speed = reading(&world, "speed");
    assert_eq!((speed.age_ms, speed.is_stale()), (Some(500), false));
    world.jump(1);
    let speed = reading(&world, "speed");
    assert_eq!((speed.age_ms, speed.is_stale()), (Some(501), true));
    assert_eq!(speed.value, SensedValue::Number(0.0));
}

#[test]
fn a_state_that_is_said_again_is_no_fresh_reading() {
    let mut world = World::armed();
    world.rover.alive = false;
    let state = world.next_state();
    world.say(Input::State, &state);
    world.jump(900);
    world.say(Input::State, &state);
    assert!(reading(&world, "speed").is_stale());
}

#[test]
fn a_state_of_any_shape_is_read_bounded() {
    let mut world = World::armed();
    world.rover.alive = false;
    for hostile in [
        json!("x".repeat(10_000)),
        json!(vec!["a"; 900]),
        json!({ "deep": { "er": [1, 2, 3] } }),
        json!(1e300),
        Value::Null,
    ] {
        let mut state = world.next_state();
        for path in ["speed", "nav_status", "estopped", "battery"] {
            state[path] = hostile.clone();
        }
        state["pose"] = json!({ "position": hostile });
        world.say(Input::State, &state);
        for one in seen(&world).readings {
            assert!(format!("{one:?}").len() < 400, "{one:?}");
            assert!(!one.is_absent());
        }
    }
}
