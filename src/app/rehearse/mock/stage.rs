//! The driver: one step of time after another, and what is done in between.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

use super::ledger::Ledger;
use super::{Given, Ran};
use crate::app::control::{Answer, Word};
use crate::app::exit::{AppError, Exit};
use crate::app::fingerprint::Fingerprint;
use crate::app::parts::{
    Desk, ENDS_MAX, End, Life, Mind, OperatorDesk, Wait, Wake, begin, carried_out, replies,
};
use crate::app::rehearse::operator::{Play, Say};
use crate::app::state::StateFolder;
use crate::config::FaultAct;
use crate::robot::{Bridge, Heard, Ids};
use crate::safety::{Boot, Links, Order, OrderPort};
use crate::sim::{
    Faults, JournalEntry, MockBridge, MockRobot, Rhythm, Vendor, VendorPlan, VirtualClock,
};
use crate::spine::SpineHandle;
use crate::terms::{Clock, Fact, FactSink, Mono, RobotId, RobotPort as _, StopCause, StopKind};

/// What an id is made of when the robot file fixes none: the robot's name and this.
const ID_SUFFIX: &str = "-001";
/// How often operator and faults look, ms: as often as the operator of a dataflow.
const LOOK_MS: u64 = 20;
/// How often a disk that refused the latch is asked again, ms: as often as on a node.
const DISK_LOOK_MS: u64 = 1000;
/// Steps that the agent gets to end its goal after it was told to: half a second, as on a node.
const LAST_STEPS: u32 = 50;

/// A run: everything that lives in it, and its clock.
#[derive(Debug)]
pub(super) struct Stage {
    clock: VirtualClock,
    step_ms: u64,
    began: Instant,
    mock: Arc<Mutex<MockBridge>>,
    keeper: Keeper,
    ledger: Arc<Ledger>,
    control: OperatorDesk,
    spine: SpineHandle,
    end: Receiver<End>,
    faults: Faults,
    play: Play,
    files: Fingerprint,
    journal: Vec<JournalEntry>,
    /// When operator and faults look next.
    look_at: Mono,
    /// Until when the async side stands still.
    agent_asleep_until: Mono,
    /// Until when nothing of the process goes on, the operator's side included.
    process_asleep_until: Mono,
    _folder: StateFolder,
}

impl Stage {
    /// Puts agent and robot together. Must be called on the runtime whose time is paused.
    pub(super) fn new(
        given: &Given<'_>,
        progress: Box<dyn Fn(&str) + Send>,
    ) -> Result<Self, AppError> {
        let installation = given.installation;
        let robot_id = robot_id(given)?;
        let folder = StateFolder::open(given.folder.path(), &robot_id)?;
        let clock = VirtualClock::default();
        let ledger = Arc::new(Ledger::new(clock.clone()));
        let mind = Mind::of(installation, None);
        let spine = Arc::new(AtomicU64::new(0));
        let life = Life {
            robot_id: robot_id.clone(),
            ids: Ids::seeded(given.seed),
            boot: Boot {
                unclean: folder.files().unclean(),
                latched: folder.files().latched(),
            },
            restarts: 0,
            tier: mind.tier(),
            clock: Arc::new(clock.clone()),
            sink: ledger.clone(),
            spine: spine.clone(),
        };
        let parts = begin(installation, life);
        let faults = Faults::new(given.scenario.faults.clone(), given.seed);
        let step_ms = u64::from(installation.board.safety_tick_ms).min(STEP_MS_MAX);
        let desk = Desk::new(
            folder.files().clone(),
            parts.links.clone(),
            ledger.clone() as Arc<dyn FactSink>,
        );
        let stands = Stands {
            keeper: Keeper {
                ledger: ledger.clone(),
                desk,
                followed: Arc::default(),
            },
            bridge: parts.bridge.clone(),
            orders: parts.orders.clone(),
            links: parts.links.clone(),
        };
        let robot = MockRobot::new(vendor(robot_id.clone(), given), faults.rule());
        let rhythm = Rhythm {
            clock: clock.clone(),
            step_ms,
            sink: ledger.clone(),
        };
        let mock = Arc::new(Mutex::new(MockBridge::new(parts, robot, rhythm)));
        let keeper = stands.keeper.clone();
        let woken = stands.wake(given, (mind, spine), (&robot_id, &mock, &clock))?;
        Ok(Self {
            clock,
            step_ms,
            began: Instant::now(),
            mock,
            keeper,
            ledger,
            spine: woken.control.spine.clone(),
            control: woken.control,
            end: woken.end,
            faults,
            play: Play::new(given.scenario.clone(), progress),
            files: installation.files.clone(),
            journal: Vec::new(),
            look_at: Mono::ZERO,
            agent_asleep_until: Mono::ZERO,
            process_asleep_until: Mono::ZERO,
            _folder: folder,
        })
    }

    /// Runs the scenario to its end.
    pub(super) async fn run(mut self) -> Result<Ran, AppError> {
        while self.play.in_time(self.clock.now()) {
            self.step().await;
            let looks = self.clock.now() >= self.look_at;
            if (looks && self.act()?) || self.has_ended() {
                self.end().await;
                return Ok(self.ran());
            }
        }
        self.play.late();
        self.end().await;
        Ok(self.ran())
    }

    /// Hands the receiver an event of the dataflow.
    #[cfg(test)]
    pub(super) fn inject(&self, event: crate::terms::WireEvent) {
        lock(&self.mock).inject(event);
    }

    /// Lets the async side run dry, then lets one step of time pass.
    async fn step(&mut self) {
        let next = self.clock.now().plus_ms(self.step_ms);
        if next > self.agent_asleep_until {
            tokio::time::sleep_until(self.began + next.since(Mono::ZERO)).await;
        }
        let mut mock = lock(&self.mock);
        mock.advance_to(next);
        self.journal
            .append(&mut mock.robot().vendor().journal().take());
        let heard = mock.take_heard();
        drop(mock);
        self.keeper.follow(&self.clock);
        if next.as_ms().is_multiple_of(DISK_LOOK_MS) {
            self.keeper.desk.keep_up(self.clock.wall());
        }
        for heard in heard {
            self.hear(&heard);
        }
    }

    fn hear(&mut self, heard: &Heard) {
        match heard {
            Heard::Reload => self.files.tell(self.ledger.as_ref()),
            Heard::Nothing | Heard::LogLevel(_) => {}
            Heard::Stop | Heard::Lost => self
                .play
                .trouble("the dataflow ended, which there is none".to_owned()),
        }
    }

    /// What goes wrong now, and what the operator does. Returns whether the run is over.
    fn act(&mut self) -> Result<bool, AppError> {
        let now = self.clock.now();
        self.look_at = now.plus_ms(LOOK_MS);
        if now < self.process_asleep_until {
            return Ok(false);
        }
        let status = self.play.look(&mut self.control)?;
        let seen = self.play.seen(&status, now);
        while let Some(fault) = self.faults.next(&seen, now) {
            self.suffer(&fault, now);
        }
        if now < self.process_asleep_until {
            return Ok(false);
        }
        self.play.act(&mut self.control, &status, now)
    }

    fn suffer(&mut self, fault: &FaultAct, now: Mono) {
        lock(&self.mock).suffer(fault);
        if let FaultAct::FrozenAgent { for_ms } | FaultAct::FrozenProcess { for_ms } = fault {
            self.agent_asleep_until = now.plus_ms(u64::from(*for_ms));
        }
        if let FaultAct::FrozenProcess { .. } = fault {
            self.process_asleep_until = self.agent_asleep_until;
        }
    }

    fn has_ended(&mut self) -> bool {
        match self.end.try_recv() {
            Ok(End::Broken(why)) => {
                self.play.trouble(why.to_owned());
                true
            }
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Ends in the order of a node: stop, end of the agent, rest, disarm.
    async fn end(&mut self) {
        let bridge = self.control.bridge.clone();
        let who = self.play.last_word().who().to_owned();
        bridge.stop(StopKind::Stop, StopCause::Shutdown, Some(&who));
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
        let exit = if at_rest { Exit::Done } else { Exit::Internal };
        self.ledger.raise(Fact::Ended { code: exit.code() });
    }

    fn ran(mut self) -> Ran {
        let dropped = self.ledger.dropped();
        if dropped > 0 {
            self.play.trouble(format!("{dropped} facts were not kept"));
        }
        let unfired = self.faults.unfired();
        Ran {
            unfired: unfired.map(|fault| fault.place.to_string()).collect(),
            facts: self.ledger.facts(),
            journal: self.journal,
            played: self.play.played(),
            faults: self.faults.seen(),
            trace: self.ledger.trace(),
            total_ms: self.clock.now().as_ms(),
        }
    }
}

/// What the agent stands on: the robot's parts, and latch and marker.
struct Stands {
    keeper: Keeper,
    bridge: Arc<Bridge>,
    orders: OrderPort,
    links: Links,
}

/// The agent, awake, and the way to it.
struct Woken {
    control: OperatorDesk,
    end: Receiver<End>,
}

impl Stands {
    fn wake(
        self,
        given: &Given<'_>,
        (mind, progress): (Mind, Arc<AtomicU64>),
        (robot_id, mock, clock): (&RobotId, &Arc<Mutex<MockBridge>>, &VirtualClock),
    ) -> Result<Woken, AppError> {
        let (sender, end) = mpsc::sync_channel(ENDS_MAX);
        let sink: Arc<dyn FactSink> = self.keeper.ledger.clone();
        let awake = mind.wake(Wake {
            bridge: self.bridge.clone(),
            clock: Arc::new(clock.clone()),
            sink: sink.clone(),
            progress,
            has_model: true,
            script: replies(given.scenario),
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
            sink,
            robot_id: robot_id.to_string(),
            tier: awake.tier,
            metrics: None,
            end: sender,
            wait: Arc::new(Rounds {
                mock: mock.clone(),
                keeper: self.keeper,
            }),
        };
        Ok(Woken { control, end })
    }
}

/// Longest step, ms: that of the driver of the robot's side.
const STEP_MS_MAX: u64 = 10;

fn robot_id(given: &Given<'_>) -> Result<RobotId, AppError> {
    let robot = &given.installation.robot;
    match &robot.id {
        Some(id) => Ok(id.clone()),
        None => RobotId::parse(&format!("{}{ID_SUFFIX}", robot.robot))
            .map_err(|error| AppError::Internal(error.to_string())),
    }
}

/// The robot speaks the language of its file and stands at its home.
fn vendor(robot_id: RobotId, given: &Given<'_>) -> Vendor {
    let plan = VendorPlan {
        robot_id,
        dialect: given.dialect.clone(),
        seed: given.seed,
        home: given.installation.robot.home(),
        pid: std::process::id(),
        wall_at_zero: VirtualClock::wall_at_zero(),
    };
    Vendor::new(plan, Mono::ZERO)
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
    }
}

/// On a node the others have threads; here the one who waits does their work.
#[derive(Debug)]
struct Rounds {
    mock: Arc<Mutex<MockBridge>>,
    keeper: Keeper,
}

impl Wait for Rounds {
    fn for_tick(&self) {
        lock(&self.mock).wake();
    }

    fn for_disk(&self) {
        self.for_tick();
        self.keeper.follow(&VirtualClock::default());
    }
}

impl Say for OperatorDesk {
    fn say(&mut self, word: &Word) -> Result<Answer, AppError> {
        Ok(self.carry_out(word))
    }
}

fn lock(mock: &Mutex<MockBridge>) -> MutexGuard<'_, MockBridge> {
    mock.lock().unwrap_or_else(PoisonError::into_inner)
}
