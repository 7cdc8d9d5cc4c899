//! The rehearsal: what its operator does and what goes wrong, between two steps of time.

use super::{Given, Ran};
use crate::app::exit::{AppError, Exit};
use crate::app::parts::{End, replies};
use crate::app::rehearse::operator::Play;
use crate::app::stage::{self, Cast, LOOK_MS, World};
use crate::app::state::StateFolder;
use crate::config::FaultAct;
use crate::robot::{Heard, Ids};
use crate::sim::{Faults, JournalEntry, MockBridge, MockRobot, Vendor, VendorPlan, VirtualClock};
use crate::terms::{Clock as _, Mono, RobotId};

/// What an id is made of when the robot file fixes none: the robot's name and this.
const ID_SUFFIX: &str = "-001";

/// A run, its operator and its faults.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) inner: stage::Stage<Mock>,
    faults: Faults,
    play: Play,
    /// When operator and faults look next.
    look_at: Mono,
    /// Until when nothing of the process goes on, the operator's side included.
    process_asleep_until: Mono,
}

/// The simulated robot, and what it has seen.
#[derive(Debug)]
pub(super) struct Mock {
    bridge: MockBridge,
    pub(super) journal: Vec<JournalEntry>,
}

impl World for Mock {
    fn advance_to(&mut self, now: Mono) {
        self.bridge.advance_to(now);
        let vendor = self.bridge.robot().vendor();
        self.journal.append(&mut vendor.journal().take());
    }

    fn wake(&mut self) {
        self.bridge.wake();
    }

    fn take_heard(&mut self) -> Vec<Heard> {
        self.bridge.take_heard()
    }
}

impl Stage {
    /// Puts agent and robot together. Must be called on the runtime whose time is paused.
    pub(super) fn new(
        given: &Given<'_>,
        progress: Box<dyn Fn(&str) + Send>,
    ) -> Result<Self, AppError> {
        let robot_id = robot_id(given)?;
        let faults = Faults::new(given.scenario.faults.clone(), given.seed);
        let robot = MockRobot::new(vendor(robot_id.clone(), given), faults.rule());
        let cast = Cast {
            installation: given.installation,
            folder: StateFolder::open(given.folder.path(), &robot_id)?,
            robot_id,
            ids: Ids::seeded(given.seed),
            tier: None,
            script: Some(replies(given.scenario)),
            is_attended: given.scenario.is_attended(),
        };
        let inner = stage::Stage::new(cast, |parts, rhythm| Mock {
            bridge: MockBridge::new(parts, robot, rhythm),
            journal: Vec::new(),
        })?;
        Ok(Self {
            inner,
            faults,
            play: Play::new(given.scenario.clone(), progress),
            look_at: Mono::ZERO,
            process_asleep_until: Mono::ZERO,
        })
    }

    /// Runs the scenario to its end.
    pub(super) async fn run(mut self) -> Result<Ran, AppError> {
        while self.play.in_time(self.inner.clock.now()) {
            self.inner.step().await;
            let looks = self.inner.clock.now() >= self.look_at;
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
        self.inner.world().bridge.inject(event);
    }

    /// Lets time pass until the loaded files were looked at, and asks how the robot is.
    #[cfg(test)]
    pub(super) async fn status_after_a_look(&mut self) -> crate::app::Status {
        let until = self.inner.clock.now().plus_ms(stage::DISK_LOOK_MS);
        while self.inner.clock.now() < until {
            self.inner.step().await;
        }
        let answer = self.inner.control.carry_out(
            &crate::app::Word::Status,
            crate::app::control::Speaker::Scenario,
        );
        let crate::app::Answer::Status(status) = answer else {
            panic!("{answer:?}");
        };
        *status
    }

    /// What goes wrong now, and what the operator does. Returns whether the run is over.
    fn act(&mut self) -> Result<bool, AppError> {
        let now = self.inner.clock.now();
        self.look_at = now.plus_ms(LOOK_MS);
        if now < self.process_asleep_until {
            return Ok(false);
        }
        let status = self.play.look(&mut self.inner.control)?;
        let seen = self.play.seen(&status, now);
        while let Some(fault) = self.faults.next(&seen, now) {
            self.suffer(&fault, now);
        }
        if now < self.process_asleep_until {
            return Ok(false);
        }
        self.play.act(&mut self.inner.control, &status, now)
    }

    fn suffer(&mut self, fault: &FaultAct, now: Mono) {
        self.inner.world().bridge.suffer(fault);
        if let FaultAct::FrozenAgent { for_ms } | FaultAct::FrozenProcess { for_ms } = fault {
            self.inner.agent_asleep_until = now.plus_ms(u64::from(*for_ms));
        }
        if let FaultAct::FrozenProcess { .. } = fault {
            self.process_asleep_until = self.inner.agent_asleep_until;
        }
    }

    fn has_ended(&mut self) -> bool {
        match self.inner.ended() {
            Some(End::Broken(why)) => {
                self.play.trouble(why.to_owned());
                true
            }
            Some(_) => true,
            None => false,
        }
    }

    async fn end(&mut self) {
        let who = self.play.last_word().who().to_owned();
        let at_rest = self.inner.end(Some(&who)).await;
        let exit = if at_rest { Exit::Done } else { Exit::Internal };
        self.inner.conclude(exit);
    }

    fn ran(mut self) -> Ran {
        if self.inner.graph_ended {
            self.play
                .trouble("the dataflow ended, which there is none".to_owned());
        }
        let ledger = self.inner.ledger.clone();
        let dropped = ledger.dropped();
        if dropped > 0 {
            self.play.trouble(format!("{dropped} facts were not kept"));
        }
        let unfired = self.faults.unfired();
        let journal = std::mem::take(&mut self.inner.world().journal);
        Ran {
            unfired: unfired.map(|fault| fault.place.to_string()).collect(),
            facts: ledger.facts(),
            journal,
            played: self.play.played(),
            faults: self.faults.seen(),
            trace: ledger.trace(),
            total_ms: self.inner.clock.now().as_ms(),
        }
    }
}

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
