//! An estop latches, on disk, and only a person takes it back.

use octos_edge::terms::{Fact, RunState, StopCause, StopKind};

use crate::rig::{
    ARM, DRIVE, LOOK, Run, Site, Trail, enters, is_first_verb, is_motion, is_standstill, is_start,
    stop_for,
};

#[test]
fn an_estop_latches_on_disk_and_the_next_run_moves_nothing_until_a_person_resets_it() {
    let site = Site::new();
    estop(&site);
    refuse_to_arm(&site);
    reset(&site);
    // What earlier lives recorded stays.
    let facts = site.facts();
    assert_eq!(facts.iter().filter(|fact| is_start(fact)).count(), 3);
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

    // The latch word, the stop, the disk. The verb is told by another thread than the disk: behind the
    // word, before the rest.
    let mut trail = Trail::of(site.facts());
    trail.then("the latch word", |f| {
        matches!(f, Fact::StopAsked { what: StopKind::Estop, cause: StopCause::OperatorStop,
            by: Some(who), .. } if who == "ann")
    });
    let mut verb = Trail::of(trail.rest().to_vec());
    trail.then("the stop", stop_for(StopCause::OperatorStop));
    trail.then("latched", enters(RunState::Latched));
    trail.then("the disk", |f| {
        matches!(
            f,
            Fact::LatchPersisted {
                cause: StopCause::OperatorStop
            }
        )
    });
    trail.then("standstill", is_standstill);
    verb.then("the verb", is_first_verb);
    verb.then("standstill", is_standstill);
}

/// Returns the run states of the newest life, from the first on.
fn states(site: &Site) -> Vec<RunState> {
    let change = |fact: Fact| {
        let Fact::RunStateChanged { to, .. } = fact else {
            return None;
        };
        Some(to)
    };
    site.newest_life().into_iter().filter_map(change).collect()
}

/// A run that begins latched: arming is refused, and the reason is told.
fn refuse_to_arm(site: &Site) {
    let scenario = site.scenario(ARM, &[DRIVE], "");
    let ended = Run::sim(site, &scenario).finish();
    assert_eq!(ended.code, Some(1), "{}", ended.out);
    assert_eq!(states(site), [RunState::Latched]);
    let mut trail = Trail::of(site.newest_life());
    trail.never("a motion", is_motion);
    let refusal = trail.then(
        "the refusal",
        |f| matches!(f, Fact::OrderRefused { order, .. } if order == "arm"),
    );
    let Fact::OrderRefused { failed, who, .. } = refusal else {
        panic!("{refusal:?}");
    };
    assert_eq!(who, "ann");
    assert!(failed.contains(&"latched".to_owned()), "{failed:?}");
    let mut told = ended.lines.iter();
    assert!(told.any(|line| line.says("operator", "arm refused:")));
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
    let begins = [RunState::Latched, RunState::Disarmed, RunState::Armed];
    assert!(states(site).starts_with(&begins), "{:?}", states(site));
    let mut trail = Trail::of(site.newest_life());
    for order in ["reset", "arm"] {
        trail.then(
            order,
            |f| matches!(f, Fact::OrderDone { order: done, .. } if done == order),
        );
    }
    assert!(!site.robot_state().join("latch.json").exists());
}
