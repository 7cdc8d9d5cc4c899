//! The tools of the shipped rover over a bridge whose other end is a pair of hands.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::robot_tools;
use crate::catalog::{CatalogBuilder, ToolView};
use crate::config::{Board, RobotFile, Tiers};
use crate::executor::{Executor, Ports, Questions, Repeats, Turn};
use crate::gate::{Pace, PolicyStack, RobotRules};
use crate::robot::{Ids, Parts, Setup, assemble, describe, safety_plan};
use crate::safety::{Boot, Latch};
use crate::terms::{
    Access, Call, CallOrigin, Clock, Effect, Fact, FactSink, Input, Mono, Outcome, Reason, RobotId,
    Tier, WireEvent,
};

const TIERS: [&str; 4] = [
    include_str!("../../../tiers/observe.toml"),
    include_str!("../../../tiers/safe_motion.toml"),
    include_str!("../../../tiers/full_actuation.toml"),
    include_str!("../../../tiers/emergency_override.toml"),
];
const ROVER: &str = include_str!("../../../tiers/robots/rover-sim.toml");
const BOARD: &str = include_str!("../../../boards/sim.toml");
const NOW: Mono = Mono::from_ms(5_000);

#[derive(Debug)]
struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Mono {
        NOW
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug, Default)]
struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

struct Kit {
    parts: Parts,
    builder: CatalogBuilder,
    executor: Executor,
    facts: Arc<Facts>,
}

fn kit() -> Kit {
    let tiers = Tiers::parse(TIERS).unwrap();
    let rover = Arc::new(RobotFile::parse("rover-sim.toml", ROVER, &tiers).unwrap());
    let board = Board::parse("sim.toml", BOARD).unwrap();
    let rules = RobotRules::compile(&rover, &tiers).unwrap();
    let facts = Arc::new(Facts::default());
    let clock = Arc::new(StillClock);
    let parts = assemble(Setup {
        robot: rover.clone(),
        id: RobotId::parse("rover-sim-001").unwrap(),
        ids: Ids::seeded(7),
        plan: safety_plan(&rover, &tiers, &board, Boot::default()),
        latch: Latch::new(1, None),
        clock: clock.clone(),
        sink: facts.clone(),
        inside: Box::new(|_| true),
        speed_ceiling_mps: None,
        spine: Arc::new(AtomicU64::new(0)),
    });
    let ports = Ports {
        clock,
        facts: facts.clone(),
        robot: parts.bridge.clone(),
        human: Arc::new(crate::terms::Nobody),
        elevations: Arc::new(crate::terms::NoElevations),
    };
    let tools = describe(&rover, &rules);
    Kit {
        builder: robot_tools(CatalogBuilder::new(), &tools, &rules, &parts.bridge),
        executor: Executor::new(ports, Pace::new(&rules)),
        parts,
        facts,
    }
}

fn view(builder: CatalogBuilder, ceiling: Tier) -> Arc<ToolView> {
    let catalog = builder.build().unwrap_or_else(|faults| panic!("{faults}"));
    catalog.view(&PolicyStack::root(ceiling))
}

fn turn(view: Arc<ToolView>) -> Turn {
    Turn {
        view,
        origin: CallOrigin::Model,
        by: None,
        person_stops: 0,
        questions: Questions::default(),
        cancel: CancellationToken::new(),
        repeats: Repeats::default(),
    }
}

fn call(tool: &str, args: Value) -> Call {
    Call {
        id: "c".to_owned(),
        tool: tool.to_owned(),
        args,
    }
}

fn data(input: Input, payload: &Value) -> WireEvent {
    WireEvent::Data {
        input,
        text: Some(payload.to_string()),
    }
}

#[test]
fn case_03_the_rover_at_observe_shows_its_observe_tools_and_its_stops() {
    let view = view(kit().builder, Tier::Observe);
    let names: Vec<&str> = view.specs().iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "robot_capabilities",
            "robot_estop",
            "robot_state",
            "rover_get_pose",
            "rover_stop",
            "safety_events",
        ]
    );
    let hidden: u32 = view.hidden().iter().map(|hidden| hidden.count).sum();
    assert_eq!(hidden, 4);
}

#[test]
fn what_moves_or_configures_the_rover_runs_alone_on_it() {
    let view = view(kit().builder, Tier::EmergencyOverride);
    for judged in view.tools() {
        let tool = judged.entry.descriptor();
        let actuates = matches!(tool.effect, Effect::Actuate { .. });
        let alone = tool.access == Access::Exclusive("rover-sim".into());
        assert_eq!(actuates, alone, "{}", tool.name);
        assert!(tool.rule.is_some(), "{}", tool.name);
    }
    let actuating = view.actuating();
    let names: Vec<&str> = actuating.iter().map(|name| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "robot_release_control",
            "rover_go_to_pose",
            "rover_gripper_set",
            "rover_set_velocity",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn the_state_is_a_failure_before_the_first_and_told_with_its_age_after() {
    let mut kit = kit();
    let turn = turn(view(kit.builder, Tier::Observe));
    let ask = || kit.executor.call(&turn, call("robot_state", json!({})));
    assert_eq!(ask().await.outcome.label(), "failed");
    let state = json!({
        "robot_id": "rover-sim-001", "seq": 1, "nav_status": "idle",
        "pose": { "position": [0.5, 0.0, 0.0] }, "speed": 0.0,
    });
    let before = Mono::from_ms(4_800);
    kit.parts.inbox.handle(data(Input::State, &state), before);
    let Outcome::Done { text, .. } = ask().await.outcome else {
        panic!("no state");
    };
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(told.pointer("/age_ms"), Some(&json!(200)));
    assert_eq!(told.pointer("/run_state"), Some(&json!("boot")));
    assert_eq!(told.pointer("/state/nav_status"), Some(&json!("idle")));
}

#[tokio::test(start_paused = true)]
async fn safety_events_are_told_above_the_number_that_was_asked_for() {
    let mut kit = kit();
    let turn = turn(view(kit.builder, Tier::Observe));
    for seq in 1..=3 {
        let event = json!({ "robot_id": "rover-sim-001", "seq": seq, "kind": "bump" });
        kit.parts
            .inbox
            .handle(data(Input::SafetyEvent, &event), NOW);
    }
    let ask = call("safety_events", json!({ "since": 1 }));
    let Outcome::Done { text, .. } = kit.executor.call(&turn, ask).await.outcome else {
        panic!("no events");
    };
    let told: Value = serde_json::from_str(&text).unwrap();
    let events = told.get("events").and_then(Value::as_array).unwrap();
    let numbers: Vec<&Value> = events.iter().filter_map(|event| event.get("seq")).collect();
    assert_eq!(numbers, [&json!(2), &json!(3)]);
}

#[tokio::test(start_paused = true)]
async fn case_04_a_tool_above_the_tier_is_refused_and_nothing_waits_to_be_sent() {
    let kit = kit();
    let turn = turn(view(kit.builder, Tier::SafeMotion));
    let open = json!({ "opening": 0.05, "force": 10.0 });
    let report = kit
        .executor
        .call(&turn, call("rover_gripper_set", open))
        .await;
    let reason = report.outcome.refusal().map(|refusal| refusal.reason);
    assert_eq!(reason, Some(Reason::RobotTierGate));
    assert_eq!(kit.parts.bridge.commands_waiting(), 0);
    let facts = kit.facts.0.lock().unwrap();
    let refused = facts
        .iter()
        .filter(|fact| matches!(fact, Fact::Refused { .. }));
    assert_eq!((refused.count(), facts.len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_stop_tool_sets_the_latch_word() {
    let kit = kit();
    let turn = turn(view(kit.builder, Tier::Observe));
    let epoch = kit.parts.links.latch.word().epoch;
    let report = kit
        .executor
        .call(&turn, call("rover_stop", json!({ "why": "surplus" })))
        .await;
    assert_eq!(report.outcome.label(), "stop");
    let word = kit.parts.links.latch.word();
    assert!(word.stop && !word.estop);
    assert_eq!(word.epoch, epoch + 1);
}
