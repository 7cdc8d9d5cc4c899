//! The world of these tests: the shipped rover's file, the assembled parts, a wire and a robot.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use crate::config::{Board, RobotFile, Tiers};
use crate::robot::codec::{self, Request, Response};
use crate::robot::{Bridge, Ids, Parts, Setup, assemble, fact_of, safety_plan, speed_ceiling_mps};
use crate::safety::{Boot, FailedChecks, Latch, Order};
use crate::terms::{
    ActuationCmd, Clock, CommandKind, Fact, FactSink, Input, LeaseTerms, Mono, Output, Params,
    RobotId, RobotPort, RunState, Wire, WireError, WireEvent,
};

const TIERS: [&str; 4] = [
    include_str!("../../../tiers/observe.toml"),
    include_str!("../../../tiers/safe_motion.toml"),
    include_str!("../../../tiers/full_actuation.toml"),
    include_str!("../../../tiers/emergency_override.toml"),
];
const ROVER: &str = include_str!("../../../tiers/robots/rover-sim.toml");
const BOARD: &str = include_str!("../../../boards/sim.toml");
pub(super) const TICK_MS: u64 = 10;
const STATE_MS: u64 = 50;

pub(super) fn tiers() -> Tiers {
    Tiers::parse(TIERS).unwrap()
}

pub(super) fn board() -> Board {
    Board::parse("sim.toml", BOARD).unwrap()
}

pub(super) fn rover() -> RobotFile {
    RobotFile::parse("rover-sim.toml", ROVER, &tiers()).unwrap()
}

#[derive(Debug)]
pub(super) struct ManualClock(
    pub(super) AtomicU64,
    /// Whether the wall clock jumps a day forth and back, every tenth of a second.
    pub(super) AtomicBool,
);

const DAY: Duration = Duration::from_secs(86_400);

impl Clock for ManualClock {
    fn now(&self) -> Mono {
        Mono::from_ns(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> SystemTime {
        let now = self.now();
        let steady = SystemTime::UNIX_EPOCH + 30 * DAY + now.since(Mono::ZERO);
        match (self.1.load(Ordering::SeqCst), now.as_ms() / 100 % 2) {
            (false, _) => steady,
            (true, 0) => steady + DAY,
            (true, _) => steady - DAY,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// Keeps what leaves.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) out: VecDeque<String>,
    pub(super) broken: bool,
}

impl Wire for Line {
    fn send(
        &mut self,
        output: Output,
        payload: &str,
        request_id: Option<&str>,
    ) -> Result<(), WireError> {
        assert_eq!(output, Output::CmdRequest);
        assert!(payload.contains(request_id.unwrap()));
        if self.broken {
            return Err(WireError("gone".to_owned()));
        }
        self.out.push_back(payload.to_owned());
        Ok(())
    }
}

/// A robot that does what it is told, with habits that a test can change.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent habits")]
pub(super) struct Rover {
    pub(super) alive: bool,
    pub(super) advertises: bool,
    pub(super) answers: bool,
    /// So many stop verbs get lost on the way.
    pub(super) loses: u32,
    pub(super) status: &'static str,
    pub(super) position: [f64; 2],
    pub(super) speed: f64,
    pub(super) holder: Value,
    pub(super) seq: u64,
    /// Verbs heard, in order, with their parameters.
    pub(super) heard: Vec<(u64, Request)>,
    /// Steps until a goal is reached.
    pub(super) goal_ms: u64,
    pub(super) busy: bool,
    /// It answers stop verbs and does not obey them.
    pub(super) deaf: bool,
    going: Option<u64>,
}

pub(super) struct World {
    pub(super) parts: Parts,
    pub(super) clock: Arc<ManualClock>,
    pub(super) facts: Arc<Facts>,
    pub(super) line: Line,
    pub(super) rover: Rover,
    pub(super) spine: Arc<AtomicU64>,
    pub(super) spins: bool,
    pub(super) call: u64,
    next_state: u64,
}

impl World {
    pub(super) fn cold() -> Self {
        Self::with(rover())
    }

    pub(super) fn with(robot: RobotFile) -> Self {
        Self::begun(robot, Boot::default())
    }

    pub(super) fn begun(robot: RobotFile, boot: Boot) -> Self {
        let board = board();
        let clock = Arc::new(ManualClock(
            AtomicU64::new(1_000_000_000),
            AtomicBool::new(false),
        ));
        let facts = Arc::new(Facts::default());
        let spine = Arc::new(AtomicU64::new(0));
        let parts = assemble(Setup {
            plan: safety_plan(&robot, &tiers(), &board, boot),
            speed_ceiling_mps: speed_ceiling_mps(&robot, &tiers(), robot.max_tier),
            robot: Arc::new(robot),
            id: RobotId::parse("rover-1").unwrap(),
            ids: Ids::seeded(11),
            latch: Latch::new(0, None),
            clock: clock.clone(),
            sink: facts.clone(),
            inside: Box::new(|[x, y, _]| x.abs() < 4.0 && y.abs() < 4.0),
            spine: spine.clone(),
        });
        Self {
            parts,
            clock,
            facts,
            line: Line::default(),
            rover: Rover {
                alive: true,
                advertises: true,
                answers: true,
                loses: 0,
                status: "idle",
                position: [0.0, 0.0],
                speed: 0.0,
                holder: Value::Null,
                seq: 0,
                heard: Vec::new(),
                goal_ms: 1_000,
                busy: false,
                deaf: false,
                going: None,
            },
            spine,
            spins: true,
            call: 0,
            next_state: 0,
        }
    }

    /// Advertised, fresh, at rest and armed.
    pub(super) fn armed() -> Self {
        let mut world = Self::cold();
        world.run_ms(100);
        assert_eq!(
            world.order(Order::Arm { for_ms: 600_000 }),
            FailedChecks::NONE
        );
        world
    }

    pub(super) fn bridge(&self) -> Arc<Bridge> {
        self.parts.bridge.clone()
    }

    pub(super) fn now(&self) -> Mono {
        self.clock.now()
    }

    pub(super) fn run(&self) -> RunState {
        self.parts.bridge.posture().run
    }

    pub(super) fn order(&mut self, order: Order) -> FailedChecks {
        let seq = self.parts.orders.submit(order).unwrap();
        self.tick();
        self.parts.orders.result(seq).unwrap()
    }

    /// The command of a tool, as the gate would permit it.
    pub(super) fn cmd(&mut self, tool: &str, kind: CommandKind) -> ActuationCmd {
        self.call += 1;
        let index = rover().tools.iter().position(|t| t.name.as_str() == tool);
        let moves = kind.moves();
        ActuationCmd {
            id: [u8::try_from(self.call % 200).unwrap(); 16],
            tool: u16::try_from(index.unwrap()).unwrap(),
            kind,
            epoch: self.parts.bridge.posture().epoch,
            deadline: self.now().plus_ms(10_000),
            lease: LeaseTerms {
                call: self.call,
                renew_ms: if moves { 500 } else { 0 },
                lost_after_ms: if moves { 1_500 } else { 0 },
                hard_max_ms: if moves { 30_000 } else { 0 },
                hold_ms: if kind == CommandKind::Hold { 400 } else { 0 },
                elevation: None,
            },
            params: Params::try_from("{}").unwrap(),
        }
    }

    pub(super) fn run_ms(&mut self, ms: u64) {
        for _ in 0..ms / TICK_MS {
            self.tick();
        }
    }

    pub(super) fn tick(&mut self) {
        self.clock
            .0
            .fetch_add(TICK_MS * 1_000_000, Ordering::SeqCst);
        self.round();
    }

    pub(super) fn jump(&mut self, ms: u64) {
        self.clock.0.fetch_add(ms * 1_000_000, Ordering::SeqCst);
    }

    /// One round of all parts at the time it is now.
    pub(super) fn round(&mut self) {
        let now = self.now();
        self.rover_lives(now);
        if self.spins {
            self.spine.fetch_add(1, Ordering::SeqCst);
        }
        self.parts.safety.step(now);
        self.parts.outbox.step(&mut self.line);
        while let Some(text) = self.line.out.pop_front() {
            let request = codec::decode_request(&text).unwrap();
            self.rover_hears(request);
        }
        let names = &self.parts.names;
        let facts = &self.facts;
        self.parts.events.drain(|event| {
            if let Some(fact) = fact_of(event, names) {
                facts.raise(fact);
            }
        });
        self.parts.pulse.beat(now);
    }

    /// Ticks, polling the future after each tick, until it is done.
    pub(super) fn until<T>(
        &mut self,
        max_ms: u64,
        mut future: Pin<&mut dyn Future<Output = T>>,
    ) -> T {
        for _ in 0..max_ms / TICK_MS {
            if let Some(done) = self.poll(future.as_mut()) {
                return done;
            }
            self.tick();
        }
        panic!("not done within {max_ms} ms");
    }

    pub(super) fn poll<T>(&self, future: Pin<&mut dyn Future<Output = T>>) -> Option<T> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    pub(super) fn say(&mut self, input: Input, value: &Value) {
        self.say_text(input, &value.to_string());
    }

    pub(super) fn say_text(&mut self, input: Input, text: &str) {
        let event = WireEvent::Data {
            input,
            text: Some(text.to_owned()),
        };
        let now = self.now();
        self.parts.inbox.handle(event, now);
    }

    pub(super) fn advertise(&mut self) {
        let advert = advert();
        self.say(Input::Capabilities, &advert);
    }

    pub(super) fn say_state(&mut self) {
        let state = self.next_state();
        self.say(Input::State, &state);
    }

    /// The next state of the rover, as it would say it.
    pub(super) fn next_state(&mut self) -> Value {
        self.rover.seq += 1;
        json!({
            "robot_id": "rover-1",
            "seq": self.rover.seq,
            "pose": { "position": [self.rover.position[0], self.rover.position[1], 0.0] },
            "speed": self.rover.speed,
            "nav_status": self.rover.status,
            "estopped": false,
            "controller_holder": self.rover.holder,
        })
    }

    fn rover_lives(&mut self, now: Mono) {
        if !self.rover.alive {
            return;
        }
        if self.rover.going.is_some_and(|until| now.as_ms() >= until) {
            self.rover.going = None;
            self.rover.status = "arrived";
            self.rover.speed = 0.0;
        }
        if now.as_ms() >= self.next_state {
            self.next_state = now.as_ms() + STATE_MS;
            self.say_state();
        }
    }

    fn rover_hears(&mut self, request: Request) {
        if !self.rover.alive {
            return;
        }
        assert_eq!(request.target, "rover-1");
        let now = self.now().as_ms();
        let verb = request.verb.clone();
        let stops = verb.ends_with(".stop") || verb == "robot.estop";
        self.rover.heard.push((now, request.clone()));
        if stops && self.rover.loses > 0 {
            self.rover.loses -= 1;
            return;
        }
        let mut data = Value::Null;
        let mut ok = true;
        match verb.as_str() {
            "vendor.octos.rover.go_to_pose" if self.rover.busy => ok = false,
            "vendor.octos.rover.go_to_pose" => {
                self.rover.going = Some(now + self.rover.goal_ms);
                self.rover.status = "following";
                self.rover.speed = 0.2;
            }
            "vendor.octos.rover.set_velocity" => {
                self.rover.status = "following";
                self.rover.speed = 0.2;
            }
            "robot.get_capabilities" if !self.rover.advertises => return,
            "robot.get_capabilities" => data = advert(),
            _ if stops && !self.rover.deaf => {
                self.rover.going = None;
                self.rover.status = "idle";
                self.rover.speed = 0.0;
            }
            _ => {}
        }
        if self.rover.answers {
            let response = Response {
                request_id: request.request_id,
                ok,
                code: if ok { "0" } else { "CONTROLLER_BUSY" }.to_owned(),
                msg: String::new(),
                data,
            };
            let text = codec::encode_response(&response, self.clock.wall());
            self.say_text(Input::CmdResponse, &text);
        }
    }

    pub(super) fn heard(&self, verb: &str) -> Vec<u64> {
        let all = self.rover.heard.iter();
        all.filter(|(_, r)| r.verb == verb)
            .map(|(at, _)| *at)
            .collect()
    }

    pub(super) fn count(&self, pick: impl Fn(&Fact) -> bool) -> usize {
        self.facts
            .0
            .lock()
            .unwrap()
            .iter()
            .filter(|f| pick(f))
            .count()
    }
}

pub(super) fn advert() -> Value {
    let command = |verb: &str| json!({ "verb": verb, "safety_tier": "emergency_override" });
    json!({
        "robot_id": "rover-1",
        "vendor": "octos",
        "model": "rover",
        "pid": 42,
        "heartbeat_timeout_ms": 1000,
        "commands": [
            command("vendor.octos.rover.set_velocity"),
            command("vendor.octos.rover.stop"),
            command("vendor.octos.rover.dance"),
            command("robot.heartbeat"),
        ],
        "streams": ["state"],
        "ts": "2026-01-01T00:00:00.000Z",
    })
}

pub(super) fn no_params() -> Map<String, Value> {
    Map::new()
}
