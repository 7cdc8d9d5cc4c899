//! What a model sees of a tool's arguments, and what becomes of constants.

use serde_json::json;

use crate::arguments::Schema;
use crate::gate::fixture::{Rig, rover};

#[test]
fn the_shipped_rover_shows_units_and_the_ranges_in_force() {
    let rig = Rig::new();
    let schema = rig.tool("rover_set_velocity").schema_value();
    assert_eq!(
        **schema,
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["angular", "linear"],
            "properties": {
                "linear": {
                    "type": "number", "minimum": -1e15, "maximum": 1e15,
                    "description": "linear speed: -0.2 to 0.25 m/s (ceiling of safe_motion); \
                                    changes by 0.3 m/s at most",
                },
                "angular": {
                    "type": "number", "minimum": -1e15, "maximum": 1e15,
                    "description": "angular speed: -0.5 to 0.5 rad/s (ceiling of safe_motion); \
                                    changes by 0.5 rad/s at most",
                },
            },
        })
    );
    let schema = rig.tool("rover_go_to_pose").schema_value();
    assert_eq!(
        schema["properties"]["x"]["description"],
        "target x: -10 to 10 m, in the frame `map` and inside the workspace"
    );
    let schema = rig.tool("rover_gripper_set").schema_value();
    assert_eq!(
        schema["properties"]["opening"]["description"],
        "width between the fingers; min and max are the mechanical stops: 0 to 0.08 m"
    );
}

#[test]
fn every_tool_of_the_shipped_rover_passes_the_lint() {
    for tool in Rig::new().rules.tools() {
        assert!(
            Schema::compile(tool.schema_value()).is_ok(),
            "{}",
            tool.name()
        );
    }
}

/// `rover_go_to_pose` with the arguments of a vendor that nests them.
const NESTED: &[(&str, &str)] = &[
    (
        "allow  = [ { x = 1.0, y = 0.5 } ]",
        "allow = [ { pose = { position = [1.0, 0.5] } }, { pose = { position = [1.0, 0.5, 0.0] } } ]",
    ),
    (
        "refuse = [ { x = 3.0, y = 2.5 }, { x = 9.0, y = 0.0 }, { x = 1.0 } ]",
        "refuse = [ { pose = { position = [1.0] } }, { pose = { position = [1.0, 0.5, 0.1] } }, \
         { pose = { position = [9.0, 0.0] } }, { pose = { position = [1.0, 0.5], frame = \"map\" } } ]",
    ),
    (
        "x = { type = \"f64\", unit = \"m\", kind = \"target_x\", min = -10.0, max = 10.0 }",
        "\"pose.position[0]\" = { type = \"f64\", unit = \"m\", kind = \"target_x\" }\n\
         \"pose.position[2]\" = { type = \"f64\", unit = \"m\", const = 0.0 }\n\
         \"pose.frame\" = { type = \"string\", unit = \"none\", const = \"map\" }",
    ),
    (
        "y = { type = \"f64\", unit = \"m\", kind = \"target_y\", min = -10.0, max = 10.0 }",
        "\"pose.position[1]\" = { type = \"f64\", unit = \"m\", kind = \"target_y\" }",
    ),
];

#[test]
fn nested_paths_become_nested_schemas_and_constants_are_put_in_afterwards() {
    let rig = Rig::with(NESTED);
    let tool = rig.tool("rover_go_to_pose");
    let pose = &tool.schema_value()["properties"]["pose"];
    assert_eq!(pose["additionalProperties"], false);
    assert_eq!(pose["required"], json!(["position"]));
    assert!(
        pose["properties"].get("frame").is_none(),
        "a constant member is invisible"
    );
    let position = &pose["properties"]["position"];
    assert_eq!(
        (&position["minItems"], &position["maxItems"]),
        (&json!(2), &json!(3))
    );
    assert_eq!(position["prefixItems"][2]["const"], 0.0);
    assert!(
        position["prefixItems"][0]["description"]
            .as_str()
            .unwrap()
            .contains("`map`")
    );
    assert!(Schema::compile(tool.schema_value()).is_ok());

    let args = json!({ "pose": { "position": [1.0, 0.5] } });
    let params = tool.params(args.as_object().unwrap());
    assert_eq!(
        serde_json::Value::Object(params),
        json!({
            "pose": { "position": [1.0, 0.5, 0.0], "frame": "map" },
            "control_source": "octos-edge",
        })
    );
}

#[test]
fn a_nested_wrong_type_is_a_schema_problem_with_its_pointer() {
    let rig = Rig::with(NESTED);
    let args = json!({ "pose": { "position": ["1", 0.5] } });
    let refusal = rig.limit("rover_go_to_pose", &args).unwrap_err();
    assert!(
        refusal.detail.contains("/pose/position/0: must be number"),
        "{refusal}"
    );
}

#[test]
fn a_tool_without_arguments_takes_none() {
    let robot = rover(&[]);
    let tool = robot
        .tools
        .iter()
        .find(|tool| tool.args.is_empty())
        .unwrap();
    let schema = super::schema(tool, &[], "map");
    assert!(
        Schema::compile(&schema)
            .unwrap()
            .check("t", &json!({ "a": 1 }))
            .is_err()
    );
    assert!(
        Schema::compile(&schema)
            .unwrap()
            .check("t", &json!({}))
            .is_ok()
    );
}
