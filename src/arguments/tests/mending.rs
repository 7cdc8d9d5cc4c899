//! Repairs of whole calls: what is mended, what is told, and what is left as it came.

use super::*;

fn edit() -> Schema {
    const ALIASES: &[Alias] = &[Alias {
        from: "file_path",
        to: "path",
    }];
    let schema = Schema::compile(&json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["path"],
        "properties": {
            "path": { "type": "string", "description": "file", "minLength": 1 },
            "start_line": { "type": ["integer", "null"], "description": "from", "minimum": 1 },
            "all": { "type": "boolean", "description": "everywhere" },
            "tags": {
                "type": "array", "description": "words", "items": { "type": "string" },
                "maxItems": 3,
            },
            "edit": {
                "type": "object", "description": "one edit", "additionalProperties": false,
                "properties": { "at": { "type": "integer", "description": "line" } },
            },
            "how": {
                "description": "one of two", "type": ["integer", "array"],
                "anyOf": [{ "type": "integer" }, { "type": "array" }],
            },
        },
    }));
    schema.unwrap().with_aliases(ALIASES).unwrap()
}

#[test]
fn kernel_case_24_what_is_meant_beyond_doubt_is_mended_and_told() {
    let args = json!({
        "path": "a", "start_line": "30", "all": "true", "tags": "one",
        "edit": "{\"at\": \"4\"}",
    });
    let mended = edit().mend("edit", &args).unwrap();
    assert_eq!(
        mended.args.to_value(),
        json!({
            "path": "a", "start_line": 30, "all": true, "tags": ["one"], "edit": { "at": 4 },
        })
    );
    let mut told = mended.repairs;
    told.sort();
    assert_eq!(
        told,
        [
            "/all: a text was read as a boolean",
            "/edit/at: a text was read as an integer",
            "/edit: a text was read as an object",
            "/start_line: a text was read as an integer",
            "/tags: a single value was read as an array of one",
        ]
    );
    assert!(
        edit().check("edit", &args).is_err(),
        "a strict check takes none of it"
    );
    assert_eq!(args["start_line"], "30", "a copy was mended");
}

#[test]
fn a_whole_number_with_a_fraction_loses_nothing() {
    let args = json!({ "path": "a", "start_line": 3.0 });
    let mended = edit().mend("edit", &args).unwrap();
    assert_eq!(
        mended.args.to_value(),
        json!({ "path": "a", "start_line": 3 })
    );
    assert_eq!(
        mended.repairs,
        ["/start_line: a whole number was read without its decimal point"]
    );
}

#[test]
fn one_place_that_cannot_be_mended_leaves_the_whole_call_as_it_came() {
    let args = json!({ "path": "a", "start_line": "30", "all": "perhaps" });
    let report = edit().mend("edit", &args).unwrap_err();
    let told: Vec<String> = report.issues.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told.iter()
            .any(|line| line.starts_with("/start_line: must be")),
        "{told:#?}"
    );
}

#[test]
fn a_mended_value_must_still_keep_its_bounds() {
    let args = json!({ "path": "a", "start_line": "0" });
    let report = edit().mend("edit", &args).unwrap_err();
    assert_eq!(report.issues.len(), 1);
    let deep = format!("{{\"at\": {}1{}}}", "[".repeat(80), "]".repeat(80));
    assert!(
        edit()
            .mend("edit", &json!({ "path": "a", "edit": deep }))
            .is_err()
    );
}

#[test]
fn places_with_several_forms_are_left_alone() {
    assert!(
        edit()
            .mend("edit", &json!({ "path": "a", "how": "3" }))
            .is_err()
    );
    let fits = edit()
        .mend("edit", &json!({ "path": "a", "how": 3 }))
        .unwrap();
    assert_eq!(fits.repairs, [""; 0]);
}

#[test]
fn all_arguments_as_one_text_are_read_and_told() {
    let mended = edit()
        .mend("edit", &json!("{\"file_path\": \"a\"}"))
        .unwrap();
    assert_eq!(mended.args.to_value(), json!({ "path": "a" }));
    assert_eq!(
        mended.repairs,
        ["(arguments): a text was read as an object"]
    );
}

#[test]
fn an_alias_is_taken_for_its_property_unless_both_are_given() {
    let named = edit().mend("edit", &json!({ "file_path": "a" })).unwrap();
    assert_eq!(named.args.to_value(), json!({ "path": "a" }));
    assert_eq!(named.repairs, [""; 0], "a name is no repair");
    let both = json!({ "file_path": "a", "path": "b" });
    let report = edit().mend("edit", &both).unwrap_err();
    assert_eq!(
        report.to_string(),
        "edit: 1 problem with the arguments\n- /file_path: unknown (did you mean `path`?)"
    );
    assert!(edit().check("edit", &json!({ "file_path": "a" })).is_err());
}

#[test]
fn the_example_is_the_smallest_call_that_fits() {
    assert_eq!(edit().example(), Some(json!({ "path": "x" })));
    let pattern = json!({
        "type": "object", "additionalProperties": false, "required": ["id"],
        "properties": { "id": { "type": "string", "description": "id", "pattern": "^[0-9]+$" } },
    });
    assert_eq!(
        Schema::compile(&pattern).unwrap().example(),
        None,
        "none is better than a wrong one"
    );
}
