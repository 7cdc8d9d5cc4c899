//! The catalog: all faults at once, and a list that is the same bytes every time.

use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{CallCx, CatalogBuilder, Fault, RawTool, Tool, schema_of};
use crate::arguments::Alias;
use crate::config::{Place, PolicyLayer, PolicyRule};
use crate::gate::{PolicyStack, Verdict};
use crate::terms::{
    Access, Budget, Descriptor, Device, Effect, Elevated, ElevationId, Motion, Reason, StopKind,
    Tier, ToolError, ToolName,
};

fn describe(name: &str, effect: Effect) -> Descriptor {
    Descriptor {
        name: ToolName::parse(name).unwrap(),
        description: format!("does {name}").into(),
        schema: Arc::new(json!({
            "type": "object", "properties": {}, "additionalProperties": false,
        })),
        effect,
        access: Access::Shared,
        budget: Budget::of_ms(1_000),
        rule: None,
    }
}

fn observe(tier: Option<Tier>) -> Effect {
    Effect::Observe { tier }
}

fn stop() -> Effect {
    Effect::Stop {
        device: Device::new("rover"),
        kind: StopKind::Stop,
    }
}

fn actuate(tier: Tier) -> Effect {
    Effect::Actuate {
        tier,
        device: Device::new("rover"),
        motion: Motion::Move,
    }
}

#[derive(Debug)]
struct Plain(Descriptor);

impl RawTool for Plain {
    fn describe(&self) -> Descriptor {
        assert_ne!(self.0.name.as_str(), "panics");
        self.0.clone()
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

fn raw(descriptor: Descriptor) -> Arc<Plain> {
    Arc::new(Plain(descriptor))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SinceArgs {
    /// Only what came later.
    #[serde(default)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    since: Option<u64>,
}

#[derive(Debug)]
struct Typed(Arc<Value>);

impl Tool for Typed {
    type Args = SinceArgs;

    fn describe(&self) -> Descriptor {
        Descriptor {
            schema: self.0.clone(),
            ..describe("typed", observe(None))
        }
    }

    async fn run(&self, _cx: CallCx<'_>, _args: SinceArgs) -> Result<String, ToolError> {
        Ok(String::new())
    }
}

/// The tools of a rover, in an order that `turn` shuffles.
fn rover(turn: usize) -> CatalogBuilder {
    let mut tools = vec![
        describe("rover_stop", stop()),
        describe("rover_pose", observe(Some(Tier::Observe))),
        describe("aim", observe(Some(Tier::SafeMotion))),
        describe("grip", observe(Some(Tier::FullActuation))),
        describe("battery", observe(Some(Tier::Observe))),
        describe("estop", stop()),
        describe("notes", observe(None)),
    ];
    let length = tools.len();
    tools.rotate_left(turn % length);
    tools
        .into_iter()
        .fold(CatalogBuilder::new(), |builder, tool| {
            if tool.effect.is_stop() {
                builder.stop(tool)
            } else {
                builder.raw(raw(tool))
            }
        })
}

#[test]
fn case_03_at_observe_the_list_holds_exactly_the_observe_tools_and_the_stops_in_order() {
    let view = rover(0)
        .build()
        .unwrap()
        .view(&PolicyStack::root(Tier::Observe));
    let names: Vec<&str> = view.specs().iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        ["battery", "estop", "notes", "rover_pose", "rover_stop"]
    );
    let hidden: Vec<_> = view
        .hidden()
        .iter()
        .map(|hidden| (hidden.reason, hidden.tier, hidden.count))
        .collect();
    let gate = Reason::RobotTierGate;
    assert_eq!(
        hidden,
        [
            (gate, Some(Tier::SafeMotion), 1),
            (gate, Some(Tier::FullActuation), 1)
        ]
    );
}

#[test]
fn case_03_the_list_is_the_same_bytes_in_ten_builds_of_any_order() {
    let policy = PolicyStack::root(Tier::SafeMotion);
    let first = rover(0).build().unwrap().view(&policy);
    let bytes = serde_json::to_vec(first.specs()).unwrap();
    for turn in 1..=10 {
        let view = rover(turn).build().unwrap().view(&policy);
        assert_eq!(serde_json::to_vec(view.specs()).unwrap(), bytes);
        assert_eq!(view.fingerprint(), first.fingerprint());
    }
    let lower = rover(0)
        .build()
        .unwrap()
        .view(&PolicyStack::root(Tier::Observe));
    assert_ne!(lower.fingerprint(), first.fingerprint());
}

#[test]
fn what_is_advertised_is_what_is_honoured() {
    let view = rover(0)
        .build()
        .unwrap()
        .view(&PolicyStack::root(Tier::SafeMotion));
    for judged in view.tools() {
        let name = judged.entry.descriptor().name.as_str();
        let shown = view.specs().iter().any(|spec| spec.name.as_str() == name);
        let found = view.find(name).unwrap();
        assert_eq!(shown, *found.verdict == Verdict::Allow, "{name}");
    }
    assert!(view.find("nobody").is_none());
    assert_eq!(view.nearest("rover_pos"), Some("rover_pose"));
    assert_ne!(
        view.nearest("gripp"),
        Some("grip"),
        "hidden tools are no hints"
    );
}

#[test]
fn a_view_under_an_elevation_shows_its_tools_and_marks_them_and_hides_the_others() {
    let id = ElevationId::new(4).unwrap();
    let elevated = |tier, names: &[&str]| Elevated {
        id,
        tier,
        tools: names.iter().map(|n| ToolName::parse(n).unwrap()).collect(),
    };
    let catalog = rover(0).build().unwrap();
    let policy = PolicyStack::root(Tier::Observe);
    let plain = catalog.view(&policy);
    let all = elevated(Tier::FullActuation, &["grip", "battery", "estop"]);
    let view = catalog.view_under(&policy, &[all]);
    let grip = view.find("grip").unwrap();
    assert_eq!((grip.verdict, grip.elevation), (&Verdict::Allow, Some(id)));
    assert_eq!(grip.effective, Tier::FullActuation);
    for name in ["battery", "estop", "aim"] {
        let other = view.find(name).unwrap();
        assert_eq!(
            (other.elevation, other.effective),
            (None, Tier::Observe),
            "{name}"
        );
    }
    assert!(view.find("aim").unwrap().verdict.refusal().is_some());
    assert_eq!(view.specs().len(), plain.specs().len() + 1);
    let hidden: Vec<_> = view.hidden().iter().map(|h| (h.tier, h.count)).collect();
    assert_eq!(hidden, [(Some(Tier::SafeMotion), 1)]);
    assert_eq!(view.effective(), Tier::Observe);
    assert_eq!(view.elevations().iter().copied().collect::<Vec<_>>(), [id]);
    assert!(plain.elevations().is_empty());

    let low = elevated(Tier::SafeMotion, &["grip"]);
    let low = catalog.view_under(&policy, &[low]);
    let refusal = low.find("grip").unwrap().verdict.refusal().unwrap().clone();
    assert!(
        refusal.detail.contains("ceiling is safe_motion"),
        "{refusal}"
    );
    assert!(low.elevations().is_empty(), "it permits nothing");
}

#[test]
fn no_policy_hides_a_stop() {
    let place = Place {
        file: "policy".into(),
        line: 1,
    };
    let name = ToolName::parse("rover_stop").unwrap();
    let layer = PolicyLayer {
        name: "policy".to_owned(),
        allow: Some(Vec::new()),
        deny: vec![(PolicyRule::Exact(name), place)],
    };
    let policy = PolicyStack::root(Tier::Observe).layer(&layer);
    let view = rover(0).build().unwrap().view(&policy);
    let names: Vec<&str> = view.specs().iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["estop", "rover_stop"]);
}

#[test]
fn case_06_names_that_would_fall_together_are_reported_with_every_other_fault() {
    assert!(ToolName::parse("a.b").is_err(), "a dot never gets this far");
    let mut silent = describe("silent", observe(None));
    silent.description = " ".into();
    let mut slow = describe("slow", observe(None));
    slow.budget.timeout_ms = 0;
    let mut open = describe("open", observe(None));
    open.schema = Arc::new(json!({ "type": "array" }));
    let report = CatalogBuilder::new()
        .raw(raw(describe("a_b", observe(None))))
        .raw(raw(describe("a_b", observe(None))))
        .raw(raw(silent))
        .raw(raw(slow))
        .raw(raw(open))
        .raw(raw(describe("panics", observe(None))))
        .raw(raw(describe("moves", actuate(Tier::SafeMotion))))
        .raw(raw(describe("halts", stop())))
        .stop(describe("reads", observe(None)))
        .tool(Typed(Arc::new(json!({
            "type": "object",
            "properties": { "until": { "type": "integer", "description": "later" } },
            "additionalProperties": false,
        }))))
        .build()
        .unwrap_err();
    let faults = report.faults();
    let of = |tool: &str| {
        faults
            .iter()
            .find(|fault| fault.tool == tool)
            .map(|fault| &fault.fault)
    };
    assert_eq!(of("a_b"), Some(&Fault::Duplicate));
    assert_eq!(of("silent"), Some(&Fault::Undescribed));
    let budget = matches!(
        of("slow"),
        Some(Fault::Budget {
            key: "timeout_ms",
            ..
        })
    );
    assert!(budget, "{report}");
    assert!(matches!(of("open"), Some(Fault::Schema(_))), "{report}");
    assert_eq!(of("#5"), Some(&Fault::Broken));
    let unbounded = faults.iter().filter(|fault| fault.tool == "moves");
    assert_eq!(unbounded.count(), 2, "no rules, not alone: {report}");
    assert_eq!(of("halts"), Some(&Fault::StopWithCode));
    assert_eq!(of("reads"), Some(&Fault::NoStop { effect: "observe" }));
    let differ = Fault::ArgumentsDiffer("since, until".to_owned());
    assert_eq!(of("typed"), Some(&differ));
}

#[test]
fn the_schema_of_argument_types_passes_the_lint() {
    let catalog = CatalogBuilder::new()
        .tool(Typed(schema_of::<SinceArgs>()))
        .build();
    let catalog = catalog.unwrap_or_else(|faults| panic!("{faults}"));
    assert_eq!(catalog.entries().len(), 1);
}

/// A tool with another name for an argument.
#[derive(Debug)]
struct Aliased(Descriptor, &'static [Alias]);

impl RawTool for Aliased {
    fn describe(&self) -> Descriptor {
        self.0.clone()
    }

    fn aliases(&self) -> &'static [Alias] {
        self.1
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async { Ok(String::new()) })
    }
}

#[test]
fn other_names_of_arguments_are_judged_with_the_schema_and_no_motion_has_any() {
    const STRAY: &[Alias] = &[Alias {
        from: "file_path",
        to: "path",
    }];
    let aliased = |name, effect| Arc::new(Aliased(describe(name, effect), STRAY));
    let report = CatalogBuilder::new()
        .raw(aliased("reads", observe(None)))
        .raw(aliased("moves", actuate(Tier::SafeMotion)))
        .build()
        .unwrap_err();
    let faults = report.faults();
    let schema = |fault: &&super::CatalogError| matches!(fault.fault, Fault::Schema(_));
    assert_eq!(faults.iter().filter(schema).count(), 2, "{report}");
    let moves = faults
        .iter()
        .filter(|fault| fault.fault == Fault::AliasOfMotion);
    assert_eq!(
        moves.map(|fault| fault.tool.as_str()).collect::<Vec<_>>(),
        ["moves"]
    );
}
