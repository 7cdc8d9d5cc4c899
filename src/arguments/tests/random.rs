//! Random input: nothing panics, nothing is too long, and repairs keep their promises.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;
use crate::terms::parse_args;

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

    #[test]
    fn a_report_ends_within_its_bound_whatever_the_names_are(
        names in prop::collection::vec(any::<String>(), 0..30), tool in any::<String>(),
    ) {
        let members = names.into_iter().map(|name| (name.repeat(9), json!(1)));
        let args = Value::Object(members.collect());
        if let Err(report) = drive().check(&tool, &args) {
            let text = report.to_string();
            prop_assert!(text.len() <= 4096);
            let cut = report.issues.iter().any(|issue| issue.pointer.ends_with("..."));
            prop_assert!(!cut || text.ends_with("..."), "{}", text);
        }
    }

    #[test]
    fn a_mended_call_fits_and_is_mended_no_further(value in almost_right()) {
        let schema = drive();
        if let Ok(first) = schema.mend("drive", &value) {
            let again = schema.mend("drive", &first.args.to_value()).unwrap();
            prop_assert_eq!(&again.args, &first.args);
            prop_assert!(again.repairs.is_empty());
            prop_assert_eq!(schema.check("drive", &first.args.to_value()), Ok(first.args));
        }
    }

    #[test]
    fn what_fits_is_never_changed(value in almost_right()) {
        let schema = drive();
        if let Ok(args) = schema.check("drive", &value) {
            let mended = schema.mend("drive", &value).unwrap();
            prop_assert!(mended.repairs.is_empty());
            prop_assert_eq!(mended.args, args);
        }
    }

    #[test]
    fn what_cannot_be_mended_is_reported_as_it_came(value in almost_right()) {
        let schema = drive();
        if let Err(report) = schema.mend("drive", &value) {
            prop_assert_eq!(schema.check("drive", &value), Err(report));
        }
    }

    #[test]
    fn mutated_bytes_of_arguments_never_panic(
        at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = good().to_string().into_bytes();
        let length = bytes.len();
        bytes[at.index(length)] = byte;
        bytes.truncate(length - cut.index(length));
        if let Ok(value) = parse_args(&String::from_utf8_lossy(&bytes)) {
            let schema = drive();
            let (checked, mended) = (schema.check("d", &value), schema.mend("d", &value));
            prop_assert!(checked.is_err() || mended.is_ok());
        }
    }
}

/// Arguments of `drive` with members that are right, repairable, or neither.
fn almost_right() -> impl Strategy<Value = Value> {
    let values = [
        json!(0.5),
        json!(1),
        json!("1"),
        json!(3.0),
        json!("slow"),
        json!("true"),
        json!(null),
        json!([1.0, 2]),
        json!("[1,2]"),
        json!({ "position": [1, 2] }),
        json!({ "position": "[1,2]" }),
        json!("{\"position\":[1,2]}"),
        json!(["x"]),
        json!("ab"),
    ];
    let value = prop::sample::select(values.to_vec());
    let names = ["linear", "count", "mode", "label", "pose", "other"];
    let member = (prop::sample::select(names.to_vec()), value);
    prop::collection::vec(member, 0..6).prop_map(|members| {
        let mut args: Map<String, Value> = good().as_object().unwrap().clone();
        args.extend(
            members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Value::Object(args)
    })
}
