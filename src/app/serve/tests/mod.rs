//! Case 50: a panic in each thread that carries the robot, seen from outside, on a real node with its
//! threads, its files and its exit code.
//!
//! The process under test is `child`. Its robot is a session: advert and states at rest, and never an
//! answer. A test waits for what it sees on the control socket and on disk, and for nothing else.

mod child;
mod life;

use life::{House, Life};

use crate::app::control::{Answer, Word};
use crate::terms::{Fact, RunState, StopCause};

const ANN: &str = "ann";

fn arm() -> Word {
    Word::Arm {
        who: ANN.to_owned(),
        why: "a test".to_owned(),
        for_s: 600,
    }
}

fn goal() -> Word {
    Word::Goal {
        who: ANN.to_owned(),
        text: "Drive.".to_owned(),
    }
}

fn enters(state: RunState) -> impl Fn(&Fact) -> bool {
    move |fact| matches!(fact, Fact::RunStateChanged { to, .. } if *to == state)
}

/// A life whose robot is under way.
fn moving(house: &House, thread: &str) -> Life {
    let mut life = Life::ready(house, thread);
    assert!(matches!(life.ask(&arm()), Answer::Done { .. }));
    assert!(matches!(life.ask(&goal()), Answer::Done { .. }));
    life.wait_for(|status| status.run == RunState::Moving);
    house.wait_on_disk(enters(RunState::Moving));
    life.wait_sent("go_to_pose");
    life
}

/// The next life: in this state, with nothing that moves, and not to be armed while it is latched.
fn next_life_is(house: &House, state: RunState) {
    let mut life = Life::begun(house, "");
    let status =
        life.wait_for(|status| status.run != RunState::Boot && status.run != RunState::Stopping);
    assert_eq!(status.run, state);
    if state == RunState::Latched {
        let Answer::Refused { failed } = life.ask(&arm()) else {
            panic!("a latched robot was armed");
        };
        assert!(failed.iter().any(|why| why == "latched"), "{failed:?}");
    }
    assert_eq!(life.motions(), 0, "{:?}", life.sent());
}

/// A panic of this thread while the robot is under way, and while nobody has armed it.
fn breaks(thread: &str) {
    let house = House::new();
    let mut life = moving(&house, thread);
    assert_eq!(life.threads_called(thread), 1);
    life.strike();
    assert_eq!(life.code(), Some(72), "{}", life.log());
    assert_eq!(house.latched(), Some(StopCause::InternalFault));
    assert!(
        house.marked(),
        "the next life begins with the stop sequence"
    );
    house.wait_on_disk(enters(RunState::Moving));
    assert_eq!(life.motions(), 1, "and none after: {:?}", life.sent());
    next_life_is(&house, RunState::Latched);

    let house = House::new();
    let mut life = Life::ready(&house, thread);
    house.wait_on_disk(enters(RunState::Disarmed));
    life.strike();
    if thread == "dora-out" {
        // It looks at the clock when it sends: what the model reads is sent, what moves is refused.
        assert!(matches!(life.ask(&goal()), Answer::Done { .. }));
    }
    assert_eq!(life.code(), Some(72), "{}", life.log());
    assert_eq!((house.latched(), house.marked()), (None, false));
    house.wait_on_disk(enters(RunState::Disarmed));
    assert_eq!(life.motions(), 0);
    next_life_is(&house, RunState::Disarmed);
}

#[test]
fn case_50_a_panic_in_safety_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("safety");
}

#[test]
fn case_50_a_panic_in_dora_in_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("dora-in");
}

#[test]
fn case_50_a_panic_in_dora_out_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("dora-out");
}

#[test]
fn case_50_a_panic_in_the_recorder_ends_the_process_with_72_and_an_armed_robot_comes_back_latched()
{
    breaks("recorder");
}

#[test]
fn case_50_a_panic_in_the_keeper_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("keeper");
}

/// The accepting thread looks at the clock when somebody comes.
#[test]
fn case_50_a_panic_in_control_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("control");
}

#[test]
fn case_50_a_panic_in_signals_ends_the_process_with_72_and_an_armed_robot_comes_back_latched() {
    breaks("signals");
}

#[test]
fn case_50_a_panic_in_the_supervisor_ends_the_process_with_72_and_an_armed_robot_comes_back_latched()
 {
    breaks("supervisor");
}

/// All others live: the robot is stopped by verbs, and latched because it was armed.
#[test]
fn case_50_a_panic_in_the_spine_stops_the_robot_and_ends_with_72_latched_only_if_it_was_armed() {
    let house = House::new();
    let mut life = Life::ready(&house, "agent");
    assert!(matches!(life.ask(&arm()), Answer::Done { .. }));
    life.wait_for(|status| status.run == RunState::Armed);
    life.strike();
    assert!(matches!(life.ask(&goal()), Answer::Done { .. }));
    assert_eq!(life.code(), Some(72), "{}", life.log());
    assert_eq!(house.latched(), Some(StopCause::InternalFault));
    house.wait_on_disk(enters(RunState::Latched));
    house.wait_on_disk(|fact| matches!(fact, Fact::StopVerb { .. }));
    assert_eq!(life.motions(), 0);
    next_life_is(&house, RunState::Latched);

    let house = House::new();
    let mut life = Life::ready(&house, "agent");
    life.strike();
    assert!(matches!(life.ask(&goal()), Answer::Done { .. }));
    assert_eq!(life.code(), Some(72), "{}", life.log());
    assert_eq!((house.latched(), house.marked()), (None, false));
    next_life_is(&house, RunState::Disarmed);
}

#[test]
fn case_50_a_panic_in_a_tool_is_an_outcome_and_the_process_lives() {
    let house = House::new();
    let mut life = moving(&house, "agent");
    life.strike_once();
    house.wait_on_disk(|fact| {
        matches!(fact, Fact::Finished { tool, outcome, .. }
            if tool == "rover_go_to_pose" && outcome == "panicked")
    });
    let status = life.wait_for(|status| !status.goal.running && status.run != RunState::Stopping);
    assert_ne!(status.run, RunState::Moving);
    assert_eq!(house.latched(), None);
    assert_eq!(life.motions(), 1, "{:?}", life.sent());
    let end = Word::End {
        who: ANN.to_owned(),
    };
    let at_rest = matches!(
        life.ask(&end),
        Answer::Ending {
            at_rest: Some(true),
            ..
        }
    );
    assert!(at_rest);
    assert_eq!(life.code(), Some(0), "{}", life.log());
}
