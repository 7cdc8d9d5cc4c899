//! What holds for every policy, every ceiling and every sequence of calls.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use crate::config::{Place, PolicyLayer, PolicyRule};
use crate::gate::fixture::{Rig, tiers, tiers_with_speeds};
use crate::gate::layer::Layer;
use crate::gate::{PolicyStack, Verdict};
use crate::terms::{Access, Budget, Descriptor, Device, Effect, Motion, StopKind, Tier, ToolName};

const NAMES: [&str; 4] = ["alpha", "beta", "gamma", "delta"];

fn tier() -> impl Strategy<Value = Tier> {
    prop::sample::select(Tier::ALL.to_vec())
}

fn rule() -> impl Strategy<Value = (PolicyRule, Place)> {
    let place = Place {
        file: Arc::from("octos-edge.toml"),
        line: 1,
    };
    let name = prop::sample::select(NAMES.to_vec());
    prop_oneof![
        tier().prop_map(PolicyRule::RobotTier),
        name.prop_map(|name| PolicyRule::Exact(ToolName::parse(name).unwrap())),
    ]
    .prop_map(move |rule| (rule, place.clone()))
}

fn layer() -> impl Strategy<Value = PolicyLayer> {
    let rules = || prop::collection::vec(rule(), 0..4);
    (prop::option::of(rules()), rules()).prop_map(|(allow, deny)| PolicyLayer {
        name: "policy".to_owned(),
        allow,
        deny,
    })
}

fn stack() -> impl Strategy<Value = PolicyStack> {
    (tier(), prop::collection::vec(layer(), 0..4), any::<bool>()).prop_map(
        |(ceiling, layers, asks)| {
            let root = PolicyStack::root(ceiling);
            let root = if asks { root.ask(&tiers()) } else { root };
            layers.iter().fold(root, |stack, layer| stack.layer(layer))
        },
    )
}

fn tool(name: &str, effect: Effect) -> Descriptor {
    Descriptor {
        name: ToolName::parse(name).unwrap(),
        description: Arc::from("does something"),
        schema: Arc::default(),
        effect,
        access: Access::Shared,
        budget: Budget::of_ms(1000),
        rule: None,
    }
}

fn moving(name: &str, tier: Tier) -> Descriptor {
    let device = Device::new("rover");
    tool(
        name,
        Effect::Actuate {
            tier,
            device,
            motion: Motion::Move,
        },
    )
}

fn permitted(stack: &PolicyStack, tool: &Descriptor) -> bool {
    stack.decide(tool).refusal().is_none()
}

proptest! {
    #[test]
    fn what_is_permitted_at_a_tier_is_permitted_below_it(
        stack in stack(), name in prop::sample::select(NAMES.to_vec()), need in tier(), lower in tier(),
    ) {
        if lower <= need && permitted(&stack, &moving(name, need)) {
            prop_assert!(permitted(&stack, &moving(name, lower)));
        }
    }

    #[test]
    fn what_a_lower_ceiling_permits_a_higher_one_permits(
        layers in prop::collection::vec(layer(), 0..3), low in tier(), high in tier(), need in tier(),
    ) {
        let under = |ceiling| {
            layers.iter().fold(PolicyStack::root(ceiling), |stack, layer| stack.layer(layer))
        };
        for name in NAMES {
            if low <= high && permitted(&under(low), &moving(name, need)) {
                prop_assert!(permitted(&under(high), &moving(name, need)));
            }
        }
    }

    #[test]
    fn another_layer_or_a_lower_ceiling_only_narrows(
        stack in stack(), layer in layer(), lowered in tier(), need in tier(),
    ) {
        let narrower = [stack.clone().layer(&layer), stack.clone().lowered(lowered)];
        for name in NAMES {
            for tool in [moving(name, need), tool(name, Effect::Mutate)] {
                let before = stack.decide(&tool).rank();
                for narrow in &narrower {
                    prop_assert!(narrow.decide(&tool).rank() >= before);
                    prop_assert!(narrow.effective() <= stack.effective());
                }
            }
        }
    }

    #[test]
    fn a_stack_refuses_what_one_of_its_layers_objects_to_and_nothing_else(
        layers in prop::collection::vec(layer(), 0..4), need in prop::option::of(tier()),
        name in prop::sample::select(NAMES.to_vec()),
    ) {
        let root = PolicyStack::root(Tier::EmergencyOverride);
        let stack = layers.iter().fold(root, |stack, layer| stack.layer(layer));
        let tool = need.map_or_else(|| tool(name, Effect::Mutate), |need| moving(name, need));
        let compiled: Vec<Layer> = layers.iter().map(Layer::of).collect();
        let objects = |layer: &Layer| layer.objection(Some(&tool.name), need).is_some();
        prop_assert_eq!(!permitted(&stack, &tool), compiled.iter().any(objects));
    }

    #[test]
    fn an_allowed_group_is_downward_closed_and_a_denied_one_upward_closed(
        group in tier(), need in tier(),
    ) {
        let place = Place { file: Arc::from("f"), line: 1 };
        let rule = (PolicyRule::RobotTier(group), place);
        let of = |allow, deny| {
            let layer = PolicyLayer { name: "policy".to_owned(), allow, deny };
            PolicyStack::root(Tier::EmergencyOverride).layer(&layer)
        };
        let allowed = permitted(&of(Some(vec![rule.clone()]), Vec::new()), &moving("alpha", need));
        let denied = !permitted(&of(None, vec![rule]), &moving("alpha", need));
        prop_assert_eq!(allowed, need <= group);
        prop_assert_eq!(denied, need >= group);
    }

    #[test]
    fn a_stop_is_always_permitted(
        stack in stack(), name in prop::sample::select(NAMES.to_vec()), latches in any::<bool>(),
    ) {
        let kind = if latches { StopKind::Estop } else { StopKind::Stop };
        let stop = tool(name, Effect::Stop { device: Device::new("rover"), kind });
        prop_assert_eq!(stack.decide(&stop), Verdict::Allow);
    }

    #[test]
    fn robot_tools_above_the_tier_in_force_are_always_refused(stack in stack(), need in tier()) {
        if need > stack.effective() {
            for name in NAMES {
                prop_assert!(!permitted(&stack, &moving(name, need)));
            }
        }
    }
}

/// One thing that happens to the rover.
#[derive(Debug, Clone)]
enum Event {
    Drive { linear: f64, angular: f64 },
    Stop,
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let speed = || prop_oneof![-1.5..1.5_f64, -0.3..0.3_f64, any::<f64>()];
    prop_oneof![
        6 => (speed(), speed()).prop_map(|(linear, angular)| Event::Drive { linear, angular }),
        1 => Just(Event::Stop),
        3 => (0..5000_u64).prop_map(Event::Wait),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn case_12_no_sequence_of_accepted_calls_breaks_a_ceiling_or_a_step(
        safe in 0.25..0.6_f64, more in 0.0..1.0_f64, step in 0.2..0.5_f64,
        clamp in any::<bool>(), events in prop::collection::vec(event(), 1..60),
    ) {
        let on_limit = if clamp { "clamp" } else { "reject" };
        let limits = format!("min = -0.2, max = 0.5, max_step = {step}, on_limit = \"{on_limit}\" }}");
        let mut rig = Rig::under(
            &[
                ("min = -0.2, max = 0.5, max_step = 0.3 }", &limits),
                ("refuse = [ { linear = 99.0, angular = 0.0 }, ", "refuse = [ "),
            ],
            &tiers_with_speeds(safe, safe + more),
        );
        let mut last = [0.0; 2];
        for event in events {
            match event {
                Event::Stop => {
                    rig.stop();
                    last = [0.0; 2];
                }
                Event::Wait(ms) => rig.wait(ms),
                Event::Drive { linear, angular } => {
                    let args = json!({ "linear": linear, "angular": angular });
                    let before = rig.pace.clone();
                    let Ok((_, limited)) = rig.call("rover_set_velocity", args) else {
                        prop_assert_eq!(&rig.pace, &before, "a refused call spent something");
                        continue;
                    };
                    let number = |name: &str| limited.args().as_map()[name].as_f64().unwrap();
                    let now = [number("linear"), number("angular")];
                    prop_assert!(now[0] >= -0.2 && now[0] <= safe.min(0.5), "{now:?}");
                    prop_assert!(now[1].abs() <= 0.5, "{now:?}");
                    prop_assert!((now[0] - last[0]).abs() <= step + 1e-8, "{last:?} {now:?}");
                    prop_assert!((now[1] - last[1]).abs() <= 0.5 + 1e-8, "{last:?} {now:?}");
                    last = now;
                }
            }
        }
    }
}
