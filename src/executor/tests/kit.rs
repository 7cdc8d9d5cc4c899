//! A clock on tokio's paused time, a sink that keeps facts, a robot that keeps notes, and tools
//! that do what a test tells them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::catalog::{CallCx, CatalogBuilder, RawTool, RobotTool};
use crate::config::{EffectWord, RobotFile, Tiers, ToolDef, Verb};
use crate::executor::{Executor, Ports, Questions, Repeats, Turn};
use crate::gate::{Pace, PolicyStack, RobotRules};
use crate::terms::{
    Access, ApprovalRequest, Approver, Budget, Call, CallOrigin, Clock, Descriptor, Device, Effect,
    Elevated, ElevationPort, Fact, FactSink, Human, Mono, Motion, Posture, Reading, Reason,
    Refusal, RobotPort, RunState, Said, StopCause, StopKind, Tier, ToolError, ToolName, Unasked,
};

const TIERS: [&str; 4] = [
    include_str!("../../../tiers/observe.toml"),
    include_str!("../../../tiers/safe_motion.toml"),
    include_str!("../../../tiers/full_actuation.toml"),
    include_str!("../../../tiers/emergency_override.toml"),
];
const ROVER: &str = include_str!("../../../tiers/robots/rover-sim.toml");

/// Time between cancelling a motion and rest of the kit's robot, ms.
pub(super) const REST_MS: u64 = 700;

#[derive(Debug)]
pub(super) struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> Mono {
        let ns = self.0.elapsed().as_nanos();
        Mono::from_ns(u64::try_from(ns).unwrap()).plus_ms(1_000)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug, Default)]
pub(super) struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// What happened, in its order.
#[derive(Debug, Clone, Default)]
pub(super) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(super) fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Debug)]
pub(super) struct NotingRobot {
    clock: Arc<PausedClock>,
    notes: Notes,
    posture: Mutex<Posture>,
    rests: Mutex<bool>,
}

impl NotingRobot {
    pub(super) fn change(&self, change: impl FnOnce(&mut Posture)) {
        change(&mut self.posture.lock().unwrap());
    }

    pub(super) fn never_rests(&self) {
        *self.rests.lock().unwrap() = false;
    }
}

impl RobotPort for NotingRobot {
    fn posture(&self) -> Posture {
        let mut posture = *self.posture.lock().unwrap();
        posture.now = self.clock.now();
        if let Some(reading) = &mut posture.reading {
            reading.at = posture.now;
        }
        posture
    }

    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32 {
        let by = by.unwrap_or("nobody");
        self.notes.add(format!("{kind} {cause} by {by}"));
        let mut posture = self.posture.lock().unwrap();
        posture.epoch += 1;
        posture.latched |= kind == StopKind::Estop;
        posture.epoch
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            sleep(Duration::from_millis(REST_MS)).await;
            let rests = *self.rests.lock().unwrap();
            self.notes
                .add(if rests { "at rest" } else { "not at rest" });
            rests
        })
    }
}

/// What a person of a test says to the next question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Yes, after so many ms.
    YesAfterMs(u64),
    No,
    Nothing,
}

/// A person who says what a test has put into their mouth, and nobody once that is used up.
#[derive(Debug, Default)]
pub(super) struct Person {
    says: Mutex<VecDeque<Says>>,
    pub(super) asked: Mutex<Vec<ApprovalRequest>>,
}

impl Human for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Result<Said, Unasked>> {
        let says = self.says.lock().unwrap().pop_front();
        if says.is_some() {
            self.asked.lock().unwrap().push(request);
        }
        let who = "ann".to_owned();
        Box::pin(async move {
            match says {
                None => Err(Unasked::Nobody),
                Some(Says::YesAfterMs(ms)) => {
                    sleep(Duration::from_millis(ms)).await;
                    Ok(Said::Yes(Approver {
                        who,
                        how: "by a nod".to_owned(),
                    }))
                }
                Some(Says::No) => Ok(Said::No {
                    who,
                    why: "a hand is in the way".to_owned(),
                }),
                Some(Says::Nothing) => std::future::pending().await,
            }
        })
    }
}

/// What a test tool does.
#[derive(Debug, Clone)]
pub(super) enum Does {
    Answer(String),
    SleepMs(u64),
    Panic,
    PanicWhenDropped,
    Fail,
    RefuseLate,
    Stop(Arc<NotingRobot>),
}

/// Notes when it is dropped before it ended.
struct Running<'a> {
    name: &'a str,
    notes: &'a Notes,
    ended: bool,
    panics: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.ended {
            self.notes.add(format!("{} dropped", self.name));
            assert!(!self.panics, "a panic while dropping");
        }
    }
}

#[derive(Debug)]
pub(super) struct TestTool {
    descriptor: Descriptor,
    robot: Option<RobotTool>,
    does: Does,
    notes: Notes,
}

impl TestTool {
    async fn act(&self) -> Result<String, ToolError> {
        match &self.does {
            Does::Answer(text) => Ok(text.clone()),
            Does::SleepMs(ms) => {
                sleep(Duration::from_millis(*ms)).await;
                Ok("slept".to_owned())
            }
            Does::Panic => panic!("secret of the tool"),
            Does::PanicWhenDropped => std::future::pending().await,
            Does::Fail => Err(ToolError::OutcomeUnknown {
                detail: "no answer".to_owned(),
            }),
            Does::RefuseLate => Err(ToolError::Refused(Box::new(Refusal {
                reason: Reason::LeaseExpired,
                needed: None,
                effective: Tier::SafeMotion,
                rule: None,
                detail: "the lease ran out".to_owned(),
                hint: String::new(),
            }))),
            Does::Stop(robot) => {
                robot.stop(StopKind::Stop, StopCause::OperatorStop, Some("eve"));
                Ok("stopped meanwhile".to_owned())
            }
        }
    }
}

impl RawTool for TestTool {
    fn describe(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        self.robot.clone()
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        let name = self.descriptor.name.as_str();
        self.notes.add(format!("{name} begins"));
        Box::pin(async move {
            let _cx = cx;
            let mut running = Running {
                name,
                notes: &self.notes,
                ended: false,
                panics: matches!(self.does, Does::PanicWhenDropped),
            };
            let result = self.act().await;
            running.ended = true;
            self.notes.add(format!("{name} ends"));
            result
        })
    }
}

/// A tool that belongs to no robot.
fn plain(name: &str, access: Access, timeout_ms: u64) -> Descriptor {
    Descriptor {
        name: ToolName::parse(name).unwrap(),
        description: "a tool of the tests".into(),
        schema: Arc::new(json!({
            "type": "object",
            "properties": {},
            "additionalProperties": false,
        })),
        effect: Effect::Observe { tier: None },
        access,
        budget: Budget {
            output_bytes_max: 100,
            ..Budget::of_ms(timeout_ms)
        },
        rule: None,
    }
}

/// The rover's tool, described as the robot room would.
fn rover_tool(def: &ToolDef, schema: Arc<Value>) -> Descriptor {
    let device = Device::new(&def.device);
    let actuate = |motion| Effect::Actuate {
        tier: def.tier.unwrap(),
        device: device.clone(),
        motion,
    };
    let stop = |kind| Effect::Stop {
        device: device.clone(),
        kind,
    };
    let effect = match (def.effect, &def.verb) {
        (EffectWord::Observe, _) => Effect::Observe { tier: def.tier },
        (EffectWord::Move, _) => actuate(Motion::Move),
        (EffectWord::Hold, _) => actuate(Motion::Hold),
        (EffectWord::Config, _) => actuate(Motion::Config),
        (EffectWord::Stop, Verb::Estop) => stop(StopKind::Estop),
        (EffectWord::Stop, _) => stop(StopKind::Stop),
    };
    Descriptor {
        name: def.name.clone(),
        description: def.describe.as_str().into(),
        schema,
        access: match effect {
            Effect::Actuate { .. } => Access::Exclusive(def.device.as_str().into()),
            Effect::Observe { .. } | Effect::Mutate | Effect::Stop { .. } => Access::Shared,
        },
        effect,
        budget: Budget::of_ms(u64::from(def.timeout_ms)),
        rule: Some(def.rule.clone()),
    }
}

/// Everything a test needs, around the shipped rover.
pub(super) struct Kit {
    pub(super) executor: Executor,
    pub(super) robot: Arc<NotingRobot>,
    pub(super) notes: Notes,
    pub(super) person: Arc<Person>,
    facts: Arc<Facts>,
    clock: Arc<PausedClock>,
    tiers: Tiers,
    rover: RobotFile,
    rules: Arc<RobotRules>,
    plain: Vec<(Descriptor, Does)>,
    rover_does: Vec<(&'static str, Does)>,
    asks: bool,
    elevated: Vec<Elevated>,
}

impl Kit {
    pub(super) fn new() -> Self {
        let tiers = Tiers::parse(TIERS).unwrap();
        let rover = RobotFile::parse("rover-sim.toml", ROVER, &tiers).unwrap();
        let rules = RobotRules::compile(&rover, &tiers).unwrap();
        let clock = Arc::new(PausedClock(Instant::now()));
        let notes = Notes::default();
        let robot = Arc::new(NotingRobot {
            clock: clock.clone(),
            notes: notes.clone(),
            posture: Mutex::new(Posture {
                run: RunState::Armed,
                reading: Some(Reading {
                    at: Mono::ZERO,
                    position: Some([0.0, 0.0, 0.0]),
                    speed: Some(0.0),
                }),
                ..Posture::at_rest([0.0; 3])
            }),
            rests: Mutex::new(true),
        });
        let facts = Arc::new(Facts::default());
        let person = Arc::new(Person::default());
        let ports = Ports {
            clock: clock.clone(),
            facts: facts.clone(),
            robot: robot.clone(),
            human: person.clone(),
            elevations: Arc::new(crate::terms::NoElevations),
        };
        Self {
            executor: Executor::new(ports, Pace::new(&rules)),
            robot,
            notes,
            person,
            facts,
            clock,
            tiers,
            rover,
            rules,
            plain: Vec::new(),
            rover_does: Vec::new(),
            asks: false,
            elevated: Vec::new(),
        }
    }

    /// Adds a tool that runs beside others and may take a minute and a half.
    pub(super) fn shared(self, name: &str, does: Does) -> Self {
        self.with(plain(name, Access::Shared, 90_000), does)
    }

    /// Adds a tool that runs alone on its scope `files`.
    pub(super) fn alone(self, name: &str, does: Does) -> Self {
        let scope = Access::Exclusive("files".into());
        self.with(plain(name, scope, 90_000), does)
    }

    /// Says what a tool of the rover does; without this it answers at once.
    pub(super) fn rover(mut self, name: &'static str, does: Does) -> Self {
        self.rover_does.push((name, does));
        self
    }

    /// Lets each call of a tier that wants a person's word ask for it.
    pub(super) fn asking(mut self) -> Self {
        self.asks = true;
        self
    }

    /// As [`Kit::asking`], with a person who answers.
    pub(super) fn answered(self, says: impl IntoIterator<Item = Says>) -> Self {
        self.person.says.lock().unwrap().extend(says);
        self.asking()
    }

    /// Lets this Elevation live when a turn begins.
    pub(super) fn raised(mut self, elevated: Elevated, port: Arc<dyn ElevationPort>) -> Self {
        let ports = Ports {
            elevations: port,
            ..self.executor.ports().clone()
        };
        self.executor = Executor::new(ports, Pace::new(&self.rules));
        self.elevated.push(elevated);
        self
    }

    fn with(mut self, descriptor: Descriptor, does: Does) -> Self {
        self.plain.push((descriptor, does));
        self
    }

    /// A turn of the model under this ceiling.
    pub(super) fn turn(&self, ceiling: Tier) -> Turn {
        let mut builder = CatalogBuilder::new();
        for (descriptor, does) in &self.plain {
            builder = builder.raw(self.tool(descriptor.clone(), None, does.clone()));
        }
        for (def, index) in self.rover.tools.iter().zip(0..) {
            let robot = RobotTool::new(self.rules.clone(), index);
            let schema = robot.rules().unwrap().schema_value().clone();
            let descriptor = rover_tool(def, schema);
            if descriptor.effect.is_stop() {
                builder = builder.stop(descriptor);
                continue;
            }
            let told = self.rover_does.iter();
            let does = told
                .filter(|(name, _)| *name == def.name.as_str())
                .map(|(_, does)| does.clone())
                .next();
            let does = does.unwrap_or(Does::Answer("ok".to_owned()));
            builder = builder.raw(self.tool(descriptor, Some(robot), does));
        }
        let mut policy = PolicyStack::root(ceiling);
        if self.asks {
            policy = policy.ask(&self.tiers);
        }
        Turn {
            view: builder.build().unwrap().view_under(&policy, &self.elevated),
            origin: CallOrigin::Model,
            by: Some("model".to_owned()),
            person_stops: 0,
            questions: Questions::default(),
            cancel: CancellationToken::new(),
            repeats: Repeats::default(),
        }
    }

    fn tool(&self, descriptor: Descriptor, robot: Option<RobotTool>, does: Does) -> Arc<TestTool> {
        Arc::new(TestTool {
            descriptor,
            robot,
            does,
            notes: self.notes.clone(),
        })
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        self.facts.0.lock().unwrap().clone()
    }

    /// The kinds of the facts so far, with the call where there is one.
    pub(super) fn fact_kinds(&self) -> Vec<String> {
        let facts = self.facts();
        facts.iter().map(kind).collect()
    }

    pub(super) fn now_ms(&self) -> u64 {
        self.clock.now().as_ms() - 1_000
    }
}

fn kind(fact: &Fact) -> String {
    let value = serde_json::to_value(fact).unwrap();
    let word = |key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let outcome = word("outcome").or(word("reason"));
    [word("kind"), word("call"), outcome]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A call whose id is the name of its tool.
pub(super) fn call(tool: &str, args: Value) -> Call {
    Call {
        id: tool.to_owned(),
        tool: tool.to_owned(),
        args,
    }
}

pub(super) fn go_to(x: f64, y: f64) -> Call {
    call("rover_go_to_pose", json!({ "x": x, "y": y }))
}
