//! Acceptance cases of the configuration, by their numbers.

use std::path::Path;

use super::{
    EMERGENCY_OVERRIDE, FULL_ACTUATION, OBSERVE, ROVER, ROVER_FILE, SAFE_MOTION, SCENARIO,
    SCENARIO_FILE, TIERS, tiers,
};
use crate::config::robot::both;
use crate::config::{Board, ConfigErrors, RobotFile, Scenario, Tiers, load_robot};

/// Returns `file:line key` of every fault.
fn places(faults: &ConfigErrors) -> Vec<String> {
    faults
        .faults()
        .iter()
        .map(|fault| format!("{} {}", fault.place, fault.key))
        .collect()
}

#[test]
fn case_01_a_tier_in_a_file_is_one_of_the_four_and_is_read_leniently() {
    for (written, good) in [
        ("Safe_Motion", true),
        (" safe_motion ", true),
        ("safe-motion", false),
        ("", false),
        ("root", false),
    ] {
        let text = ROVER.replace(
            "max_tier = \"safe_motion\"",
            &format!("max_tier = \"{written}\""),
        );
        match RobotFile::parse(ROVER_FILE, &text, &tiers()) {
            Ok(_) => assert!(good, "{written}"),
            Err(faults) => {
                assert!(!good, "{faults}");
                for tier in [
                    "observe",
                    "safe_motion",
                    "full_actuation",
                    "emergency_override",
                ] {
                    assert!(faults.to_string().contains(tier), "{faults}");
                }
            }
        }
    }
}

#[test]
fn case_02_an_empty_tiers_folder_names_all_files_that_are_missing() {
    let dir = tempfile::tempdir().unwrap();
    let faults = load_robot(dir.path(), "rover-sim").unwrap_err();
    let text = faults.to_string();
    for file in [
        "observe",
        "safe_motion",
        "full_actuation",
        "emergency_override",
        "rover-sim",
    ] {
        assert!(text.contains(&format!("{file}.toml")), "{text}");
    }
    assert_eq!(faults.faults().len(), 5);
}

#[test]
fn case_05_six_faults_of_two_files_stand_in_one_report() {
    let safe = SAFE_MOTION.replace("motion_per_min", "tools = [\"rover_stop\"]\nmotion_per_min");
    let rover = ROVER
        .replacen("tier = \"observe\"\n", "", 1)
        .replace("tier = \"full_actuation\"", "tier = \"full\"")
        .replace("advert_unknown", "advert_other = 1\nadvert_unknown")
        .replace("max_step = 0.3", "max_step = nan")
        .replace("min = 0.0, max = 60.0", "min = 61.0, max = 60.0");
    let tier_files = [OBSERVE, &safe, FULL_ACTUATION, EMERGENCY_OVERRIDE].map(str::as_bytes);
    let faults = both(Tiers::parse_bytes(tier_files), |tiers| {
        RobotFile::parse_bytes(ROVER_FILE, rover.as_bytes(), tiers)
    })
    .unwrap_err();
    insta::assert_snapshot!(faults);
    assert_eq!(faults.faults().len(), 6);
}

#[test]
fn case_06_names_that_differ_by_a_dot_collide_and_both_verbs_are_named() {
    let text = ROVER
        .replace("name = \"rover_get_pose\"", "name = \"rover.pose\"")
        .replace("name = \"robot_state\"", "name = \"rover_pose\"");
    let faults = RobotFile::parse(ROVER_FILE, &text, &tiers())
        .unwrap_err()
        .to_string();
    assert!(faults.contains("`vendor.octos.rover.get_pose`"), "{faults}");
    assert!(faults.contains("`@state`"), "{faults}");
}

#[test]
fn case_08_the_same_files_give_the_same_settings_and_falling_ceilings_are_refused() {
    let load = || RobotFile::parse(ROVER_FILE, ROVER, &tiers());
    assert_eq!(load(), load());
    let full = FULL_ACTUATION.replace("linear_speed_mps = 1.0", "linear_speed_mps = 0.2");
    let faults = Tiers::parse([OBSERVE, SAFE_MOTION, &full, EMERGENCY_OVERRIDE]).unwrap_err();
    assert_eq!(
        places(&faults),
        ["tiers/full_actuation.toml:13 ceilings.linear_speed_mps"]
    );
}

#[test]
fn case_22_no_default_answers_an_approval_with_yes() {
    let full = FULL_ACTUATION.replace("\"per_call\"", "\"per_call\", default = \"allow\"");
    let faults = Tiers::parse([OBSERVE, SAFE_MOTION, &full, EMERGENCY_OVERRIDE]).unwrap_err();
    assert_eq!(
        places(&faults),
        ["tiers/full_actuation.toml:10 approval.default"]
    );
}

#[test]
fn case_56_robot_ids_with_key_characters_or_upper_case_are_load_errors() {
    for bad in ["a/b", "a*", "a$b", "Rover", "../rover-sim", ""] {
        let text = ROVER.replace("robot = \"rover-sim\"", &format!("robot = \"{bad}\""));
        assert!(
            RobotFile::parse(ROVER_FILE, &text, &tiers()).is_err(),
            "{bad}"
        );
        let text = ROVER.replace("robot = ", &format!("id = \"{bad}\"\nrobot = "));
        let faults = RobotFile::parse(ROVER_FILE, &text, &tiers()).unwrap_err();
        assert_eq!(
            places(&faults),
            ["tiers/robots/rover-sim.toml:3 id"],
            "{bad}"
        );
        assert!(
            RobotFile::load(Path::new("tiers"), bad, &tiers()).is_err(),
            "{bad}"
        );
        assert!(Board::load(Path::new("boards"), bad).is_err(), "{bad}");
    }
}

#[test]
fn case_68_what_can_move_unbounded_is_a_load_error() {
    let tool = "[[tool]]\nname = \"arm\"\nverb = \"v.arm\"\nid = \"X-1\"\nwhy = \"w\"\n\
                tier = \"safe_motion\"\neffect = \"move\"\ndescribe = \"d\"\n\
                allow = [ {} ]\nrefuse = [ {} ]\n";
    let rover = ROVER.replace("\n[monitor]", "\n[monitor_later]");
    for (rest, key) in [
        ("", "tool.arm.speed_bound"),
        (
            "speed_bound = { mps = 0.1, source = \"s\" }\n[tool.args]\n\
             x = { type = \"f64\", unit = \"m\" }\n",
            "tool.arm.args.x.kind",
        ),
        (
            "speed_bound = { mps = 0.1, source = \"s\" }\n[tool.args]\n\
             to = { type = \"string\", unit = \"none\", one_of = \"poses\" }\n",
            "tool.arm.poses",
        ),
        (
            // A speed that may be left out bounds nothing.
            "[tool.args]\nv = { type = \"f64\", unit = \"m/s\", kind = \"linear_speed\", \
             required = false }\n",
            "tool.arm.speed_bound",
        ),
    ] {
        let text = format!("{rover}\n{tool}{rest}");
        let faults = RobotFile::parse(ROVER_FILE, &text, &tiers()).unwrap_err();
        let keys: Vec<&str> = faults
            .faults()
            .iter()
            .map(|fault| fault.key.as_str())
            .collect();
        assert!(keys.contains(&key), "{key} is not among {keys:?}");
    }
}

#[test]
fn paths_that_no_state_has_both_or_that_are_read_as_two_things_are_told() {
    let speed = "path = \"speed\"";
    let word = "completion = { state = \"nav_status\"";
    for (goes, comes, key, problem) in [
        (
            speed,
            "path = \"pose.position\"",
            "workspace.source.path",
            "`pose.position` is also monitor.speed.path: no value is both a position and a speed",
        ),
        (
            speed,
            "path = \"pose\"",
            "workspace.source.path",
            "`pose.position` and `pose`, monitor.speed.path, cannot stand in one state",
        ),
        (
            word,
            "completion = { state = \"nav_status[0]\"",
            "stop.standstill.path",
            "`nav_status` and `nav_status[0]`, completion.state of `rover_go_to_pose`, line 51, cannot \
             stand in one state",
        ),
        (
            word,
            "completion = { state = \"speed\"",
            "monitor.speed.path",
            "`speed` is also completion.state of `rover_go_to_pose`, line 51: no value is both a speed and \
             a word",
        ),
    ] {
        let text = ROVER.replace(goes, comes);
        assert_ne!(text, ROVER);
        let faults = RobotFile::parse(ROVER_FILE, &text, &tiers()).unwrap_err();
        let found: Vec<(&str, &str)> = faults
            .faults()
            .iter()
            .map(|fault| (fault.key.as_str(), fault.problem.as_str()))
            .collect();
        assert_eq!(found, [(key, problem)]);
    }
}

#[test]
fn a_tool_of_the_safety_events_takes_since_as_the_runtime_reads_it() {
    for (goes, comes) in [
        ("since = { type = \"u64\"", "since = { type = \"i64\""),
        ("{ since = -1 }", "{}"),
    ] {
        let text = ROVER.replace(goes, comes);
        let text = match comes {
            "{}" => text.replace("since = {", "# since = {"),
            _ => text,
        };
        let faults = RobotFile::parse(ROVER_FILE, &text, &tiers())
            .unwrap_err()
            .to_string();
        assert!(
            faults.contains("this verb reads `since`, a u64"),
            "{faults}"
        );
    }
}

#[test]
fn a_cause_that_no_stop_of_the_list_can_have_is_not_expected() {
    for cause in ["deadline", "shutdown", "fleet_stop"] {
        let expected = "standstill = true }";
        let named = format!("standstill = true, cause = \"{cause}\" }}");
        let text = SCENARIO.replace(expected, &named);
        let faults = Scenario::parse(SCENARIO_FILE, &text).unwrap_err();
        assert_eq!(faults.faults().len(), 1, "{faults}");
        let fault = &faults.faults()[0];
        assert_eq!(fault.key, "expect.stops[0].cause");
        assert!(fault.problem.contains("can never be met"), "{fault}");
    }
}

#[test]
fn the_shipped_folders_load_from_disk_and_wrong_files_are_told() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    load_robot(&root.join("tiers"), "rover-sim").unwrap();
    Board::load(&root.join("boards"), "sim").unwrap();
    Scenario::load(&root.join("dataflows/scenarios/rover-gate.toml")).unwrap();
    let near = RobotFile::load(&root.join("tiers"), "rover-sin", &tiers()).unwrap_err();
    assert!(
        near.to_string().contains("did you mean `rover-sim`?"),
        "{near}"
    );
    let folder = Scenario::load(&root.join("dataflows")).unwrap_err();
    assert!(
        folder.to_string().contains("is not a regular file"),
        "{folder}"
    );
}

#[test]
fn text_that_is_too_long_or_not_utf_8_is_told_with_its_line() {
    let mut bytes = TIERS.map(|text| text.as_bytes().to_vec());
    bytes[0].push(0xff);
    bytes[1].resize((1 << 20) + 1, b'\n');
    let [observe, safe, full, emergency] = &bytes;
    let faults = Tiers::parse_bytes([observe, safe, full, emergency])
        .done()
        .unwrap_err();
    assert_eq!(
        places(&faults),
        ["tiers/observe.toml:8 ", "tiers/safe_motion.toml:1 "]
    );
}

#[test]
fn a_flood_of_faults_is_cut() {
    let strangers: String = (0..1000).map(|n| format!("stranger_{n} = 1\n")).collect();
    let faults = Board::parse("boards/sim.toml", &strangers).unwrap_err();
    assert_eq!(faults.faults().len(), 257);
}

#[test]
fn a_robot_without_a_stop_tool_is_refused() {
    let (without_stops, _) = ROVER.split_once("[[tool]]\nname = \"rover_stop\"").unwrap();
    let faults = RobotFile::parse(ROVER_FILE, without_stops, &tiers()).unwrap_err();
    assert_eq!(places(&faults), ["tiers/robots/rover-sim.toml:34 tool"]);
}

#[test]
fn a_tool_above_the_highest_tier_loads() {
    let text = ROVER.replace(
        "tier = \"safe_motion\"               #",
        "tier = \"full_actuation\" #",
    );
    assert_ne!(text, ROVER);
    RobotFile::parse(ROVER_FILE, &text, &tiers()).unwrap();
}

#[test]
fn a_reading_takes_the_freshness_of_the_tool_that_needs_the_freshest_state() {
    let ages = |text: &str| {
        let rover = RobotFile::parse(ROVER_FILE, text, &tiers());
        let sensors = rover.unwrap_or_else(|faults| panic!("{faults}")).sensors;
        let ages: Vec<u32> = sensors.readings.iter().map(|one| one.max_age_ms).collect();
        ages
    };
    assert_eq!(ages(ROVER), [500, 500, 500, 500, 5000]);
    let fresher = ROVER.replace("hold_ms = 400 ", "freshness_ms = 200\nhold_ms = 400 ");
    assert_eq!(ages(&fresher), [200, 200, 200, 200, 5000]);
    // What only reads is judged on no state.
    let reads = ROVER.replace(
        "describe = \"What the robot says it can do; hints only\"",
        "describe = \"What the robot says it can do; hints only\"\nrate_per_s = 1.0",
    );
    assert_eq!(ages(&reads), ages(ROVER));
}

#[test]
fn where_nothing_moves_a_reading_says_its_own_age() {
    let mut blocks = ROVER.split("[[tool]]");
    let mut text = blocks.next().unwrap().to_owned();
    for block in blocks.filter(|block| {
        block.contains("effect = \"observe\"") || block.contains("effect = \"stop\"")
    }) {
        text.push_str("[[tool]]");
        text.push_str(block);
    }
    let faults = RobotFile::parse(ROVER_FILE, &text, &tiers()).unwrap_err();
    let problems: Vec<&str> = faults
        .faults()
        .iter()
        .map(|fault| fault.problem.as_str())
        .collect();
    assert_eq!(problems, ["missing, and no tool needs a fresh state"; 4]);
    let written = text.replace("\" },   # older", "\", max_age_ms = 900 },   # older");
    let left = RobotFile::parse(ROVER_FILE, &written, &tiers()).unwrap_err();
    assert_eq!(left.faults().len(), 3);
}
