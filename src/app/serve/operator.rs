//! Carries out the operator's words. Runs on the threads of the control socket.

use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::thread;
use std::time::Duration;

use super::desk::Desk;
use super::ending::End;
use crate::app::control::{Answer, Control, GoalStatus, Status, Word};
use crate::robot::Bridge;
use crate::safety::{Links, Order, OrderPort};
use crate::spine::SpineHandle;
use crate::terms::{Fact, FactSink, RobotPort as _, RunState, StopCause, StopKind, Tier};

/// A state older than this is not fresh enough to begin with, ms. Chosen: five states of a rover.
const READY_MS_MAX: u64 = 500;
/// An order is carried out within some ticks; looked for every 2 ms, for a second.
const ORDER_LOOK: Duration = Duration::from_millis(2);
const ORDER_LOOKS_MAX: u32 = 500;
/// A latch is on disk within a write or two; looked for every 2 ms, for two seconds.
const PERSIST_LOOKS_MAX: u32 = 1000;

/// Everything an operator's word can reach.
#[derive(Debug)]
pub(super) struct OperatorDesk {
    pub(super) bridge: Arc<Bridge>,
    pub(super) orders: OrderPort,
    pub(super) desk: Desk,
    pub(super) links: Links,
    pub(super) spine: SpineHandle,
    pub(super) has_model: bool,
    pub(super) sink: Arc<dyn FactSink>,
    pub(super) robot_id: String,
    pub(super) tier: Tier,
    pub(super) metrics: Option<String>,
    pub(super) end: SyncSender<End>,
}

impl Control for OperatorDesk {
    fn carry_out(&self, word: &Word) -> Answer {
        match word {
            Word::Status => Answer::Status(Box::new(self.status())),
            Word::Stop { who, .. } => {
                let epoch = self
                    .bridge
                    .stop(StopKind::Stop, StopCause::OperatorStop, Some(who));
                Answer::Done {
                    text: format!("stop asked for, epoch {epoch}"),
                }
            }
            Word::Estop { who, .. } => self.estop(who),
            Word::Arm { who, for_s, .. } => {
                let order = Order::Arm {
                    for_ms: for_s.saturating_mul(1000),
                };
                self.told(word, self.desk.while_marked(who, || self.order(order)))
            }
            Word::Disarm { .. } => self.told(word, self.order(Order::Disarm)),
            Word::Reset { .. } => self.told(word, self.reset()),
            Word::Goal { who, text } => self.goal(who, text),
            Word::End { who } => {
                // Full means that the node ends already.
                drop(self.end.try_send(End::Operator(who.clone())));
                Answer::Done {
                    text: "the node ends".to_owned(),
                }
            }
        }
    }

    fn refused(&self, word: &Word, why: &str) {
        self.refuse(word, vec![why.to_owned()]);
    }
}

impl OperatorDesk {
    fn status(&self) -> Status {
        let posture = self.bridge.posture();
        let goal = self.spine.status();
        let age_ms = posture
            .reading
            .map(|reading| posture.now.ms_since(reading.at));
        Status {
            robot_id: self.robot_id.clone(),
            pid: std::process::id(),
            run: posture.run,
            epoch: posture.epoch,
            tier: self.tier,
            cause: posture.cause,
            ready: posture.bridge_up
                && posture.run != RunState::Boot
                && age_ms.is_some_and(|age| age <= READY_MS_MAX),
            arming_blocked_by: self
                .orders
                .arm_checks()
                .names()
                .map(str::to_owned)
                .collect(),
            position: posture.reading.and_then(|reading| reading.position),
            speed: posture.reading.and_then(|reading| reading.speed),
            state_age_ms: age_ms,
            goal: GoalStatus {
                number: goal.goal,
                running: goal.running,
                ended: goal.last_end,
                answered: goal.answered,
            },
            metrics: self.metrics.clone(),
        }
    }

    /// Latch word, then the verb, then the disk, then the answer.
    fn estop(&self, who: &str) -> Answer {
        let epoch = self
            .bridge
            .stop(StopKind::Estop, StopCause::OperatorStop, Some(who));
        for _ in 0..PERSIST_LOOKS_MAX {
            if self.desk.is_persisted() {
                return Answer::Done {
                    text: format!("latched and on disk, epoch {epoch}"),
                };
            }
            thread::park_timeout(ORDER_LOOK);
        }
        Answer::Done {
            text: format!(
                "latched, epoch {epoch}; the disk has not confirmed it: do not power off"
            ),
        }
    }

    fn reset(&self) -> Result<(), Vec<String>> {
        if self.links.shared.run() == RunState::Stopped {
            return self.order(Order::Disarm);
        }
        let failed: Vec<String> = self
            .orders
            .reset_checks()
            .names()
            .map(str::to_owned)
            .collect();
        if !failed.is_empty() {
            return Err(failed);
        }
        self.desk.while_cleared(|| self.order(Order::Reset))
    }

    fn order(&self, order: Order) -> Result<(), Vec<String>> {
        let Some(seq) = self.orders.submit(order) else {
            return Err(vec!["too many orders wait".to_owned()]);
        };
        for _ in 0..ORDER_LOOKS_MAX {
            match self.orders.result(seq) {
                Some(failed) if failed.is_none() => return Ok(()),
                Some(failed) => return Err(failed.names().map(str::to_owned).collect()),
                None => thread::park_timeout(ORDER_LOOK),
            }
        }
        Err(vec![
            "the safety thread gave no answer within a second".to_owned(),
        ])
    }

    fn goal(&self, who: &str, text: &str) -> Answer {
        if !self.has_model {
            return Answer::Refused {
                failed: vec![
                    "this node has no model: start it with --model scripted:FILE".to_owned(),
                ],
            };
        }
        match self.spine.goal(text, who) {
            Ok(number) => Answer::Done {
                text: format!("goal {number} is under way"),
            },
            Err(error) => Answer::Refused {
                failed: vec![error.to_string()],
            },
        }
    }

    /// Records what became of an order, and turns it into the answer.
    fn told(&self, word: &Word, result: Result<(), Vec<String>>) -> Answer {
        if let Err(failed) = result {
            self.refuse(word, failed.clone());
            return Answer::Refused { failed };
        }
        let (why, for_s) = match word {
            Word::Arm { why, for_s, .. } => (why.clone(), Some(*for_s)),
            Word::Disarm { why, .. } | Word::Reset { why, .. } => (why.clone(), None),
            Word::Status
            | Word::Stop { .. }
            | Word::Estop { .. }
            | Word::Goal { .. }
            | Word::End { .. } => (String::new(), None),
        };
        self.sink.raise(Fact::OrderDone {
            order: word.as_str().to_owned(),
            who: word.who().to_owned(),
            why,
            for_s,
        });
        Answer::Done {
            text: format!(
                "{}: the robot is {}",
                word.as_str(),
                self.links.shared.run()
            ),
        }
    }

    fn refuse(&self, word: &Word, failed: Vec<String>) {
        self.sink.raise(Fact::OrderRefused {
            order: word.as_str().to_owned(),
            who: word.who().to_owned(),
            failed,
        });
    }
}
