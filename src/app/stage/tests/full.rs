//! A disk that refuses at any record of a life: what moves is stopped, what only looks goes on, and
//! nobody is armed by the room that comes back.

use super::*;
use crate::telemetry::read_records;
use crate::terms::FactClass;

/// Places at which the trouble begins.
const RECORDS: u32 = 50;
const CALLS: [&str; 3] = [FAR, HOLD, LOOK];
/// Far enough that the drive has more records than places.
const FAR: &str = r#"{ tool = "rover_go_to_pose", args = { x = 2.5, y = 0.0 } }"#;

/// From when on the records are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum From {
    /// The order to arm.
    Arming,
    /// The first motion.
    Motion,
}

fn is_stop_for_box(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::StopBegun {
            cause: StopCause::Blackbox,
            ..
        }
    )
}

fn is_motion(verb: &str) -> bool {
    verb.ends_with("go_to_pose") || verb.ends_with("set_velocity")
}

fn motions(rig: &Rig) -> usize {
    rig.sent()
        .iter()
        .filter(|(_, verb)| is_motion(verb))
        .count()
}

/// Arms and drives until the disk refuses; returns the run state in which it did.
async fn until_it_refuses(rig: &mut Rig, (n, trouble, from): (u32, Trouble, From)) -> RunState {
    rig.ready().await;
    let begin = |rig: &Rig| rig.outside.seen().trouble_in = Some((n, trouble));
    if from == From::Arming {
        begin(rig);
    }
    rig.say(&arm("one"));
    if from == From::Arming {
        // Then the first records are on their way before anything moves.
        rig.run_ms(50).await;
    }
    rig.goal();
    if from == From::Motion {
        rig.enters(RunState::Moving).await;
        begin(rig);
    }
    let refuses = |rig: &Rig| rig.outside.seen().trouble.is_some();
    rig.until("that the disk refuses", refuses).await;
    rig.run()
}

/// What holds while the disk refuses.
async fn refused(rig: &mut Rig, was: RunState, what: &str) -> RunState {
    // The box goes round at the end of a step, and the tick acts in the next.
    rig.run_ms(30).await;
    let sent = motions(rig);
    let armed = rig.count(|f| {
        matches!(
            f,
            Fact::RunStateChanged {
                to: RunState::Armed,
                ..
            }
        )
    });
    assert!(armed == 1 || (armed == 0 && sent == 0), "{what}");
    assert!(was != RunState::Moving || sent > 0, "{what}");
    // Whoever was armed is stopped, whether it moves yet or not.
    assert_eq!(rig.count(is_stop_for_box), armed, "{what}");
    let stops = rig.sent().into_iter().filter(|(_, verb)| verb == STOP_VERB);
    assert_eq!(stops.count() > 0, armed > 0, "{what}");
    rig.run_ms(1000).await;
    let rest = rig.run();
    let expected = if armed > 0 {
        RunState::Stopped
    } else {
        RunState::Disarmed
    };
    assert_eq!(rest, expected, "{what}");

    // Neither a word nor a call moves it, and looking works.
    let armed = rig.say(&arm("two"));
    assert!(matches!(armed, Answer::Refused { .. }), "{what}: {armed:?}");
    for tool in ["rover_set_velocity", "rover_get_pose"] {
        rig.until("the agent", |rig| !rig.status().goal.running)
            .await;
        rig.goal();
        rig.run_ms(50).await;
        rig.until("the agent", |rig| !rig.status().goal.running)
            .await;
        let done = |f: &Fact| matches!(f, Fact::Finished { tool: t, outcome, .. } if t == tool && outcome == "done");
        let looks = usize::from(tool == "rover_get_pose");
        assert_eq!(rig.count(done), looks, "{what}: {tool}");
    }
    let refused =
        |f: &Fact| matches!(f, Fact::Refused { tool, .. } if tool == "rover_set_velocity");
    assert_eq!(rig.count(refused), 1, "{what}");
    assert_eq!(motions(rig), sent, "{what}: a motion left");
    assert_eq!(rig.run(), rest, "{what}");
    rest
}

/// A life whose disk refuses from one record on; returns whether it moved then.
fn life(installation: &Installation, at: (u32, Trouble, From)) -> bool {
    let what = format!("{at:?}");
    let dir = tempfile::tempdir().unwrap();
    let setup = Setup::new(installation, dir.path(), &CALLS);
    let audit = audit_folder(&folder_of(dir.path()));
    let (moved, raised) = on_stage(setup, async |rig: &mut Rig| {
        let was = until_it_refuses(rig, at).await;
        let rest = refused(rig, was, &what).await;
        let found = verified(dir.path());
        assert!(found.ok, "{what}, while it lasts: {:#?}", found.faults);
        let moved = motions(rig) > 0;
        if at.1 == Trouble::Full && rest == RunState::Stopped {
            let reserve = std::fs::read(audit.join("reserve")).unwrap();
            let aside = String::from_utf8_lossy(&reserve);
            assert!(aside.contains(r#""kind":"stop_begun""#), "{what}: {aside}");
            assert!(aside.contains(r#""kind":"standstill""#), "{what}: {aside}");
        }
        rig.outside.trouble(None);
        rig.run_ms(2500).await;
        // Room changes nothing but that a robot which was stopped for it is disarmed.
        assert_eq!(rig.run(), RunState::Disarmed, "{what}, with room again");
        assert!(rig.kept.healthy(), "{what}");
        assert!(!folder_of(dir.path()).join("latch.json").exists(), "{what}");
        assert!(!folder_of(dir.path()).join("armed.json").exists(), "{what}");
        rig.finish().await;
        (moved, rig.facts())
    });
    let found = verified(dir.path());
    assert!(found.ok, "{what}, after it: {:#?}", found.faults);
    let records = read_records(&audit).unwrap();
    if at.1 == Trouble::Full {
        // Nothing of the safety class is lost: what found no room went by way of the reserve.
        let is_safety = |fact: &&Fact| fact.class() == FactClass::Safety;
        let raised = raised.iter().map(|(_, fact)| fact).filter(is_safety);
        let kept = records.iter().map(|record| &record.fact).filter(is_safety);
        assert!(kept.eq(raised), "{what}: {records:#?}");
    }
    moved
}

/// Half of the lives on another thread.
fn lives(all: Vec<(u32, Trouble, From)>) -> usize {
    let installation = installation();
    let count =
        |part: &[(u32, Trouble, From)]| part.iter().filter(|at| life(&installation, **at)).count();
    let (one, other) = all.split_at(all.len() / 2);
    std::thread::scope(|scope| {
        let one = scope.spawn(|| count(one));
        count(other) + one.join().unwrap()
    })
}

#[test]
fn case_48_a_disk_full_from_record_n_of_a_motion_on_stops_it_and_arms_nobody_afterwards() {
    let all = (1..=RECORDS).map(|n| (n, Trouble::Full, From::Motion));
    assert_eq!(lives(all.collect()), 50, "each was moving");
}

#[test]
fn case_48_a_disk_full_from_record_n_of_the_arming_on_stops_what_moves_and_lets_nothing_begin() {
    let all = (1..=RECORDS).map(|n| (n, Trouble::Full, From::Arming));
    let moved = lives(all.collect());
    assert!((1..50).contains(&moved), "{moved} moved: some, not all");
}

#[test]
fn case_48_a_disk_that_is_read_only_or_broken_from_record_n_on_stops_what_moves() {
    let troubles = [Trouble::ReadOnly, Trouble::Broken];
    let all = troubles.into_iter().flat_map(|trouble| {
        let at = move |n| [From::Arming, From::Motion].map(|from| (n, trouble, from));
        (1..=RECORDS).step_by(7).flat_map(at)
    });
    assert!(lives(all.collect()) >= 16, "all that began with the motion");
}
