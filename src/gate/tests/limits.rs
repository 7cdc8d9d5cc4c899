//! Numbers of a call: ranges, ceilings, steps, sizes.

use serde_json::{Value, json};

use crate::gate::fixture::Rig;
use crate::terms::Reason;

/// `rover_set_velocity` whose linear speed is clamped and has no step.
const CLAMPED: &[(&str, &str)] = &[
    (
        "min = -0.2, max = 0.5, max_step = 0.3 }",
        "min = -0.2, max = 0.5, on_limit = \"clamp\" }",
    ),
    (
        "refuse = [ { linear = 99.0, angular = 0.0 }, ",
        "refuse = [ ",
    ),
];

fn velocity(linear: impl Into<Value>) -> Value {
    json!({ "linear": linear.into(), "angular": 0.0 })
}

#[test]
fn case_10_a_clamp_sends_the_ceiling_and_says_so() {
    let rig = Rig::with(CLAMPED);
    let limited = rig.limit("rover_set_velocity", &velocity(0.9)).unwrap();
    assert_eq!(
        limited.args().to_value(),
        json!({ "linear": 0.25, "angular": 0.0 })
    );
    assert_eq!(
        limited.clamped(),
        ["`linear` was set to 0.25 m/s, not 0.9: \
          permitted is -0.2 to 0.25 m/s (ceiling of safe_motion)"]
    );
}

#[test]
fn case_10_a_reject_refuses_and_names_range_and_unit() {
    let mut rig = Rig::new();
    let refusal = rig.refused("rover_set_velocity", velocity(0.9), Reason::Limit);
    assert_eq!(
        refusal.detail,
        "`linear` is 0.9 m/s: permitted is -0.2 to 0.25 m/s (ceiling of safe_motion), \
         and a step of 0.3 m/s from 0"
    );
    assert_eq!(refusal.rule.as_deref(), Some("RV-01"));
    assert!(refusal.hint.contains("permitted range"));
    rig.refused("rover_set_velocity", velocity(-0.21), Reason::Limit);
}

#[test]
fn all_numbers_outside_are_told_together() {
    let mut rig = Rig::with(&[("max_step = 0.5, on_limit = \"clamp\" }", "max_step = 0.5 }")]);
    let args = json!({ "linear": 0.9, "angular": -7 });
    let refusal = rig.refused("rover_set_velocity", args, Reason::Limit);
    assert_eq!(refusal.detail.lines().count(), 2, "{refusal}");
}

#[test]
fn numbers_that_would_refuse_are_told_ahead_and_those_that_would_be_clamped_are_not() {
    let rig = Rig::new();
    let told = |args: Value| {
        let rules = rig.tool("rover_set_velocity");
        let issues = rules.beyond(args.as_object().unwrap());
        issues.map(|issue| issue.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        told(json!({ "linear": 0.9, "angular": 7.0 })),
        ["/linear: must be -0.2 to 0.25 m/s (ceiling of safe_motion)"]
    );
    assert!(told(json!({ "linear": -0.2, "turbo": 99 })).is_empty());
    assert!(told(json!({ "linear": "0.9" })).is_empty());
    assert!(told(json!({})).is_empty());
}

#[test]
fn case_11_what_is_no_sound_number_is_a_schema_problem() {
    let mut rig = Rig::with(CLAMPED);
    let bad = [
        velocity("0.5"),
        velocity("NaN"),
        velocity("inf"),
        velocity(1e308),
        velocity(-1e308),
        velocity(json!({ "value": 0.1 })),
        velocity(json!([0.1])),
        velocity(Value::Null),
        json!({ "angular": 0.0 }),
        json!({ "linear": 0.1, "angular": 0.0, "speed": 1.0 }),
        json!([0.1, 0.0]),
    ];
    for args in bad {
        rig.refused("rover_set_velocity", args, Reason::Schema);
    }
}

#[test]
fn case_12_a_step_is_clamped_and_counts_from_zero_after_a_stop() {
    let mut rig = Rig::with(&[
        (
            "max = 0.5, max_step = 0.3 }",
            "max = 0.5, max_step = 0.2, on_limit = \"clamp\" }",
        ),
        (
            "refuse = [ { linear = 99.0, angular = 0.0 }, ",
            "refuse = [ ",
        ),
    ]);
    let speed = |rig: &mut Rig| {
        rig.wait(10_000);
        let (_, limited) = rig.call("rover_set_velocity", velocity(0.5)).unwrap();
        limited.args().as_map()["linear"].clone()
    };
    assert_eq!(speed(&mut rig), json!(0.2), "one step from 0");
    assert_eq!(
        speed(&mut rig),
        json!(0.25),
        "the second step meets the ceiling"
    );
    rig.stop();
    assert_eq!(speed(&mut rig), json!(0.2), "and from 0 again");
}

#[test]
fn case_12_numbers_judged_before_a_stop_are_not_admitted_after_it() {
    let mut rig = Rig::with(&[
        (
            "max = 0.5, max_step = 0.3 }",
            "max = 0.5, max_step = 0.15 }",
        ),
        (
            "linear = 0.2, angular = 0.0 }, { linear = -0.1",
            "linear = 0.1, angular = 0.0 }, { linear = -0.1",
        ),
    ]);
    rig.call("rover_set_velocity", velocity(0.15)).unwrap();
    rig.wait(10_000);
    let limited = rig.limit("rover_set_velocity", &velocity(0.25)).unwrap();
    rig.stop();
    let before = rig.pace.clone();
    let refusal = rig.admit("rover_set_velocity", &limited).unwrap_err();
    assert_eq!(refusal.reason, Reason::Limit);
    assert_eq!(rig.pace, before);
}

#[test]
fn a_command_that_is_too_long_is_refused_naming_the_bound() {
    let mut rig = Rig::with(&[
        (
            "allow  = [ { linear = 0.2, angular = 0.0 }, { linear = -0.1, angular = 0.4 } ]",
            "allow = [ { linear = 0.2, angular = 0.0, a = \"\", b = \"\" } ]",
        ),
        (
            "[tool.args]\nlinear",
            "[tool.args]\n\
          a = { type = \"string\", unit = \"none\", free = \"a note\" }\n\
          b = { type = \"string\", unit = \"none\", free = \"a note\" }\nlinear",
        ),
    ]);
    let note = |length| {
        let text = "x".repeat(length);
        json!({ "linear": 0.1, "angular": 0.0, "a": text, "b": text })
    };
    let refusal = rig.refused("rover_set_velocity", note(500), Reason::Limit);
    assert!(refusal.detail.contains("1024"), "{refusal}");
    assert!(rig.call("rover_set_velocity", note(400)).is_ok());
    rig.refused("rover_set_velocity", note(513), Reason::Schema);
}

#[test]
fn whole_numbers_stay_whole() {
    let rig = Rig::new();
    let limited = rig.limit("safety_events", &json!({ "since": 4 })).unwrap();
    assert_eq!(limited.args().to_value().to_string(), r#"{"since":4}"#);
    assert!(
        rig.limit("safety_events", &json!({ "since": 4.0 }))
            .is_err()
    );
    assert!(
        rig.limit(
            "safety_events",
            &json!({ "since": 9_007_199_254_740_992_u64 })
        )
        .is_err()
    );
}
