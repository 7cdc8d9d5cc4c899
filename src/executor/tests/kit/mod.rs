//! All that a test of the pipeline needs around the shipped rover, and the calls that it makes.

mod person;
mod robot;
mod tool;

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::{CatalogBuilder, RobotTool};
use crate::config::{RobotFile, Tiers};
use crate::executor::{Executor, Ports, Questions, Repeats, Turn};
use crate::gate::{Pace, PolicyStack, RobotRules};
use crate::terms::{
    Access, Call, CallOrigin, Clock, Descriptor, Elevated, ElevationPort, Fact, Mono, Posture,
    Reading, RunState, Tier,
};
use person::Person;
use robot::{Facts, Notes, NotingRobot, PausedClock};
use tool::{TestTool, plain, rover_tool};

pub(super) use person::Says;
pub(super) use robot::REST_MS;
pub(super) use tool::Does;

const TIERS: [&str; 4] = [
    include_str!("../../../../tiers/observe.toml"),
    include_str!("../../../../tiers/safe_motion.toml"),
    include_str!("../../../../tiers/full_actuation.toml"),
    include_str!("../../../../tiers/emergency_override.toml"),
];
const ROVER: &str = include_str!("../../../../tiers/robots/rover-sim.toml");

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
