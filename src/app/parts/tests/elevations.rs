//! What stands against an Elevation is told in one answer, recorded, and nothing is raised.

use super::words::world;
use crate::app::control::{Answer, Speaker, Word};
use crate::terms::{Fact, FactClass, Tier};

const TERMINAL: Speaker = Speaker::Process {
    pid: 4711,
    uid: 1000,
    is_child: false,
};

fn elevate(who: &str, tier: Tier, tools: &[&str]) -> Word {
    Word::Elevate {
        who: who.to_owned(),
        why: "the gripper is clear".to_owned(),
        tier,
        tools: tools.iter().map(|name| (*name).to_owned()).collect(),
        calls: 3,
        for_s: 60,
    }
}

/// Says it to an agent whose robot is not armed, and returns all that was wrong.
fn refused(word: &Word) -> Vec<String> {
    let world = world();
    let hidden = |facts: &[Fact]| {
        let told = facts.iter();
        told.filter(|f| matches!(f, Fact::ToolsHidden { .. }))
            .count()
    };
    let before = hidden(&world.facts.0.lock().unwrap());
    let Err(Answer::Refused { failed }) = world.desk.elevate(word, TERMINAL) else {
        panic!("not refused: {word:?}");
    };
    let facts = world.facts.0.lock().unwrap().clone();
    let told = Fact::OrderRefused {
        order: "elevate".to_owned(),
        who: word.who().to_owned(),
        failed: failed.clone(),
        peer: TERMINAL.peer(),
    };
    assert_eq!(facts.last(), Some(&told), "recorded");
    assert_eq!(hidden(&facts), before, "nothing was raised");
    let Answer::Status(status) = world.desk.carry_out(&Word::Status, TERMINAL) else {
        panic!("no status");
    };
    assert!(status.elevations.is_empty());
    failed
}

#[test]
fn everything_that_is_wrong_is_told_in_one_answer() {
    let tools = [
        "rover_griper_set",
        "rover_gripper_set",
        "rover_gripper_set",
        "robot_release_control",
        "rover_go_to_pose",
        "rover_stop",
        "fly",
    ];
    let mut word = elevate(" ", Tier::FullActuation, &tools);
    let Word::Elevate { calls, for_s, .. } = &mut word else {
        panic!("another word");
    };
    (*calls, *for_s) = (101, 0);
    assert_eq!(
        refused(&word),
        [
            "`who` is empty: say who asks",
            "`calls` is 101: 1 to 100",
            "`for_s` is 0: 1 to 3600",
            "no tool is named `rover_griper_set`: did you mean `rover_gripper_set`?",
            "`rover_gripper_set` is named twice",
            "`robot_release_control` needs the tier emergency_override, above full_actuation",
            "`rover_go_to_pose` is permitted already",
            "`rover_stop` needs no tier: a stop is always permitted",
            "no tool is named `fly`",
            "no operator armed the robot (it is boot)",
        ]
    );
}

#[test]
fn no_tool_too_many_tools_and_hostile_names_are_refused_in_bounds() {
    let none = refused(&elevate("ann", Tier::FullActuation, &[]));
    assert_eq!(none[0], "no tool is named: an elevation is for named tools");
    let many = refused(&elevate("ann", Tier::FullActuation, &["x"; 9]));
    assert_eq!(many[0], "9 tools are named, 8 at most");
    let long = "x".repeat(10_000);
    let long = refused(&elevate("ann", Tier::FullActuation, &[&long]));
    assert!(long.iter().all(|problem| problem.len() < 200), "{long:?}");
}

#[test]
fn an_elevation_that_nobody_holds_is_none() {
    let world = world();
    let word = elevate("ann", Tier::FullActuation, &["rover_gripper_set"]);
    let answer = world.desk.carry_out(&word, TERMINAL);
    assert!(matches!(answer, Answer::Refused { .. }), "{answer:?}");
    let given = |f: &Fact| matches!(f, Fact::ElevationGiven { .. });
    assert!(!world.facts.0.lock().unwrap().iter().any(given));
}

#[test]
fn refused_wishes_without_end_are_answered_each_and_recorded_within_bounds() {
    let world = world();
    let word = elevate("eve", Tier::FullActuation, &["fly"]);
    for _ in 0..1_000 {
        let told = world.desk.elevate(&word, TERMINAL);
        assert!(matches!(told, Err(Answer::Refused { .. })), "{told:?}");
    }
    let facts = world.facts.0.lock().unwrap();
    let refused = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::OrderRefused { .. }));
    let recorded: Vec<_> = refused.collect();
    assert!((8..64).contains(&recorded.len()), "{}", recorded.len());
    assert!(recorded.iter().all(|fact| fact.class() == FactClass::Audit));
}
