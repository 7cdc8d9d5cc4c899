//! One policy for all comparisons: tools, and five layers with two hundred rules over them.
//!
//! Every layer is written once, as data; ours and a peer's form of it are made from that.

use std::sync::Arc;

use octos_edge::config::{PolicyFile, PolicyLayer};
use octos_edge::gate::PolicyStack;
use octos_edge::terms::{Access, Budget, Descriptor, Effect, Tier, ToolName};

/// Tools of the scene that goals speak of.
pub(crate) const TOOLS: u32 = 1_000;
/// The ceiling under the layers.
pub(crate) const CEILING: Tier = Tier::FullActuation;
/// Rules of each layer.
const RULES: u32 = 40;

/// One rule.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    /// A group of robot tools.
    Tier(Tier),
    /// One tool.
    Name(String),
}

/// One layer: it allows what is listed and nothing else, or denies what is listed.
#[derive(Debug, Clone)]
pub(crate) enum Layer {
    /// Nothing but this.
    Allow(Vec<Rule>),
    /// All but this.
    Deny(Vec<Rule>),
}

/// The five layers.
pub(crate) fn layers() -> Vec<Layer> {
    let allowed = || {
        let names = (0..RULES - 1).map(|n| Rule::Name(name(n * 24 + 1)));
        let names = names.chain([Rule::Tier(Tier::SafeMotion)]);
        Layer::Allow(names.collect())
    };
    let denied = |offset: u32| (0..RULES).map(move |n| Rule::Name(name(n * 24 + offset)));
    let mut delegation: Vec<Rule> = denied(15).skip(1).collect();
    delegation.push(Rule::Tier(Tier::EmergencyOverride));
    vec![
        Layer::Deny(denied(5).collect()),
        allowed(),
        Layer::Deny(denied(8).collect()),
        allowed(),
        Layer::Deny(delegation),
    ]
}

/// Ours, from those layers.
pub(crate) fn stack() -> PolicyStack {
    let names = ["global", "profile", "provider", "session", "delegation"];
    let layers = layers().into_iter().zip(names);
    layers.fold(PolicyStack::root(CEILING), |stack, (layer, name)| {
        stack.layer(&compiled(&layer, name))
    })
}

fn compiled(layer: &Layer, name: &str) -> PolicyLayer {
    let (key, rules) = match layer {
        Layer::Allow(rules) => ("allow", rules),
        Layer::Deny(rules) => ("deny", rules),
    };
    let written = |rule: &Rule| match rule {
        Rule::Tier(tier) => format!("\"group:robot:{tier}\""),
        Rule::Name(name) => format!("\"={name}\""),
    };
    let rules: Vec<String> = rules.iter().map(written).collect();
    let text = format!("schema = 1\n[policy]\n{key} = [{}]\n", rules.join(", "));
    let file = PolicyFile::parse("scene.toml", &text).unwrap();
    PolicyLayer {
        name: name.to_owned(),
        ..file.layer
    }
}

/// The name of a tool.
pub(crate) fn name(number: u32) -> String {
    format!("some_tool_{number:05}")
}

/// So many tools, every second one a robot's, of all tiers.
pub(crate) fn tools(count: u32) -> Vec<Descriptor> {
    (0..count).map(tool).collect()
}

fn tool(number: u32) -> Descriptor {
    let tier = match (number / 2) % 8 {
        0..=2 => Tier::Observe,
        3..=5 => Tier::SafeMotion,
        6 => Tier::FullActuation,
        _ => Tier::EmergencyOverride,
    };
    let effect = if number.is_multiple_of(2) {
        Effect::Observe { tier: Some(tier) }
    } else {
        Effect::Mutate
    };
    Descriptor {
        name: ToolName::parse(&name(number)).unwrap(),
        description: Arc::from("a tool of the scene"),
        schema: Arc::new(serde_json::json!({
            "type": "object", "properties": {}, "additionalProperties": false,
        })),
        effect,
        access: Access::Shared,
        budget: Budget::of_ms(1_000),
        rule: None,
    }
}

/// A fixed order without a pattern: look-ups in a row would else find the next one in the cache.
pub(crate) fn shuffled<T>(mut items: Vec<T>) -> Vec<T> {
    fastrand::Rng::with_seed(7).shuffle(&mut items);
    items
}
