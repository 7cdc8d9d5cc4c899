//! The check as a whole: every kind of problem, repairs, random input, and the official test suite.

mod mending;
mod random;
mod suite;

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
fn a_call_that_may_not_be_mended_keeps_its_fraction_as_a_problem() {
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
    let deep = (0..64).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(
        problems(&json!({ "linear": deep })),
        ["(arguments): nested deeper than 64 levels"]
    );
    let large = "x".repeat(1_048_577);
    assert_eq!(
        problems(&json!({ "label": large })),
        ["(arguments): a text of 1048577 bytes, permitted are 1048576"]
    );
    let many = json!({ "label": vec![0; 100_001] });
    assert_eq!(
        problems(&many),
        ["(arguments): an array or object of 100001 members, permitted are 100000"]
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
            faults
                .iter()
                .any(|fault| fault.to_string().starts_with(place)),
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

#[test]
fn words_that_nobody_checks_are_refused_with_their_place() {
    let faults = Schema::compile(&json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object", "additionalProperties": false, "propertyNames": {},
        "properties": {
            "n": { "type": "integer", "description": "n", "minimun": 1 },
            "list": { "type": "array", "description": "l", "items": { "if": {}, "$schema": "x" } },
        },
    }))
    .unwrap_err();
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    for place in [
        "(schema): `$schema` may stand at the top level only, as https://json-schema.org/draft/2020-12/schema",
        "(schema): `propertyNames` is no keyword that is checked here",
        "/n: `minimun` is no keyword that is checked here (did you mean `minimum`?)",
        "/list/items: `if` is no keyword that is checked here",
        "/list/items: `$schema`",
    ] {
        assert!(
            told.iter().any(|line| line.starts_with(place)),
            "{place}: {told:#?}"
        );
    }
    assert_eq!(told.len(), 5, "{told:#?}");
}

#[test]
fn a_schema_that_is_too_large_or_too_deep_is_one_fault() {
    let described = |schema: Value| {
        let faults = Schema::compile(&schema).unwrap_err();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let large = json!({ "type": "object", "description": "x".repeat(65_536) });
    assert_eq!(
        described(large),
        ["(schema): too large: 65570 bytes, permitted are 65536"]
    );
    let deep = (0..11).fold(
        json!({ "type": "string" }),
        |inner, _| json!({ "items": inner }),
    );
    let told = described(json!({
        "type": "object", "additionalProperties": false,
        "properties": { "p": { "type": "array", "description": "p", "items": deep } },
    }));
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].ends_with("nested deeper than 10"), "{told:#?}");
}

#[test]
fn an_alias_must_stand_for_a_property_and_be_none() {
    const ALIASES: &[Alias] = &[
        Alias {
            from: "speed",
            to: "linear",
        },
        Alias {
            from: "mode",
            to: "linear",
        },
        Alias {
            from: "far",
            to: "away",
        },
    ];
    let faults = drive().with_aliases(ALIASES).unwrap_err();
    let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "(schema): the alias `mode` of `linear` must name no property, and stand for one",
            "(schema): the alias `far` of `away` must name no property, and stand for one",
        ]
    );
}

#[test]
fn a_flood_of_problems_is_counted_and_twelve_are_told() {
    let names = (0..50_000).map(|n| (format!("liner{n}"), json!(0)));
    let report = drive()
        .check("drive", &Value::Object(names.collect()))
        .unwrap_err();
    assert_eq!((report.issues.len(), report.more), (12, 50_003 - 12));
}
