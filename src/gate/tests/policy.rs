//! Policy: ceilings, layers, polarity, stops.

use std::sync::Arc;

use crate::config::PolicyFile;
use crate::gate::fixture::{Rig, tiers};
use crate::gate::{PolicyStack, Verdict, check_policy, policy_warnings};
use crate::terms::{Access, Budget, Descriptor, Effect, Reason, Refusal, Tier, ToolName};

fn file(policy: &str) -> PolicyFile {
    PolicyFile::parse(
        "octos-edge.toml",
        &format!("schema = 1\n[policy]\n{policy}"),
    )
    .unwrap()
}

fn stack(ceiling: Tier, policy: &str) -> PolicyStack {
    PolicyStack::root(ceiling).layer(&file(policy).layer)
}

fn refusal(stack: &PolicyStack, tool: &Descriptor) -> Refusal {
    match stack.decide(tool) {
        Verdict::Refuse(refusal) => refusal,
        other @ (Verdict::Allow | Verdict::Ask) => {
            panic!("{} was not refused: {other:?}", tool.name)
        }
    }
}

/// A tool that belongs to no robot.
fn plain(name: &str) -> Descriptor {
    Descriptor {
        name: ToolName::parse(name).unwrap(),
        description: Arc::from("does something"),
        schema: Arc::default(),
        effect: Effect::Mutate,
        access: Access::Shared,
        budget: Budget::of_ms(1000),
        rule: None,
    }
}

#[test]
fn a_tool_above_the_ceiling_is_refused_with_both_tiers_and_a_way_out() {
    let rig = Rig::new();
    let policy = PolicyStack::root(rig.robot.max_tier);
    assert_eq!(
        policy.decide(&rig.descriptor("rover_go_to_pose")),
        Verdict::Allow
    );
    assert_eq!(
        refusal(&policy, &rig.descriptor("rover_gripper_set")),
        Refusal {
            reason: Reason::RobotTierGate,
            needed: Some(Tier::FullActuation),
            effective: Tier::SafeMotion,
            rule: Some("RV-03".to_owned()),
            detail: "`rover_gripper_set` needs the tier full_actuation; the ceiling is safe_motion"
                .to_owned(),
            hint: "use a tool of the tier safe_motion or below; only an operator can permit more"
                .to_owned(),
        }
    );
}

#[test]
fn a_ceiling_is_lowered_and_never_raised() {
    let stack = PolicyStack::root(Tier::SafeMotion);
    assert_eq!(
        stack.clone().lowered(Tier::EmergencyOverride).effective(),
        Tier::SafeMotion
    );
    assert_eq!(stack.lowered(Tier::Observe).effective(), Tier::Observe);
}

#[test]
fn case_09_deny_beats_allow() {
    let rig = Rig::new();
    let policy = stack(
        Tier::SafeMotion,
        "allow = [\"rover_go_to_pose\", \"group:robot:safe_motion\"]\ndeny = [\"rover_go_to_pose\"]",
    );
    let refused = refusal(&policy, &rig.descriptor("rover_go_to_pose"));
    assert_eq!(refused.reason, Reason::PolicyDeny);
    assert_eq!(refused.rule.as_deref(), Some("policy"));
    assert!(refused.detail.contains("octos-edge.toml:4"), "{refused}");
    assert_eq!(
        policy.decide(&rig.descriptor("rover_set_velocity")),
        Verdict::Allow
    );
}

#[test]
fn case_09_an_empty_allow_means_nothing_and_an_absent_one_no_limit() {
    let rig = Rig::new();
    let tool = rig.descriptor("robot_state");
    assert_eq!(stack(Tier::SafeMotion, "").decide(&tool), Verdict::Allow);
    let nothing = stack(Tier::SafeMotion, "allow = []");
    assert_eq!(refusal(&nothing, &tool).reason, Reason::PolicyDeny);
    assert_eq!(
        nothing.decide(&rig.descriptor("rover_stop")),
        Verdict::Allow
    );
}

#[test]
fn a_denied_group_refuses_its_tier_and_all_above() {
    let rig = Rig::new();
    let policy = stack(
        Tier::EmergencyOverride,
        "deny = [\"group:robot:full_actuation\"]",
    );
    assert_eq!(policy.effective(), Tier::SafeMotion);
    assert_eq!(
        policy.decide(&rig.descriptor("rover_go_to_pose")),
        Verdict::Allow
    );
    for above in ["rover_gripper_set", "robot_release_control"] {
        let refused = refusal(&policy, &rig.descriptor(above));
        assert_eq!(refused.reason, Reason::RobotTierGate);
        assert!(
            refused
                .detail
                .contains("denies `group:robot:full_actuation`"),
            "{refused}"
        );
    }
    assert_eq!(policy.decide(&plain("read_file")), Verdict::Allow);
}

#[test]
fn an_allowed_group_permits_its_tier_and_all_below_of_robot_tools_only() {
    let rig = Rig::new();
    let policy = stack(
        Tier::EmergencyOverride,
        "allow = [\"group:robot:safe_motion\", \"rover_gripper_set\"]",
    );
    for permitted in ["robot_state", "rover_go_to_pose", "rover_gripper_set"] {
        assert_eq!(policy.decide(&rig.descriptor(permitted)), Verdict::Allow);
    }
    let above = refusal(&policy, &rig.descriptor("robot_release_control"));
    assert_eq!(above.reason, Reason::RobotTierGate);
    assert_eq!(
        refusal(&policy, &plain("read_file")).reason,
        Reason::PolicyDeny
    );
}

#[test]
fn all_that_refuse_are_told_and_the_first_gives_the_reason() {
    let rig = Rig::new();
    let policy = stack(Tier::SafeMotion, "deny = [\"rover_gripper_set\"]");
    let refused = refusal(&policy, &rig.descriptor("rover_gripper_set"));
    assert_eq!(refused.reason, Reason::RobotTierGate);
    assert_eq!(refused.detail.lines().count(), 2, "{refused}");
}

#[test]
fn tiers_with_approval_per_call_ask() {
    let rig = Rig::new();
    let policy = PolicyStack::root(Tier::EmergencyOverride).ask(&tiers());
    let verdict = |name| policy.decide(&rig.descriptor(name));
    assert_eq!(verdict("rover_go_to_pose"), Verdict::Allow);
    assert_eq!(verdict("rover_gripper_set"), Verdict::Ask);
    assert_eq!(verdict("rover_stop"), Verdict::Allow);
    assert_eq!(Verdict::Allow.strictest(Verdict::Ask), Verdict::Ask);
    let refuse = stack(Tier::Observe, "").decide(&rig.descriptor("rover_gripper_set"));
    assert_eq!(Verdict::Ask.strictest(refuse.clone()), refuse);
    assert_eq!(refuse.clone().strictest(Verdict::Ask), refuse);
}

#[test]
fn a_denied_name_that_no_tool_has_is_an_error_and_an_allowed_one_a_warning() {
    let rig = Rig::new();
    let names: Vec<&str> = rig
        .robot
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    let policy = file("allow = [\"robot_sate\"]\ndeny = [\"=rover_go_to_pos\", \"rover_stop\"]");
    let errors = check_policy(&policy, &names);
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].hint, "did you mean `rover_go_to_pose`?");
    assert!(
        errors[0]
            .to_string()
            .starts_with("octos-edge.toml:4: policy.deny"),
        "{}",
        errors[0]
    );
    let warnings = policy_warnings(&policy, &names);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].ends_with("did you mean `robot_state`?"),
        "{}",
        warnings[0]
    );
}
