//! A stop goes before everything else.

use octos_edge::terms::{Fact, RunState, StopCause, StopKind};

use crate::rig::{ARM, Run, Site, Trail};

#[test]
fn case_24_a_stop_listed_behind_a_move_is_executed_first_and_the_move_never_leaves() {
    let site = Site::new();
    let batch = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } },
        { tool = "rover_stop", args = { hurry = true } }"#;
    let expect = r#"stops = [ { kind = "stop", by = "model", standstill = true } ]
        end_pose = { x = [0.0, 0.0], y = [0.0, 0.0] }"#;
    let scenario = site.scenario(ARM, &[batch], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let mut trail = Trail::of(site.facts());
    trail.then("the goal", |fact| matches!(fact, Fact::GoalBegun { .. }));
    let goal = trail.rest().to_vec();
    trail.then("the stop of the model", |fact| {
        matches!(
            fact,
            Fact::StopAsked {
                what: StopKind::Stop,
                cause: StopCause::ModelStop,
                ..
            }
        )
    });
    // The answer for the move, whichever stage gave it, comes behind the stop that voided it.
    let answered = |fact: &Fact| {
        matches!(fact, Fact::Refused { tool, .. } | Fact::Finished { tool, .. }
            if tool == "rover_go_to_pose")
    };
    trail.then("the answer for the move", answered);
    trail.then("the stop verb", |fact| {
        matches!(fact, Fact::StopVerb { .. })
    });
    trail.then("standstill", |fact| matches!(fact, Fact::Standstill { .. }));
    let moves = |fact: &Fact| matches!(fact, Fact::CommandSent { moves: true, .. });
    Trail::of(goal.clone()).never("a motion that left", moves);
    Trail::of(goal).never("a robot that moves", |fact| {
        matches!(
            fact,
            Fact::RunStateChanged {
                to: RunState::Moving,
                ..
            }
        )
    });
    let verbs = site.verbs();
    assert!(
        !verbs.iter().any(|verb| verb.ends_with("go_to_pose")),
        "{verbs:?}"
    );
    assert!(
        verbs.iter().any(|verb| verb.ends_with("rover.stop")),
        "{verbs:?}"
    );
}
