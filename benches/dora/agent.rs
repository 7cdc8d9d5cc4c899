//! Our side: a node's parts with their threads, and a reading tool called through the executor.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;
use octos_edge::catalog::CatalogBuilder;
use octos_edge::config::{Board, RobotFile, Tiers};
use octos_edge::executor::{Executor, Ports, Questions, Repeats, Turn};
use octos_edge::gate::{Pace, PolicyStack, RobotRules};
use octos_edge::node::{Attached, Needs, attach};
use octos_edge::robot::{
    Bridge, Heard, Ids, Setup, assemble, describe, safety_plan, speed_ceiling_mps,
};
use octos_edge::safety::{Boot, Latch, run_safety};
use octos_edge::sim::{Dialect, Vendor, VendorPlan};
use octos_edge::terms::{
    Call, CallOrigin, Clock, Fact, FactSink, Input, Mono, Nobody, Outcome, PeerEvent, Posture,
    RobotId, RobotPort, StopCause, StopKind, Wire as _, WireEvent,
};
use octos_edge::tools::robot::robot_tools;
use tokio_util::sync::CancellationToken;

use crate::common::sample::us;
use crate::{TRIPS, WARM};

const ROBOT_ID: &str = "rover-1";
const TOOL: &str = "rover_get_pose";

#[derive(Debug)]
struct RealClock(Instant);

impl Clock for RealClock {
    fn now(&self) -> Mono {
        Mono::from_ns(u64::try_from(self.0.elapsed().as_nanos()).unwrap()).plus_ms(1_000)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

#[derive(Debug)]
struct Nowhere;

impl FactSink for Nowhere {
    fn raise(&self, _: Fact) {}
}

/// The bridge under a time in which a minute passes between two calls, so that no rate is spent.
#[derive(Debug)]
struct Patient {
    bridge: Arc<Bridge>,
    asked: AtomicU64,
}

impl RobotPort for Patient {
    fn posture(&self) -> Posture {
        let posture = self.bridge.posture();
        let asked = self.asked.fetch_add(1, Ordering::Relaxed);
        Posture {
            now: posture.now.plus_ms(asked * 60_000),
            ..posture
        }
    }

    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32 {
        self.bridge.stop(kind, cause, by)
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        self.bridge.at_rest()
    }
}

/// Calls the tool again and again and keeps the time of each call.
pub(crate) fn call(out: &Path) {
    let Attached {
        mut wire,
        mut events,
        ..
    } = attach(Needs::AGENT, None).unwrap();
    let tiers = tiers();
    let robot = Arc::new(rover(&tiers));
    let clock = Arc::new(RealClock(Instant::now()));
    let parts = assemble(setup(&robot, &tiers, &clock));
    let (executor, turn) = calling(&robot, &tiers, (&parts.bridge, &clock));
    let ending = AtomicBool::new(false);
    let bridge = Arc::clone(&parts.bridge);
    let (safety, outbox, mut inbox) = (parts.safety, parts.outbox, parts.inbox);
    let (mut tap, pulse) = (parts.events, parts.pulse);
    thread::scope(|scope| {
        let safety = scope.spawn(|| run_safety(safety, &*clock, &ending));
        let outbox = scope.spawn(|| outbox.run(&mut wire, &ending));
        let keeper = scope.spawn(|| {
            while !ending.load(Ordering::SeqCst) {
                tap.drain(|_| {});
                pulse.beat(clock.now());
                thread::park_timeout(Duration::from_millis(20));
            }
        });
        let inbox_clock = Arc::clone(&clock);
        // Not joined: the dataflow ends only after this node.
        drop(thread::spawn(move || {
            while let Some(event) = events.next_event() {
                match inbox.handle(event, inbox_clock.now()) {
                    Heard::Nothing | Heard::LogLevel(_) | Heard::Reload => {}
                    Heard::Stop | Heard::Lost => return,
                }
            }
        }));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        // The dataflow ends this node if the robot never answers.
        while !bridge.posture().bridge_up {
            thread::park_timeout(Duration::from_millis(5));
        }
        let times: Vec<f64> = (0..TRIPS + WARM)
            .map(|_| time(&runtime, &executor, &turn))
            .collect();
        crate::keep(&times, out);
        ending.store(true, Ordering::SeqCst);
        for thread in [safety.thread(), outbox.thread(), keeper.thread()] {
            thread.unpark();
        }
    });
}

fn time(runtime: &tokio::runtime::Runtime, executor: &Executor, turn: &Turn) -> f64 {
    let call = Call {
        id: "call-1".to_owned(),
        tool: TOOL.to_owned(),
        args: serde_json::json!({}),
    };
    let began = Instant::now();
    let report = runtime.block_on(executor.call(turn, call));
    let time = us(began.elapsed());
    let done = matches!(report.outcome, Outcome::Done { .. });
    assert!(done, "the call must pass: {:?}", report.outcome);
    time
}

fn calling(
    robot: &Arc<RobotFile>,
    tiers: &Tiers,
    (bridge, clock): (&Arc<Bridge>, &Arc<RealClock>),
) -> (Executor, Turn) {
    let rules = RobotRules::compile(robot, tiers).unwrap();
    let tools = describe(robot, &rules);
    let catalog = robot_tools(CatalogBuilder::new(), &tools, &rules, bridge)
        .build()
        .unwrap();
    let turn = Turn {
        view: catalog.view(&PolicyStack::root(robot.max_tier)),
        origin: CallOrigin::Model,
        by: None,
        person_stops: 0,
        questions: Questions::default(),
        cancel: CancellationToken::new(),
        repeats: Repeats::default(),
    };
    let ports = Ports {
        clock: clock.clone(),
        facts: Arc::new(Nowhere),
        robot: Arc::new(Patient {
            bridge: Arc::clone(bridge),
            asked: AtomicU64::new(0),
        }),
        human: Arc::new(Nobody),
        elevations: Arc::new(octos_edge::terms::NoElevations),
    };
    (Executor::new(ports, Pace::new(&rules)), turn)
}

fn tiers() -> Tiers {
    Tiers::parse([
        include_str!("../../tiers/observe.toml"),
        include_str!("../../tiers/safe_motion.toml"),
        include_str!("../../tiers/full_actuation.toml"),
        include_str!("../../tiers/emergency_override.toml"),
    ])
    .unwrap()
}

fn rover(tiers: &Tiers) -> RobotFile {
    let text = include_str!("../../tiers/robots/rover-sim.toml");
    RobotFile::parse("rover-sim.toml", text, tiers).unwrap()
}

fn setup(robot: &Arc<RobotFile>, tiers: &Tiers, clock: &Arc<RealClock>) -> Setup {
    let board = Board::parse("sim.toml", include_str!("../../boards/sim.toml")).unwrap();
    Setup {
        plan: safety_plan(robot, tiers, &board, Boot::default()),
        speed_ceiling_mps: speed_ceiling_mps(robot, tiers, robot.max_tier),
        robot: Arc::clone(robot),
        id: RobotId::parse(ROBOT_ID).unwrap(),
        ids: Ids::random(),
        latch: Latch::new(0, None),
        clock: clock.clone(),
        sink: Arc::new(Nowhere),
        inside: Box::new(|_| true),
        spine: Arc::new(AtomicU64::new(0)),
    }
}

/// The simulated rover, until nobody asks it any more.
pub(crate) fn robot() {
    let Attached {
        mut wire,
        mut events,
        ..
    } = attach(Needs::ROBOT, None).unwrap();
    let clock = RealClock(Instant::now());
    let plan = VendorPlan {
        robot_id: RobotId::parse(ROBOT_ID).unwrap(),
        dialect: Dialect::rover(),
        seed: 7,
        home: [0.0, 0.0],
        pid: std::process::id(),
        wall_at_zero: clock.wall(),
    };
    let mut vendor = Vendor::new(plan, clock.now());
    while let Some(event) = events.next_event() {
        let now = clock.now();
        let frames = match event {
            WireEvent::Data {
                input: Input::CmdRequest,
                text: Some(text),
            } => vendor.handle(&text, now),
            WireEvent::Data { .. } => vendor.advance(now),
            WireEvent::Stop
            | WireEvent::Broken(_)
            | WireEvent::Peer {
                event: PeerEvent::Closed | PeerEvent::Failed,
                ..
            } => return,
            WireEvent::Stray { .. }
            | WireEvent::Peer { .. }
            | WireEvent::Param { .. }
            | WireEvent::Reload
            | WireEvent::Unknown => Vec::new(),
        };
        for frame in &frames {
            let sent = wire.send(frame.output, &frame.payload, frame.request_id.as_deref());
            sent.unwrap();
        }
        drop(vendor.journal().take());
    }
}
