//! The arguments of a call on their way through the pipeline: bounds, one report, repairs, and the same
//! mistake again.

use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, FutureExt, ready};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::kit::{Kit, call};
use crate::arguments::Alias;
use crate::catalog::{CallCx, CatalogBuilder, RawTool};
use crate::executor::{Repeats, Turn};
use crate::gate::PolicyStack;
use crate::terms::{
    Access, Budget, CallReport, Descriptor, Effect, Fact, Outcome, Reason, Refusal, Tier,
    ToolError, ToolName,
};

const ALIASES: &[Alias] = &[Alias {
    from: "file_path",
    to: "path",
}];

/// A tool that keeps what it was called with.
#[derive(Debug)]
struct Reader {
    effect: Effect,
    got: Arc<Mutex<Vec<Value>>>,
}

impl RawTool for Reader {
    fn describe(&self) -> Descriptor {
        Descriptor {
            name: ToolName::parse("read_lines").unwrap(),
            description: "reads lines of a file".into(),
            schema: Arc::new(json!({
                "type": "object",
                "additionalProperties": false,
                "required": ["path"],
                "properties": {
                    "path": { "type": "string", "description": "the file", "minLength": 1 },
                    "start_line": { "type": "integer", "description": "from", "minimum": 1 },
                    "timeout_secs": { "type": "integer", "description": "s", "maximum": 60 },
                    "mode": { "type": "string", "description": "how", "enum": ["text", "hex"] },
                    "window": {
                        "type": "object", "description": "part", "additionalProperties": false,
                        "properties": {
                            "unit": { "type": "string", "description": "u", "enum": ["line", "byte"] },
                            "size": { "type": "integer", "description": "s", "maximum": 100 },
                        },
                    },
                },
            })),
            effect: self.effect.clone(),
            access: Access::Shared,
            budget: Budget::of_ms(1_000),
            rule: None,
        }
    }

    fn aliases(&self) -> &'static [Alias] {
        ALIASES
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.got.lock().unwrap().push(Value::Object(args));
        ready(Ok("read".to_owned())).boxed()
    }
}

/// The kit of the rover with a turn that sees the reader alone.
struct Desk {
    kit: Kit,
    turn: Turn,
    got: Arc<Mutex<Vec<Value>>>,
}

impl Desk {
    fn new() -> Self {
        Self::with(Effect::Mutate)
    }

    fn with(effect: Effect) -> Self {
        let kit = Kit::new();
        let got = Arc::new(Mutex::new(Vec::new()));
        let reader = Reader {
            effect,
            got: got.clone(),
        };
        let catalog = CatalogBuilder::new().raw(Arc::new(reader)).build();
        let policy = PolicyStack::root(Tier::SafeMotion);
        let turn = Turn {
            view: catalog.unwrap().view(&policy),
            ..kit.turn(Tier::SafeMotion)
        };
        Self { kit, turn, got }
    }

    async fn call(&self, args: Value) -> CallReport {
        let asked = call("read_lines", args);
        self.kit.executor.call(&self.turn, asked).await
    }

    /// Calls, and asserts that nothing ran and that one refusal was recorded.
    async fn refused(&self, args: Value) -> Refusal {
        let before = self.kit.facts().len();
        let report = self.call(args).await;
        let refusal = report.outcome.refusal().expect("a refusal").clone();
        assert_eq!(refusal.reason, Reason::Schema);
        assert_eq!(
            *self.got.lock().unwrap(),
            [Value::Null; 0],
            "nothing may run"
        );
        let facts = self.kit.facts();
        let is_refusal = |fact: &&Fact| {
            matches!(
                fact,
                Fact::Refused {
                    reason: Reason::Schema,
                    ..
                }
            )
        };
        assert_eq!(facts[before..].iter().filter(is_refusal).count(), 1);
        refusal
    }
}

fn padded(bytes: usize) -> Value {
    let frame = json!({ "path": "" }).to_string().len();
    json!({ "path": "x".repeat(bytes - frame) })
}

#[tokio::test(start_paused = true)]
async fn kernel_case_17_arguments_of_exactly_the_bound_pass_and_one_byte_more_does_not() {
    let desk = Desk::new();
    let report = desk.call(padded(1_048_576)).await;
    assert_eq!(report.outcome.label(), "done");
    let desk = Desk::new();
    let refusal = desk.refused(padded(1_048_577)).await;
    assert_eq!(
        refusal.detail,
        "read_lines: 1 problem with the arguments\n\
         - (arguments): 1048577 bytes, permitted are 1048576"
    );
}

#[tokio::test(start_paused = true)]
async fn kernel_case_18_nested_arrays_are_refused_by_depth() {
    // As deep as a value can be that is dropped by itself; ten thousand levels are a matter of the
    // text, which `terms::parse_args` never turns into a value.
    let desk = Desk::new();
    let deep = (0..1_000).fold(json!(1), |inner, _| json!([inner]));
    let refusal = desk.refused(json!({ "path": deep })).await;
    assert!(
        refusal.detail.ends_with("nested deeper than 64 levels"),
        "{refusal:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn kernel_case_19_control_characters_count_as_they_are_written() {
    let desk = Desk::new();
    let text = "\u{1}".repeat(200_000);
    let length = json!({ "path": text }).to_string().len();
    let refusal = desk.refused(json!({ "path": text })).await;
    let told = format!("{length} bytes, permitted are 1048576");
    assert!(
        length > 1_200_000 && refusal.detail.ends_with(&told),
        "{refusal:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn kernel_case_20_three_mistakes_are_one_report_with_hints() {
    let desk = Desk::new();
    let refusal = desk
        .refused(json!({ "filepth": "a.txt", "start_line": "abc" }))
        .await;
    let mut lines: Vec<&str> = refusal.detail.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "- /filepth: unknown (did you mean `path`?)",
            "- /path: missing",
            "- /start_line: must be integer, found string",
            "read_lines: 3 problems with the arguments",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn kernel_case_20_an_alias_is_accepted() {
    let desk = Desk::new();
    let report = desk.call(json!({ "file_path": "a.txt" })).await;
    assert_eq!(report.outcome.label(), "done");
    assert_eq!(*desk.got.lock().unwrap(), [json!({ "path": "a.txt" })]);
}

#[tokio::test(start_paused = true)]
async fn kernel_case_21_an_unknown_key_beside_valid_ones_is_refused_with_a_hint() {
    let desk = Desk::new();
    let refusal = desk.refused(json!({ "path": "a", "startLine": 3 })).await;
    assert!(
        refusal
            .detail
            .ends_with("- /startLine: unknown (did you mean `start_line`?)"),
        "{refusal:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn kernel_case_22_nested_problems_have_their_pointers_and_what_is_permitted() {
    let desk = Desk::new();
    let args = json!({ "path": "a", "window": { "unit": "lines", "size": 101 } });
    let refusal = desk.refused(args).await;
    for line in [
        "- /window/unit: must be one of \"line\", \"byte\" (did you mean `line`?)",
        "- /window/size: above 100",
    ] {
        assert!(refusal.detail.contains(line), "{refusal:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn kernel_case_23_a_key_of_a_megabyte_leaves_a_bounded_report_with_its_mark() {
    for letter in ["x", "\u{e9}", "\u{20ac}"] {
        let desk = Desk::new();
        let key = letter.repeat(1_000_000 / letter.len());
        let refusal = desk.refused(json!({ "path": "a", key: 1 })).await;
        assert!(refusal.detail.len() <= 4096, "{}", refusal.detail.len());
        assert!(refusal.detail.ends_with("..."), "{refusal:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn kernel_case_24_a_text_for_a_number_is_repaired_and_noted_for_what_moves_nothing() {
    for effect in [Effect::Mutate, Effect::Observe { tier: None }] {
        let desk = Desk::with(effect);
        let report = desk
            .call(json!({ "path": "a", "timeout_secs": "30" }))
            .await;
        let told = ["/timeout_secs: a text was read as an integer".to_owned()];
        let Outcome::Done { repaired, .. } = &report.outcome else {
            panic!("{:?}", report.outcome);
        };
        assert_eq!(repaired[..], told);
        assert_eq!(
            *desk.got.lock().unwrap(),
            [json!({ "path": "a", "timeout_secs": 30 })]
        );
        let facts = desk.kit.facts();
        let Some(Fact::Granted { repaired, .. }) = facts.first() else {
            panic!("{facts:?}");
        };
        assert_eq!(repaired[..], told);
    }
}

#[tokio::test(start_paused = true)]
async fn kernel_case_24_what_moves_a_robot_is_never_repaired() {
    for args in [
        json!({ "x": "1", "y": 0.5 }),
        json!("{\"x\": 1.0, \"y\": 0.5}"),
        json!({ "x": [1.0], "y": 0.5 }),
    ] {
        let kit = Kit::new();
        let turn = kit.turn(Tier::SafeMotion);
        let asked = call("rover_go_to_pose", args);
        let report = kit.executor.call(&turn, asked).await;
        let reason = report.outcome.refusal().map(|refusal| refusal.reason);
        assert_eq!(reason, Some(Reason::Schema));
        assert_eq!(kit.notes.all(), [""; 0], "nothing may be sent");
        assert_eq!(kit.fact_kinds(), ["refused rover_go_to_pose schema"]);
    }
}

#[tokio::test(start_paused = true)]
async fn kernel_case_25_what_is_no_object_is_one_problem_with_its_type() {
    for (args, found) in [
        (json!("just text"), "string"),
        (json!(null), "null"),
        (json!([]), "array"),
    ] {
        let refusal = Desk::new().refused(args).await;
        assert_eq!(
            refusal.detail,
            format!(
                "read_lines: 1 problem with the arguments\n\
                 - (arguments): must be an object, found {found}"
            )
        );
    }
}

fn loops(kit: &Kit) -> Vec<u32> {
    let facts = kit.facts();
    let times = facts.iter().filter_map(|fact| {
        if let Fact::InputLoop { times, .. } = fact {
            Some(*times)
        } else {
            None
        }
    });
    times.collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_mistake_again_is_shown_an_example_and_then_told_to_stop() {
    let desk = Desk::new();
    let wrong = || json!({ "start_line": 0 });
    let first = desk.refused(wrong()).await;
    assert!(!first.hint.contains("would fit"), "{first:?}");
    let other = desk.refused(json!({ "start_line": -1 })).await;
    assert_eq!(other.hint, first.hint, "another mistake is no repeat");
    let second = desk.refused(wrong()).await;
    assert!(
        second.hint.ends_with(r#"these would fit: {"path":"x"}"#),
        "{second:?}"
    );
    assert_eq!(loops(&desk.kit), [0; 0]);
    let third = desk.refused(wrong()).await;
    assert!(third.hint.contains(r#"{"path":"x"}"#), "{third:?}");
    assert!(
        third.hint.ends_with(
            "stop calling `read_lines` with them, go on in another way or say what you cannot do"
        ),
        "{third:?}"
    );
    assert_eq!((&third.detail, third.reason), (&first.detail, first.reason));
    desk.refused(wrong()).await;
    assert_eq!(loops(&desk.kit), [3, 4]);
    let next = Turn {
        repeats: Repeats::default(),
        ..desk.turn.clone()
    };
    let desk = Desk { turn: next, ..desk };
    assert_eq!(
        desk.refused(wrong()).await.hint,
        first.hint,
        "a new turn begins anew"
    );
}

#[tokio::test(start_paused = true)]
async fn a_robots_tool_shows_the_example_of_its_file() {
    let kit = Kit::new();
    let turn = kit.turn(Tier::SafeMotion);
    let mut hints = Vec::new();
    for _ in 0..3 {
        let asked = call("rover_go_to_pose", json!({ "x": "one" }));
        let report = kit.executor.call(&turn, asked).await;
        hints.push(report.outcome.refusal().unwrap().hint.clone());
    }
    assert!(
        hints[1].ends_with(r#"these would fit: {"x":1.0,"y":0.5}"#),
        "{hints:#?}"
    );
    assert!(
        hints[2].contains("stop calling `rover_go_to_pose`"),
        "{hints:#?}"
    );
    assert_eq!(kit.notes.all(), [""; 0], "nothing was sent");
    assert_eq!(loops(&kit), [3]);
}

fn on_paused_time<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.unwrap().block_on(work)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn kernel_case_24_no_repair_ever_reaches_a_motion(
        x in prop::sample::select(vec![
            json!(1.0), json!(1), json!("1"), json!("1.0"), json!([1.0]), json!("[1.0]"), json!(true),
            json!("true"), json!(null), json!({ "x": 1.0 }),
        ]),
        whole in any::<bool>(),
    ) {
        let fits = x.is_number() && !whole;
        let args = json!({ "x": x, "y": 0.5 });
        let args = if whole { json!(args.to_string()) } else { args };
        on_paused_time(async {
            let kit = Kit::new();
            let turn = kit.turn(Tier::SafeMotion);
            let report = kit.executor.call(&turn, call("rover_go_to_pose", args)).await;
            assert_eq!(report.outcome.refusal().is_none(), fits, "{report:?}");
            assert_eq!(kit.notes.all().is_empty(), !fits, "{report:?}");
            let repaired = |fact: &Fact| {
                matches!(fact, Fact::Granted { repaired, .. } if !repaired.is_empty())
            };
            assert!(!kit.facts().iter().any(repaired));
        });
    }
}
