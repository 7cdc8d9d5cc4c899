//! The shipped rover, its parts put together as a node does, and the way of a call through the gate.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Instant, SystemTime};

use octos_edge::arguments::Schema;
use octos_edge::config::{Board, RobotFile, Tiers};
use octos_edge::gate::{Admission, Pace, Permit, RobotRules, Subject, admit};
use octos_edge::robot::{Ids, Parts, Setup, assemble, describe, safety_plan, speed_ceiling_mps};
use octos_edge::safety::{Boot, Latch};
use octos_edge::terms::{
    Clock, Descriptor, Fact, FactSink, Input, Mono, Posture, RobotId, Tier, WireEvent,
};
use serde_json::{Map, Value};

/// The line of the robot file that names the release verb.
pub(crate) const RELEASE: &str =
    "release = { verb = \"robot.release_control\", args = { control_source = \"octos-edge\" } }";

/// The time of the machine, from the moment it was made.
#[derive(Debug)]
pub(crate) struct RealClock(Instant);

impl RealClock {
    pub(crate) fn start() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Clock for RealClock {
    fn now(&self) -> Mono {
        // Not at the origin: there a state would look as if none had come.
        Mono::from_ns(u64::try_from(self.0.elapsed().as_nanos()).unwrap()).plus_ms(1_000)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Where facts end when nobody reads them.
#[derive(Debug)]
pub(crate) struct Nowhere;

impl FactSink for Nowhere {
    fn raise(&self, _: Fact) {}
}

/// The four shipped tiers.
pub(crate) fn tiers() -> Tiers {
    Tiers::parse([
        include_str!("../../tiers/observe.toml"),
        include_str!("../../tiers/safe_motion.toml"),
        include_str!("../../tiers/full_actuation.toml"),
        include_str!("../../tiers/emergency_override.toml"),
    ])
    .unwrap()
}

/// The shipped rover, without the text `without`.
pub(crate) fn robot(without: &str, tiers: &Tiers) -> RobotFile {
    let text = include_str!("../../tiers/robots/rover-sim.toml");
    let text = if without.is_empty() {
        text.to_owned()
    } else {
        assert!(text.contains(without), "the robot file has changed");
        text.replace(without, "")
    };
    RobotFile::parse("rover-sim.toml", &text, tiers).unwrap()
}

/// The parts of a robot that never ran.
pub(crate) fn parts(robot: &RobotFile, tiers: &Tiers, clock: Arc<dyn Clock>) -> Parts {
    let board = Board::parse("sim.toml", include_str!("../../boards/sim.toml")).unwrap();
    assemble(Setup {
        plan: safety_plan(robot, tiers, &board, Boot::default()),
        speed_ceiling_mps: speed_ceiling_mps(robot, tiers, robot.max_tier),
        robot: Arc::new(robot.clone()),
        id: RobotId::parse("rover-1").unwrap(),
        ids: Ids::seeded(1),
        latch: Latch::new(0, None),
        clock,
        sink: Arc::new(Nowhere),
        inside: Box::new(|_| true),
        spine: Arc::new(AtomicU64::new(0)),
    })
}

/// What the rover advertises.
pub(crate) fn advert() -> WireEvent {
    let text = "{\"robot_id\":\"rover-1\",\"heartbeat_timeout_ms\":300,\"commands\":[]}";
    WireEvent::Data {
        input: Input::Capabilities,
        text: Some(text.to_owned()),
    }
}

/// A state of the rover at rest.
pub(crate) fn at_rest(seq: u64) -> WireEvent {
    let text = format!(
        "{{\"seq\":{seq},\"pose\":{{\"position\":[0,0]}},\"speed\":0,\"nav_status\":\"idle\"}}"
    );
    WireEvent::Data {
        input: Input::State,
        text: Some(text),
    }
}

/// Whether a request is a verb of the rover's stop sequence.
pub(crate) fn is_stop_verb(request: &str) -> bool {
    request.contains("\"vendor.octos.rover.stop\"") || request.contains("\"robot.estop\"")
}

/// The way of one tool's calls through the real gate: nothing else can make a permit.
#[derive(Debug)]
pub(crate) struct Gate {
    rules: Arc<RobotRules>,
    tool: Descriptor,
    schema: Schema,
    index: u16,
}

impl Gate {
    pub(crate) fn of(robot: &RobotFile, tiers: &Tiers, name: &str) -> Self {
        let rules = RobotRules::compile(robot, tiers).unwrap();
        let all = describe(robot, &rules);
        let tool = all
            .into_iter()
            .find(|tool| tool.descriptor.name.as_str() == name);
        let tool = tool.unwrap();
        let schema = rules.tool(tool.index).unwrap().schema_value();
        Self {
            schema: Schema::compile(schema).unwrap(),
            rules,
            index: tool.index,
            tool: tool.descriptor,
        }
    }

    /// Permits one call, without the memory of a rate. `None` when the robot, as it stands, admits
    /// none.
    pub(crate) fn permit(
        &self,
        args: &Value,
        call: u64,
        now: &Posture,
    ) -> Option<(Permit, Map<String, Value>)> {
        let rules = self.rules.tool(self.index)?;
        let mut pace = Pace::new(&self.rules);
        let args = self.schema.check("bench", args).unwrap();
        let args = rules.limit(args, &pace.base(rules, now.epoch)).unwrap();
        let ask = Admission {
            subject: Subject::of(&self.tool, Some(rules)).unwrap(),
            args: &args,
            call,
            effective: Tier::SafeMotion,
            elevation: None,
        };
        let mut grant = admit(ask, now, &mut pace).ok()?;
        Some((grant.take_permit()?, rules.params(args.args().as_map())))
    }
}
