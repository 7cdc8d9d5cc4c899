//! Somebody sets the wall clock, by a day and by years, back and forth: no lease, hold, deadline, rate or
//! question notices, and the records stay in their order and verify.

use std::collections::BTreeSet;

use super::*;
use crate::telemetry::{Record, read_records};
use crate::terms::{ApprovalOutcome, Reason, Tier};

const DAY_S: i64 = 86_400;
/// Back into the first days of 1969, and on by a hundred years, of which 24 are leap years.
const FAR_S: [i64; 2] = [-57 * 365 * DAY_S, (100 * 365 + 24) * DAY_S];
const ASK: &str = r#"{ tool = "rover_gripper_set", args = { opening = 0.05, force = 10.0 } }"#;

/// Holds that leave the robot where it is.
const TURN: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.0, angular = 0.2 } }"#;

/// How the wall clock goes.
#[derive(Debug, Clone, Copy)]
enum Wall {
    Steady,
    /// It is set to another of these times every so many steps, s.
    Restless([i64; 3], u64),
}

/// Goals of a life.
const GOALS: u32 = 28;

/// A drive on a lease, a question that nobody answers, looks until their rate is used up, holds, and an
/// arming that runs out: every fact with its time.
fn life(state: &Path, wall: Wall) -> Vec<(u64, Fact)> {
    let mut installation = installation();
    installation.robot.max_tier = Tier::FullActuation;
    let looks = [LOOK; 14].join(", ");
    let mut calls = vec![DRIVE, ASK, looks.as_str()];
    calls.extend([TURN; 25]);
    let setup = Setup::new(&installation, state, &calls);
    on_stage(setup, async |rig: &mut Rig| {
        let mut steps = 0_u64;
        rig.ready().await;
        rig.does(&Word::Arm {
            who: "ann".to_owned(),
            why: "a test".to_owned(),
            for_s: 120,
        });
        while rig.run() != RunState::Disarmed {
            if !rig.status().goal.running && rig.status().goal.number < GOALS {
                rig.goal();
            }
            rig.step().await;
            steps += 1;
            if let Wall::Restless(times, every) = wall
                && steps.is_multiple_of(every)
            {
                let at = usize::try_from(steps / every).unwrap() % times.len();
                rig.stage.clock.set_wall_by_s(times[at]);
            }
            assert!(steps < 20_000, "never disarmed: {:?}", rig.status());
        }
        rig.finish().await;
        rig.facts()
    })
}

/// The records of the newest life stand in their order, whatever their wall time says.
fn assert_in_order(state: &Path) -> Vec<Record> {
    let found = verified(state);
    assert!(found.ok, "{:#?}", found.faults);
    assert!(found.chains[0].segments > 1, "{:?}", found.chains);
    assert!(found.chains[2].pruned, "{:?}", found.chains);
    let records = read_records(&audit_folder(&folder_of(state))).unwrap();
    for pair in records.windows(2) {
        let [before, record] = pair else {
            panic!("two");
        };
        if before.boot == record.boot {
            assert!(before.seq < record.seq, "{before:?} {record:?}");
            assert!(
                before.t_mono_ms <= record.t_mono_ms,
                "{before:?} {record:?}"
            );
        }
    }
    records
}

#[test]
fn case_47_a_wall_clock_set_while_it_moves_asks_and_rests_changes_no_fact_and_no_time_of_one() {
    let dir = tempfile::tempdir().unwrap();
    let steady = life(&dir.path().join("steady"), Wall::Steady);
    let count = |wanted: &dyn Fn(&Fact) -> bool| steady.iter().filter(|(_, f)| wanted(f)).count();
    let expired = |f: &Fact| {
        matches!(
            f,
            Fact::ApprovalEnded {
                outcome: ApprovalOutcome::Expired,
                ..
            }
        )
    };
    let rate = |f: &Fact| {
        matches!(
            f,
            Fact::Refused {
                reason: Reason::Rate,
                ..
            }
        )
    };
    assert_eq!(count(&expired), 1);
    assert!(count(&rate) > 0);
    assert!(count(&|f| matches!(f, Fact::Heartbeat)) > 5);
    // The days in which records are seen; no record is of a year before 1970.
    for (wall, expected) in [
        (
            Wall::Restless([DAY_S, 0, -DAY_S], 37),
            ["2025-12-31", "2026-01-01", "2026-01-02"],
        ),
        (
            Wall::Restless([FAR_S[0], FAR_S[1], 0], 501),
            ["1970-01-01", "2026-01-01", "2126-01-01"],
        ),
    ] {
        let state = dir.path().join(format!("{wall:?}"));
        let restless = life(&state, wall);
        assert_eq!(restless.len(), steady.len(), "{wall:?}");
        for (one, other) in steady.iter().zip(&restless) {
            assert_eq!(one, other, "{wall:?}");
        }
        let records = assert_in_order(&state);
        let days = records.iter().map(|record| &record.t_wall[..10]);
        let days: BTreeSet<&str> = days.collect();
        assert_eq!(days, BTreeSet::from(expected), "{wall:?}");
    }
}

#[test]
fn case_47_a_life_before_the_wall_time_of_the_last_one_reads_its_latch_its_mark_and_its_records() {
    let installation = installation();
    for ends_latched in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let setup = Setup::new(&installation, dir.path(), &[DRIVE]);
        // The first life is of tomorrow, and dies armed.
        on_stage(setup, async |rig: &mut Rig| {
            rig.stage.clock.set_wall_by_s(DAY_S);
            rig.arm("one").await;
            rig.drive().await;
            if ends_latched {
                let told = rig.does(&estop("two"));
                assert!(told.starts_with("latched and on disk"), "{told}");
            }
            rig.kept.stepped.round(/* closing */ true);
        });
        let setup = Setup::new(&installation, dir.path(), &[DRIVE]);
        on_stage(setup, async |rig: &mut Rig| {
            rig.ready().await;
            let expected = if ends_latched {
                RunState::Latched
            } else {
                RunState::Disarmed
            };
            assert_eq!(rig.run(), expected);
            assert_eq!(rig.sent()[0].1, STOP_VERB);
            if ends_latched {
                rig.does(&reset("three"));
            }
            rig.arm("four").await;
            rig.drive().await;
            rig.does(&stop("five"));
            rig.finish().await;
        });
        let found = verified(dir.path());
        assert!(found.ok, "{:#?}", found.faults);
        let records = read_records(&audit_folder(&folder_of(dir.path()))).unwrap();
        let walls: Vec<&str> = records.iter().map(|record| &record.t_wall[..10]).collect();
        assert!(walls.contains(&"2026-01-02") && walls.contains(&"2026-01-01"));
    }
}
