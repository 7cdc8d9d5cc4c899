//! One loop under a virtual clock: what a rehearsal in process and a replay share.
//!
//! Spine, agent, executor, gate, tools, robot parts and safety step are those of a node, and so are
//! the operator's words, latch and marker. Threads, dataflow and wall time are gone: one driver lets
//! the async side run until nothing in it can go on, then lets one step of time pass. What is at the
//! other end of the wire is a [`World`]: a simulated robot, or a recorded session.

mod ledger;
#[cfg(test)]
#[cfg(feature = "dora")]
mod tests;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Runtime;
use tokio::time::Instant;

use super::exit::{AppError, Exit};
use super::fingerprint::Fingerprint;
use super::load::Installation;
#[cfg(feature = "dora")]
use super::parts::EndWatch;
use super::parts::{
    Desk, ENDS_MAX, End, Life, Mind, OperatorDesk, Scribe, Wait, Wake, begin, carried_out,
};
use super::settings::Settings;
use super::state::StateFolder;
use crate::model::Cue;
use crate::robot::{Bridge, Heard, Ids, Parts};
use crate::safety::{Boot, Links, Order, OrderPort};
use crate::sim::{Rhythm, VirtualClock};
use crate::spine::SpineHandle;
use crate::terms::{
    Clock, Fact, FactSink, Mono, RobotId, RobotPort as _, StopCause, StopKind, Tier,
};

pub(super) use ledger::Ledger;

/// Longest step, ms: that of the driver of the robot's side.
const STEP_MS_MAX: u64 = 10;
/// How often operator and faults look, ms: as often as the operator of a dataflow.
pub(super) const LOOK_MS: u64 = 20;
/// How often a disk that refused the latch is asked again, and the loaded files are looked at, ms: as
/// often as on a node.
pub(super) const DISK_LOOK_MS: u64 = 1000;
/// Steps that the agent gets to end its goal after it was told to: half a second, as on a node.
const LAST_STEPS: u32 = 50;

/// The other end of the wire, and the robot's parts at this one.
pub(super) trait World: Send + fmt::Debug {
    /// Lets time pass, step by step, up to `now`.
    fn advance_to(&mut self, now: Mono);
    /// Does once more what the threads of a node do, at the same time.
    fn wake(&mut self);
    /// Takes what the dataflow asked of the process.
    fn take_heard(&mut self) -> Vec<Heard>;
}

/// Time is paused and goes on only when nothing else can: that is the whole scheduler.
pub(super) fn runtime() -> Result<Runtime, AppError> {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .map_err(|error| AppError::Internal(format!("no async runtime: {error}")))
}

/// Nobody could scrape a run that is over before they look. `what` is the run, as people call it.
pub(super) fn refuse_metrics(settings: &Settings, what: &str, hint: &str) -> Result<(), AppError> {
    if settings.metrics_written().is_none_or(str::is_empty) {
        return Ok(());
    }
    Err(AppError::Usage {
        problem: format!("{what} serves no metrics"),
        hint: format!("leave --metrics and OCTOS_EDGE_METRICS out: {hint}"),
    })
}

/// What a run is made of.
#[derive(Debug)]
pub(super) struct Cast<'a> {
    pub(super) installation: &'a Installation,
    pub(super) robot_id: RobotId,
    /// Where latch and marker lie.
    pub(super) folder: StateFolder,
    pub(super) ids: Ids,
    /// Lowers the ceiling.
    pub(super) tier: Option<Tier>,
    /// What the model says; `None` without a model.
    pub(super) script: Option<Vec<Cue>>,
    /// Whether somebody answers questions.
    pub(super) is_attended: bool,
}

/// A run: everything that lives in it, and its clock.
#[derive(Debug)]
pub(super) struct Stage<W> {
    pub(super) clock: VirtualClock,
    pub(super) ledger: Arc<Ledger>,
    pub(super) control: OperatorDesk,
    /// Until when the async side stands still.
    pub(super) agent_asleep_until: Mono,
    /// Whether the dataflow asked the node to end, or is gone.
    pub(super) graph_ended: bool,
    world: Arc<Mutex<W>>,
    step_ms: u64,
    began: Instant,
    keeper: Keeper,
    spine: SpineHandle,
    end: Receiver<End>,
    files: Fingerprint,
    _folder: StateFolder,
}

impl<W: World + 'static> Stage<W> {
    /// Puts agent and robot's parts together; `world` gets the parts. Must be called on the runtime
    /// whose time is paused.
    pub(super) fn new(
        cast: Cast<'_>,
        world: impl FnOnce(Parts, Rhythm) -> W,
    ) -> Result<Self, AppError> {
        let clock = VirtualClock::default();
        let ledger = Arc::new(Ledger::new(clock.clone()));
        Self::on(cast, (clock, ledger), world)
    }

    fn on(
        cast: Cast<'_>,
        (clock, ledger): (VirtualClock, Arc<Ledger>),
        world: impl FnOnce(Parts, Rhythm) -> W,
    ) -> Result<Self, AppError> {
        let installation = cast.installation;
        let mind = Mind::of(installation, cast.tier);
        let spine = Arc::new(AtomicU64::new(0));
        let files = cast.folder.files().clone();
        let life = Life {
            robot_id: cast.robot_id.clone(),
            ids: cast.ids,
            boot: Boot {
                unclean: files.unclean(),
                latched: files.latched(),
            },
            restarts: 0,
            tier: mind.tier(),
            clock: Arc::new(clock.clone()),
            sink: ledger.clone(),
            spine: spine.clone(),
        };
        let parts = begin(installation, life);
        let step_ms = u64::from(installation.board.safety_tick_ms).min(STEP_MS_MAX);
        let sink = ledger.clone() as Arc<dyn FactSink>;
        let keeper = Keeper {
            ledger: ledger.clone(),
            desk: Desk::new(files, parts.links.clone(), sink.clone()),
            followed: Arc::default(),
        };
        let stands = Stands {
            robot_id: cast.robot_id,
            script: cast.script,
            is_attended: cast.is_attended,
            keeper: keeper.clone(),
            bridge: parts.bridge.clone(),
            orders: parts.orders.clone(),
            links: parts.links.clone(),
            loaded: installation.files.clone(),
        };
        let rhythm = Rhythm {
            clock: clock.clone(),
            step_ms,
            sink,
        };
        let world = Arc::new(Mutex::new(world(parts, rhythm)));
        let woken = stands.wake((mind, spine), &world, &clock)?;
        Ok(Self {
            clock,
            ledger,
            spine: woken.control.spine.clone(),
            control: woken.control,
            agent_asleep_until: Mono::ZERO,
            graph_ended: false,
            world,
            step_ms,
            began: Instant::now(),
            keeper,
            end: woken.end,
            files: installation.files.clone(),
            _folder: cast.folder,
        })
    }

    /// Returns the other end of the wire.
    pub(super) fn world(&self) -> MutexGuard<'_, W> {
        lock(&self.world)
    }

    /// Lets the async side run dry, then lets one step of time pass.
    pub(super) async fn step(&mut self) {
        let next = self.clock.now().plus_ms(self.step_ms);
        if next > self.agent_asleep_until {
            tokio::time::sleep_until(self.began + next.since(Mono::ZERO)).await;
        }
        let mut world = lock(&self.world);
        world.advance_to(next);
        let heard = world.take_heard();
        drop(world);
        self.keeper.follow(&self.clock);
        self.control.elevations.keep_up();
        if next.as_ms().is_multiple_of(DISK_LOOK_MS) {
            self.keeper.desk.keep_up(self.clock.wall());
            self.control.scribe.look();
            self.files.watch(self.ledger.as_ref());
        }
        for heard in heard {
            match heard {
                Heard::Reload => self.files.answer(self.ledger.as_ref()),
                Heard::Nothing | Heard::LogLevel(_) => {}
                Heard::Stop | Heard::Lost => self.graph_ended = true,
            }
        }
    }

    /// Returns why the agent ended by itself, once it has.
    pub(super) fn ended(&self) -> Option<End> {
        self.end.try_recv().ok()
    }

    /// Ends in the order of a node: stop, end of the agent, rest, disarm. `by` asks for the stop;
    /// `None` when the dataflow has. Returns whether rest was confirmed.
    pub(super) async fn end(&mut self, by: Option<&str>) -> bool {
        let bridge = self.control.bridge.clone();
        if by.is_some() {
            bridge.stop(StopKind::Stop, StopCause::Shutdown, by);
        }
        // Before the rest is waited for: a model that goes on would begin the next motion.
        self.spine.shutdown();
        let at_rest = {
            let mut rest = pin!(bridge.at_rest());
            loop {
                tokio::select! {
                    biased;
                    at_rest = &mut rest => break at_rest,
                    () = self.step() => {}
                }
            }
        };
        let disarmed = carried_out(
            &self.control.orders,
            Order::Disarm,
            self.control.wait.as_ref(),
        );
        if let Err(failed) = disarmed {
            tracing::debug!(?failed, "not disarmed at the end");
        }
        for _ in 0..LAST_STEPS {
            self.step().await;
            if !self.spine.status().running {
                break;
            }
        }
        at_rest
    }

    /// Says with which code the process ends. The last fact.
    pub(super) fn conclude(&self, exit: Exit) {
        self.control.scribe.close();
        self.ledger.raise(Fact::Ended { code: exit.code() });
    }
}

/// What the agent stands on: the robot's parts, and latch and marker.
struct Stands {
    robot_id: RobotId,
    script: Option<Vec<Cue>>,
    is_attended: bool,
    keeper: Keeper,
    bridge: Arc<Bridge>,
    orders: OrderPort,
    links: Links,
    loaded: Fingerprint,
}

/// The agent, awake, and the way to it.
struct Woken {
    control: OperatorDesk,
    end: Receiver<End>,
}

impl Stands {
    fn wake<W: World + 'static>(
        self,
        (mind, progress): (Mind, Arc<AtomicU64>),
        world: &Arc<Mutex<W>>,
        clock: &VirtualClock,
    ) -> Result<Woken, AppError> {
        let (sender, end) = mpsc::sync_channel(ENDS_MAX);
        let sink: Arc<dyn FactSink> = self.keeper.ledger.clone();
        let awake = mind.wake(Wake {
            bridge: self.bridge.clone(),
            links: self.links.clone(),
            clock: Arc::new(clock.clone()),
            sink: sink.clone(),
            progress,
            is_attended: self.is_attended,
            script: self.script,
            runtime: tokio::runtime::Handle::current(),
            end: sender.clone(),
        })?;
        let control = OperatorDesk {
            bridge: self.bridge,
            orders: self.orders,
            desk: self.keeper.desk.clone(),
            links: self.links,
            spine: awake.handle,
            has_model: awake.has_model,
            scribe: Scribe::new(Arc::new(clock.clone()), sink.clone()),
            sink,
            robot_id: self.robot_id.to_string(),
            tier: awake.tier,
            approvals: awake.approvals,
            elevations: awake.elevations,
            metrics: None,
            loaded: self.loaded,
            end: sender,
            #[cfg(feature = "dora")]
            ended: EndWatch::default(),
            wait: Arc::new(Rounds {
                world: world.clone(),
                keeper: self.keeper,
            }),
        };
        Ok(Woken { control, end })
    }
}

/// Keeps latch and marker on disk in step with the run state.
#[derive(Debug, Clone)]
struct Keeper {
    ledger: Arc<Ledger>,
    desk: Desk,
    /// Facts that were followed.
    followed: Arc<AtomicUsize>,
}

impl Keeper {
    fn follow(&self, clock: &dyn Clock) {
        let (states, next) = self
            .ledger
            .states_since(self.followed.load(Ordering::Acquire));
        self.followed.store(next, Ordering::Release);
        for state in states {
            self.desk.follow(state, clock.wall());
        }
        #[cfg(all(test, feature = "dora"))]
        if let Some(records) = self.ledger.records() {
            records.round();
            self.desk.note_black_box(records.healthy());
        }
    }
}

/// On a node the others have threads; here the one who waits does their work.
#[derive(Debug)]
struct Rounds<W> {
    world: Arc<Mutex<W>>,
    keeper: Keeper,
}

impl<W: World> Wait for Rounds<W> {
    fn for_tick(&self) {
        lock(&self.world).wake();
    }

    fn for_disk(&self) {
        self.for_tick();
        self.keeper.follow(&VirtualClock::default());
    }
}

fn lock<W>(world: &Mutex<W>) -> MutexGuard<'_, W> {
    world.lock().unwrap_or_else(PoisonError::into_inner)
}
