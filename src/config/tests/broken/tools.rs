//! Broken tools of a robot file.

use super::{Edit, reports};
use crate::config::RobotFile;
use crate::config::tests::{ROVER, ROVER_FILE, tiers};

fn snapshot_of(edits: &[Edit]) -> String {
    let tiers = tiers();
    reports(ROVER, edits, |text| {
        RobotFile::parse(ROVER_FILE, text, &tiers).map(drop)
    })
}

#[test]
fn a_broken_tool_says_why() {
    insta::assert_snapshot!(snapshot_of(&[
        (
            "no tier",
            "tier = \"observe\"\neffect = \"observe\"\ndescribe = \"The latest",
            "effect = \"observe\"\ndescribe = \"The latest"
        ),
        (
            "a name with a space",
            "name = \"rover_get_pose\"",
            "name = \"rover get pose\""
        ),
        (
            "the same name twice",
            "name = \"rover_get_pose\"",
            "name = \"rover.set_velocity\""
        ),
        ("the same id twice", "id = \"RV-04\"", "id = \"RV-01\""),
        (
            "an effect not of the tier",
            "effect = \"config\"",
            "effect = \"move\""
        ),
        (
            "a stop with a tier",
            "verb = \"@stop\" ",
            "tier = \"observe\"\nverb = \"@stop\" "
        ),
        (
            "a stop with examples",
            "verb = \"@estop\"",
            "allow = [{}]\nrefuse = [{ x = 1 }]\nverb = \"@estop\""
        ),
        (
            "a stop with limits",
            "verb = \"@estop\"",
            "timeout_ms = 5\nburst = 1\nverb = \"@estop\""
        ),
        (
            "a stop with arguments",
            "describe = \"Stop the rover now\"",
            "describe = \"Stop the rover now\"\nargs = { hard = { type = \"bool\", unit = \"none\" } }"
        ),
        (
            "a stop that sends a verb",
            "verb = \"@stop\" ",
            "verb = \"robot.estop\" "
        ),
        (
            "an unknown verb of ours",
            "verb = \"@state\"",
            "verb = \"@stat\""
        ),
        (
            "a stop verb that reads",
            "effect = \"stop\"\ndescribe = \"Stop the rover now\"",
            "tier = \"observe\"\neffect = \"observe\"\ndescribe = \"Stop the rover now\""
        ),
        (
            "a state with a completion",
            "verb = \"@state\"",
            "completion = \"done\"\nverb = \"@state\""
        ),
        ("a hold without times", "hold_ms = 400 ", "# "),
        (
            "a hold with a completion",
            "max_call_ms = 3000",
            "max_call_ms = 3000\ncompletion = \"accepted\""
        ),
        (
            "a hold longer than its call",
            "hold_ms = 400 ",
            "hold_ms = 4000 "
        ),
        (
            "a hold longer than its deadline",
            "max_call_ms = 3000",
            "max_call_ms = 30001"
        ),
        (
            "a move with hold times",
            "effect = \"move\"\ndescribe = \"Drive",
            "hold_ms = 100\neffect = \"move\"\ndescribe = \"Drive"
        ),
        (
            "a deadline above the lease",
            "completion = { state",
            "timeout_ms = 40000\ncompletion = { state"
        ),
        (
            "a word of success and failure",
            "fail = [\"idle\"]",
            "fail = [\"arrived\"]"
        ),
        (
            "a read that is done when accepted",
            "completion = \"done\"\nallow = [ {} ]\nrefuse = [ { frame",
            "completion = \"accepted\"\nallow = [ {} ]\nrefuse = [ { frame"
        ),
        ("a speed above the ceiling", "mps = 0.25", "mps = 0.3"),
        (
            "a speed bound without a source",
            "mps = 0.25, source = \"mock-robot, constant SPEED_MAX_MPS\"",
            "mps = 0.25"
        ),
        (
            "no example that passes",
            "allow  = [ { x = 1.0, y = 0.5 } ]",
            "allow  = []"
        ),
        (
            "no example that is refused",
            "refuse = [ { x = 3.0, y = 2.5 }, { x = 9.0, y = 0.0 }, { x = 1.0 } ]",
            ""
        ),
        (
            "an example with no number",
            "allow  = [ { x = 1.0, y = 0.5 } ]",
            "allow  = [ { x = inf, y = 0.5 } ]"
        ),
        (
            "an example that is a list",
            "allow  = [ { x = 1.0, y = 0.5 } ]",
            "allow  = [ [1.0, 0.5] ]"
        ),
        (
            "poses that nobody names",
            "completion = { state",
            "poses = { dock = { x = 0.0, y = 0.0 } }\ncompletion = { state"
        ),
    ]));
}

#[test]
fn a_broken_argument_says_why() {
    insta::assert_snapshot!(snapshot_of(&[
        (
            "no unit",
            "linear  = { type = \"f64\", unit = \"m/s\",",
            "linear  = { type = \"f64\","
        ),
        (
            "another unit than its kind",
            "linear  = { type = \"f64\", unit = \"m/s\",",
            "linear  = { type = \"f64\", unit = \"km/h\","
        ),
        (
            "an unknown type",
            "linear  = { type = \"f64\"",
            "linear  = { type = \"float\""
        ),
        (
            "an unknown kind",
            "kind = \"angular_speed\"",
            "kind = \"angular_sped\""
        ),
        (
            "a limit that is no number",
            "max = 0.5, max_step = 0.3",
            "max = nan, max_step = 0.3"
        ),
        (
            "a limit upside down",
            "min = -0.2, max = 0.5",
            "min = 0.6, max = 0.5"
        ),
        ("a step of zero", "max_step = 0.3", "max_step = 0.0"),
        ("neither kind nor free", "kind = \"linear_speed\", ", ""),
        (
            "both kind and free",
            "kind = \"linear_speed\", ",
            "kind = \"linear_speed\", free = \"none\", "
        ),
        (
            "a kind that its tier does not bound",
            "kind = \"linear_speed\"",
            "kind = \"joint_speed\""
        ),
        (
            "an optional target",
            "y = { type = \"f64\", unit = \"m\",",
            "y = { type = \"f64\", required = false, unit = \"m\","
        ),
        (
            "half a target",
            "y = { type = \"f64\", unit = \"m\", kind = \"target_y\"",
            "y = { type = \"f64\", unit = \"m\", free = \"no\""
        ),
        (
            "a pose of nothing",
            "opening = { type = \"f64\", unit = \"m\", free = \"width between the fingers; min and max are the mechanical stops\", min = 0.0, max = 0.08 }",
            "opening = { type = \"string\", unit = \"none\", one_of = \"poses\" }"
        ),
        (
            "a text that may name a place",
            "opening = { type = \"f64\", unit = \"m\", free = \"width between the fingers; min and max are the mechanical stops\", min = 0.0, max = 0.08 }",
            "opening = { type = \"string\", unit = \"m\", min = 0 }"
        ),
        (
            "a constant with a limit",
            "opening = { type = \"f64\", unit = \"m\", free = \"width between the fingers; min and max are the mechanical stops\", min = 0.0, max = 0.08 }",
            "opening = { type = \"f64\", unit = \"m\", const = \"wide\", max = 0.08 }"
        ),
        (
            "a step of a read",
            "since = { type = \"u64\", unit = \"none\", min = 0",
            "since = { type = \"u64\", unit = \"none\", max_step = 1, min = -0.5"
        ),
        (
            "an argument that the verb does not read",
            "since = { type",
            "until = { type"
        ),
        (
            "a key of a later release",
            "since = { type = \"u64\"",
            "since = { norm_tolerance = 0.1, type = \"u64\""
        ),
        (
            "a path that is none",
            "opening = { type",
            "\"opening[\" = { type"
        ),
        (
            "a part beside its whole",
            "opening = { type",
            "\"force.x\" = { type"
        ),
        (
            "a list with a gap",
            "opening = { type",
            "\"fingers[1]\" = { type"
        ),
        (
            "the source as an argument",
            "angular = { type = \"f64\", unit",
            "control_source = { type = \"f64\", unit"
        ),
    ]));
}
