//! From the queue of commands to the hand-over nothing is allocated, and nothing when a call is
//! decided: proved by an allocator that ends the process when something is.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime};

use assert_no_alloc::{AllocDisabler, assert_no_alloc};
use octos_edge::arguments::{Schema, measure};
use octos_edge::config::{Board, PolicyFile, RobotFile, Tiers};
use octos_edge::gate::{
    Admission, Lift, Pace, Permit, PolicyStack, RobotRules, Subject, Verdict, admit,
};
use octos_edge::robot::{
    Ids, MotionEnd, Parts, Setup, assemble, describe, safety_plan, speed_ceiling_mps,
};
use octos_edge::safety::{Boot, Latch, Links, Opening, Order};
use octos_edge::terms::{
    Clock, Descriptor, ElevationEnd, ElevationId, ElevationPort, Fact, FactSink, Input, Mono,
    Output, Posture, Raised, RobotId, RobotPort, StopCause, StopKind, Tier, ToolError, Wire,
    WireError, WireEvent,
};
use serde_json::{Map, Value, json};

#[global_allocator]
static ALLOCATOR: AllocDisabler = AllocDisabler;

const TICKS: u64 = 100_000;

#[derive(Debug)]
struct VirtualClock(AtomicU64);

impl Clock for VirtualClock {
    fn now(&self) -> Mono {
        Mono::from_ms(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(self.0.load(Ordering::SeqCst))
    }
}

#[derive(Debug)]
struct Nowhere;

impl FactSink for Nowhere {
    fn raise(&self, _: Fact) {}
}

/// The Elevations of the robot at one moment.
#[derive(Debug)]
struct At(Links, Mono);

impl At {
    fn open(&self) -> ElevationId {
        let opening = Opening {
            tier: Tier::FullActuation,
            calls: 1,
            until: self.1.plus_ms(60_000),
            falls: self.0.latch.falls(),
        };
        self.0.shared.elevations.open(opening).unwrap()
    }
}

impl ElevationPort for At {
    fn look(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let at = (self.1, self.0.latch.falls());
        self.0.shared.elevations.look(id, at)
    }

    fn take(&self, id: ElevationId) -> Result<Raised, ElevationEnd> {
        let at = (self.1, self.0.latch.falls());
        self.0.shared.elevations.take(id, at)
    }

    fn used(&self, _: Raised, _: &str, _: &str) {}

    fn give_back(&self, id: ElevationId) {
        self.0.shared.elevations.give_back(id);
    }
}

/// Counts what leaves, by a word of its verb.
#[derive(Debug, Default)]
struct Counts {
    stops: u64,
    beats: u64,
    moves: u64,
    all: u64,
}

impl Wire for Counts {
    fn send(&mut self, _: Output, payload: &str, _: Option<&str>) -> Result<(), WireError> {
        self.all += 1;
        self.stops += u64::from(payload.contains(".stop\"") || payload.contains("robot.estop"));
        self.beats += u64::from(payload.contains("robot.heartbeat"));
        self.moves += u64::from(payload.contains("set_velocity"));
        Ok(())
    }
}

fn tiers() -> Tiers {
    Tiers::parse([
        include_str!("../tiers/observe.toml"),
        include_str!("../tiers/safe_motion.toml"),
        include_str!("../tiers/full_actuation.toml"),
        include_str!("../tiers/emergency_override.toml"),
    ])
    .unwrap()
}

fn parts(clock: &Arc<VirtualClock>, spine: &Arc<AtomicU64>) -> (Parts, Gate) {
    let tiers = tiers();
    let rover = include_str!("../tiers/robots/rover-sim.toml");
    let robot = RobotFile::parse("rover-sim.toml", rover, &tiers).unwrap();
    let board = Board::parse("sim.toml", include_str!("../boards/sim.toml")).unwrap();
    let gate = Gate::of(&robot, &tiers, "rover_set_velocity");
    let parts = assemble(Setup {
        plan: safety_plan(&robot, &tiers, &board, Boot::default()),
        speed_ceiling_mps: speed_ceiling_mps(&robot, &tiers, robot.max_tier),
        robot: Arc::new(robot),
        id: RobotId::parse("rover-1").unwrap(),
        ids: Ids::seeded(1),
        latch: Latch::new(0, None),
        clock: clock.clone(),
        sink: Arc::new(Nowhere),
        inside: Box::new(|_| true),
        spine: spine.clone(),
    });
    (parts, gate)
}

fn state(parts: &mut Parts, seq: u64, moving: bool, now: Mono) {
    let status = if moving { "following" } else { "idle" };
    let speed = if moving { 0.1 } else { 0.0 };
    let text = format!(
        "{{\"seq\":{seq},\"pose\":{{\"position\":[0,0]}},\"speed\":{speed},\"nav_status\":\"{status}\"}}"
    );
    let event = WireEvent::Data {
        input: Input::State,
        text: Some(text),
    };
    parts.inbox.handle(event, now);
}

/// The way of a call through the real gate: nothing else can make a permit.
struct Gate {
    rules: Arc<RobotRules>,
    tool: Descriptor,
    schema: Schema,
    index: u16,
}

impl Gate {
    fn of(robot: &RobotFile, tiers: &Tiers, name: &str) -> Self {
        let rules = RobotRules::compile(robot, tiers).unwrap();
        let all = describe(robot, &rules);
        let tool = all.into_iter().find(|d| d.descriptor.name.as_str() == name);
        let tool = tool.unwrap();
        let schema = Schema::compile(rules.tool(tool.index).unwrap().schema_value()).unwrap();
        Self {
            rules,
            index: tool.index,
            tool: tool.descriptor,
            schema,
        }
    }

    /// Permits one call, without the memory of a rate: this test drives more often than a minute
    /// permits. `None` when the robot, as it stands, admits none.
    fn permit(
        &self,
        args: &Value,
        call: u64,
        (now, elevation): (&Posture, Option<Lift<'_>>),
    ) -> Option<(Permit, Map<String, Value>)> {
        let rules = self.rules.tool(self.index).unwrap();
        let mut pace = Pace::new(&self.rules);
        let args = self.schema.check("t", args).unwrap();
        let args = rules.limit(args, &pace.base(rules, now.epoch)).unwrap();
        let ask = Admission {
            subject: Subject::of(&self.tool, Some(rules)).unwrap(),
            args: &args,
            call,
            effective: Tier::SafeMotion,
            elevation,
        };
        let mut grant = admit(ask, now, &mut pace).ok()?;
        Some((grant.take_permit()?, rules.params(args.args().as_map())))
    }
}

type Motion = Pin<Box<dyn Future<Output = Result<MotionEnd, ToolError>>>>;

fn poll(motion: &mut Option<Motion>) {
    let mut cx = Context::from_waker(Waker::noop());
    if motion
        .as_mut()
        .is_some_and(|m| m.as_mut().poll(&mut cx).is_ready())
    {
        *motion = None;
    }
}

/// Ends what moves, each second in another way.
fn halt(parts: &Parts, tick: u64, (motion, raised): (&mut Option<Motion>, Option<ElevationId>)) {
    let stop = |kind, cause| {
        parts.bridge.stop(kind, cause, None);
    };
    match tick % 300 {
        50 => stop(StopKind::Stop, StopCause::Workspace),
        150 => stop(StopKind::Estop, StopCause::ModelStop),
        _ if tick % 600 == 250 => *motion = None,
        _ => raised.into_iter().for_each(|id| {
            parts.links.shared.elevations.let_go(id);
        }),
    }
}

/// Each second of the virtual clock: a hold begins, is repeated, and is ended by a stop, an estop
/// with a reset, or the loss of its future; states come at 20 Hz, ticks at 100 Hz. Each call runs under an
/// Elevation of its own, which ends with it, or before it when its operator goes.
#[test]
fn case_45_nothing_is_allocated_between_the_queues_and_the_wire() {
    let clock = Arc::new(VirtualClock(AtomicU64::new(1_000)));
    let spine = Arc::new(AtomicU64::new(0));
    let (mut parts, gate) = parts(&clock, &spine);
    let advert = "{\"robot_id\":\"rover-1\",\"heartbeat_timeout_ms\":300,\"commands\":[]}";
    let event = WireEvent::Data {
        input: Input::Capabilities,
        text: Some(advert.to_owned()),
    };
    parts.inbox.handle(event, clock.now());
    let args = json!({ "linear": 0.1, "angular": 0.0 });
    let mut wire = Counts::default();
    let mut motion: Option<Motion> = None;
    let mut moving = false;
    let mut raised: Option<ElevationId> = None;
    for tick in 0..TICKS {
        clock.0.fetch_add(10, Ordering::SeqCst);
        let now = clock.now();
        if tick % 5 == 0 {
            state(&mut parts, tick + 1, moving, now);
        }
        match tick % 100 {
            1 => drop(parts.orders.submit(Order::Disarm)),
            2 => drop(parts.orders.submit(Order::Reset)),
            8 => drop(parts.orders.submit(Order::Arm { for_ms: 60_000 })),
            10 => {
                let bridge = parts.bridge.clone();
                let at = At(parts.links.clone(), now);
                let id = at.open();
                raised = Some(id);
                let lift = Lift { id, port: &at };
                let permitted = gate.permit(&args, tick, (&bridge.posture(), Some(lift)));
                motion = permitted.map(|(permit, params)| {
                    let life = async move { bridge.motion(permit, &params).await };
                    Box::pin(life) as Motion
                });
                moving = motion.is_some();
            }
            50 => halt(&parts, tick, (&mut motion, raised)),
            52 => moving = false,
            95 => {
                if let Some(id) = raised.take() {
                    parts.links.shared.elevations.give_back(id);
                    parts.links.shared.elevations.let_go(id);
                }
            }
            _ => {}
        }
        spine.fetch_add(1, Ordering::SeqCst);
        parts.pulse.beat(now);
        poll(&mut motion);
        let (safety, outbox) = (&mut parts.safety, &mut parts.outbox);
        assert_no_alloc(|| {
            safety.step(now);
            outbox.step(&mut wire);
        });
        parts.events.drain(|_| {});
    }
    // Every second moved, beat and stopped: the proof is about something.
    let seconds = TICKS / 100;
    assert!(wire.moves >= seconds && wire.beats >= seconds, "{wire:?}");
    assert!(wire.stops >= seconds && wire.all > 3 * seconds, "{wire:?}");
}

/// Arguments are measured where they lie: nobody serialises a megabyte to learn that it is one.
#[test]
fn kernel_case_17_measuring_arguments_allocates_nothing() {
    let most = 1_048_576;
    let frame = json!({ "text": "", "more": [1, 2.5, null] })
        .to_string()
        .len();
    let args = |bytes: usize| json!({ "text": "x".repeat(bytes - frame), "more": [1, 2.5, null] });
    let (fits, exceeds) = (args(most), args(most + 1));
    assert_no_alloc(|| {
        assert_eq!(measure(&fits, most), Ok(most));
        assert!(measure(&exceeds, most).is_err());
    });
}

/// A refusal is worded, which needs memory; what is permitted, and every stop, needs none.
#[test]
fn deciding_on_a_permitted_tool_allocates_nothing() {
    let tiers = tiers();
    let rover = include_str!("../tiers/robots/rover-sim.toml");
    let robot = RobotFile::parse("rover-sim.toml", rover, &tiers).unwrap();
    let policy = "schema = 1\n[policy]\nallow = [\"group:robot:safe_motion\"]\ndeny = [\"rover_go_to_pose\"]";
    let policy = PolicyFile::parse("octos-edge.toml", policy).unwrap();
    let root = PolicyStack::root(robot.max_tier).ask(&tiers);
    let stack = (0..5).fold(root, |stack, _| stack.layer(&policy.layer));
    let rules = RobotRules::compile(&robot, &tiers).unwrap();
    let mut permitted = 0;
    for tool in describe(&robot, &rules) {
        let tool = tool.descriptor;
        if stack.decide(&tool) == Verdict::Allow {
            permitted += 1;
            assert_no_alloc(|| drop(stack.decide(&tool)));
        }
    }
    assert_eq!(permitted, 7, "the drive, four reads and two stops");
}
