//! Tests of what a model is shown of its robot, in whole runs in this process.

use super::Ran;
use super::tests::run;
use crate::config::Scenario;
use crate::sim::Summary;
use crate::terms::Fact;

const HEAD: &str = r#"
    schema = 1
    name = "shown"
    robot = "rover-sim"
    board = "sim"
    dataflow = "rover-sim.yml"
    seed = 7
    limit_s = 30
    goal = "Look around."
    [operator]
    name = "ann"
    [[event]]
    when = "ready"
    operator = { do = "arm", why = "a test", for_s = 30 }
    [expect]
    at_rest = true
"#;

fn played(turns: &str) -> (Summary, Ran) {
    let scenario = Scenario::parse("shown.toml", &format!("{HEAD}{turns}"));
    run(&scenario.unwrap_or_else(|faults| panic!("{faults}")), 7)
}

/// Step, tokens and stale readings of each time that the model was shown its robot.
fn shown(ran: &Ran) -> Vec<(u32, u32, u32)> {
    let shown = |(_, fact): &(u64, Fact)| {
        let Fact::SensorsShown {
            step,
            tokens,
            stale,
            ..
        } = fact
        else {
            return None;
        };
        Some((*step, *tokens, *stale))
    };
    ran.facts.iter().filter_map(shown).collect()
}

#[test]
fn the_readings_of_a_frozen_robot_are_stale_in_the_next_reply() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/dataflows/scenarios/rover-faults-frozen-robot.toml"
    );
    let scenario = Scenario::load(file.as_ref()).unwrap();
    let (summary, ran) = run(&scenario, scenario.seed);
    assert!(summary.ok, "{}", summary.to_text());
    let stale: Vec<u32> = shown(&ran).iter().map(|(_, _, stale)| *stale).collect();
    assert_eq!(stale[0], 0, "{stale:?}");
    assert_eq!(stale[1], 4, "all but the battery, which may be older");
}

#[test]
fn each_reply_has_its_own_view_within_the_bound_and_the_same_run_the_same_digests() {
    let turns = r#"
        [[turn]]
        sees = ["run_state=armed tier=safe_motion latched=no last_stop=none robot_answers=yes"]
        say = "I drive."
        call = [ { tool = "rover_set_velocity", args = { linear = 0.2, angular = 0.0 } } ]
        [[turn]]
        sees = ["position: [0."]
        say = "I end."
        call = []
    "#;
    let (summary, ran) = played(turns);
    assert!(summary.ok, "{}", summary.to_text());
    let views = shown(&ran);
    assert_eq!(views.iter().map(|view| view.0).collect::<Vec<_>>(), [1, 2]);
    assert!(
        views
            .iter()
            .all(|(_, tokens, _)| (60..=256).contains(tokens))
    );
    let facts = |ran: &Ran| {
        let facts = ran.facts.iter().map(|(_, fact)| fact.clone());
        let facts = facts.filter(|fact| matches!(fact, Fact::SensorsShown { .. }));
        facts.collect::<Vec<_>>()
    };
    assert_eq!(facts(&ran), facts(&played(turns).1));
    let counted = "octos_edge_sensor_context_tokens_count 2";
    let metrics = crate::telemetry::Metrics::new(crate::telemetry::RobotLabels::default()).unwrap();
    for (_, fact) in &ran.facts {
        metrics.apply(fact);
    }
    assert!(metrics.render().lines().any(|line| line == counted));
}

#[test]
fn a_model_that_does_not_see_what_it_waits_for_fails_the_run() {
    let (summary, _) = played(
        r#"
        [[turn]]
        sees = ["run_state=moving"]
        say = "I see it move."
        call = []
    "#,
    );
    let failed = summary.expectations.iter().filter(|verdict| !verdict.ok);
    let failed: Vec<&str> = failed.map(|verdict| verdict.name).collect();
    assert_eq!(failed, ["sees"], "{}", summary.to_text());
}
