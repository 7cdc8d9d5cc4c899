//! Puts the parts around one robot together, the same way on a robot and in a rehearsal.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};

use super::advert::Adverts;
use super::codec::{JsonWord, RequestText, verb};
use super::inbox::{self, Inbox};
use super::outbox::{OutVerbs, Outbox, Probe};
use super::pending::Pending;
use super::plan::Rendered;
use super::reading::{Inside, Reader};
use super::record::EventTap;
use super::told::ToldCauses;
use super::view::{Pulse, Views};
use super::{Bridge, Ids, Names};
use crate::config::{RobotFile, Verb};
use crate::safety::{
    COMMAND_SLOTS, EVENT_SLOTS, Latch, Links, Observed, OrderPort, QueueMeter, SafetyPlan,
    SafetyPorts, SafetyStep, Shared, queue,
};
use crate::terms::{Clock, FactSink, RobotId};

/// What the parts are made of.
pub struct Setup {
    /// The robot file.
    pub robot: Arc<RobotFile>,
    /// The robot's id.
    pub id: RobotId,
    /// Makes request ids.
    pub ids: Ids,
    /// The plan of the tick.
    pub plan: SafetyPlan,
    /// The latch; latched already when the last life left it so.
    pub latch: Latch,
    /// The clocks.
    pub clock: Arc<dyn Clock>,
    /// Where facts go.
    pub sink: Arc<dyn FactSink>,
    /// Says whether a position lies inside the workspace.
    pub inside: Inside,
    /// The ceiling of linear speed that the monitor watches, m/s: that of the tier in force.
    pub speed_ceiling_mps: Option<f64>,
    /// Counts the iterations of the spine; the spine holds the same counter.
    pub spine: Arc<AtomicU64>,
}

/// The parts. Each has one owner: bridge and pulse the async side, inbox and outbox a thread each,
/// the safety step the safety thread, the event tap the recorder.
#[derive(Debug)]
pub struct Parts {
    /// For tools and executor.
    pub bridge: Arc<Bridge>,
    /// For the thread that owns the event stream.
    pub inbox: Inbox,
    /// For the thread that owns the sending half.
    pub outbox: Outbox,
    /// For the safety thread.
    pub safety: SafetyStep,
    /// For operator's orders.
    pub orders: OrderPort,
    /// For the recorder.
    pub events: EventTap,
    /// Names of verbs, for the recorder.
    pub names: Names,
    /// Wakes waiting calls.
    pub pulse: Pulse,
    /// Latch, observations and published state.
    pub links: Links,
    /// Looks at the queues, for metrics.
    pub queues: QueueMeters,
}

/// Looks at the queues between the threads of one robot.
#[derive(Debug, Clone, Copy)]
pub struct QueueMeters {
    /// Operator's orders to the tick.
    pub orders: QueueMeter,
    /// Commands of tools to the tick.
    pub commands: QueueMeter,
    /// Reads of tools to the sending thread.
    pub reads: QueueMeter,
    /// Frames of the tick to the sending thread.
    pub frames: QueueMeter,
    /// Safety events of the tick to the recorder.
    pub tick_events: QueueMeter,
    /// Safety events of the sending thread to the recorder.
    pub sender_events: QueueMeter,
}

impl std::fmt::Debug for Setup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup")
            .field("robot", &self.robot.robot)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl QueueMeters {
    fn of(ports: &SafetyPorts, reads: QueueMeter, sender_events: QueueMeter) -> Self {
        Self {
            orders: ports.orders.meter(),
            commands: ports.commands.meter(),
            reads,
            frames: ports.outs.meter(),
            tick_events: ports.events.meter(),
            sender_events,
        }
    }
}

/// Puts the parts together. Nothing runs yet.
pub fn assemble(setup: Setup) -> Parts {
    let links = Links {
        latch: setup.latch,
        observed: Arc::new(Observed::default()),
        shared: Arc::new(Shared::new(setup.spine)),
    };
    let (safety, ports) = SafetyStep::new(setup.plan, links.clone());
    let (read_sender, reads) = queue::<_, COMMAND_SLOTS>();
    let (event_sender, sender_events) = queue::<_, EVENT_SLOTS>();
    let queues = QueueMeters::of(&ports, reads.meter(), sender_events.meter());
    let (ids, pending) = (Arc::new(setup.ids), Arc::new(Pending::default()));
    let views = Arc::new(Views::default());
    let robot = setup.robot;
    let bridge = Arc::new(Bridge {
        robot: robot.clone(),
        ids: ids.clone(),
        links: links.clone(),
        clock: setup.clock.clone(),
        sink: setup.sink.clone(),
        pending: pending.clone(),
        views: views.clone(),
        commands: Mutex::new(ports.commands),
        reads: Mutex::new(read_sender),
        told: ToldCauses::default(),
    });
    let outbox = Outbox {
        links: links.clone(),
        clock: setup.clock,
        ids: ids.clone(),
        target: JsonWord::of(setup.id.as_str()),
        verbs: out_verbs(&robot),
        outs: ports.outs,
        reads,
        events: event_sender,
        text: RequestText::new(),
        beats: 0,
        probe: Probe::default(),
    };
    let names = Names::of(&robot);
    let inbox = Inbox {
        reader: Reader::new(robot.clone(), setup.inside, setup.speed_ceiling_mps),
        robot,
        id: setup.id,
        ids,
        links: links.clone(),
        sink: setup.sink,
        pending,
        views: views.clone(),
        adverts: Adverts::default(),
        states: 0,
        told: inbox::Told::default(),
        last_state_seq: None,
        lost_state_seq: None,
        last_event_seq: None,
    };
    Parts {
        bridge,
        inbox,
        outbox,
        safety,
        orders: ports.orders,
        events: EventTap {
            tick: ports.events,
            sender: sender_events,
        },
        names,
        pulse: Pulse(views),
        links,
        queues,
    }
}

fn out_verbs(robot: &RobotFile) -> OutVerbs {
    let tools = robot.tools.iter().map(|tool| match &tool.verb {
        Verb::Wire(verb) => Some(JsonWord::of(verb)),
        Verb::Stop | Verb::Estop | Verb::State | Verb::SafetyEvents => None,
    });
    OutVerbs {
        tools: tools.collect(),
        steps: robot
            .stop
            .steps
            .iter()
            .map(|step| Rendered::of(&step.call))
            .collect(),
        release: robot.release.as_ref().map(Rendered::of),
        heartbeat: Rendered::bare(verb::HEARTBEAT),
        capabilities: Rendered::bare(verb::GET_CAPABILITIES),
    }
}
