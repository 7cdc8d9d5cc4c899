//! Round trips, both forms of the field, and texts that nobody meant.

use std::time::{Duration, SystemTime};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::robot::Ids;

fn wall() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123)
}

fn request_text(verb: &str, params: &str) -> Result<RequestText, TooLong> {
    let (verb, target) = (JsonWord::of(verb), JsonWord::of("rover-1"));
    let mut text = RequestText::new();
    let id = Ids::seeded(1).fresh();
    let outgoing = Outgoing {
        verb: &verb,
        target: &target,
        id,
        wall: wall(),
        params,
    };
    encode_request(&outgoing, &mut text).map(|()| text)
}

#[test]
fn a_request_has_the_members_of_the_envelope() {
    let text = request_text("vendor.octos.rover.stop", r#"{"a":1}"#).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["envelope_version"], "1.0");
    assert_eq!(value["spec_version"], "1.0.0");
    assert_eq!(value["verb"], "vendor.octos.rover.stop");
    assert_eq!(value["target"], "rover-1");
    assert_eq!(value["ts"], "2026-09-21T14:13:20.123Z");
    assert_eq!(value["auth"]["cmd_token"], "octos-edge");
    assert_eq!(value["params"], json!({ "a": 1 }));
    assert_eq!(value["request_id"].as_str().unwrap().len(), 36);
}

#[test]
fn a_request_that_does_not_fit_is_an_error_and_a_broken_wall_clock_is_not() {
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(2_000));
    assert_eq!(request_text("v", &long), Err(TooLong));
    for wall in [
        SystemTime::UNIX_EPOCH - Duration::from_secs(9),
        SystemTime::UNIX_EPOCH + Duration::from_secs(900_000_000_000),
    ] {
        let word = JsonWord::of("v");
        let outgoing = Outgoing {
            verb: &word,
            target: &word,
            id: [0; 16],
            wall,
            params: "{}",
        };
        assert!(encode_request(&outgoing, &mut RequestText::new()).is_ok());
    }
}

#[test]
fn the_dead_man_time_is_read_at_both_places_and_streams_in_both_forms() {
    let advert = |more: Value| {
        let mut value = json!({ "robot_id": "r", "commands": [] });
        value
            .as_object_mut()
            .unwrap()
            .append(&mut more.as_object().unwrap().clone());
        decode_advert(&value.to_string())
            .unwrap()
            .heartbeat_timeout_ms
    };
    assert_eq!(advert(json!({ "heartbeat_timeout_ms": 1000 })), Some(1000));
    assert_eq!(
        advert(json!({ "safety": { "heartbeat_timeout_ms": 800.0 } })),
        Some(800)
    );
    assert_eq!(advert(json!({ "heartbeat_timeout_ms": 0 })), Some(0));
    assert_eq!(advert(json!({ "heartbeat_timeout_ms": -5 })), None);
    assert_eq!(advert(json!({ "heartbeat_timeout_ms": 1e300 })), None);
    assert_eq!(advert(json!({})), None);
    assert_eq!(advert(json!({ "streams": ["state"] })), None);
    assert_eq!(advert(json!({ "streams": [{ "id": "state" }] })), None);
}

#[test]
fn a_state_is_read_flat_and_inside_an_envelope() {
    let flat = decode_state(
        r#"{"robot_id":"r","seq":4,"pose":{"position":[1,2]},"estopped":true,"controller_holder":"x"}"#,
    )
    .unwrap();
    assert_eq!((flat.seq, flat.estopped), (Some(4), true));
    assert_eq!(flat.holder, Holder::Named("x".to_owned()));
    let outer = decode_state(
        r#"{"envelope_version":"1.0","robot_id":"r","seq":5,"state":{"nav_status":"idle","controller_holder":""}}"#,
    )
    .unwrap();
    assert_eq!(
        outer.body,
        json!({ "nav_status": "idle" , "controller_holder": "" })
    );
    assert_eq!((outer.seq, outer.holder), (Some(5), Holder::Nobody));
    assert_eq!(outer.robot_id.as_deref(), Some("r"));
}

#[test]
fn words_of_danger_that_cannot_be_read_count_as_danger() {
    let state = |key: &str, value: &Value| {
        let flat = decode_state(&json!({ key: value }).to_string());
        let inner = json!({ "spec_version": "1", "state": { key: value } });
        assert_eq!(flat.is_ok(), decode_state(&inner.to_string()).is_ok());
        let inner = decode_state(&inner.to_string());
        let told = |s: RobotState| (s.seq, s.estopped, s.holder);
        assert_eq!(flat.clone().map(told), inner.map(told), "{key} {value}");
        flat
    };
    for calm in [json!(false), Value::Null] {
        assert!(!state("estopped", &calm).unwrap().estopped, "{calm}");
    }
    for danger in [
        json!(true),
        json!("true"),
        json!("false"),
        json!(0),
        json!(1),
        json!([]),
        json!({}),
    ] {
        assert!(state("estopped", &danger).unwrap().estopped, "{danger}");
    }
    let outer = json!({ "spec_version": "1", "estopped": "yes", "state": {} });
    assert!(decode_state(&outer.to_string()).unwrap().estopped);
    for nobody in [Value::Null, json!("")] {
        assert_eq!(
            state("controller_holder", &nobody).unwrap().holder,
            Holder::Nobody
        );
    }
    for somebody in [json!(7), json!(false), json!(["x"]), json!({ "name": "x" })] {
        let holder = state("controller_holder", &somebody).unwrap().holder;
        assert_eq!(holder, Holder::Unreadable, "{somebody}");
    }
    assert_eq!(state("seq", &Value::Null).unwrap().seq, None);
    for number in [json!("7"), json!(-1), json!(1.5), json!([1])] {
        assert_eq!(state("seq", &number), Err(InputFault::BadShape), "{number}");
        let estopped = json!({ "seq": number, "estopped": true }).to_string();
        assert!(decode_state(&estopped).unwrap().estopped, "{number}");
    }
    assert_eq!(state("seq", &json!(7.0)).unwrap().seq, Some(7));
}

#[test]
fn case_40_what_is_too_large_too_deep_or_of_another_shape_is_named() {
    let huge = format!("{{\"x\":\"{}\"}}", "y".repeat(2 * 1024 * 1024));
    assert_eq!(decode_response(&huge), Err(InputFault::Oversized));
    assert_eq!(decode_state(&huge), Err(InputFault::Oversized));
    assert_eq!(decode_advert(&huge), Err(InputFault::Oversized));
    assert_eq!(decode_event(&huge), Err(InputFault::Oversized));
    let deep = "[".repeat(5_000);
    assert_eq!(decode_response(&deep), Err(InputFault::NotJson));
    assert_eq!(decode_response("nonsense"), Err(InputFault::NotJson));
    assert_eq!(decode_response("[]"), Err(InputFault::BadShape));
    assert_eq!(
        decode_response(r#"{"request_id":"a"}"#),
        Err(InputFault::BadShape)
    );
    assert_eq!(
        decode_response(r#"{"request_id":1,"ok":true}"#),
        Err(InputFault::BadShape)
    );
    assert_eq!(
        decode_advert(r#"{"commands":[]}"#),
        Err(InputFault::BadShape)
    );
    assert_eq!(decode_state("7"), Err(InputFault::BadShape));
    assert_eq!(decode_request(r#"{"verb":"v"}"#), Err(InputFault::BadShape));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"\\\\\n]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_come_back_as_they_went(verb in "\\PC{1,40}", data in json_value()) {
        let params = json!({ "data": data });
        if let Ok(text) = request_text(&verb, &params.to_string()) {
            let request = decode_request(&text).unwrap();
            prop_assert_eq!(request.verb, verb);
            prop_assert_eq!(Value::Object(request.params), params);
        }
    }

    #[test]
    fn responses_and_adverts_come_back_as_they_went(
        id in "[0-9a-f-]{1,36}", ok: bool, code in "[A-Z_]{1,20}", msg in "\\PC{0,80}",
        data in json_value(), timeout in prop::option::of(0u32..100_000),
    ) {
        let response = Response { request_id: id, ok, code, msg, data };
        let text = encode_response(&response, wall());
        prop_assert_eq!(decode_response(&text).unwrap(), response);
        let advert = Advert {
            robot_id: "r".to_owned(),
            vendor: "v".to_owned(),
            model: "m".to_owned(),
            pid: timeout,
            heartbeat_timeout_ms: timeout,
            commands: vec![AdvertVerb {
                verb: "a.b".to_owned(),
                safety_tier: Some("emergency_override".to_owned()),
            }],
            ts: Some("t".to_owned()),
        };
        for field in [HeartbeatField::TopLevel, HeartbeatField::Safety] {
            let text = encode_advert(&advert, field, wall());
            prop_assert_eq!(decode_advert(&text).unwrap(), advert.clone());
        }
    }

    #[test]
    fn case_40_mutated_envelopes_are_read_or_refused_and_never_panic(
        which in 0usize..5, cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let seeds = [
            request_text("a.b", "{}").unwrap().to_string(),
            r#"{"request_id":"6f1f","ok":true,"code":"0","msg":"","data":{"a":[1,2]}}"#.to_owned(),
            r#"{"robot_id":"r","commands":[{"verb":"v","safety_tier":"observe"},"w"],"safety":{"heartbeat_timeout_ms":1e3}}"#.to_owned(),
            r#"{"robot_id":"r","seq":1,"pose":{"position":[0.0,0.1,0.2]},"estopped":false}"#.to_owned(),
            r#"{"robot_id":"r","seq":1,"kind":"deadman"}"#.to_owned(),
        ];
        let mut bytes = seeds[which].clone().into_bytes();
        for (index, byte) in cuts {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        let text = String::from_utf8_lossy(&bytes);
        let _outcomes = (
            decode_request(&text).is_ok(),
            decode_response(&text).is_ok(),
            decode_advert(&text).is_ok(),
            decode_state(&text).is_ok(),
            decode_event(&text).is_ok(),
        );
    }
}
