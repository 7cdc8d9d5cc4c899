//! A robot with verbs and words of its own.

use super::*;

/// Parameters of the crawler's drive to a point.
fn far(px: f64) -> Value {
    json!({ "goal": { "px": px, "py": 0.0 }, "style": { "gait": "smooth" }, "control_source": "edge" })
}

#[test]
fn another_robot_tells_its_dead_man_in_safety_and_stops_itself_in_its_own_words() {
    let mut rig = Rig::crawler();
    let advert = &rig.all(Output::Capabilities)[0];
    assert_eq!(advert["safety"]["heartbeat_timeout_ms"], json!(800));
    assert_eq!(advert.get("heartbeat_timeout_ms"), None);
    assert_eq!(rig.code("vendor.acme.base.nav.goto", far(1.5)), "0");
    rig.wait(750);
    assert_eq!(rig.state()["drive"]["phase"], "DRIVING");
    assert!(rig.state()["odom"]["v"].as_f64().unwrap() > 0.1);
    rig.wait(400);
    let state = rig.state();
    assert_eq!(state["estopped"], true);
    assert_eq!(state["drive"]["phase"], "STOPPED");
    let tripped = JournalEntry::DeadMan {
        t_ms: 1810,
        silent_ms: 810,
    };
    assert!(rig.journal.contains(&tripped), "{:?}", rig.journal);
}

#[test]
fn another_robot_drives_turns_and_halts_by_its_own_verbs_only() {
    let mut rig = Rig::crawler();
    let twist = json!({ "twist": { "forward": 0.2, "turn": 0.0 }, "control_source": "edge" });
    assert_eq!(rig.code("vendor.acme.base.drive", twist), "0");
    rig.wait(350);
    assert!(rig.state()["odom"]["v"].as_f64().unwrap() > 0.1);
    assert_eq!(
        rig.code("vendor.acme.base.halt", json!({ "mode": "soft" })),
        "0"
    );
    rig.wait(300);
    assert_eq!(rig.state()["odom"]["v"], json!(0.0));
    assert_eq!(rig.code(DRIVE, velocity(0.2)), "INVALID_PARAMS");
    let classes: Vec<VerbClass> = rig.journal.iter().filter_map(class).collect();
    let expected = [VerbClass::Motion, VerbClass::Stop, VerbClass::Other];
    assert_eq!(classes, expected);
    let lights = json!({ "on": true });
    assert_eq!(rig.code("vendor.acme.base.lights", lights), "0");
    let seen = rig.send("vendor.acme.base.odom", json!({})).unwrap();
    assert!(seen["data"]["odom"]["xy"].is_array(), "{seen}");
}

fn class(entry: &JournalEntry) -> Option<VerbClass> {
    match entry {
        JournalEntry::Verb { class, .. } => Some(*class),
        JournalEntry::Start { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. }
        | JournalEntry::Rest { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::DeadMan { .. } => None,
    }
}

#[test]
fn a_goal_that_is_answered_at_its_end_is_answered_there_or_when_it_is_stopped() {
    const VISIT: &str = "vendor.acme.base.nav.visit";
    let dock = json!({ "site": "dock", "control_source": "edge" });
    let mut rig = Rig::crawler();
    assert_eq!(rig.send(VISIT, dock.clone()), None);
    for _ in 0..30 {
        rig.wait(300);
        rig.code(dialect::HEARTBEAT, json!({}));
    }
    let answer = rig.response("id-1").unwrap();
    assert_eq!(answer["code"], "0");
    assert!(
        (answer["data"]["x"].as_f64().unwrap() - 1.5).abs() < 0.06,
        "{answer}"
    );
    let mut rig = Rig::crawler();
    rig.send(VISIT, dock.clone());
    rig.wait(500);
    rig.code("vendor.acme.base.halt", json!({}));
    assert_eq!(rig.response("id-1"), None, "it still rolls");
    rig.wait(300);
    assert_eq!(rig.response("id-1").unwrap()["code"], "VENDOR_ERROR");
    // At rest there is no way to go: a stop ends the goal at once.
    rig.send(VISIT, dock);
    rig.code("vendor.acme.base.halt", json!({}));
    assert_eq!(rig.response("id-3").unwrap()["code"], "VENDOR_ERROR");
}

#[test]
fn a_word_of_success_that_is_none_of_standstill_gives_way_to_one() {
    let text = CRAWLER.replace(
        "any_of = [\"STOPPED\", \"AT_GOAL\"]",
        "any_of = [\"STOPPED\"]",
    );
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    rig.code("vendor.acme.base.nav.goto", far(0.2));
    for _ in 0..8 {
        rig.wait(300);
        rig.code(dialect::HEARTBEAT, json!({}));
    }
    let states = rig.all(Output::State);
    let mut words: Vec<&str> = states
        .iter()
        .map(|state| state["drive"]["phase"].as_str().unwrap())
        .collect();
    words.dedup();
    assert_eq!(words, ["STOPPED", "DRIVING", "AT_GOAL", "STOPPED"]);
}

#[test]
fn a_gripper_with_words_of_its_own_says_them_and_answers_at_once() {
    const CLAW: &str = "vendor.acme.claw.set";
    let speed = "speed_bound = { mps = 0.05, source = \"Acme data sheet, section 4\" }\n";
    let completion = "completion = { state = \"claw\", start = [\"GOES\"], ok = [\"SET\"], fail = [\"FREE\"] }\n";
    let text = CRAWLER.replace(speed, &format!("{speed}{completion}"));
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    let open = json!({ "width": 0.04, "squeeze": 5.0 });
    assert_eq!(rig.state()["claw"], "FREE");
    assert_eq!(rig.code(CLAW, open.clone()), "0");
    rig.wait(100);
    assert_eq!(
        (&rig.state()["claw"], &rig.state()["drive"]["phase"]),
        (&json!("GOES"), &json!("STOPPED"))
    );
    assert_eq!(rig.code(CLAW, open), "CONTROLLER_BUSY");
    rig.wait(900);
    assert_eq!(rig.state()["claw"], "SET");
}

#[test]
fn a_dead_man_that_is_not_told_stops_the_robot_all_the_same() {
    let text = CRAWLER.replace("source = \"advert\"", "source = \"fixed\"");
    let mut rig = Rig::speaking(Dialect::of(&crawler(&text)).unwrap(), 7);
    let advert = &rig.all(Output::Capabilities)[0];
    assert!(advert["heartbeat_timeout_ms"].is_null() && advert["safety"].is_null());
    rig.code("vendor.acme.base.nav.goto", far(1.5));
    rig.wait(900);
    assert_eq!(
        rig.state()["estopped"],
        true,
        "it has one and does not tell"
    );
}
