//! One call through all stages, around a tool that does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use futures::future::BoxFuture;
use octos_edge::catalog::{CallCx, CatalogBuilder, RawTool, RobotTool, ToolView};
use octos_edge::executor::{Executor, NoRobot, Ports, Questions, Repeats, Turn};
use octos_edge::gate::{Pace, PolicyStack, RobotRules};
use octos_edge::robot::describe;
use octos_edge::telemetry::{Metrics, Recorder, RecorderPlan, RobotLabels};
use octos_edge::terms::{
    Call, CallOrigin, Clock, Descriptor, FactSink, Mono, Nobody, Outcome, Posture, Reading,
    RobotPort, StopCause, StopKind, ToolError,
};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use crate::common::sample::{Dist, us};
use crate::common::table::Row;
use crate::policy::{LARGE, SMALL, view};
use crate::rover::{self, Nowhere};
use crate::scene;

/// Calls of each side.
const CALLS: u32 = 20_000;
/// Calls before them, not kept.
const WARM: u32 = 2_000;
/// The goal, µs p99.
const GOAL_US: f64 = 20.0;
/// A permitted tool of the scene.
const TOOL: u32 = 0;

pub(crate) fn rows() -> Vec<Row> {
    let clock: Arc<dyn Clock> = rover::RealClock::start();
    let dir = tempfile::tempdir().unwrap();
    let recorder = Recorder::start(RecorderPlan {
        bytes_max: 256 * 1024 * 1024,
        dir: dir.path().to_owned(),
        clock: Arc::clone(&clock),
        metrics: Arc::new(Metrics::new(RobotLabels::default()).unwrap()),
    })
    .unwrap();
    let plain = |view: Arc<ToolView>, facts: Arc<dyn FactSink>| {
        let robot = Arc::new(NoRobot::new(Arc::clone(&clock)));
        let pace = Pace::new(&robot_rules());
        let call = call(&scene::name(TOOL), json!({}));
        Side::new(view, ports(&clock, facts, robot), pace, call)
    };
    let middle = view(scene::TOOLS);
    let told = plain(Arc::clone(&middle), Arc::new(recorder.sink()));
    let mut rows = in_turns(
        &plain(Arc::clone(&middle), Arc::new(Nowhere)),
        &told,
        &motion(),
    );
    rows.push(growth(
        &plain(view(SMALL), Arc::new(Nowhere)),
        &plain(view(LARGE), Arc::new(Nowhere)),
    ));
    recorder.finish().unwrap();
    rows
}

/// Measures the kinds of calls in turns, with a bare task of the same runtime beside them.
fn in_turns(plain: &Side, told: &Side, motion: &Side) -> Vec<Row> {
    let runtime = runtime();
    let [mut bare, mut of_plain, mut of_told, mut of_motion] = [const { Vec::new() }; 4];
    for n in 0..CALLS + WARM {
        let began = Instant::now();
        runtime.block_on(tokio::task::yield_now());
        let times = [
            us(began.elapsed()),
            plain.time(&runtime),
            told.time(&runtime),
            motion.time(&runtime),
        ];
        if n >= WARM {
            let [a, b, c, d] = times;
            bare.push(a);
            of_plain.push(b);
            of_told.push(c);
            of_motion.push(d);
        }
    }
    let bare = Dist::of(bare);
    vec![
        row("pipeline, no-op tool, facts unread", of_plain, &bare),
        row("pipeline, no-op tool, metrics and recorder", of_told, &bare),
        row(
            "pipeline, no-op hold of the rover: limits, admission",
            of_motion,
            &bare,
        ),
    ]
}

fn growth(small: &Side, large: &Side) -> Row {
    let runtime = runtime();
    let (mut few, mut many) = (Vec::new(), Vec::new());
    for _ in 0..CALLS {
        few.push(small.time(&runtime));
        many.push(large.time(&runtime));
    }
    let (few, many) = (Dist::of(few), Dist::of(many));
    Row {
        what: format!("growth of a dispatch, {SMALL} to {LARGE} tools"),
        figure: format!("{:.1} µs", many.p50()),
        beside: format!("{SMALL} tools {:.1} µs", few.p50()),
        ratio: Some(many.p50() / few.p50()),
        goal: "2x".to_owned(),
        reached: Some(many.p50() <= 2.0 * few.p50()),
        cause: "the look-up by name is one hash; see its own row".to_owned(),
    }
}

fn row(what: &str, times: Vec<f64>, bare: &Dist) -> Row {
    let times = Dist::of(times);
    Row {
        what: what.to_owned(),
        figure: format!("p50 {:.1} µs, p99 {:.1} µs", times.p50(), times.p99()),
        beside: format!(
            "a bare yield p50 {:.1}, p99 {:.1} µs",
            bare.p50(),
            bare.p99()
        ),
        ratio: Some(times.p99() / bare.p99()),
        goal: format!("{GOAL_US:.0} µs p99"),
        reached: Some(times.p99() <= GOAL_US),
        cause: "p99 holds what the scheduler gave to others; p50 is the pipeline's own".to_owned(),
    }
}

/// One executor with one call that it repeats.
struct Side {
    executor: Executor,
    turn: Turn,
    call: Call,
}

impl Side {
    fn new(view: Arc<ToolView>, ports: Ports, pace: Pace, call: Call) -> Self {
        Self {
            executor: Executor::new(ports, pace),
            turn: Turn {
                view,
                origin: CallOrigin::Model,
                by: None,
                person_stops: 0,
                questions: Questions::default(),
                cancel: CancellationToken::new(),
                repeats: Repeats::default(),
            },
            call,
        }
    }

    /// Returns the time of one call, µs.
    fn time(&self, runtime: &Runtime) -> f64 {
        let call = self.call.clone();
        let began = Instant::now();
        let report = runtime.block_on(self.executor.call(&self.turn, call));
        let time = us(began.elapsed());
        let done = matches!(report.outcome, Outcome::Done { .. });
        assert!(done, "the call must pass: {:?}", report.outcome);
        time
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

fn ports(clock: &Arc<dyn Clock>, facts: Arc<dyn FactSink>, robot: Arc<dyn RobotPort>) -> Ports {
    Ports {
        clock: Arc::clone(clock),
        facts,
        robot,
        human: Arc::new(Nobody),
        elevations: Arc::new(octos_edge::terms::NoElevations),
    }
}

fn call(tool: &str, args: Value) -> Call {
    Call {
        id: "call-1".to_owned(),
        tool: tool.to_owned(),
        args,
    }
}

fn robot_rules() -> Arc<RobotRules> {
    let tiers = rover::tiers();
    RobotRules::compile(&rover::robot("", &tiers), &tiers).unwrap()
}

/// The rover's hold, with a body that does nothing.
fn motion() -> Side {
    let tiers = rover::tiers();
    let robot = rover::robot("", &tiers);
    let rules = robot_rules();
    let described = describe(&robot, &rules);
    let tool = described
        .into_iter()
        .find(|tool| tool.descriptor.name.as_str() == "rover_set_velocity")
        .unwrap();
    let pace = Pace::new(&rules);
    let tool = IdleMotion(tool.descriptor, RobotTool::new(rules, tool.index));
    let catalog = CatalogBuilder::new().raw(Arc::new(tool)).build().unwrap();
    let view = catalog.view(&PolicyStack::root(robot.max_tier));
    let patient = Arc::new(PatientClock::default());
    let clock: Arc<dyn Clock> = patient.clone();
    let ports = ports(&clock, Arc::new(Nowhere), Arc::new(Ready(patient)));
    let args = json!({ "linear": 0.1, "angular": 0.0 });
    Side::new(view, ports, pace, call("rover_set_velocity", args))
}

#[derive(Debug)]
struct IdleMotion(Descriptor, RobotTool);

impl RawTool for IdleMotion {
    fn describe(&self) -> Descriptor {
        self.0.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.1.clone())
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(futures::future::ready(Ok(String::new())))
    }
}

/// A minute passes with each posture, so that no rate is ever spent.
#[derive(Debug, Default)]
struct PatientClock(AtomicU64);

impl Clock for PatientClock {
    fn now(&self) -> Mono {
        Mono::from_ms(1_000 + self.0.load(Ordering::Relaxed) * 60_000)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// A robot that is armed, fresh and at rest, always.
#[derive(Debug)]
struct Ready(Arc<PatientClock>);

impl RobotPort for Ready {
    fn posture(&self) -> Posture {
        self.0.0.fetch_add(1, Ordering::Relaxed);
        let now = self.0.now();
        let posture = Posture::at_rest([0.0; 3]);
        let reading = posture
            .reading
            .map(|reading| Reading { at: now, ..reading });
        Posture {
            now,
            reading,
            ..posture
        }
    }

    fn stop(&self, _: StopKind, _: StopCause, _: Option<&str>) -> u32 {
        1
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        Box::pin(futures::future::ready(true))
    }
}
