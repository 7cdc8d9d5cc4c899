//! No request does harm, whatever it holds.

use super::*;

fn any_params() -> impl Strategy<Value = Value> {
    let value = prop_oneof![
        any::<f64>().prop_map(|number| json!(number)),
        any::<i64>().prop_map(|number| json!(number)),
        ".*".prop_map(Value::String),
        Just(Value::Null),
        Just(json!([])),
        Just(json!("dock")),
        (any::<f64>(), any::<f64>()).prop_map(|(a, b)| json!({ "forward": a, "turn": b })),
        (any::<f64>(), any::<f64>()).prop_map(|(a, b)| json!({ "px": a, "py": b })),
        Just(json!({ "gait": "smooth" })),
        Just(json!([[[{ "a": [] }]]])),
    ];
    let key = prop_oneof![
        Just("linear"),
        Just("angular"),
        Just("x"),
        Just("y"),
        Just("opening"),
        Just("force"),
        Just("reason"),
        Just("control_source"),
        Just("twist"),
        Just("goal"),
        Just("style"),
        Just("site"),
        Just("other"),
    ];
    prop::collection::vec((key, value), 0..5).prop_map(|pairs| {
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value));
        Value::Object(pairs.collect::<Map<_, _>>())
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(text in ".{0,300}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut rig = Rig::new(1);
        rig.send_raw(&text);
        rig.send_raw(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn no_parameters_make_it_panic_or_leave_its_floor(
        calls in prop::collection::vec((0..ALL.len(), any_params()), 1..8)
    ) {
        let mut rig = Rig::new(1);
        for (verb, params) in calls {
            rig.send(ALL[verb], params);
            rig.wait(100);
        }
        let at = rig.vendor.rover().placement();
        prop_assert!(at.x.is_finite() && at.y.is_finite() && at.x.hypot(at.y) < 1.0);
    }

    #[test]
    fn no_parameters_make_a_learned_robot_panic_or_leave_its_floor(
        calls in prop::collection::vec((0..64usize, any_params()), 1..8)
    ) {
        let mut rig = Rig::crawler();
        let advert = rig.all(Output::Capabilities).remove(0);
        let verbs = advert["commands"].as_array().unwrap();
        for (verb, params) in calls {
            let verb = verbs[verb % verbs.len()]["verb"].as_str().unwrap();
            rig.send(verb, params);
            rig.wait(100);
        }
        let at = rig.vendor.rover().placement();
        prop_assert!(at.x.is_finite() && at.y.is_finite() && at.x.hypot(at.y) < 1.0);
    }
}
