//! What a live Elevation is to the gate: a higher ceiling for one tool, taken from with the grant.

use std::sync::Mutex;

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::config::PolicyFile;
use crate::gate::fixture::{Rig, tiers};
use crate::gate::{Admission, Grant, Lift, PolicyStack, Subject, Verdict, admit};
use crate::terms::{
    ElevationEnd, ElevationId, ElevationPort, Mono, Raised, Reason, Refusal, RunState, Tier,
};

const GRIPPER: &str = "rover_gripper_set";

/// An Elevation with so many calls, until 10 s after the beginning.
#[derive(Debug)]
struct Calls(Mutex<u32>);

impl ElevationPort for Calls {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let left = *self.0.lock().unwrap();
        if left == 0 {
            return Err(ElevationEnd::UsedUp);
        }
        Ok(Raised {
            id,
            until: Mono::from_ms(10_000),
            left,
        })
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let mut raised = self.look(id)?;
        raised.left -= 1;
        *self.0.lock().unwrap() = raised.left;
        Ok(raised)
    }

    fn used(&self, _: Raised, _: &str, _: &str) {}

    fn give_back(&self, _: ElevationId) {}
}

/// Lives when it is looked at and is gone when it is taken from.
#[derive(Debug)]
struct Raced(Calls);

impl ElevationPort for Raced {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        self.0.look(id)
    }

    fn take(&self, _: ElevationId) -> Result<Raised, ElevationEnd> {
        Err(ElevationEnd::OperatorLost)
    }

    fn used(&self, _: Raised, _: &str, _: &str) {}

    fn give_back(&self, _: ElevationId) {}
}

fn calls(left: u32) -> Calls {
    Calls(Mutex::new(left))
}

fn open() -> Value {
    json!({ "opening": 0.05, "force": 10.0 })
}

/// Asks for the grant of a call of the gripper.
fn ask(rig: &mut Rig, args: &Value, port: &dyn ElevationPort) -> Result<Grant, Refusal> {
    let lift = Lift {
        id: ElevationId::new(3).unwrap(),
        port,
    };
    ask_under(rig, args, (Tier::FullActuation, Some(lift)))
}

fn ask_under(
    rig: &mut Rig,
    args: &Value,
    (effective, elevation): (Tier, Option<Lift<'_>>),
) -> Result<Grant, Refusal> {
    let limited = rig.limit(GRIPPER, args)?;
    let descriptor = rig.descriptor(GRIPPER);
    let rules = rig.rules.clone();
    let mut tools = rules.tools().iter();
    let tool = tools.find(|tool| tool.name().as_str() == GRIPPER);
    let ask = Admission {
        subject: Subject::of(&descriptor, tool).unwrap(),
        args: &limited,
        call: 7,
        effective,
        elevation,
    };
    admit(ask, &rig.now, &mut rig.pace)
}

#[test]
fn an_elevation_raises_the_ceiling_for_a_tool_and_a_person_is_still_asked() {
    let rig = Rig::new();
    let policy = PolicyStack::root(Tier::SafeMotion).ask(&tiers());
    let tool = rig.descriptor(GRIPPER);
    assert!(policy.decide(&tool).refusal().is_some());
    assert_eq!(
        policy.decide_raised(&tool, Tier::FullActuation),
        Verdict::Ask
    );
    let release = rig.descriptor("robot_release_control");
    let refused = policy.decide_raised(&release, Tier::FullActuation);
    let detail = "`robot_release_control` needs the tier emergency_override; the ceiling is \
                  full_actuation";
    assert_eq!(refused.refusal().unwrap().detail, detail);
    assert_eq!(policy.effective(), Tier::SafeMotion, "of all others");
}

#[test]
fn no_elevation_stands_above_a_layer_of_the_policy() {
    let rig = Rig::new();
    let tool = rig.descriptor(GRIPPER);
    for rule in [
        "deny = [\"rover_gripper_set\"]",
        "deny = [\"group:robot:full_actuation\"]",
        "allow = [\"group:robot:safe_motion\"]",
        "allow = []",
    ] {
        let text = format!("schema = 1\n[policy]\n{rule}");
        let file = PolicyFile::parse("octos-edge.toml", &text).unwrap();
        let policy = PolicyStack::root(Tier::SafeMotion).layer(&file.layer);
        let verdict = policy.decide_raised(&tool, Tier::EmergencyOverride);
        let refusal = verdict.refusal().unwrap();
        assert!(refusal.detail.contains("layer `policy`"), "{refusal}");
        assert!(!refusal.detail.contains("ceiling"), "{refusal}");
    }
}

#[test]
fn a_granted_call_takes_one_and_ends_with_the_time_of_its_elevation() {
    let (mut rig, port) = (Rig::new(), calls(2));
    let mut grant = ask(&mut rig, &open(), &port).unwrap();
    assert_eq!(grant.raised().unwrap().left, 1);
    assert_eq!(grant.deadline(), Mono::from_ms(10_000), "not its 60 s");
    let permit = grant.take_permit().unwrap();
    assert_eq!(permit.deadline(), Mono::from_ms(10_000));
    assert_eq!(permit.lease().elevation, ElevationId::new(3));
    assert_eq!(
        permit.lease().lost_after_ms,
        1_000,
        "of the tool's own tier"
    );
}

#[test]
fn what_is_refused_for_something_else_takes_nothing() {
    let (mut rig, port) = (Rig::new(), calls(1));
    rig.now.run = RunState::Disarmed;
    let refusal = ask(&mut rig, &open(), &port).unwrap_err();
    assert_eq!(refusal.reason, Reason::NotArmed);
    assert_eq!(*port.0.lock().unwrap(), 1);
    rig.now.run = RunState::Armed;
    let force = json!({ "opening": 0.05, "force": 50.0 });
    let refusal = ask(&mut rig, &force, &port).unwrap_err();
    assert_eq!(refusal.reason, Reason::Limit, "the ceiling of its own tier");
    assert_eq!(*port.0.lock().unwrap(), 1);
    ask(&mut rig, &open(), &port).unwrap();
    let refusal = ask(&mut rig, &open(), &calls(9)).unwrap_err();
    assert_eq!(refusal.reason, Reason::Rate, "the rate of its own tier");
}

#[test]
fn an_elevation_that_is_over_refuses_with_its_cause_and_nothing_is_spent() {
    let mut rig = Rig::new();
    let before = rig.pace.clone();
    let refusal = ask(&mut rig, &open(), &calls(0)).unwrap_err();
    assert_eq!(refusal.reason, Reason::RobotTierGate);
    assert_eq!(refusal.needed, Some(Tier::FullActuation));
    let detail = "the elevation that permitted this call is over: its calls are used up";
    assert_eq!(refusal.detail, detail);
    rig.now.run = RunState::Disarmed;
    let refusal = ask(&mut rig, &open(), &calls(0)).unwrap_err();
    assert_eq!(refusal.reason, Reason::RobotTierGate, "before all others");
    assert!(refusal.detail.contains("no operator armed"), "{refusal}");
    rig.now.run = RunState::Armed;
    let refusal = ask(&mut rig, &open(), &Raced(calls(1))).unwrap_err();
    assert!(refusal.detail.contains("is gone"), "{refusal}");
    assert_eq!(rig.pace, before);
}

#[test]
fn a_call_above_the_tier_in_force_gets_no_grant_whatever_decided_before() {
    let mut rig = Rig::new();
    let refusal = ask_under(&mut rig, &open(), (Tier::SafeMotion, None)).unwrap_err();
    assert_eq!(refusal.reason, Reason::RobotTierGate);
    assert_eq!(refusal.effective, Tier::SafeMotion);
}

proptest! {
    /// Raising narrows nothing, and gives no more than the raised ceiling itself would.
    #[test]
    fn raising_is_a_higher_ceiling_and_nothing_else(
        ceiling in prop::sample::select(&Tier::ALL[..]),
        raised in prop::sample::select(&Tier::ALL[..]),
        denied in prop::option::of(prop::sample::select(&Tier::ALL[..])),
        index in 0_usize..10,
    ) {
        let rig = Rig::new();
        let name = rig.robot.tools[index].name.clone();
        let tool = rig.descriptor(name.as_str());
        let under = |ceiling| {
            let stack = PolicyStack::root(ceiling).ask(&tiers());
            let Some(tier) = denied else { return stack };
            let text = format!("schema = 1\n[policy]\ndeny = [\"group:robot:{tier}\"]");
            let file = PolicyFile::parse("octos-edge.toml", &text).unwrap();
            stack.layer(&file.layer)
        };
        let plain = under(ceiling).decide(&tool).rank();
        let lifted = under(ceiling).decide_raised(&tool, raised).rank();
        prop_assert_eq!(lifted, under(ceiling.max(raised)).decide(&tool).rank());
        prop_assert!(raised > ceiling || lifted == plain);
    }
}
