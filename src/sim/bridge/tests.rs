//! Runs of runtime and robot together. Times are virtual and exact.

use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use serde_json::json;

use super::*;
use crate::arguments::Schema;
use crate::config::{Board, EffectWord, RobotFile, load_robot};
use crate::gate::{Admission, Limited, Pace, Permit, RobotRules, StepBase, Subject, admit};
use crate::robot::{Ids, MotionEnd, Setup, assemble, safety_plan, speed_ceiling_mps};
use crate::safety::{Boot, Latch, Order};
use crate::sim::{
    Dialect, Fate, FateRule, JournalEntry, Vendor, VendorPlan, VerbClass, VirtualClock, Way,
};
use crate::terms::{
    Access, Budget, Clock, Descriptor, Device, Effect, Fact, FactSink, Motion, Output, Reason,
    Refusal, RobotId, RobotPort as _, RunState, StopCause, StopKind, Tier, ToolError, ToolName,
};

/// The step of these runs, ms.
const STEP_MS: u64 = 5;

#[derive(Debug, Default)]
struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// Whether the agent goes on: the spine counts, the call is polled.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Agent {
    Works,
    Frozen,
}

struct Stage {
    mock: MockBridge,
    clock: VirtualClock,
    facts: Arc<Facts>,
    spine: Arc<AtomicU64>,
    rules: Arc<RobotRules>,
    pace: Pace,
    file: Arc<RobotFile>,
    journal: Vec<JournalEntry>,
    calls: u64,
}

fn vendor(seed: u64, now: Mono) -> Vendor {
    let plan = VendorPlan {
        robot_id: RobotId::parse("rover-sim-001").unwrap(),
        dialect: Dialect::rover(),
        seed,
        home: [0.0, 0.0],
        pid: 9,
        wall_at_zero: VirtualClock::wall_at_zero(),
    };
    Vendor::new(plan, now)
}

impl Stage {
    fn new(seed: u64, fate: FateRule) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (tiers, file) = load_robot(&root.join("tiers"), "rover-sim").unwrap();
        let board = Board::load(&root.join("boards"), "sim").unwrap();
        let rules = RobotRules::compile(&file, &tiers).unwrap();
        let file = Arc::new(file);
        let clock = VirtualClock::default();
        clock.go_to(Mono::from_ms(1000));
        let (facts, spine) = (Arc::new(Facts::default()), Arc::new(AtomicU64::new(0)));
        let parts = assemble(Setup {
            robot: file.clone(),
            id: RobotId::parse("rover-sim-001").unwrap(),
            ids: Ids::seeded(seed),
            plan: safety_plan(&file, &tiers, &board, Boot::default()),
            latch: Latch::new(1, None),
            clock: Arc::new(clock.clone()),
            sink: facts.clone(),
            inside: Box::new(|_| true),
            speed_ceiling_mps: speed_ceiling_mps(&file, &tiers, file.max_tier),
            spine: spine.clone(),
        });
        let link = crate::sim::MockRobot::new(vendor(seed, clock.now()), fate);
        let rhythm = Rhythm {
            clock: clock.clone(),
            step_ms: STEP_MS,
            sink: facts.clone(),
        };
        Self {
            mock: MockBridge::new(parts, link, rhythm),
            clock,
            facts,
            spine,
            pace: Pace::new(&rules),
            rules,
            file,
            journal: Vec::new(),
            calls: 0,
        }
    }

    /// A stage whose robot is known and armed.
    fn armed(seed: u64, fate: FateRule) -> Self {
        let mut stage = Self::new(seed, fate);
        stage.wait(500);
        let seq = stage
            .mock
            .orders()
            .submit(Order::Arm { for_ms: 60_000 })
            .unwrap();
        stage.wait(20);
        let failed = stage.mock.orders().result(seq).unwrap();
        assert!(failed.is_none(), "{failed:?}");
        stage
    }

    fn step(&mut self, agent: Agent) {
        if agent == Agent::Works {
            self.spine.fetch_add(1, Ordering::SeqCst);
        }
        let next = self.clock.now().plus_ms(STEP_MS);
        self.mock.advance_to(next);
        self.journal
            .extend(self.mock.robot().vendor().journal().take());
    }

    fn wait(&mut self, ms: u64) {
        (0..ms / STEP_MS).for_each(|_| self.step(Agent::Works));
    }

    /// The permit of a call that the gate grants.
    fn permit(&mut self, name: &str, args: &serde_json::Value) -> Permit {
        self.ask(name, args).unwrap()
    }

    /// What the gate makes of a call.
    fn ask(&mut self, name: &str, args: &serde_json::Value) -> Result<Permit, Refusal> {
        let index = self
            .file
            .tools
            .iter()
            .position(|tool| tool.name.as_str() == name)
            .unwrap();
        let tool = &self.file.tools[index];
        let rules = self.rules.clone();
        let rules = rules.tool(u16::try_from(index).unwrap()).unwrap();
        let motion = if tool.effect == EffectWord::Hold {
            Motion::Hold
        } else {
            Motion::Move
        };
        let descriptor = Descriptor {
            name: ToolName::parse(name).unwrap(),
            description: Arc::from(""),
            schema: rules.schema_value().clone(),
            effect: Effect::Actuate {
                tier: tool.tier.unwrap(),
                device: Device::new(&tool.device),
                motion,
            },
            access: Access::Shared,
            budget: Budget::of_ms(u64::from(tool.timeout_ms)),
            rule: Some(tool.rule.clone()),
        };
        let schema = Schema::compile(rules.schema_value()).unwrap();
        let args = schema.check(name, args).unwrap();
        let limited: Limited = rules.limit(args, &StepBase::at_rest()).unwrap();
        self.calls += 1;
        let ask = Admission {
            subject: Subject::of(&descriptor, Some(rules)).unwrap(),
            args: &limited,
            call: self.calls,
            effective: Tier::SafeMotion,
            elevation: None,
        };
        let posture = self.mock.bridge().posture();
        let mut grant = admit(ask, &posture, &mut self.pace)?;
        Ok(grant.take_permit().unwrap())
    }

    /// Runs a motion to its end, at most 30 s; `during` is asked at each step how the agent does.
    fn drive(
        &mut self,
        name: &str,
        args: serde_json::Value,
        mut during: impl FnMut(&mut Self) -> Agent,
    ) -> Option<Result<MotionEnd, ToolError>> {
        let permit = self.permit(name, &args);
        let bridge = self.mock.bridge().clone();
        let mut params = args.as_object().unwrap().clone();
        params.insert("control_source".to_owned(), json!("octos-edge"));
        let mut motion = pin!(bridge.motion(permit, &params));
        let mut cx = Context::from_waker(Waker::noop());
        for _ in 0..30_000 / STEP_MS {
            let agent = during(self);
            if agent == Agent::Works
                && let Poll::Ready(end) = motion.as_mut().poll(&mut cx)
            {
                return Some(end);
            }
            self.step(agent);
        }
        None
    }

    fn facts(&self) -> Vec<Fact> {
        self.facts.0.lock().unwrap().clone()
    }

    fn stop_causes(&self) -> Vec<StopCause> {
        let mut causes = Vec::new();
        for fact in self.facts() {
            if let Fact::StopBegun { cause, .. } = fact {
                causes.push(cause);
            }
        }
        causes
    }

    /// The classes of the verbs that reached the robot and were not heartbeats or reads.
    fn reached(&self) -> Vec<VerbClass> {
        let mut classes = Vec::new();
        for entry in &self.journal {
            if let JournalEntry::Verb { class, .. } = entry
                && *class != VerbClass::Other
            {
                classes.push(*class);
            }
        }
        classes
    }

    /// From `since` to the last time that the robot came to rest, ms.
    fn rested_after(&self, since: Mono) -> u64 {
        let mut entries = self.journal.iter().rev();
        let rest = entries.find(|entry| matches!(entry, JournalEntry::Rest { .. }));
        rest.unwrap().t_ms().saturating_sub(since.as_ms())
    }

    fn x(&mut self) -> f64 {
        self.mock.robot().vendor().rover().placement().x
    }

    fn rests(&mut self) -> bool {
        self.mock.robot().vendor().rover().is_at_rest()
    }

    fn run(&self) -> RunState {
        self.mock.links().shared.run()
    }
}

fn to(x: f64) -> serde_json::Value {
    json!({ "x": x, "y": 0.0 })
}

const GO: &str = "rover_go_to_pose";

#[test]
fn a_drive_arrives_under_heartbeats_and_control_is_released() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let end = stage.drive(GO, to(1.0), |_| Agent::Works).unwrap();
    assert!(matches!(end, Ok(MotionEnd::Arrived { .. })), "{end:?}");
    stage.wait(2000);
    assert!((stage.x() - 1.0).abs() < 0.06);
    assert_eq!(stage.reached(), [VerbClass::Motion]);
    assert_eq!(stage.run(), RunState::Armed);
    let facts = stage.facts();
    assert!(facts.contains(&Fact::Heartbeat));
    assert!(facts.contains(&Fact::Released));
    assert!(
        !stage
            .journal
            .iter()
            .any(|e| matches!(e, JournalEntry::DeadMan { .. }))
    );
}

#[test]
fn a_hold_repeats_until_its_time_is_over_and_then_stops() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let args = json!({ "linear": 0.2, "angular": 0.0 });
    let end = stage
        .drive("rover_set_velocity", args, |_| Agent::Works)
        .unwrap();
    assert_eq!(end, Ok(MotionEnd::Expired));
    let motions = stage
        .reached()
        .iter()
        .filter(|c| **c == VerbClass::Motion)
        .count();
    assert!((14..=16).contains(&motions), "{motions}");
    assert_eq!(stage.stop_causes(), [StopCause::Deadline]);
    assert!(stage.rests());
    assert!((0.4..0.7).contains(&stage.x()), "{}", stage.x());
}

#[test]
fn a_stop_halts_the_robot_and_no_motion_follows_it() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut asked = None;
    let end = stage.drive(GO, to(1.5), |stage| {
        if asked.is_none() && stage.x() > 0.8 {
            let by = Some("ann");
            stage
                .mock
                .bridge()
                .stop(StopKind::Stop, StopCause::OperatorStop, by);
            asked = Some(stage.clock.now());
        }
        Agent::Works
    });
    assert!(matches!(end, Some(Err(_))), "{end:?}");
    assert!(stage.rests());
    assert!(stage.clock.now().ms_since(asked.unwrap()) < 500);
    let reached = stage.reached();
    let stop = reached.iter().position(|c| *c == VerbClass::Stop).unwrap();
    assert!(!reached[stop..].contains(&VerbClass::Motion));
    assert_eq!(stage.stop_causes(), [StopCause::OperatorStop]);
    assert_eq!(stage.run(), RunState::Armed);
}

#[test]
fn lost_stop_verbs_are_repeated_until_the_robot_rests() {
    let mut lost = 0;
    let fate = FateRule::new(move |way, text| {
        let is_stop = way == Way::ToRobot && text.contains("rover.stop");
        if is_stop && lost < 2 {
            lost += 1;
            return Fate::Lost;
        }
        Fate::Arrives
    });
    let mut stage = Stage::armed(7, fate);
    stage.drive(GO, to(1.5), |stage| {
        if stage.x() > 0.3 && stage.stop_causes().is_empty() {
            stage
                .mock
                .bridge()
                .stop(StopKind::Stop, StopCause::OperatorStop, None);
        }
        Agent::Works
    });
    assert!(stage.rests());
    let sent = |fact: &Fact| matches!(fact, Fact::StopVerb { .. });
    assert!(stage.facts().iter().filter(|fact| sent(fact)).count() >= 3);
}

#[test]
fn a_frozen_agent_lets_the_lease_run_out_and_the_robot_rests() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut frozen_at = None;
    let end = stage.drive(GO, to(1.5), |stage| {
        if frozen_at.is_none() && stage.x() > 0.3 {
            frozen_at = Some(stage.clock.now());
        }
        match frozen_at {
            Some(at) if stage.clock.now().ms_since(at) < 3000 => Agent::Frozen,
            Some(_) | None => Agent::Works,
        }
    });
    assert!(matches!(end, Some(Err(_))), "{end:?}");
    assert!(stage.rests());
    assert!(stage.stop_causes().contains(&StopCause::LeaseLost));
    // The tier's lease is lost after 1500 ms without progress; then the rover brakes.
    assert!(stage.rested_after(frozen_at.unwrap()) <= 1500 + 200);
}

#[test]
fn a_frozen_process_is_stopped_by_the_dead_man_and_nothing_leaves_after_the_thaw() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let permit = stage.permit(GO, &to(1.5));
    let bridge = stage.mock.bridge().clone();
    let params = json!({ "x": 1.5, "y": 0.0, "control_source": "octos-edge" });
    let mut motion = pin!(bridge.motion(permit, params.as_object().unwrap()));
    let mut cx = Context::from_waker(Waker::noop());
    while stage.x() < 0.3 {
        assert!(motion.as_mut().poll(&mut cx).is_pending());
        stage.step(Agent::Works);
    }
    let frozen_at = stage.clock.now();
    for _ in 0..3000 / STEP_MS {
        let now = stage.clock.now().plus_ms(STEP_MS);
        stage.clock.go_to(now);
        // What the robot says meanwhile is lost, as in a queue that keeps the newest only.
        drop(stage.mock.robot().poll(now));
    }
    while motion.as_mut().poll(&mut cx).is_pending() {
        stage.step(Agent::Works);
    }
    stage.wait(500);
    assert!(
        stage
            .journal
            .iter()
            .any(|e| matches!(e, JournalEntry::DeadMan { .. }))
    );
    assert!(stage.rested_after(frozen_at) <= u64::from(stage.file.deadman.fixed_ms) + 10 + 200);
    let motions = stage
        .reached()
        .iter()
        .filter(|c| **c == VerbClass::Motion)
        .count();
    assert_eq!(motions, 1);
    assert_eq!(stage.run(), RunState::Latched);
}

#[test]
fn a_dropped_call_stops_the_robot() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let permit = stage.permit(GO, &to(1.5));
    let bridge = stage.mock.bridge().clone();
    let params = json!({ "x": 1.5, "y": 0.0, "control_source": "octos-edge" });
    {
        let mut motion = pin!(bridge.motion(permit, params.as_object().unwrap()));
        let mut cx = Context::from_waker(Waker::noop());
        while stage.x() < 0.3 {
            assert!(motion.as_mut().poll(&mut cx).is_pending());
            stage.step(Agent::Works);
        }
    }
    stage.wait(1500);
    assert!(stage.rests());
    assert!(stage.x() < 0.6);
}

#[test]
fn a_robot_whose_states_are_lost_is_stopped() {
    let mut seen = 0;
    let fate = FateRule::new(move |way, _| {
        seen += u32::from(way == Way::FromRobot(Output::State));
        if way == Way::FromRobot(Output::State) && seen > 20 {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    let mut stage = Stage::armed(7, fate);
    stage.drive(GO, to(1.5), |_| Agent::Works);
    assert!(stage.rests());
    let causes = stage.stop_causes();
    let expected = [StopCause::StaleState, StopCause::LeaseLost];
    assert!(
        causes.iter().any(|cause| expected.contains(cause)),
        "{causes:?}"
    );
}

#[test]
fn control_given_away_by_a_stranger_while_moving_is_a_fault() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut done = false;
    stage.drive(GO, to(1.5), |stage| {
        if !done && stage.x() > 0.3 {
            done = true;
            let request = json!({
                "verb": "robot.release_control", "target": "rover-sim-001",
                "request_id": "stranger", "params": { "control_source": "stranger" },
            });
            let now = stage.clock.now();
            stage
                .mock
                .robot()
                .vendor()
                .handle(&request.to_string(), now);
        }
        Agent::Works
    });
    assert!(stage.rests());
    assert!(stage.stop_causes().contains(&StopCause::VendorEvent));
}

#[test]
fn equal_seeds_give_equal_runs() {
    let run = |seed| {
        let mut stage = Stage::armed(seed, FateRule::lossy(seed, 20));
        stage.drive(GO, to(0.8), |_| Agent::Works);
        (stage.journal, stage.facts.0.lock().unwrap().clone())
    };
    assert!(run(7) == run(7));
    assert!(run(7) != run(8));
}

impl Stage {
    /// How often the loss of the timer and its return were told.
    fn timer_told(&self) -> (usize, usize) {
        let facts = self.facts();
        let count = |wanted: fn(&Fact) -> bool| facts.iter().filter(|f| wanted(f)).count();
        (
            count(|f| matches!(f, Fact::GraphSilent { .. })),
            count(|f| matches!(f, Fact::GraphBack { .. })),
        )
    }

    fn lose_ticks(&mut self, for_ms: u32) {
        self.mock.suffer(&FaultAct::LostGraphTicks { for_ms });
    }
}

#[test]
fn case_38_three_missed_ticks_refuse_motion_until_ten_seconds_of_ticks_and_a_stop_still_works() {
    // Begins at 1 s and ticks at each further second.
    let mut stage = Stage::armed(7, FateRule::perfect());
    let until = |stage: &mut Stage, ms: u64| {
        while stage.clock.now() < Mono::from_ms(ms) {
            stage.step(Agent::Works);
        }
    };
    until(&mut stage, 3_010);
    stage.lose_ticks(4_000); // until 7010: 4, 5, 6 and 7 s are lost
    until(&mut stage, 6_000);
    assert!(
        stage.ask(GO, &to(0.5)).is_ok(),
        "two are missed, one is due"
    );
    assert_eq!(stage.timer_told(), (0, 0));

    until(&mut stage, 6_020);
    let sent = stage.reached();
    let refusal = stage.ask(GO, &to(0.5)).unwrap_err();
    assert_eq!(refusal.reason, Reason::Interlock, "{refusal}");
    assert!(refusal.detail.contains("stood still for 3 s"), "{refusal}");
    let seq = stage
        .mock
        .orders()
        .submit(Order::Arm { for_ms: 60_000 })
        .unwrap();
    stage.wait(20);
    let failed = stage.mock.orders().result(seq).unwrap();
    assert!(failed.has(crate::safety::FailedChecks::GRAPH_TIMER));

    let (kind, cause) = (StopKind::Stop, StopCause::OperatorStop);
    stage.mock.bridge().stop(kind, cause, Some("ann"));
    stage.wait(300);
    assert_eq!(stage.stop_causes(), [cause]);
    assert!(stage.reached().contains(&VerbClass::Stop));
    assert!(!stage.reached()[sent.len()..].contains(&VerbClass::Motion));
    assert_eq!(stage.run(), RunState::Armed, "and nothing else ended it");

    // The first tick comes at 8 s.
    until(&mut stage, 17_990);
    assert!(stage.ask(GO, &to(0.5)).is_err(), "nine seconds of ticks");
    assert_eq!(stage.timer_told(), (1, 0));
    until(&mut stage, 18_020);
    assert!(stage.ask(GO, &to(0.5)).is_ok());
    assert_eq!(stage.timer_told(), (1, 1), "each is told once");
}

#[test]
fn case_38_a_move_under_way_ends_well_without_ticks() {
    let mut stage = Stage::armed(7, FateRule::perfect());
    let mut lost = false;
    let end = stage.drive(GO, to(1.5), |stage| {
        if !lost && stage.x() > 0.1 {
            lost = true;
            stage.lose_ticks(60_000);
        }
        Agent::Works
    });
    assert!(
        matches!(end, Some(Ok(MotionEnd::Arrived { .. }))),
        "{end:?}"
    );
    assert_eq!(stage.timer_told(), (1, 0));
    assert!(stage.stop_causes().is_empty());
    let refusal = stage.ask(GO, &to(0.5)).unwrap_err();
    assert_eq!(refusal.reason, Reason::Interlock);
}
