//! A scenario, a run of it that went well, and what the judge says when it did not.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Map;

use super::*;
use crate::config::{
    Condition, Event, Expect, ExpectedRefusal, ExpectedStop, OperatorAct, Place, Scenario, When,
};
use crate::terms::{Fact, Reason, RunState, StopCause, StopKind, Tier};

fn place() -> Place {
    Place {
        file: Arc::from("rover-gate.toml"),
        line: 3,
    }
}

pub(super) fn event(when: When, act: OperatorAct) -> Event {
    Event {
        place: place(),
        when,
        act,
    }
}

pub(super) fn scenario() -> Scenario {
    Scenario {
        place: place(),
        name: "rover-gate".to_owned(),
        robot: "rover-sim".to_owned(),
        board: "sim".to_owned(),
        dataflow: "rover-sim.yml".to_owned(),
        seed: 7,
        limit_s: 30,
        goal: "Drive.".to_owned(),
        operator: "sim-operator".to_owned(),
        faults: Vec::new(),
        answers: Vec::new(),
        events: vec![event(
            When::Once(Condition::MovedM(0.8)),
            OperatorAct::Stop {
                why: "show".to_owned(),
            },
        )],
        turns: Vec::new(),
        expect: Expect {
            refused: Some(vec![ExpectedRefusal {
                tool: "rover_gripper_set".to_owned(),
                reason: Reason::RobotTierGate,
                tier: Some(Tier::FullActuation),
                times: 1,
            }]),
            stops: Some(vec![ExpectedStop {
                kind: StopKind::Stop,
                by: "operator".to_owned(),
                standstill: true,
                cause: None,
            }]),
            commands_after_stop: Some(0),
            end_x: Some([0.3, 1.5]),
            end_y: Some([-0.2, 0.2]),
            end_state: Some(RunState::Armed),
            at_rest: Some(true),
        },
    }
}

fn refused(tool: &str, reason: Reason, needed: Tier) -> Fact {
    Fact::Refused {
        call: "c".to_owned(),
        tool: tool.to_owned(),
        reason,
        needed: Some(needed),
        effective: Tier::SafeMotion,
        rule: None,
        detail: "needs full_actuation".to_owned(),
    }
}

fn begun(cause: StopCause, epoch: u32) -> Fact {
    Fact::StopBegun {
        what: StopKind::Stop,
        cause,
        epoch,
    }
}

fn state(to: RunState) -> Fact {
    Fact::RunStateChanged {
        from: RunState::Moving,
        to,
        cause: None,
    }
}

fn finished(tool: &str, outcome: &str) -> Fact {
    Fact::Finished {
        call: "c".to_owned(),
        tool: tool.to_owned(),
        robot: true,
        outcome: outcome.to_owned(),
        detail: String::new(),
        took_ms: 3000,
    }
}

/// A run that went as expected: a hold that ends by itself, a refusal, a stop by the operator, and
/// the stop of the shutdown, which is nobody's business.
pub(super) fn facts() -> Vec<(u64, Fact)> {
    let mut t_ms = 0;
    let list = [
        Fact::GoalBegun {
            goal: 1,
            digest: "d".to_owned(),
            by: "sim-operator".to_owned(),
            peer: None,
        },
        Fact::Granted {
            call: "c".to_owned(),
            tool: "rover_set_velocity".to_owned(),
            tier: Some(Tier::SafeMotion),
            args: "d".to_owned(),
            clamped: Vec::new(),
            repaired: Vec::new(),
            approver: None,
        },
        begun(StopCause::Deadline, 2),
        Fact::Standstill { after_ms: 90 },
        finished("rover_set_velocity", "done"),
        refused(
            "rover_gripper_set",
            Reason::RobotTierGate,
            Tier::FullActuation,
        ),
        Fact::StopAsked {
            what: StopKind::Stop,
            cause: StopCause::OperatorStop,
            epoch: 3,
            by: Some("sim-operator".to_owned()),
        },
        begun(StopCause::OperatorStop, 3),
        Fact::Standstill { after_ms: 120 },
        state(RunState::Armed),
        finished("rover_go_to_pose", "cancelled"),
        Fact::GoalEnded {
            goal: 1,
            why: "done".to_owned(),
            steps: 4,
            actuations: 2,
        },
        begun(StopCause::Shutdown, 4),
        Fact::RunStateChanged {
            from: RunState::Armed,
            to: RunState::Stopping,
            cause: Some(StopCause::Shutdown),
        },
        state(RunState::Disarmed),
    ];
    list.map(|fact| {
        t_ms += 1000;
        (t_ms, fact)
    })
    .to_vec()
}

fn verb(t_ms: u64, verb: &str, class: VerbClass) -> JournalEntry {
    JournalEntry::Verb {
        t_ms,
        verb: verb.to_owned(),
        request_id: "i".to_owned(),
        params: Map::new(),
        class,
        executed: true,
        code: "0".to_owned(),
    }
}

/// What the robot saw of that run; its clock began 500 ms later.
pub(super) fn journal() -> Vec<JournalEntry> {
    vec![
        JournalEntry::Start {
            t_ms: 0,
            robot_id: "rover-sim-001".to_owned(),
            pid: 43,
            seed: 7,
            wall_at_zero_ms: 10_500,
        },
        verb(1500, "vendor.octos.rover.set_velocity", VerbClass::Motion),
        verb(2510, "vendor.octos.rover.stop", VerbClass::Stop),
        verb(5500, "vendor.octos.rover.go_to_pose", VerbClass::Motion),
        verb(6502, "vendor.octos.rover.stop", VerbClass::Stop),
        verb(6700, "robot.release_control", VerbClass::Other),
        JournalEntry::Rest {
            t_ms: 6800,
            x: 0.83,
            y: 0.01,
            arrived: false,
        },
    ]
}

/// Judges and returns the names of the expectations that were not met.
fn unmet(facts: &[(u64, Fact)], journal: &[JournalEntry]) -> Vec<&'static str> {
    let evidence = Evidence {
        facts,
        journal,
        offset_ms: clock_offset_ms(UNIX_EPOCH + Duration::from_millis(10_000), journal),
        unfired: &[],
    };
    let verdicts = judge(&scenario(), &evidence);
    let unmet = verdicts.iter().filter(|verdict| !verdict.ok);
    unmet.map(|verdict| verdict.name).collect()
}

#[test]
fn a_run_that_went_well_meets_every_expectation() {
    assert_eq!(unmet(&facts(), &journal()), [""; 0]);
}

#[test]
fn an_unexpected_a_missing_or_a_second_refusal_is_named() {
    let mut more = facts();
    more.insert(
        5,
        (
            5000,
            refused("rover_go_to_pose", Reason::Workspace, Tier::SafeMotion),
        ),
    );
    assert_eq!(unmet(&more, &journal()), ["refused"]);

    let mut twice = facts();
    twice.insert(5, twice[5].clone());
    assert_eq!(unmet(&twice, &journal()), ["refused"]);

    let mut none = facts();
    none.remove(5);
    assert_eq!(unmet(&none, &journal()), ["refused"]);

    let mut other_tier = facts();
    other_tier[5].1 = refused(
        "rover_gripper_set",
        Reason::RobotTierGate,
        Tier::EmergencyOverride,
    );
    assert_eq!(unmet(&other_tier, &journal()), ["refused"]);
}

#[test]
fn a_stop_without_standstill_and_a_stop_of_the_runtime_are_named() {
    let mut unconfirmed = facts();
    unconfirmed.remove(8);
    assert_eq!(unmet(&unconfirmed, &journal()), ["stops"]);

    let mut surplus = facts();
    surplus.insert(5, (5000, begun(StopCause::Overspeed, 3)));
    assert_eq!(unmet(&surplus, &journal()), ["stops"]);
}

#[test]
fn a_motion_behind_the_stop_is_found_in_the_journal_whatever_the_facts_say() {
    let mut late = journal();
    late.push(verb(
        6900,
        "vendor.octos.rover.set_velocity",
        VerbClass::Motion,
    ));
    assert_eq!(unmet(&facts(), &late), ["commands_after_stop"]);

    let mut armed_again = facts();
    armed_again.insert(
        9,
        (
            7300,
            Fact::OrderDone {
                order: "arm".to_owned(),
                who: "ann".to_owned(),
                why: "go on".to_owned(),
                for_s: Some(30),
                peer: None,
            },
        ),
    );
    assert_eq!(unmet(&armed_again, &late), [""; 0]);
}

#[test]
fn a_stop_that_never_reached_the_robot_is_named() {
    let mut deaf = journal();
    deaf.remove(4);
    assert_eq!(unmet(&facts(), &deaf), ["commands_after_stop"]);
}

#[test]
fn a_wrong_end_is_named_by_its_axis_and_a_robot_that_was_never_seen_by_both() {
    let mut elsewhere = journal();
    elsewhere.push(JournalEntry::Pose {
        t_ms: 9000,
        x: 0.5,
        y: 0.9,
        yaw: 0.0,
        speed: 0.0,
    });
    assert_eq!(unmet(&facts(), &elsewhere), ["end_pose.y"]);
    assert_eq!(
        unmet(&facts(), &[]),
        ["commands_after_stop", "end_pose.x", "end_pose.y"]
    );
}

#[test]
fn the_end_state_is_the_one_that_the_shutdown_finds() {
    let mut stopped = facts();
    let shutdown = stopped.iter_mut().find_map(|(_, fact)| {
        let Fact::RunStateChanged {
            from,
            cause: Some(StopCause::Shutdown),
            ..
        } = fact
        else {
            return None;
        };
        Some(from)
    });
    *shutdown.unwrap() = RunState::Stopped;
    assert_eq!(unmet(&stopped, &journal()), ["end_state"]);
}

#[test]
fn a_goal_that_never_ended_and_an_event_that_never_happened_are_named() {
    let unended: Vec<_> = facts().into_iter().take(10).collect();
    assert_eq!(unmet(&unended, &journal()), ["goal"]);

    let (facts, journal, scenario) = (facts(), journal(), scenario());
    let evidence = Evidence {
        facts: &facts,
        journal: &journal,
        offset_ms: -500,
        unfired: &scenario.events,
    };
    let verdicts = judge(&scenario, &evidence);
    let unmet: Vec<_> = verdicts.iter().filter(|verdict| !verdict.ok).collect();
    assert_eq!(unmet.len(), 1);
    assert_eq!(unmet[0].name, "events");
    assert_eq!(unmet[0].found, "never happened: rover-gate.toml:3");
}

#[test]
fn one_sequence_confirms_all_stops_that_it_answers() {
    let asked = |epoch| Fact::StopAsked {
        what: StopKind::Stop,
        cause: StopCause::ModelStop,
        epoch,
        by: None,
    };
    let facts = [
        (1, asked(2)),
        (2, begun(StopCause::ModelStop, 2)),
        (3, asked(3)),
        (4, Fact::Standstill { after_ms: 80 }),
        (5, asked(4)),
    ];
    let after: Vec<_> = stops(&facts)
        .iter()
        .map(|stop| stop.standstill_after_ms)
        .collect();
    assert_eq!(after, [Some(80), Some(80), None]);
}
