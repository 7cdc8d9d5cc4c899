//! What a robot file must show when it loads: examples that do as they say, goals within reach.

use crate::gate::fixture::{Rig, faults};

#[test]
fn the_shipped_rover_loads_and_keeps_the_order_of_its_tools() {
    let rig = Rig::new();
    for (index, (tool, rules)) in (0..).zip(rig.robot.tools.iter().zip(rig.rules.tools())) {
        assert_eq!((rules.index(), rules.name()), (index, &tool.name));
        assert_eq!(rig.rules.tool(index).unwrap().name(), &tool.name);
    }
    assert!(rig.rules.tool(u16::MAX).is_none());
}

fn one(changes: &[(&str, &str)], parts: &[&str]) {
    let found = faults(changes);
    assert_eq!(found.len(), 1, "{found:#?}");
    for part in parts {
        assert!(found[0].contains(part), "`{part}` not in {}", found[0]);
    }
}

#[test]
fn case_68_an_allow_example_that_is_refused_or_changed_is_a_fault_at_its_place() {
    let velocity = "allow  = [ { linear = 0.2, angular = 0.0 }";
    let with = |example: &str| format!("allow  = [ {example}");
    one(
        &[(velocity, &with("{ linear = 0.3, angular = 0.0 }"))],
        &[
            "rover-sim.toml:",
            "tool.rover_set_velocity.allow[0]",
            "limit refuses it",
            "0.25 m/s",
        ],
    );
    one(
        &[(velocity, &with("{ linear = 0.2, angular = 0.9 }"))],
        &["must pass unchanged", "`angular` was set to 0.5 rad/s"],
    );
    one(
        &[(velocity, &with("{ linear = 0.2 }"))],
        &["schema refuses it", "/angular: missing"],
    );
    one(
        &[(
            "allow  = [ { x = 1.0, y = 0.5 } ]",
            "allow  = [ { x = 2.5, y = 1.9 } ]",
        )],
        &["workspace refuses it", "`pit`", "3.14 m from the robot"],
    );
}

#[test]
fn case_68_a_refuse_example_that_passes_is_a_fault_at_its_place() {
    one(
        &[(
            "refuse = [ { x = 3.0, y = 2.5 },",
            "refuse = [ { x = 1.0, y = 1.0 },",
        )],
        &[
            "tool.rover_go_to_pose.refuse[0]",
            "must be refused, and it passes",
        ],
    );
    one(
        &[(
            "{ linear = 0.2, angular = \"0.1\" }",
            "{ linear = 0.2, angular = 0.9 }",
        )],
        &["refuse[1]", "it passes with a change"],
    );
}

#[test]
fn examples_are_each_judged_from_rest() {
    // The two examples lie 0.3 apart, each within one step of 0.2 from 0.
    let rig = Rig::with(&[("max = 0.5, max_step = 0.3 }", "max = 0.5, max_step = 0.2 }")]);
    let driving = rig
        .robot
        .tools
        .iter()
        .find(|tool| tool.name.as_str() == "rover_set_velocity");
    assert_eq!(driving.unwrap().allow.len(), 2);
}

#[test]
fn a_range_that_nothing_fits_is_a_fault_of_the_argument() {
    let found = faults(&[(
        "min = -0.2, max = 0.5, max_step = 0.3",
        "min = 0.3, max = 0.5",
    )]);
    assert_eq!(
        found.len(),
        1,
        "the examples of a broken tool are not run: {found:#?}"
    );
    assert!(
        found[0].contains("args.linear: no number can pass"),
        "{}",
        found[0]
    );
    let found = faults(&[(
        "min = -0.2, max = 0.5, max_step = 0.3",
        "min = 0.2, max = 0.5, max_step = 0.1",
    )]);
    assert!(
        found[0].contains("does not reach 0.2 to 0.25 m/s"),
        "{}",
        found[0]
    );
}

/// `rover_go_to_pose` by name instead of by numbers.
fn named(poses: &str) -> [(&'static str, String); 4] {
    [
        (
            "allow  = [ { x = 1.0, y = 0.5 } ]",
            format!("poses = {poses}\nallow = [ {{ to = \"dock\" }} ]"),
        ),
        (
            "refuse = [ { x = 3.0, y = 2.5 }, { x = 9.0, y = 0.0 }, { x = 1.0 } ]",
            "refuse = [ { to = \"roof\" }, { to = \"\" } ]".to_owned(),
        ),
        (
            "x = { type = \"f64\", unit = \"m\", kind = \"target_x\", min = -10.0, max = 10.0 }",
            "to = { type = \"string\", unit = \"none\", one_of = \"poses\" }".to_owned(),
        ),
        (
            "y = { type = \"f64\", unit = \"m\", kind = \"target_y\", min = -10.0, max = 10.0 }",
            String::new(),
        ),
    ]
}

#[test]
fn named_goals_are_judged_by_their_poses() {
    let changes = named("{ dock = { x = 0.5, y = 0.0 }, far = { x = 3.0, y = 1.0 } }");
    let changes = changes.each_ref().map(|(old, new)| (*old, new.as_str()));
    let mut rig = Rig::with(&changes);
    assert!(
        rig.call("rover_go_to_pose", serde_json::json!({ "to": "dock" }))
            .is_ok()
    );
    rig.wait(10_000);
    let args = || serde_json::json!({ "to": "far" });
    let refusal = rig.refused("rover_go_to_pose", args(), crate::terms::Reason::Workspace);
    assert!(
        refusal.detail.contains("3.16 m from the robot"),
        "{refusal}"
    );
    rig.now.reading.as_mut().unwrap().position = Some([1.0, 1.0, 0.0]);
    assert!(rig.call("rover_go_to_pose", args()).is_ok());
}

#[test]
fn a_pose_outside_the_workspace_is_a_fault() {
    let changes = named("{ dock = { x = 0.5, y = 0.0 }, roof = { x = 9.0, y = 0.0 } }");
    let changes = changes.each_ref().map(|(old, new)| (*old, new.as_str()));
    one(
        &changes,
        &["tool.rover_go_to_pose.poses.roof", "no permitted area"],
    );
}

#[test]
fn a_call_has_one_goal() {
    let mut changes = named("{ dock = { x = 0.5, y = 0.0 } }");
    changes[3].1 = changes[3].0.to_owned();
    let line = "x = { type = \"f64\", unit = \"m\", kind = \"target_x\", min = -10.0, max = 10.0 }";
    changes[2].1.push_str(&format!("\n{line}"));
    let changes = changes.each_ref().map(|(old, new)| (*old, new.as_str()));
    one(&changes, &["args.to: a second goal"]);
}
