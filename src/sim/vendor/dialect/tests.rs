//! What is learned from a robot file, and what is refused. Files are read as an installation reads them.

use std::path::Path;

use serde_json::json;

use super::*;
use crate::config::Tiers;

/// Everything but tools.
const HEAD: &str = r#"
schema = 1
robot = "bot"
title = "A base"
max_tier = "full_actuation"
deadman = { source = "advert", fixed_ms = 500, waive = false }
release = { verb = "acme.base.give", args = { control_source = "edge", level = 2 } }
[stop]
steps = [ { verb = "acme.base.halt", args = { how = { hard = true } }, wait_ms = 100 },
          { verb = "robot.estop", args = { note = "edge" }, wait_ms = 100 } ]
standstill = { stream = "state", path = "base.word", any_of = ["quiet", "there"], within_ms = 500 }
[workspace]
frame = "map"
source = { stream = "state", path = "base.at", max_age_ms = 500 }
home = [0.5, 0.25, 0.0]
keep_in = [ { box = [-2.0, -2.0, 0.0, 2.0, 2.0, 0.0] } ]
margin_m = 0.1
[monitor]
speed = { stream = "state", path = "base.v", unit = "m/s", factor = 1.2 }
[[tool]]
name = "halt"
verb = "@stop"
id = "T-0"
why = "Stopping is always permitted."
effect = "stop"
describe = "Stop"
"#;

/// A robot with one more tool of the verb `acme.base.do`: its keys, and its arguments.
fn file(keys: &str, args: &str) -> String {
    format!(
        "{HEAD}[[tool]]\nname = \"do\"\nverb = \"acme.base.do\"\nid = \"T-1\"\nwhy = \"a test\"\n\
         describe = \"a test\"\ntier = \"full_actuation\"\n{keys}\n[tool.args]\n{args}\n"
    )
}

fn tiers() -> Tiers {
    Tiers::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tiers")).unwrap()
}

#[track_caller]
fn robot(name: &str, text: &str) -> RobotFile {
    let file = format!("tiers/robots/{name}.toml");
    RobotFile::parse(&file, text, &tiers()).unwrap_or_else(|faults| panic!("{faults}\n{text}"))
}

#[track_caller]
fn learned(text: &str) -> Dialect {
    Dialect::of(&robot("bot", text)).unwrap()
}

/// Teaches one tool and reads one request of it.
#[track_caller]
fn read(keys: &str, args: &str, params: Value) -> Result<Order, String> {
    let dialect = learned(&file(keys, args));
    dialect.parse("acme.base.do", params.as_object().unwrap())
}

#[track_caller]
fn motion(keys: &str, args: &str, params: Value) -> Motion {
    let order = read(keys, args, params).unwrap();
    let Order::Motion(motion) = order else {
        panic!("{order:?}");
    };
    motion
}

#[track_caller]
fn deed(keys: &str, args: &str, params: Value) -> Deed {
    motion(keys, args, params).deed
}

/// Examples that a file needs.
const SHOWN: &str = "allow = [ EX ]\nrefuse = [ { other = 1 } ]\n";

fn shown(effect: &str, example: &str) -> String {
    format!("effect = \"{effect}\"\n{}", SHOWN.replace("EX", example))
}

fn hold(example: &str) -> String {
    shown("hold", example) + "hold_ms = 200\nmax_call_ms = 400\n"
}

#[test]
fn the_shipped_robot_file_teaches_the_language_of_the_built_in_rover() {
    let text = include_str!("../../../../tiers/robots/rover-sim.toml");
    let dialect = Dialect::of(&robot("rover-sim", text)).unwrap();
    let told = |dialect: &Dialect| dialect.dead_man().unwrap().told;
    assert_eq!(told(&dialect), Some(HeartbeatField::Safety));
    assert_eq!(told(&Dialect::rover()), Some(HeartbeatField::TopLevel));
    let moved = dialect.with_heartbeat_field(HeartbeatField::TopLevel);
    let named = Dialect {
        model: "rover".to_owned(),
        ..moved.clone()
    };
    assert_eq!(named, Dialect::rover());
    assert_eq!(moved.model(), "rover-sim", "the advert names the robot");
}

#[test]
fn speeds_of_a_hold_drive_along_the_heading_from_any_path() {
    let keys = hold("{ v = { x = 0.1, y = 0.1 }, turns = [ 0.2 ] }");
    let args = r#""v.x" = { type = "f64", unit = "m/s", kind = "linear_speed" }
        "v.y" = { type = "f64", unit = "m/s", kind = "linear_speed" }
        "turns[0]" = { type = "f64", unit = "rad/s", kind = "angular_speed" }"#;
    let params = json!({ "v": { "x": 0.25, "y": -0.125 }, "turns": [0.5] });
    let drives = Deed::Velocity {
        linear: 0.125,
        angular: 0.5,
        lives_ms: 300,
    };
    assert_eq!(deed(&keys, args, params), drives);
}

#[test]
fn a_target_is_a_goal_no_faster_than_the_file_and_the_call_say() {
    let target = r#"px = { type = "f64", unit = "m", kind = "target_x" }
        py = { type = "f64", unit = "m", kind = "target_y" }"#;
    let to = [1.0, -0.5];
    let keys = shown("move", "{ px = 0.0, py = 0.0 }");
    let params = json!({ "px": 1.0, "py": -0.5 });
    let goal = |mps| Deed::Goal { to, mps };
    assert_eq!(deed(&keys, target, params.clone()), goal(0.25));
    let slow = format!("{keys}speed_bound = {{ mps = 0.1, source = \"test\" }}\n");
    assert_eq!(deed(&slow, target, params.clone()), goal(0.1));
    let fast = format!("{keys}speed_bound = {{ mps = 0.9, source = \"test\" }}\n");
    assert_eq!(deed(&fast, target, params), goal(0.25));
    let limited = format!(
        "{target}\nup_to = {{ type = \"f64\", unit = \"m/s\", kind = \"linear_speed\", required = false }}"
    );
    let params = json!({ "px": 1.0, "py": -0.5, "up_to": 0.05 });
    assert_eq!(deed(&keys, &limited, params), goal(0.05));
}

#[test]
fn a_name_is_a_goal_at_its_pose_and_a_distance_lies_ahead() {
    let keys = shown("move", "{ place = \"dock\" }") + "poses = { dock = { x = 1.0, y = 1.5 } }\n";
    let args = r#"place = { type = "string", unit = "none", one_of = "poses" }"#;
    let goal = Deed::Goal {
        to: [1.0, 1.5],
        mps: 0.25,
    };
    assert_eq!(deed(&keys, args, json!({ "place": "dock" })), goal);
    let unknown = read(&keys, args, json!({ "place": "moon" }));
    assert_eq!(unknown, Err("place names no place".to_owned()));
    let keys = shown("move", "{ by = 1.0 }");
    let args = r#"by = { type = "f64", unit = "m", kind = "distance" }"#;
    let ahead = Deed::Ahead { m: -0.5, mps: 0.25 };
    assert_eq!(deed(&keys, args, json!({ "by": -0.5 })), ahead);
}

#[test]
fn metres_without_a_ceiling_open_the_gripper_and_force_alone_closes_it() {
    let width = r#"wide = { type = "f64", unit = "m", free = "the stops bound it" }"#;
    let force = r#"grip = { type = "f64", unit = "N", kind = "gripper_force" }"#;
    let keys = shown("move", "{ wide = 0.01, grip = 1.0 }");
    let both = format!("{width}\n{force}");
    let params = json!({ "wide": 0.03, "grip": 5.0 });
    assert_eq!(deed(&keys, &both, params), Deed::Gripper { opening: 0.03 });
    let keys = shown("move", "{ wide = 0.01 }");
    let wide = deed(&keys, width, json!({ "wide": 0.02 }));
    assert_eq!(wide, Deed::Gripper { opening: 0.02 });
    let keys = shown("move", "{ grip = 1.0 }");
    let shut = deed(&keys, force, json!({ "grip": 5.0 }));
    assert_eq!(shut, Deed::Gripper { opening: 0.0 });
}

#[test]
fn a_motion_is_answered_when_its_file_waits_for_the_answer() {
    let args = r#"by = { type = "f64", unit = "m", kind = "distance" }"#;
    let told = |more: &str| {
        let keys = shown("move", "{ by = 1.0 }") + more;
        let motion = motion(&keys, args, json!({ "by": 0.5 }));
        (motion.answers, motion.words)
    };
    assert_eq!(told(""), (Answers::WhenDone, None));
    let words = |start: &str, ok: &str, slot| {
        Some(Words {
            slot,
            start: start.to_owned(),
            ok: ok.to_owned(),
            passes: slot == 0 && ok == "landed",
        })
    };
    let table = [
        (
            "base.word",
            r#"["off"]"#,
            r#"["landed", "there"]"#,
            words("off", "there", 0),
        ),
        (
            "base.word",
            r#"["off"]"#,
            r#"["landed"]"#,
            words("off", "landed", 0),
        ),
        (
            "job.word",
            r#"["off"]"#,
            r#"["landed"]"#,
            words("off", "landed", 1),
        ),
    ];
    for (path, start, ok, expected) in table {
        let keys = format!(
            "completion = {{ state = \"{path}\", start = {start}, ok = {ok}, fail = [\"lost\"] }}\n"
        );
        assert_eq!(told(&keys), (Answers::AtOnce, expected), "{path} {ok}");
    }
}

#[test]
fn stops_brake_with_and_without_their_parameters_and_estop_latches() {
    let dialect = learned(HEAD);
    let order = |verb: &str, params: Value| dialect.parse(verb, params.as_object().unwrap());
    for params in [json!({}), json!({ "how": { "hard": false } })] {
        assert_eq!(order("acme.base.halt", params), Ok(Order::Stop));
    }
    assert!(order("acme.base.halt", json!({ "how": { "soft": true } })).is_err());
    assert!(order("acme.base.halt", json!({ "how": true })).is_err());
    let reasons = [
        (json!({}), ""),
        (json!({ "note": "me" }), "me"),
        (json!({ "reason": "you" }), "you"),
    ];
    for (params, reason) in reasons {
        let reason = reason.to_owned();
        assert_eq!(order(ESTOP, params), Ok(Order::Estop { reason }));
    }
    assert!(order(ESTOP, json!({ "reason": "a", "note": "b" })).is_err());
    assert_eq!(dialect.class("acme.base.halt"), VerbClass::Stop);
    assert_eq!(dialect.class(ESTOP), VerbClass::Stop);
    assert_eq!(dialect.class("acme.base.fly"), VerbClass::Other);
}

#[test]
fn release_is_the_verb_of_the_file_and_other_settings_change_nothing() {
    let keys =
        r#"effect = "config""#.to_owned() + "\nallow = [{ on = true }]\nrefuse = [{ on = 1 }]";
    let text = file(&keys, r#"on = { type = "bool", unit = "none" }"#).replace(
        "tier = \"full_actuation\"\neffect",
        "tier = \"emergency_override\"\neffect",
    );
    let dialect = learned(&text);
    let order = |verb: &str, params: Value| dialect.parse(verb, params.as_object().unwrap());
    assert_eq!(
        order("acme.base.do", json!({ "on": true })),
        Ok(Order::Nothing)
    );
    let given = json!({ "control_source": "anybody", "level": 7 });
    assert_eq!(order("acme.base.give", given), Ok(Order::Release));
    assert!(order("acme.base.give", json!({ "level": 2 })).is_err());
    assert!(order(RELEASE, json!({ "control_source": "edge" })).is_err());
}

#[test]
fn reads_answer_and_the_verb_of_the_advert_gives_it() {
    let keys = "effect = \"observe\"\nallow = [{ n = 1 }]\nrefuse = [{ n = -1 }]\n";
    let args = r#"n = { type = "u64", unit = "none" }"#;
    assert_eq!(read(keys, args, json!({ "n": 3 })), Ok(Order::Pose));
    let text = file(keys, args).replace("acme.base.do", CAPABILITIES);
    let dialect = learned(&text);
    for params in [json!({}), json!({ "n": 3 })] {
        let order = dialect.parse(CAPABILITIES, params.as_object().unwrap());
        assert_eq!(order, Ok(Order::Capabilities));
    }
}

#[test]
fn two_tools_of_one_verb_are_two_forms_of_it() {
    let one = |name: &str, mode: &str| {
        file(
            &hold("{ v = 0.1 }"),
            &format!(
                "v = {{ type = \"f64\", unit = \"m/s\", kind = \"linear_speed\" }}\n\
                 mode = {{ type = \"string\", unit = \"none\", const = \"{mode}\" }}"
            ),
        )
        .replace(HEAD, "")
        .replace("name = \"do\"", &format!("name = \"{name}\""))
        .replace("T-1", name)
    };
    let dialect = learned(&(HEAD.to_owned() + &one("slow", "eco") + &one("fast", "race")));
    let order = |mode: &str| {
        let params = json!({ "v": 0.1, "mode": mode });
        dialect.parse("acme.base.do", params.as_object().unwrap())
    };
    assert!(order("eco").is_ok() && order("race").is_ok());
    assert_eq!(order("fly"), Err("mode is not \"eco\"".to_owned()));
    let named = dialect.verbs().filter(|verb| *verb == "acme.base.do");
    assert_eq!(named.count(), 1);
}

#[test]
fn parameters_that_do_not_fit_are_named() {
    let keys = hold("{ v = { x = 0.1 } }") + "control_source = \"edge\"\n";
    let args = r#""v.x" = { type = "f64", unit = "m/s", kind = "linear_speed" }
        n = { type = "i64", unit = "x", free = "a test", required = false }"#;
    let rows = [
        (json!({ "v": { "x": 0.1 } }), "control_source is missing"),
        (json!({ "control_source": "me" }), "v.x is missing"),
        (
            json!({ "v": 0.1, "control_source": "me" }),
            "v.x is missing",
        ),
        (
            json!({ "v": { "x": "0.1" }, "control_source": "me" }),
            "v.x is of a wrong type",
        ),
        (
            json!({ "v": { "x": 9.0 }, "control_source": "me" }),
            "v.x is outside -5 to 5",
        ),
        (
            json!({ "v": { "x": 0.1, "y": 0.1 }, "control_source": "me" }),
            "unknown key v.y",
        ),
        (
            json!({ "v": { "x": 0.1 }, "w": [], "control_source": "me" }),
            "unknown key w",
        ),
        (
            json!({ "v": { "x": 0.1 }, "n": 0.5, "control_source": "me" }),
            "n is of a wrong type",
        ),
        (
            json!({ "v": { "x": 0.1 }, "n": null, "control_source": "me" }),
            "n is of a wrong type",
        ),
        (
            json!({ "v": { "x": 0.1 }, "control_source": "m".repeat(129) }),
            "control_source is longer than 128 bytes",
        ),
    ];
    for (params, problem) in rows {
        assert_eq!(read(&keys, args, params), Err(problem.to_owned()));
    }
    let long = json!({ "v": { "x": 0.1 }, "control_source": "me", "k".repeat(500): 1 });
    let problem = read(&keys, args, long).unwrap_err();
    assert!(problem.len() < 60, "{problem}");
}

#[test]
fn a_moving_tool_without_a_meaning_is_named_with_file_line_and_the_way_out() {
    let joint = r#"j = { type = "f64", unit = "rad/s", kind = "joint_speed" }"#;
    let rows = [
        (hold("{ j = 0.1 }"), joint, "`linear_speed`"),
        (shown("move", "{ j = 0.1 }"), joint, "`target_x`"),
        ("effect = \"move\"\n".to_owned(), "", "`gripper_force`"),
        (
            hold("{ x = 0.0, y = 0.0 }"),
            "x = { type = \"f64\", unit = \"m\", kind = \"target_x\" }\n\
             y = { type = \"f64\", unit = \"m\", kind = \"target_y\" }",
            "`angular_speed`",
        ),
    ];
    for (keys, args, way_out) in rows {
        let text = file(&keys, args);
        let faults = Dialect::of(&robot("bot", &text)).unwrap_err();
        let [fault] = faults.faults() else {
            panic!("{faults}");
        };
        let line = text
            .lines()
            .position(|line| line == "name = \"do\"")
            .unwrap();
        assert_eq!(
            fault.place.to_string(),
            format!("tiers/robots/bot.toml:{line}")
        );
        assert_eq!(fault.key, "tool.do");
        assert!(fault.problem.contains("acme.base.do"), "{fault}");
        assert!(fault.hint.contains(way_out), "{}", fault.hint);
        assert!(fault.hint.contains("octos-edge run"), "{}", fault.hint);
    }
}

#[test]
fn every_tool_without_a_meaning_is_told_in_one_report() {
    let text = file("effect = \"move\"\n", "");
    let second = text
        .replace(HEAD, "")
        .replace("\"do\"", "\"redo\"")
        .replace("T-1", "T-2");
    let faults = Dialect::of(&robot("bot", &(text + &second))).unwrap_err();
    let keys: Vec<&str> = faults.faults().iter().map(|f| f.key.as_str()).collect();
    assert_eq!(keys, ["tool.do", "tool.redo"]);
}

#[test]
fn paths_that_would_hide_what_every_state_says_are_named() {
    // Those that exclude each other are faults of the file, for every robot.
    let rows = [
        ("base.at", "battery", "workspace.source.path"),
        ("base.v", "seq", "monitor.speed.path"),
        ("base.word", "estopped", "stop.standstill.path"),
    ];
    for (path, other, key) in rows {
        let text = HEAD.replace(
            &format!("path = \"{path}\""),
            &format!("path = \"{other}\""),
        );
        // The reader of the file names what the file says of itself, the robot what it says besides.
        let faults = match RobotFile::parse("tiers/robots/bot.toml", &text, &tiers()) {
            Err(faults) => faults,
            Ok(file) => {
                let faults = Dialect::of(&file).unwrap_err();
                assert!(faults.faults()[0].hint.contains("controller_holder"));
                faults
            }
        };
        let found = faults.faults().iter().any(|fault| fault.key == key);
        assert!(found, "{other}: {faults}");
    }
}

#[test]
fn the_dead_man_is_the_file_s_and_told_where_the_file_looks() {
    let dead_man = |written: &str| {
        let text = HEAD.replace("source = \"advert\", fixed", &format!("{written}, fixed"));
        learned(&text).dead_man()
    };
    let after_ms = 500;
    let told = Some(HeartbeatField::Safety);
    assert_eq!(
        dead_man("source = \"advert\""),
        Some(DeadMan { after_ms, told })
    );
    let told = None;
    assert_eq!(
        dead_man("source = \"fixed\""),
        Some(DeadMan { after_ms, told })
    );
    assert_eq!(dead_man("source = \"none\""), None);
    let text = HEAD.replace("source = \"advert\", fixed", "source = \"fixed\", fixed");
    let untold = learned(&text).with_heartbeat_field(HeartbeatField::TopLevel);
    assert_eq!(untold.dead_man(), Some(DeadMan { after_ms, told }));
}

fn written(dialect: &Dialect, base: &Activity) -> Value {
    let seen = Seen {
        position: [1.0, 2.0, 0.0],
        yaw: 0.5,
        speed: 0.25,
        base,
        gripper: &Activity::default(),
    };
    Value::Object(dialect.says().write(&seen))
}

fn going() -> Activity {
    Activity {
        phase: Phase::Following,
        ..Activity::default()
    }
}

#[test]
fn the_state_stands_at_the_paths_of_the_file_in_its_words() {
    let dialect = learned(HEAD);
    let state =
        json!({ "base": { "at": [1.0, 2.0, 0.0], "yaw": 0.5, "v": 0.25, "word": "quiet" } });
    assert_eq!(written(&dialect, &Activity::default()), state);
    assert_eq!(written(&dialect, &going())["base"]["word"], "moving");
    let listed = HEAD
        .replace("path = \"base.at\"", "path = \"all[0]\"")
        .replace("path = \"base.v\"", "path = \"all[2]\"")
        .replace("path = \"base.word\"", "path = \"all[1].word\"");
    let state = written(&learned(&listed), &Activity::default());
    assert_eq!(
        state,
        json!({ "all": [[1.0, 2.0, 0.0], { "word": "quiet" }, 0.25] })
    );
}

#[test]
fn standstill_as_a_truth_value_is_one_and_a_word_of_rest_never_begins_a_motion() {
    for (word, rest) in [("true", true), ("false", false)] {
        let listed = format!("any_of = [\"{word}\"]");
        let text = HEAD.replace("any_of = [\"quiet\", \"there\"]", &listed);
        let dialect = learned(&text);
        let idle = written(&dialect, &Activity::default());
        assert_eq!(idle["base"]["word"], json!(rest));
        assert_eq!(written(&dialect, &going())["base"]["word"], json!(!rest));
    }
    let text = HEAD.replace("[\"quiet\", \"there\"]", "[\"moving\", \"moving_1\"]");
    let state = written(&learned(&text), &going());
    assert_eq!(state["base"]["word"], "moving_2");
}

#[test]
fn a_stopped_robot_does_not_look_like_one_that_arrived() {
    let completion = "completion = { state = \"base.word\", start = [\"off\"], ok = [\"quiet\"], fail = [\"there\"] }\n";
    let keys = shown("move", "{ by = 1.0 }") + completion;
    let args = r#"by = { type = "f64", unit = "m", kind = "distance" }"#;
    let dialect = learned(&file(&keys, args));
    let idle = written(&dialect, &Activity::default());
    assert_eq!(idle["base"]["word"], "there");
    assert_eq!(written(&dialect, &going())["base"]["word"], "off");
}

#[test]
fn the_built_in_rover_lacks_the_verbs_of_another_robot_and_each_robot_none_of_its_own() {
    let bot = robot("bot", HEAD);
    let lacking = ["acme.base.give", "acme.base.halt"];
    assert_eq!(Dialect::rover().lacks(&bot), lacking);
    assert!(Dialect::of(&bot).unwrap().lacks(&bot).is_empty());
}
