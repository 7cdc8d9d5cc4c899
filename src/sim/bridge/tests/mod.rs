//! Runs of runtime and robot together. Times are virtual and exact.

mod runs;
mod timer;

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
use crate::safety::{Boot, FailedChecks, Latch, Order};
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
        let failed = stage.arm();
        assert!(failed.is_none(), "{failed:?}");
        stage
    }

    /// Has an operator arm; returns the checks that failed.
    fn arm(&mut self) -> FailedChecks {
        let order = Order::Arm { for_ms: 60_000 };
        let seq = self.mock.orders().submit(order).unwrap();
        self.wait(20);
        self.mock.orders().result(seq).unwrap()
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
