//! Admission: what stands against a call on the snapshot of now, and what a grant carries.

use serde_json::{Value, json};

use crate::arguments::Schema;
use crate::gate::fixture::{Rig, after};
use crate::gate::{Admission, Limited, Pace, Subject, SubjectError, admit};
use crate::terms::{
    CommandKind, Descriptor, Effect, GraphTimer, LeaseTerms, Params, Posture, Reason, RunState,
    StopCause, StopKind, Tier,
};

fn drive() -> Value {
    json!({ "linear": 0.1, "angular": 0.0 })
}

fn target(x: f64, y: f64) -> Value {
    json!({ "x": x, "y": y })
}

#[test]
fn a_grant_carries_epoch_deadline_tier_and_the_lease_of_its_call() {
    let mut rig = Rig::new();
    let (mut grant, _) = rig.call("rover_set_velocity", drive()).unwrap();
    assert_eq!((grant.epoch(), grant.tier()), (1, Some(Tier::SafeMotion)));
    assert_eq!(grant.deadline(), after(30_000));
    let permit = grant.take_permit().unwrap();
    assert!(grant.take_permit().is_none(), "a permit is taken once");
    let lease = LeaseTerms {
        call: 7,
        renew_ms: 500,
        lost_after_ms: 1500,
        hard_max_ms: 30_000,
        hold_ms: 400,
        elevation: None,
    };
    assert_eq!(permit.lease(), lease);
    let command = permit.into_command([1; 16], Params::new());
    assert_eq!((command.kind, command.epoch), (CommandKind::Hold, 1));
    assert_eq!(command.tool, rig.tool("rover_set_velocity").index());
}

#[test]
fn reading_grants_no_permit_and_needs_a_robot_only_when_it_asks_one() {
    let mut rig = Rig::new();
    let (mut grant, _) = rig.call("rover_get_pose", json!({})).unwrap();
    assert!(grant.take_permit().is_none());
    assert_eq!(
        grant.read_command([0; 16], Params::new()).kind,
        CommandKind::Read
    );
    rig.now.run = RunState::Latched;
    rig.now.latched = true;
    assert!(
        rig.call("rover_get_pose", json!({})).is_ok(),
        "reading works while latched"
    );
    rig.now.bridge_up = false;
    rig.refused("rover_get_pose", json!({}), Reason::BridgeDown);
    for own in ["robot_state", "safety_events"] {
        assert!(rig.call(own, json!({})).is_ok(), "{own} sends nothing");
    }
}

#[test]
fn case_13_targets_outside_in_the_pit_or_within_the_margin_are_refused() {
    let mut rig = Rig::new();
    rig.now.reading.as_mut().unwrap().position = Some([2.0, 1.0, 0.0]);
    for (x, y) in [(4.5, 1.0), (3.9, 1.0), (2.8, 2.4), (2.5, 1.9)] {
        let refusal = rig.refused("rover_go_to_pose", target(x, y), Reason::Workspace);
        assert!(refusal.hint.contains("inside the workspace"));
    }
    assert!(rig.call("rover_go_to_pose", target(2.5, 1.5)).is_ok());
}

#[test]
fn case_13_a_target_too_far_from_the_robot_is_refused() {
    let mut rig = Rig::new();
    rig.now.reading.as_mut().unwrap().position = Some([-1.8, 0.0, 0.0]);
    let refusal = rig.refused("rover_go_to_pose", target(1.5, 0.0), Reason::Workspace);
    assert_eq!(
        refusal.detail,
        "the target is 3.30 m from the robot, permitted are 3 m"
    );
    assert!(rig.call("rover_go_to_pose", target(1.2, 0.0)).is_ok());
}

#[test]
fn case_13_without_a_position_nothing_moves() {
    let mut rig = Rig::new();
    for position in [None, Some([f64::NAN, 0.0, 0.0])] {
        rig.now.reading.as_mut().unwrap().position = position;
        rig.refused("rover_go_to_pose", target(1.0, 0.0), Reason::Workspace);
        rig.refused("rover_set_velocity", drive(), Reason::Workspace);
    }
    assert!(rig.call("rover_get_pose", json!({})).is_ok());
}

#[test]
fn case_15_the_21st_motion_of_a_minute_is_refused() {
    let mut rig = Rig::new();
    for call in 0..20 {
        let moved = if call % 2 == 0 {
            rig.call("rover_set_velocity", drive())
        } else {
            rig.call("rover_go_to_pose", target(1.0, 0.0))
        };
        assert!(moved.is_ok(), "call {call}: {moved:?}");
        rig.wait(2_500);
    }
    let refusal = rig.refused("rover_set_velocity", drive(), Reason::Rate);
    assert!(refusal.hint.contains("10000 ms"), "{}", refusal.hint);
    let policy = crate::gate::PolicyStack::root(Tier::Observe);
    assert_eq!(
        policy.decide(&rig.descriptor("rover_stop")),
        crate::gate::Verdict::Allow
    );
    assert!(
        rig.call("rover_get_pose", json!({})).is_ok(),
        "reading is not motion"
    );
    rig.wait(10_000);
    assert!(rig.call("rover_set_velocity", drive()).is_ok());
}

#[test]
fn a_burst_of_two_and_then_one_call_a_second() {
    let mut rig = Rig::new();
    assert!(rig.call("rover_set_velocity", drive()).is_ok());
    assert!(rig.call("rover_set_velocity", drive()).is_ok());
    rig.refused("rover_set_velocity", drive(), Reason::Rate);
    assert!(
        rig.call("rover_go_to_pose", target(1.0, 0.0)).is_ok(),
        "rates are per tool"
    );
    rig.wait(999);
    rig.refused("rover_set_velocity", drive(), Reason::Rate);
    rig.wait(1);
    assert!(rig.call("rover_set_velocity", drive()).is_ok());
}

#[test]
fn case_16_nothing_moves_before_an_operator_armed() {
    let mut rig = Rig::new();
    for run in [RunState::Boot, RunState::Disarmed, RunState::Stopped] {
        rig.now.run = run;
        let refusal = rig.refused("rover_set_velocity", drive(), Reason::NotArmed);
        assert!(refusal.hint.contains("operator"));
        rig.refused("rover_go_to_pose", target(1.0, 0.0), Reason::NotArmed);
        rig.refused("robot_release_control", json!({}), Reason::NotArmed);
    }
}

#[test]
fn what_is_under_way_comes_first() {
    let mut rig = Rig::new();
    for run in [RunState::Moving, RunState::Stopping] {
        rig.now.run = run;
        rig.refused("rover_set_velocity", drive(), Reason::Busy);
    }
    rig.now.run = RunState::Armed;
    rig.now.moving = true;
    rig.refused("rover_set_velocity", drive(), Reason::Busy);
    rig.refused("robot_release_control", json!({}), Reason::Busy);
    rig.now.moving = false;
    rig.now.stopping = true;
    rig.refused("rover_set_velocity", drive(), Reason::Busy);
}

#[test]
fn a_latched_robot_says_why_and_who_can_help() {
    let mut rig = Rig::new();
    rig.now.latched = true;
    rig.now.cause = Some(StopCause::EstopInput);
    let refusal = rig.refused("rover_set_velocity", drive(), Reason::EstopLatched);
    assert!(refusal.detail.contains("estop_input"), "{refusal}");
    assert!(refusal.hint.contains("named person"));
    rig.now.run = RunState::Latched;
    rig.refused("robot_release_control", json!({}), Reason::EstopLatched);
}

#[test]
fn a_runtime_that_is_broken_inside_is_an_interlock() {
    let mut rig = Rig::new();
    rig.now.run = RunState::Fault;
    rig.refused("rover_set_velocity", drive(), Reason::Interlock);
}

#[test]
fn case_48_what_cannot_be_recorded_is_an_interlock_and_reading_works() {
    let mut rig = Rig::new();
    rig.now.records = false;
    for (tool, args) in [
        ("rover_set_velocity", drive()),
        ("rover_go_to_pose", target(1.0, 0.0)),
    ] {
        let refusal = rig.refused(tool, args, Reason::Interlock);
        assert!(refusal.detail.contains("black box"), "{refusal}");
    }
    assert!(rig.call("rover_get_pose", json!({})).is_ok());
    rig.now.records = true;
    assert!(rig.call("rover_set_velocity", drive()).is_ok());
}

#[test]
fn an_old_or_missing_state_is_stale() {
    let mut rig = Rig::new();
    rig.now.now = after(500);
    assert!(
        rig.call("rover_set_velocity", drive()).is_ok(),
        "500 ms old is still fresh"
    );
    rig.now.now = after(501);
    let refusal = rig.refused("rover_set_velocity", drive(), Reason::StaleState);
    assert!(refusal.detail.contains("501 ms old, 500 ms"), "{refusal}");
    rig.now.reading = None;
    rig.refused("rover_go_to_pose", target(1.0, 0.0), Reason::StaleState);
}

#[test]
fn case_38_no_motion_begins_while_the_timer_of_the_graph_is_not_good() {
    let mut rig = Rig::new();
    for (timer, words) in [
        (GraphTimer::Silent { ms: 3_001 }, "stood still for 3 s"),
        (
            GraphTimer::Back {
                ms: 9_999,
                of_ms: 10_000,
            },
            "ticked again for 9 s, 10 s are needed",
        ),
    ] {
        rig.now.graph_timer = timer;
        for (tool, args) in [
            ("rover_set_velocity", drive()),
            ("rover_go_to_pose", target(1.0, 0.0)),
        ] {
            let refusal = rig.refused(tool, args, Reason::Interlock);
            assert!(refusal.detail.contains(words), "{refusal}");
            assert!(refusal.hint.contains("coordinator"), "{refusal}");
        }
        assert!(
            rig.call("rover_get_pose", json!({})).is_ok(),
            "reading works"
        );
    }
    rig.now.graph_timer = GraphTimer::Ticks;
    assert!(rig.call("rover_go_to_pose", target(1.0, 0.0)).is_ok());
}

#[test]
fn everything_that_stands_against_a_call_is_told_in_order() {
    let mut rig = Rig::new();
    rig.call("rover_go_to_pose", target(1.0, 0.0)).unwrap();
    rig.call("rover_go_to_pose", target(1.0, 0.0)).unwrap();
    rig.now = Posture {
        run: RunState::Moving,
        latched: true,
        bridge_up: false,
        reading: None,
        ..rig.now
    };
    let refusal = rig.refused("rover_go_to_pose", target(1.0, 0.0), Reason::EstopLatched);
    let told: Vec<&str> = refusal.detail.lines().collect();
    let expected = [
        "locked",
        "no robot answers",
        "not reported",
        "position",
        "too many",
        "moving",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (line, part) in told.iter().zip(expected) {
        assert!(line.contains(part), "{line} does not tell of {part}");
    }
}

#[test]
fn a_stop_is_no_subject_of_an_admission() {
    let rig = Rig::new();
    for stop in ["rover_stop", "robot_estop"] {
        let descriptor = rig.descriptor(stop);
        let subject = Subject::of(&descriptor, Some(rig.tool(stop)));
        assert_eq!(subject.unwrap_err(), SubjectError::Stop);
        assert_eq!(
            Subject::of(&descriptor, None).unwrap_err(),
            SubjectError::Stop
        );
    }
}

#[test]
fn rules_and_limits_of_another_tool_do_not_pass() {
    let mut rig = Rig::new();
    let drive_tool = rig.descriptor("rover_set_velocity");
    assert_eq!(
        Subject::of(&drive_tool, None).unwrap_err(),
        SubjectError::NoRules
    );
    let other = Subject::of(&drive_tool, Some(rig.tool("rover_go_to_pose")));
    assert_eq!(other.unwrap_err(), SubjectError::OtherRules);
    let disguised = Descriptor {
        effect: Effect::Mutate,
        ..drive_tool
    };
    let disguised = Subject::of(&disguised, Some(rig.tool("rover_set_velocity")));
    assert_eq!(disguised.unwrap_err(), SubjectError::OtherRules);

    let target = rig.limit("rover_go_to_pose", &target(1.0, 0.0)).unwrap();
    let unlimited = Limited::unlimited(target.args().clone());
    for foreign in [target, unlimited] {
        let before = rig.pace.clone();
        let refusal = rig.admit("rover_set_velocity", &foreign).unwrap_err();
        assert_eq!(refusal.reason, Reason::Limit);
        assert_eq!(rig.pace, before);
    }
}

#[test]
fn a_tool_of_no_robot_is_granted_its_budget_whatever_the_robot_does() {
    let rig = Rig::new();
    let mut tool = rig.descriptor("robot_state");
    tool.effect = Effect::Mutate;
    tool.rule = None;
    tool.budget.timeout_ms = 1234;
    let schema = Schema::compile(rig.tool("robot_state").schema_value()).unwrap();
    let args = Limited::unlimited(schema.check("plain", &json!({})).unwrap());
    let ask = Admission {
        subject: Subject::of(&tool, None).unwrap(),
        args: &args,
        call: 1,
        effective: Tier::Observe,
        elevation: None,
    };
    let now = Posture {
        run: RunState::Latched,
        latched: true,
        bridge_up: false,
        ..rig.now
    };
    let mut grant = admit(ask, &now, &mut Pace::without_robot()).unwrap();
    assert_eq!((grant.deadline(), grant.tier()), (after(1234), None));
    assert!(grant.take_permit().is_none());
    assert_eq!(grant.read_command([0; 16], Params::new()).tool, u16::MAX);
}

#[test]
fn a_pace_of_another_robot_refuses() {
    let mut rig = Rig::new();
    rig.pace = Pace::without_robot();
    rig.refused("rover_get_pose", json!({}), Reason::Rate);
    rig.refused("rover_set_velocity", drive(), Reason::Rate);
}

#[test]
fn the_two_stops_are_told_apart() {
    let rig = Rig::new();
    let is = |name, wanted| matches!(rig.descriptor(name).effect, Effect::Stop { kind, .. } if kind == wanted);
    assert!(is("rover_stop", StopKind::Stop) && is("robot_estop", StopKind::Estop));
}
