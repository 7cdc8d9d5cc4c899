//! The node around the simulated rover, with the habits of real vendor nodes. What it listens to and
//! how it says what is a [`Dialect`].
//!
//! It answers before a goal is reached, refuses a second controller, ignores messages for other
//! robots without a word, forgets its latch when its process restarts, and lets anybody disarm its
//! dead-man by a release. A runtime that works with this node meets no surprise on the floor.
//!
//! Pure: time comes with each call and nothing is read from outside, so the same seed and the same
//! inputs give the same messages. No input makes it panic.

mod dialect;
mod envelope;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use dialect::{Activity, Answers, Deed, Motion, Order, Phase, Seen};
use envelope::{Answer, Printer, read};
use serde_json::{Map, Value, json};

pub use dialect::Dialect;
pub use envelope::Frame;

use super::journal::{Journal, JournalEntry};
use super::rover::{Drive, Rover, STEP_MS};
use crate::robot::codec::{Request, code};
use crate::terms::{Mono, RobotId};

/// Period of the state, ms.
const STATE_MS: u64 = 100;
/// Most time that one call makes up for, ms. After a longer sleep every timer has run out anyway.
const CATCH_UP_MS: u64 = 60_000;
/// Ids of motion requests that are remembered, so that a repeated message moves nothing twice.
const REMEMBERED_IDS: usize = 64;

/// What a robot begins with.
#[derive(Debug, Clone)]
pub struct VendorPlan {
    /// Its id: requests for others are ignored.
    pub robot_id: RobotId,
    /// How it is spoken to.
    pub dialect: Dialect,
    /// Seed of its noise.
    pub seed: u64,
    /// Where it stands, x and y, m.
    pub home: [f64; 2],
    /// Its process id, told in the advert.
    pub pid: u32,
    /// The wall time at the origin of the clock, for the times in messages.
    pub wall_at_zero: SystemTime,
}

/// The robot.
#[derive(Debug)]
pub struct Vendor {
    printer: Printer,
    dialect: Dialect,
    rover: Rover,
    now: Mono,
    base: Activity,
    gripper: Activity,
    /// Until when a word of success is said that is none of rest.
    word_until: Option<Mono>,
    velocity_until: Option<Mono>,
    dead_man: Option<Mono>,
    estop: Option<String>,
    holder: Option<String>,
    remembered: VecDeque<String>,
    state_due: Mono,
    state_seq: u64,
    event_seq: u64,
    sample_due: Mono,
    sampled: Option<[f64; 2]>,
    out: Vec<Frame>,
    journal: Journal,
}

impl Vendor {
    /// Brings a robot to life; its first messages come with the first [`Vendor::advance`].
    pub fn new(plan: VendorPlan, now: Mono) -> Self {
        let mut journal = Journal::default();
        journal.add(JournalEntry::Start {
            t_ms: now.as_ms(),
            robot_id: plan.robot_id.as_str().to_owned(),
            pid: plan.pid,
            seed: plan.seed,
            wall_at_zero_ms: unix_ms(plan.wall_at_zero),
        });
        let printer = Printer {
            robot_id: plan.robot_id,
            pid: plan.pid,
            wall_at_zero: plan.wall_at_zero,
        };
        Self {
            out: vec![printer.advert_frame(&plan.dialect, now)],
            printer,
            dialect: plan.dialect,
            rover: Rover::new(plan.seed, plan.home),
            now,
            base: Activity::default(),
            gripper: Activity::default(),
            word_until: None,
            velocity_until: None,
            dead_man: None,
            estop: None,
            holder: None,
            remembered: VecDeque::with_capacity(REMEMBERED_IDS),
            state_due: now,
            state_seq: 0,
            event_seq: 0,
            sample_due: now,
            sampled: None,
            journal,
        }
    }

    /// Takes one message of input `cmd_request` and returns what the robot says up to now.
    pub fn handle(&mut self, text: &str, now: Mono) -> Vec<Frame> {
        self.catch_up(now);
        match read(text, &self.printer.robot_id) {
            Ok(request) => self.answer(request),
            Err(fault) => self.journal.add(JournalEntry::Ignored {
                t_ms: self.now.as_ms(),
                why: fault.as_str().to_owned(),
            }),
        }
        self.say()
    }

    /// Lets time pass and returns what the robot says up to now.
    pub fn advance(&mut self, now: Mono) -> Vec<Frame> {
        self.catch_up(now);
        self.say()
    }

    /// Brakes by itself, as a robot's node does whose dataflow ends.
    pub fn brake_by_itself(&mut self, now: Mono) {
        self.catch_up(now);
        self.brake("the dataflow ends");
    }

    /// Returns the journal, to fetch its entries from.
    pub fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// Returns the body.
    pub fn rover(&self) -> &Rover {
        &self.rover
    }

    /// Gives control to somebody else, as a second operator's station would take it.
    pub fn seize(&mut self, who: &str) {
        self.holder = Some(who.to_owned());
        self.push_state();
    }

    /// Puts the body elsewhere.
    pub fn carry_to(&mut self, place: [f64; 2]) {
        self.rover.carry_to(place);
    }

    fn say(&mut self) -> Vec<Frame> {
        if self.state_due <= self.now {
            let next = self.state_due.plus_ms(STATE_MS);
            self.state_due = next.max(self.now.plus_ms(STEP_MS));
            self.push_state();
        }
        std::mem::take(&mut self.out)
    }

    fn catch_up(&mut self, now: Mono) {
        let behind = now.ms_since(self.now);
        if behind > CATCH_UP_MS {
            let skipped = behind.saturating_sub(CATCH_UP_MS);
            self.now = self.now.plus_ms(skipped);
        }
        while now.ms_since(self.now) >= STEP_MS {
            self.now = self.now.plus_ms(STEP_MS);
            self.step();
        }
    }

    fn step(&mut self) {
        if self.velocity_until.is_some_and(|until| until <= self.now) {
            self.velocity_until = None;
            self.rover.drive(Drive::Rest);
        }
        if let (Some(heard), Some(dead_man)) = (self.dead_man, self.dialect.dead_man()) {
            let silent_ms = self.now.ms_since(heard);
            if silent_ms > u64::from(dead_man.after_ms) {
                self.journal.add(JournalEntry::DeadMan {
                    t_ms: self.now.as_ms(),
                    silent_ms,
                });
                self.emergency_stop("heartbeat timeout".to_owned());
            }
        }
        self.rover.step();
        self.settle();
        if self.rover.is_gripper_done() && self.gripper.phase == Phase::Following {
            let answer = Answer::ok(json!({ "opening": rounded(self.rover.opening()) }));
            self.end_gripper(Phase::Arrived, &answer);
        }
        if self.sample_due <= self.now {
            self.sample_due = self.now.plus_ms(STATE_MS);
            self.sample();
        }
    }

    /// Notices that the rover came to rest.
    fn settle(&mut self) {
        if self.word_until.is_some_and(|until| until <= self.now) {
            self.navigate(Phase::Idle);
        }
        let resting = matches!(self.rover.order(), Drive::Rest) && self.rover.is_at_rest();
        if self.base.phase != Phase::Following || !resting {
            return;
        }
        let arrived = self.rover.has_arrived();
        let at = self.rover.placement();
        self.journal.add(JournalEntry::Rest {
            t_ms: self.now.as_ms(),
            x: rounded(at.x),
            y: rounded(at.y),
            arrived,
        });
        if arrived {
            let place = json!({ "x": rounded(at.x), "y": rounded(at.y) });
            self.end_base(Phase::Arrived, &Answer::ok(place));
        } else {
            let answer = Answer::refused(code::VENDOR_ERROR, "stopped before the goal");
            self.end_base(Phase::Idle, &answer);
        }
    }

    /// Changes the word of the state and says so at once, so that no word is skipped.
    fn navigate(&mut self, to: Phase) {
        if self.base.phase == to {
            return;
        }
        self.base.phase = to;
        let passes = self.base.words.as_ref().is_some_and(|words| words.passes());
        let passes = passes && to == Phase::Arrived;
        self.word_until = passes.then(|| self.now.plus_ms(STATE_MS));
        self.push_state();
    }

    /// Ends a motion of the wheels, and answers where the answer was due at the end.
    fn end_base(&mut self, to: Phase, answer: &Answer) {
        if let Some(id) = self.base.answer_to.take() {
            self.respond(&id, answer);
        }
        self.navigate(to);
    }

    /// As [`Self::end_base`], for the fingers. A gripper that the state has no words for changes none.
    fn end_gripper(&mut self, to: Phase, answer: &Answer) {
        if let Some(id) = self.gripper.answer_to.take() {
            self.respond(&id, answer);
        }
        self.gripper.phase = to;
        if self.gripper.words.is_some() {
            self.push_state();
        }
    }

    fn answer(&mut self, request: Request) {
        let seen = self.remembered.contains(&request.request_id);
        let parsed = self.dialect.parse(&request.verb, &request.params);
        let moves = matches!(parsed, Ok(Order::Motion(_)));
        let answer = match parsed {
            Err(problem) => Some(Answer::refused(code::INVALID_PARAMS, problem)),
            Ok(Order::Motion(_)) if seen => Some(Answer::ok(json!({ "duplicate": true }))),
            Ok(order) => self.execute(&request.request_id, order),
        };
        if moves && !seen {
            if self.remembered.len() >= REMEMBERED_IDS {
                self.remembered.pop_front();
            }
            self.remembered.push_back(request.request_id.clone());
        }
        self.journal.add(JournalEntry::Verb {
            t_ms: self.now.as_ms(),
            class: self.dialect.class(&request.verb),
            verb: request.verb,
            request_id: request.request_id.clone(),
            params: request.params,
            executed: answer.as_ref().is_none_or(Answer::is_ok) && !(moves && seen),
            code: answer
                .as_ref()
                .map_or("pending", |answer| answer.code)
                .to_owned(),
        });
        if let Some(answer) = answer {
            self.respond(&request.request_id, &answer);
        }
    }

    /// Carries an order out; `None` when the answer comes later.
    fn execute(&mut self, id: &str, order: Order) -> Option<Answer> {
        let data = match order {
            Order::Heartbeat => {
                self.dead_man = self.dead_man.map(|_| self.now);
                json!({})
            }
            Order::Capabilities => self.printer.advert(&self.dialect, self.now),
            Order::SelfTest => json!({ "passed": true }),
            Order::Pose => Value::Object(self.pose()),
            Order::Stop => {
                self.brake("stopped");
                json!({})
            }
            Order::Estop { reason } => {
                self.emergency_stop(reason);
                json!({})
            }
            // Whoever asks: the source is not compared, and a motion under way goes on.
            Order::Release => {
                self.dead_man = None;
                self.holder = None;
                json!({})
            }
            Order::Nothing => json!({}),
            Order::Motion(motion) => return self.begin(id, motion),
        };
        Some(Answer::ok(data))
    }

    fn begin(&mut self, id: &str, motion: Motion) -> Option<Answer> {
        if let Some(reason) = &self.estop {
            let problem = format!("stopped by emergency: {reason}");
            return Some(Answer::refused(code::VENDOR_ERROR, problem));
        }
        if self.is_busy_for(&motion) {
            return Some(Answer::refused(
                code::CONTROLLER_BUSY,
                "another motion or controller",
            ));
        }
        if motion.source.is_some() {
            self.holder = motion.source;
        }
        self.dead_man = Some(self.now);
        let (answer_to, answer) = match motion.answers {
            Answers::AtOnce => (None, Some(Answer::ok(json!({ "queued": true })))),
            Answers::WhenDone => (Some(id.to_owned()), None),
        };
        if let Deed::Gripper { opening } = motion.deed {
            self.rover.open_to(opening);
            self.gripper.words = motion.words;
            self.gripper.answer_to = answer_to;
            self.gripper.phase = Phase::Following;
            if self.gripper.words.is_some() {
                self.push_state();
            }
            return answer;
        }
        self.drive(motion.deed);
        self.base.words = motion.words;
        self.base.answer_to = answer_to;
        self.navigate(Phase::Following);
        answer
    }

    /// Sets the wheels going.
    fn drive(&mut self, deed: Deed) {
        self.velocity_until = None;
        self.rover.drive(match deed {
            Deed::Velocity {
                linear,
                angular,
                lives_ms,
            } => {
                self.velocity_until = Some(self.now.plus_ms(lives_ms));
                Drive::Speed { linear, angular }
            }
            Deed::Goal { to: [x, y], mps } => Drive::Goal { x, y, mps },
            Deed::Ahead { m, mps } => {
                let at = self.rover.placement();
                Drive::Goal {
                    x: at.x + m * at.yaw.cos(),
                    y: at.y + m * at.yaw.sin(),
                    mps,
                }
            }
            Deed::Gripper { .. } => return,
        });
    }

    /// One motion at a time, one controller at a time; a velocity may be replaced by the next.
    fn is_busy_for(&self, motion: &Motion) -> bool {
        let foreign = match (&self.holder, &motion.source) {
            (Some(holder), Some(source)) => holder != source,
            (None, _) | (_, None) => false,
        };
        let repeats = matches!(motion.deed, Deed::Velocity { .. })
            && matches!(self.rover.order(), Drive::Speed { .. });
        let under_way = self.gripper.phase == Phase::Following
            || (self.base.phase == Phase::Following && !matches!(self.rover.order(), Drive::Rest));
        foreign || (under_way && !repeats)
    }

    fn brake(&mut self, why: &str) {
        self.velocity_until = None;
        self.rover.drive(Drive::Rest);
        self.rover.hold_gripper();
        let answer = Answer::refused(code::VENDOR_ERROR, why);
        if self.gripper.phase == Phase::Following {
            self.end_gripper(Phase::Idle, &answer);
        }
        if self.rover.is_at_rest() {
            self.end_base(Phase::Idle, &answer);
        }
    }

    /// Brakes and latches; there is no verb that takes it back. The first reason stays.
    fn emergency_stop(&mut self, reason: String) {
        self.brake("stopped by emergency");
        self.dead_man = None;
        if self.estop.is_some() {
            return;
        }
        self.event_seq = self.event_seq.saturating_add(1);
        let event = (self.event_seq, reason.as_str());
        self.out.push(self.printer.safety_event(event, self.now));
        self.estop = Some(reason);
        self.push_state();
    }

    fn respond(&mut self, id: &str, answer: &Answer) {
        self.out.push(self.printer.response(id, answer, self.now));
    }

    fn push_state(&mut self) {
        self.state_seq = self.state_seq.saturating_add(1);
        let mut state = self.pose();
        state.extend([
            ("estopped".to_owned(), json!(self.estop.is_some())),
            ("estop_reason".to_owned(), json!(self.estop)),
            ("controller_holder".to_owned(), json!(self.holder)),
            ("seq".to_owned(), json!(self.state_seq)),
            ("battery".to_owned(), json!(self.battery())),
        ]);
        self.out.push(self.printer.state(state));
    }

    fn pose(&self) -> Map<String, Value> {
        let at = self.rover.placement();
        self.dialect.says().write(&Seen {
            position: [rounded(at.x), rounded(at.y), 0.0],
            yaw: rounded(at.yaw),
            speed: rounded(at.speed.abs()),
            base: &self.base,
            gripper: &self.gripper,
        })
    }

    /// A battery that a long drive empties: 1 % for each ten metres.
    fn battery(&self) -> f64 {
        rounded((1.0 - self.rover.travelled_m() / 1000.0).max(0.0))
    }

    /// Keeps the pose, once for as long as it does not change.
    fn sample(&mut self) {
        let at = self.rover.placement();
        let place = [rounded(at.x), rounded(at.y)];
        if self.sampled == Some(place) {
            return;
        }
        self.sampled = Some(place);
        let [x, y] = place;
        self.journal.add(JournalEntry::Pose {
            t_ms: self.now.as_ms(),
            x,
            y,
            yaw: rounded(at.yaw),
            speed: rounded(at.speed),
        });
    }
}

/// A tenth of a millimetre is all that a message tells.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

fn unix_ms(wall: SystemTime) -> u64 {
    let since = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
