//! Carries out the operator's words: on the threads of the control socket, or in a rehearsal.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

#[cfg(feature = "dora")]
use super::EndWatch;
use super::approvals::{Approvals, Reply, Unanswered};
use super::elevations::{Ask, Elevations, Held};
use super::{Desk, End, Scribe};
use crate::app::control::{Answer, GoalStatus, Speaker, Status, Word};
use crate::app::fingerprint::Fingerprint;
use crate::robot::Bridge;
use crate::safety::{Links, Order, OrderPort};
use crate::spine::{SpineHandle, Taken};
use crate::terms::{Fact, FactSink, Keeping, RobotPort as _, RunState, StopCause, StopKind, Tier};

/// A state older than this is not fresh enough to begin with, ms. Chosen: five states of a rover.
const READY_MS_MAX: u64 = 500;
/// An order is carried out within some ticks: so many looks, of 2 ms each on a robot.
const ORDER_LOOKS_MAX: u32 = 500;
/// Longest name that is recorded of somebody who was refused, characters.
const REFUSED_CHARS_MAX: usize = 80;
/// A latch is on disk within a write or two: so many looks, of 2 ms each on a robot.
const PERSIST_LOOKS_MAX: u32 = 1000;

/// How an operator's word waits for those who carry it out.
pub(in crate::app) trait Wait: Send + Sync + fmt::Debug {
    /// Lets the safety tick go on for a moment.
    fn for_tick(&self);
    /// Lets the keeper of latch and marker go on for a moment.
    fn for_disk(&self);
}

/// Gives an order and waits for what becomes of it.
///
/// # Errors
/// The checks that failed.
pub(in crate::app) fn carried_out(
    orders: &OrderPort,
    order: Order,
    wait: &dyn Wait,
) -> Result<(), Vec<String>> {
    let Some(seq) = orders.submit(order) else {
        return Err(vec!["too many orders wait".to_owned()]);
    };
    for _ in 0..ORDER_LOOKS_MAX {
        match orders.result(seq) {
            Some(failed) if failed.is_none() => return Ok(()),
            Some(failed) => return Err(failed.names().map(str::to_owned).collect()),
            None => wait.for_tick(),
        }
    }
    Err(vec![
        "the safety tick gave no answer within a second".to_owned(),
    ])
}

/// Everything an operator's word can reach.
#[derive(Debug)]
pub(in crate::app) struct OperatorDesk {
    pub(in crate::app) bridge: Arc<Bridge>,
    pub(in crate::app) orders: OrderPort,
    pub(in crate::app) desk: Desk,
    pub(in crate::app) links: Links,
    pub(in crate::app) spine: SpineHandle,
    pub(in crate::app) has_model: bool,
    pub(in crate::app) sink: Arc<dyn FactSink>,
    pub(in crate::app) scribe: Scribe,
    pub(in crate::app) robot_id: String,
    pub(in crate::app) tier: Tier,
    pub(in crate::app) approvals: Approvals,
    pub(in crate::app) elevations: Elevations,
    pub(in crate::app) metrics: Option<String>,
    /// The files that were loaded.
    pub(in crate::app) loaded: Fingerprint,
    pub(in crate::app) end: SyncSender<End>,
    #[cfg(feature = "dora")]
    pub(in crate::app) ended: EndWatch,
    pub(in crate::app) wait: Arc<dyn Wait>,
}

impl OperatorDesk {
    /// Carries one word out. A stop waits for nothing but the latch word.
    pub(in crate::app) fn carry_out(&self, word: &Word, from: Speaker) -> Answer {
        match word {
            Word::Status => Answer::Status(Box::new(self.status())),
            Word::Stop { who, why } => {
                let epoch = self.stop(StopKind::Stop, (who, why), from);
                Answer::Done {
                    text: format!("stop asked for, epoch {epoch}{}", self.goals_lost()),
                }
            }
            Word::Estop { who, why } => self.estop((who, why), from),
            Word::Arm { who, for_s, .. } => {
                let order = Order::Arm {
                    for_ms: for_s.saturating_mul(1000),
                };
                let armed = self.desk.while_marked(who, || self.order(order));
                self.told(word, armed, from)
            }
            Word::Disarm { .. } => self.told(word, self.order(Order::Disarm), from),
            Word::Reset { .. } => self.told(word, self.reset(), from),
            Word::Approve { who, why, request } => {
                self.answer(request, (who, Reply::Yes { why }), from)
            }
            Word::Deny { who, why, request } => {
                self.answer(request, (who, Reply::No { why }), from)
            }
            // Nobody would hold it: see `elevate`.
            Word::Elevate { .. } => {
                let why = "an elevation needs a connection that holds it".to_owned();
                self.refuse(word, vec![why.clone()], from);
                Answer::refused(why)
            }
            Word::Goal { .. } => self.goal(word, from),
            Word::End { who } => {
                // Here, not where the end is carried out: that thread may be busy.
                self.bridge
                    .stop(StopKind::Stop, StopCause::Shutdown, Some(who));
                self.asked(("end", who, ""), from);
                // Full means that the node ends already.
                drop(self.end.try_send(End::Operator(who.clone())));
                Answer::Done {
                    text: "stop and end ordered".to_owned(),
                }
            }
        }
    }

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
            last_stop: self.desk.last_stop(),
            ready: posture.bridge_up
                && hears_orders(posture.run)
                && !self.links.shared.standing().stop_active
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
                waiting: self.spine.waiting(),
                age_s: goal
                    .running
                    .then(|| posture.now.ms_since(goal.began) / 1000),
            },
            approvals: self.approvals.pending(),
            elevations: self.elevations.live(),
            metrics: self.metrics.clone(),
            restart_required: self.loaded.changed(),
        }
    }

    /// Raises a tier for some tools, for as long as what is returned lives.
    ///
    /// # Errors
    /// The answer that refuses it; it is recorded.
    pub(in crate::app) fn elevate(&self, word: &Word, from: Speaker) -> Result<Held, Answer> {
        let Word::Elevate {
            who,
            why,
            tier,
            tools,
            calls,
            for_s,
        } = word
        else {
            return Err(self.carry_out(word, from));
        };
        let given = self.elevations.give(Ask {
            who,
            why,
            tier: *tier,
            tools,
            calls: *calls,
            for_s: *for_s,
            peer: from.peer(),
        });
        given.map_err(|failed| {
            self.refuse(word, failed.clone(), from);
            Answer::Refused { failed }
        })
    }

    fn answer(&self, request: &str, said: (&str, Reply<'_>), from: Speaker) -> Answer {
        match self.approvals.answer(request, said, from) {
            Ok(text) => Answer::Done { text },
            Err(Unanswered { text, fact }) => {
                self.scribe.note(from, *fact);
                Answer::Refused { failed: vec![text] }
            }
        }
    }

    /// Asks for a stop or estop and waits for nothing, not even for the disk.
    #[cfg(feature = "dora")]
    pub(in crate::app) fn stop_at_once(&self, word: &Word, from: Speaker) -> Answer {
        let (kind, who, why) = match word {
            Word::Stop { who, why } => (StopKind::Stop, who, why),
            Word::Estop { who, why } => (StopKind::Estop, who, why),
            Word::Status
            | Word::Arm { .. }
            | Word::Disarm { .. }
            | Word::Reset { .. }
            | Word::Approve { .. }
            | Word::Deny { .. }
            | Word::Elevate { .. }
            | Word::Goal { .. }
            | Word::End { .. } => {
                return Answer::Refused {
                    failed: vec![format!("{} is no stop", word.as_str())],
                };
            }
        };
        let epoch = self.stop(kind, (who, why), from);
        Answer::Done {
            text: format!("{kind} asked for, epoch {epoch}"),
        }
    }

    /// Asks the latch, then records who asked and why.
    fn stop(&self, kind: StopKind, (who, why): (&str, &str), from: Speaker) -> u32 {
        let epoch = self.bridge.stop(kind, StopCause::OperatorStop, Some(who));
        self.asked((&kind.to_string(), who, why), from);
        epoch
    }

    /// Records who asked for a stop; anybody may say it a thousand times.
    fn asked(&self, (order, who, why): (&str, &str, &str), from: Speaker) {
        let done = Fact::OrderDone {
            order: order.to_owned(),
            who: who.to_owned(),
            why: why.to_owned(),
            for_s: None,
            peer: from.peer(),
        };
        self.scribe.note(from, done);
    }

    /// Says which goals a stop by a person has ended before they began.
    fn goals_lost(&self) -> String {
        match self.spine.waiting() {
            0 => String::new(),
            1 => "; 1 goal that waited ends with it".to_owned(),
            many => format!("; {many} goals that waited end with it"),
        }
    }

    /// Latch word, then the verb, then the disk (latch and records), then the answer.
    fn estop(&self, said: (&str, &str), from: Speaker) -> Answer {
        let epoch = self.stop(StopKind::Estop, said, from);
        let mut records: Option<Keeping> = None;
        for _ in 0..PERSIST_LOOKS_MAX {
            if records.is_none() && self.desk.is_persisted() {
                records = Some(self.sink.keep());
            }
            if records.as_ref().is_some_and(Keeping::is_kept) {
                return Answer::Done {
                    text: format!("latched and on disk, epoch {epoch}"),
                };
            }
            self.wait.for_disk();
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
        carried_out(&self.orders, order, self.wait.as_ref())
    }

    fn goal(&self, word: &Word, from: Speaker) -> Answer {
        let taken = if self.has_model {
            let Word::Goal { who, text } = word else {
                return Answer::refused(format!("{} is no goal", word.as_str()));
            };
            self.spine
                .goal(text, (who, from.peer()))
                .map_err(|error| error.to_string())
        } else {
            Err("this node has no model: start it with --model scripted:FILE".to_owned())
        };
        match taken {
            Ok(taken) => Answer::Done {
                text: place_of(&taken),
            },
            Err(problem) => {
                self.refuse(word, vec![problem.clone()], from);
                Answer::refused(problem)
            }
        }
    }

    /// Records what became of an order, and turns it into the answer.
    pub(super) fn told(
        &self,
        word: &Word,
        result: Result<(), Vec<String>>,
        from: Speaker,
    ) -> Answer {
        if let Err(failed) = result {
            self.refuse(word, failed.clone(), from);
            return Answer::Refused { failed };
        }
        let (why, for_s) = match word {
            Word::Arm { why, for_s, .. } => (why.clone(), Some(*for_s)),
            Word::Disarm { why, .. } | Word::Reset { why, .. } => (why.clone(), None),
            Word::Status
            | Word::Stop { .. }
            | Word::Estop { .. }
            | Word::Approve { .. }
            | Word::Deny { .. }
            | Word::Elevate { .. }
            | Word::Goal { .. }
            | Word::End { .. } => (String::new(), None),
        };
        self.sink.raise(Fact::OrderDone {
            order: word.as_str().to_owned(),
            who: word.who().to_owned(),
            why,
            for_s,
            peer: from.peer(),
        });
        let on_disk = match word {
            Word::Reset { .. } => self.recorded(),
            Word::Status
            | Word::Arm { .. }
            | Word::Disarm { .. }
            | Word::Stop { .. }
            | Word::Estop { .. }
            | Word::Approve { .. }
            | Word::Deny { .. }
            | Word::Elevate { .. }
            | Word::Goal { .. }
            | Word::End { .. } => true,
        };
        let doubt = if on_disk {
            ""
        } else {
            "; the disk has not confirmed the record of it"
        };
        Answer::Done {
            text: format!(
                "{}: the robot is {}{doubt}",
                word.as_str(),
                self.links.shared.run()
            ),
        }
    }

    /// Waits until the safety records are on disk; returns whether they are.
    fn recorded(&self) -> bool {
        let records = self.sink.keep();
        for _ in 0..PERSIST_LOOKS_MAX {
            if records.is_kept() {
                return true;
            }
            self.wait.for_disk();
        }
        false
    }

    /// Records that a word was refused, as long as there are not too many of them.
    pub(in crate::app) fn refuse(&self, word: &Word, failed: Vec<String>, from: Speaker) {
        let refused = Fact::OrderRefused {
            order: word.as_str().to_owned(),
            // Nobody has judged the name yet, and whoever is refused may say it a thousand times.
            who: word.who().chars().take(REFUSED_CHARS_MAX).collect(),
            failed,
            peer: from.peer(),
        };
        self.scribe.note(from, refused);
    }
}

/// Says what becomes of a goal that was taken.
fn place_of(taken: &Taken) -> String {
    let number = taken.number;
    let before = match taken.ahead {
        0 => String::new(),
        1 => ", and 1 more waits before it".to_owned(),
        many => format!(", and {many} more wait before it"),
    };
    match taken.running {
        None if taken.ahead == 0 => format!("goal {number} is under way"),
        None => format!("goal {number} waits{}", before.replacen(", and", ":", 1)),
        Some((running, ms)) => format!(
            "goal {number} waits: goal {running} has been under way for {} s{before}; a stop by a person \
             ends what waits",
            ms / 1000
        ),
    }
}

/// Whether an order may be carried out in this state. The stop sequence after an unclean end comes
/// first, so nobody is told that the robot is ready while it runs.
fn hears_orders(run: RunState) -> bool {
    match run {
        RunState::Disarmed
        | RunState::Armed
        | RunState::Moving
        | RunState::Stopped
        | RunState::Latched => true,
        RunState::Boot | RunState::Stopping | RunState::Fault => false,
    }
}
