//! An estop latches, on disk, and only a person takes it back.

use octos_edge::terms::{Fact, RunState, StopCause, StopKind};

use crate::rig::{ARM, Run, Site, Trail};

const DRIVE: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;
const LOOK: &str = r#"{ tool = "rover_get_pose", args = {} }"#;

#[test]
fn an_estop_latches_on_disk_and_the_next_run_moves_nothing_until_a_person_resets_it() {
    let site = Site::new();
    estop(&site);
    refuse_to_arm(&site);
    reset(&site);
    // What earlier lives recorded stays.
    let facts = site.facts();
    let lives = facts.iter().filter(|f| matches!(f, Fact::Started { .. }));
    assert_eq!(lives.count(), 3);
}

/// A run in which the operator presses estop while the rover drives.
fn estop(site: &Site) {
    let press = r#"
        [[event]]
        when = { moved_m = 0.1 }
        operator = { do = "estop", why = "a test" }
        "#;
    let expect = r#"stops = [ { kind = "estop", by = "operator", standstill = true } ]
        commands_after_stop = 0
        end_state = "latched""#;
    let scenario = site.scenario(&[ARM, press].concat(), &[DRIVE], expect);
    let mut run = Run::sim(site, &scenario);
    run.wait("the answer", |line| {
        line.says("operator", "estop: latched and on disk")
    });
    // Persist comes before the answer: whoever has read the one finds the other.
    assert!(site.robot_state().join("latch.json").is_file());
    let ended = run.finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);

    let mut trail = Trail::of(site.facts());
    trail.then("the latch word", |f| {
        matches!(f, Fact::StopAsked { what: StopKind::Estop, cause: StopCause::OperatorStop,
            by: Some(who), .. } if who == "ann")
    });
    let since = trail.rest().to_vec();
    trail.then("the stop", |f| {
        matches!(
            f,
            Fact::StopBegun {
                what: StopKind::Estop,
                ..
            }
        )
    });
    trail.then("latched", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Latched,
                ..
            }
        )
    });
    trail.then("the disk", |f| {
        matches!(
            f,
            Fact::LatchPersisted {
                cause: StopCause::OperatorStop
            }
        )
    });
    trail.then("standstill", |f| matches!(f, Fact::Standstill { .. }));
    // The verb is told by another thread than the disk: behind the word, before the rest.
    let mut verb = Trail::of(since);
    verb.then("the verb", |f| matches!(f, Fact::StopVerb { nth: 1, .. }));
    verb.then("standstill", |f| matches!(f, Fact::Standstill { .. }));
}

/// A run that begins latched: arming is refused, and the reason is told.
fn refuse_to_arm(site: &Site) {
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let ended = Run::sim(site, &scenario).finish();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    let mut trail = Trail::of(site.newest_life());
    trail.then("a latched start", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                from: RunState::Boot,
                to: RunState::Latched,
                cause: Some(StopCause::OperatorStop)
            }
        )
    });
    let refusal = trail.then(
        "the refusal",
        |f| matches!(f, Fact::OrderRefused { order, .. } if order == "arm"),
    );
    let Fact::OrderRefused { failed, who, .. } = refusal else {
        panic!("{refusal:?}");
    };
    assert_eq!(who, "ann");
    assert!(failed.contains(&"latched".to_owned()), "{failed:?}");
    assert!(
        ended
            .lines
            .iter()
            .any(|line| line.says("operator", "arm refused:"))
    );
    trail.never("a motion", |f| {
        matches!(f, Fact::CommandSent { moves: true, .. })
    });
    assert!(site.robot_state().join("latch.json").is_file());
}

/// A run in which the operator resets: nothing moves by that, and arming is a word of its own.
fn reset(site: &Site) {
    let words = r#"
        [[event]]
        when = "ready"
        operator = { do = "reset", why = "looked at the robot" }
        [[event]]
        when = { answered = 1 }
        operator = { do = "arm", why = "a test", for_s = 60 }
        "#;
    let scenario = site.scenario(words, &[LOOK], "end_state = \"armed\"");
    let ended = Run::sim(site, &scenario).finish();
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    let mut trail = Trail::of(site.newest_life());
    trail.then("a latched start", |f| {
        matches!(
            f,
            Fact::RunStateChanged {
                from: RunState::Boot,
                to: RunState::Latched,
                ..
            }
        )
    });
    let change = |fact: &Fact| {
        let Fact::RunStateChanged { to, .. } = fact else {
            return None;
        };
        Some(*to)
    };
    let changes: Vec<RunState> = trail.rest().iter().filter_map(change).take(2).collect();
    assert_eq!(changes, [RunState::Disarmed, RunState::Armed]);
    for order in ["reset", "arm"] {
        trail.then(
            order,
            |f| matches!(f, Fact::OrderDone { order: done, .. } if done == order),
        );
    }
    assert!(!site.robot_state().join("latch.json").exists());
}
