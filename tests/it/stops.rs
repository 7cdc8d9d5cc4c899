//! A stop goes before everything else.

use octos_edge::terms::{Fact, RunState, StopCause, StopKind};

use crate::rig::{
    ARM, DRIVE, Run, Site, Trail, enters, is_first_verb, is_motion, is_standstill, stop_for,
};

#[test]
fn case_24_a_stop_listed_behind_a_move_is_executed_first_and_the_move_never_leaves() {
    let site = Site::new();
    let stop = r#"{ tool = "rover_stop", args = { hurry = true } }"#;
    let batch = format!("{DRIVE}, {stop}");
    let expect = r#"stops = [ { kind = "stop", by = "model", standstill = true } ]
        end_pose = { x = [0.0, 0.0], y = [0.0, 0.0] }"#;
    let scenario = site.scenario(ARM, &[&batch], expect);
    let ended = Run::sim(&site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);

    let mut trail = Trail::of(site.facts());
    trail.then("the goal", |f| matches!(f, Fact::GoalBegun { .. }));
    trail.never("a motion that left", is_motion);
    trail.never("a robot that moves", enters(RunState::Moving));
    let mut stopped = Trail::of(trail.rest().to_vec());
    stopped.then("the stop", stop_for(StopCause::ModelStop));
    stopped.then("its verb", is_first_verb);
    stopped.then("standstill", is_standstill);
    trail.then("the word of the model", |f| {
        matches!(
            f,
            Fact::StopAsked {
                what: StopKind::Stop,
                cause: StopCause::ModelStop,
                ..
            }
        )
    });
    // The answer for the move, whichever stage gave it, comes behind the stop that voided it.
    trail.then("the answer for the move", |f| {
        matches!(f, Fact::Refused { tool, .. } | Fact::Finished { tool, .. }
            if tool == "rover_go_to_pose")
    });
    let verbs = site.verbs();
    let reached = |end: &str| verbs.iter().any(|verb| verb.ends_with(end));
    assert!(reached("rover.stop") && !reached("go_to_pose"), "{verbs:?}");
}
