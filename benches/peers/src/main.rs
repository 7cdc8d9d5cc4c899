//! Deciding over one thousand tools under five layers: ours beside `cedar-policy`.
//!
//! Both forms are made from the same data, and every tool is decided by both before anything is
//! measured: they must agree. A layer that allows is a `forbid … unless`, a denied tool is a `forbid`
//! of its own; requests are made beforehand, so that only the decision itself is measured.

#[expect(dead_code, reason = "shared with benches that use all of it")]
#[path = "../../common/mod.rs"]
mod common;
#[path = "../../common/scene.rs"]
mod scene;

use std::hint::black_box;

use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request};
use octos_edge::terms::{Descriptor, Tier};
use serde_json::{Value, json};

use common::machine;
use common::sample::{Batches, in_turns};
use common::table::{self, Row};
use scene::{Layer, Rule};

const BATCHES: Batches = Batches {
    count: 200,
    ops: 50,
};
/// The goal: so many times faster.
const GOAL: f64 = 100.0;

fn main() {
    let header = machine::header();
    let stack = scene::stack();
    let tools = scene::shuffled(scene::tools(scene::TOOLS));
    let cedar = Cedar::of(&tools);
    let mut permitted = Vec::new();
    for tool in &tools {
        let request = request(tool);
        let ours = stack.decide(tool).refusal().is_none();
        assert_eq!(cedar.permits(&request), ours, "{}: the two differ", tool.name);
        if ours {
            permitted.push((tool, request));
        }
    }
    println!("both agree on {} tools; {} are permitted", tools.len(), permitted.len());
    let mut ours = permitted.iter().cycle();
    let mut theirs = permitted.iter().cycle();
    let (ours, theirs) = in_turns(
        BATCHES,
        || drop(black_box(ours.next().map(|(tool, _)| stack.decide(tool)))),
        || {
            black_box(theirs.next().map(|(_, request)| cedar.permits(request)));
        },
    );
    let faster = theirs.p50() / ours.p50();
    let row = Row {
        what: format!("decide, permitted: {} tools, 5 layers, 200 rules", scene::TOOLS),
        figure: format!("p50 {:.0} ns, p99 {:.0} ns", ours.p50(), ours.p99()),
        beside: format!("cedar-policy p50 {:.0} ns, p99 {:.0} ns", theirs.p50(), theirs.p99()),
        ratio: Some(faster),
        goal: format!("{GOAL:.0}x faster"),
        reached: Some(faster >= GOAL),
        cause: "the peer reads all policies for each request".to_owned(),
    };
    table::print(&header, &[row]);
}

struct Cedar {
    authorizer: Authorizer,
    policies: PolicySet,
    entities: Entities,
}

impl Cedar {
    fn of(tools: &[Descriptor]) -> Self {
        let entities: Vec<Value> = tools.iter().map(entity).collect();
        Self {
            authorizer: Authorizer::new(),
            policies: policies().parse().unwrap(),
            entities: Entities::from_json_value(Value::Array(entities), None).unwrap(),
        }
    }

    fn permits(&self, request: &Request) -> bool {
        let answer = self
            .authorizer
            .is_authorized(request, &self.policies, &self.entities);
        answer.decision() == Decision::Allow
    }
}

fn request(tool: &Descriptor) -> Request {
    let uid = |text: String| text.parse::<EntityUid>().unwrap();
    Request::new(
        uid("Agent::\"agent\"".to_owned()),
        uid("Action::\"call\"".to_owned()),
        uid(format!("Tool::\"{}\"", tool.name)),
        Context::empty(),
        None,
    )
    .unwrap()
}

fn entity(tool: &Descriptor) -> Value {
    let tier = tool.effect.needed_tier().map(rank);
    let attributes = tier.map_or(json!({}), |tier| json!({ "tier": tier }));
    json!({
        "uid": { "type": "Tool", "id": tool.name.as_str() },
        "attrs": attributes,
        "parents": [],
    })
}

fn policies() -> String {
    let mut text = "permit(principal, action == Action::\"call\", resource);\n".to_owned();
    let above = rank(scene::CEILING);
    text.push_str(&forbid(&format!("when {{ resource has tier && resource.tier > {above} }}")));
    for layer in scene::layers() {
        match layer {
            Layer::Deny(rules) => {
                for rule in rules {
                    text.push_str(&denied(&rule));
                }
            }
            Layer::Allow(rules) => text.push_str(&allowed(&rules)),
        }
    }
    text
}

fn denied(rule: &Rule) -> String {
    match rule {
        Rule::Tier(tier) => forbid(&format!(
            "when {{ resource has tier && resource.tier >= {} }}",
            rank(*tier)
        )),
        Rule::Name(name) => format!(
            "forbid(principal, action == Action::\"call\", resource == Tool::\"{name}\");\n"
        ),
    }
}

fn allowed(rules: &[Rule]) -> String {
    let mut names = Vec::new();
    let mut tiers = Vec::new();
    for rule in rules {
        match rule {
            Rule::Name(name) => names.push(format!("Tool::\"{name}\"")),
            Rule::Tier(tier) => tiers.push(format!(
                "(resource has tier && resource.tier <= {})",
                rank(*tier)
            )),
        }
    }
    let named = format!("[{}].contains(resource)", names.join(", "));
    let any = tiers.into_iter().chain([named]).collect::<Vec<_>>().join(" || ");
    forbid(&format!("unless {{ {any} }}"))
}

fn forbid(condition: &str) -> String {
    format!("forbid(principal, action == Action::\"call\", resource)\n{condition};\n")
}

fn rank(tier: Tier) -> usize {
    Tier::ALL.iter().position(|each| *each == tier).unwrap()
}
