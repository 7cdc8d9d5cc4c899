//! The check as a whole: every kind of problem, and random input.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn drive() -> Schema {
    Schema::compile(&json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["linear", "mode", "pose"],
        "properties": {
            "linear": { "type": "number", "description": "m/s", "minimum": -1, "maximum": 1 },
            "count": { "type": "integer", "description": "times", "minimum": 0 },
            "mode": { "type": "string", "description": "how", "enum": ["slow", "crawl"] },
            "label": { "type": "string", "description": "text", "maxLength": 4, "pattern": "^[a-z]*$" },
            "pose": {
                "type": "object", "description": "where", "additionalProperties": false,
                "required": ["position"],
                "properties": { "position": {
                    "type": "array", "description": "m", "minItems": 2, "maxItems": 2,
                    "items": { "type": "number" }
                } }
            }
        }
    }))
    .unwrap()
}

fn good() -> Value {
    json!({ "linear": 0.5, "mode": "slow", "pose": { "position": [1.0, 2] } })
}

fn problems(args: &Value) -> Vec<String> {
    let report = drive().check("drive", args).unwrap_err();
    report.issues.iter().map(ToString::to_string).collect()
}

#[test]
fn arguments_that_fit_pass_unchanged() {
    let args = drive().check("drive", &good()).unwrap();
    assert_eq!(args.to_value(), good());
}

#[test]
fn all_problems_come_in_one_report() {
    let found = problems(&json!({
        "linaer": 0.5, "mode": "slwo", "label": "TOOLONG", "count": -1,
        "pose": { "position": ["1", 2, 3], "yaw": 0 }
    }));
    for expected in [
        "/linear: missing",
        "/linaer: unknown (did you mean `linear`?)",
        "/mode: must be one of \"slow\", \"crawl\" (did you mean `slow`?)",
        "/label: longer than 4 characters",
        "/label: does not fit the pattern ^[a-z]*$",
        "/count: below 0",
        "/pose/position/0: must be number, found string",
        "/pose/position: more than 2 items",
        "/pose/yaw: unknown",
    ] {
        assert!(
            found.iter().any(|line| line == expected),
            "{expected} not in {found:#?}"
        );
    }
    assert_eq!(found.len(), 9, "{found:#?}");
}

#[test]
fn case_11_texts_that_look_like_numbers_are_problems() {
    for text in ["0.5", "NaN", "inf", "-Infinity", "1e308"] {
        let mut args = good();
        args["linear"] = json!(text);
        assert_eq!(problems(&args), ["/linear: must be number, found string"]);
    }
    let mut args = good();
    args["linear"] = json!(1e308);
    assert_eq!(problems(&args), ["/linear: above 1"]);
    assert!(
        serde_json::from_str::<Value>("1e999").is_err(),
        "JSON has no infinity"
    );
}

#[test]
fn values_are_never_repeated() {
    let secret = "hunter2hunter2";
    let found = problems(&json!({
        "linear": secret, "mode": secret, "label": secret, "count": secret, "pose": secret,
    }));
    assert!(
        found.iter().all(|line| !line.contains(secret)),
        "{found:#?}"
    );
}

#[test]
fn whole_numbers_with_a_fraction_are_not_repaired() {
    let mut args = good();
    args["count"] = json!(3.0);
    assert_eq!(
        problems(&args),
        ["/count: must be written without a decimal point"]
    );
}

#[test]
fn what_is_no_object_or_too_deep_or_too_large_is_one_problem() {
    assert_eq!(
        problems(&json!([1])),
        ["(arguments): must be an object, found array"]
    );
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        problems(&json!({ "linear": deep })),
        ["(arguments): nested deeper than 32"]
    );
    let large = "x".repeat(1_048_577);
    assert_eq!(
        problems(&json!({ "label": large })),
        ["(arguments): larger than 1048576 bytes"]
    );
}

#[test]
fn digests_ignore_the_order_of_keys_and_nothing_else() {
    let schema = drive();
    let digest = |text: &str| {
        let args = serde_json::from_str(text).unwrap();
        schema.check("drive", &args).unwrap().digest()
    };
    let one = digest(r#"{"linear":0.5,"mode":"slow","pose":{"position":[1,2]}}"#);
    let two = digest(r#"{"pose":{"position":[1,2]},"mode":"slow","linear":0.5}"#);
    let three = digest(r#"{"linear":0.5,"mode":"slow","pose":{"position":[2,1]}}"#);
    assert_eq!(one, two);
    assert_ne!(one, three);
    assert_eq!(one.len(), 16);
}

#[test]
fn schema_lint_reports_every_fault_at_once() {
    let faults = Schema::compile(&json!({
        "type": "array", "oneOf": [], "required": ["ghost"],
        "properties": {
            "a.b": { "type": "string", "description": "bad name" },
            "mute": {},
            "open": { "type": "object", "description": "open", "properties": {} },
            "far": { "$ref": "#/$defs/far", "type": "string", "description": "a reference" }
        }
    }))
    .unwrap_err();
    for place in [
        "(schema): `type`",
        "(schema): `oneOf`",
        "(schema): `additionalProperties`",
        "(schema): `required` names \"ghost\"",
        "/a.b: the name",
        "/mute: has no `type`",
        "/mute: has no `description`",
        "/open: `additionalProperties`",
        "/far: `$ref`",
    ] {
        assert!(
            faults.iter().any(|fault| fault.starts_with(place)),
            "{place}: {faults:#?}"
        );
    }
    assert_eq!(faults.len(), 9, "{faults:#?}");
    let broken = json!({
        "type": "object", "additionalProperties": false,
        "properties": { "p": { "type": "string", "description": "p", "pattern": "(" } }
    });
    assert_eq!(Schema::compile(&broken).unwrap_err().len(), 1);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 8, |inner| {
        let key = prop_oneof![any::<String>(), "linear|mode|pose|position|label|count"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_counted_length_is_the_serialised_length(value in any_json()) {
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(serialized_len(&value, usize::MAX), Some(text.len()));
        prop_assert_eq!(serialized_len(&value, text.len() - 1), None);
    }

    #[test]
    fn random_json_never_panics_the_check_and_its_report_is_bounded(value in any_json()) {
        if let Err(report) = drive().check("drive", &value) {
            prop_assert!(!report.issues.is_empty() && report.issues.len() <= 12);
            prop_assert!(report.to_string().len() <= 4096);
        }
    }
}
