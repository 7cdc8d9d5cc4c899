//! Plays the scenario's operator: the same words that a person says, over the same socket.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::app::clock::SystemClock;
use crate::app::control::{Answer, Client, Status, Word};
use crate::app::exit::AppError;
use crate::config::{Event, OperatorAct, Scenario};
use crate::sim;
use crate::terms::{Clock, Mono, RunState};

/// How often the operator looks. The state comes at 10 Hz; this is often enough to miss none.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the operator plays.
pub(super) struct Rehearsal {
    pub(super) scenario: Scenario,
    pub(super) socket: PathBuf,
    /// Set once the dataflow has ended.
    pub(super) over: Arc<AtomicBool>,
    pub(super) progress: Box<dyn Fn(&str) + Send>,
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal")
            .field("scenario", &self.scenario.name)
            .finish_non_exhaustive()
    }
}

/// What came of playing.
#[derive(Debug, Default)]
pub(super) struct Played {
    /// Events that did not happen.
    pub(super) unfired: Vec<Event>,
    /// What went wrong: a refused word, a node that did not come up, the time limit.
    pub(super) troubles: Vec<String>,
    /// The status when the goal had ended.
    pub(super) last: Option<Status>,
}

/// Starts the operator's thread.
pub(super) fn play(rehearsal: Rehearsal) -> Result<JoinHandle<Played>, AppError> {
    thread::Builder::new()
        .name("operator".to_owned())
        .spawn(move || Play::new(rehearsal).run())
        .map_err(|error| AppError::Internal(format!("no thread for the operator: {error}")))
}

struct Play {
    rehearsal: Rehearsal,
    clock: SystemClock,
    operator: sim::Operator,
    goal_at: Option<Mono>,
    place: Option<[f64; 3]>,
    moved_m: f64,
    played: Played,
}

impl Play {
    fn new(rehearsal: Rehearsal) -> Self {
        Self {
            operator: sim::Operator::new(&rehearsal.scenario),
            rehearsal,
            clock: SystemClock::start(),
            goal_at: None,
            place: None,
            moved_m: 0.0,
            played: Played::default(),
        }
    }

    fn run(mut self) -> Played {
        if let Some(mut client) = self.connect() {
            if let Err(error) = self.follow(&mut client) {
                // A node that ends while it is asked is no trouble of its own: the run's end says why.
                self.played.troubles.push(error.to_string());
            }
            self.end(&mut client);
        }
        self.played.unfired = self.operator.unfired().to_vec();
        self.played
    }

    /// Waits for the node's socket, as long as the run lives.
    fn connect(&self) -> Option<Client> {
        while self.in_time() {
            if let Ok(client) = Client::connect(&self.rehearsal.socket) {
                return Some(client);
            }
            thread::park_timeout(LOOK_EVERY);
        }
        None
    }

    /// Follows the run until the goal has ended or the time is up.
    fn follow(&mut self, client: &mut Client) -> Result<(), AppError> {
        while self.in_time() {
            let Answer::Status(status) = client.ask(&Word::Status)? else {
                return Err(AppError::Internal(
                    "a status was answered by something else".to_owned(),
                ));
            };
            self.walk(status.position);
            self.act(client, &status)?;
            if self.goal_at.is_some() && has_settled(&status) {
                self.played.last = Some(*status);
                return Ok(());
            }
            thread::park_timeout(LOOK_EVERY);
        }
        if !self.rehearsal.over.load(Ordering::Acquire) {
            let limit_s = self.rehearsal.scenario.limit_s;
            self.played
                .troubles
                .push(format!("not over within limit_s = {limit_s}"));
        }
        Ok(())
    }

    /// Does what is due; gives the goal once everything that belongs before it is done.
    fn act(&mut self, client: &mut Client, status: &Status) -> Result<(), AppError> {
        let seen = sim::Status {
            ready: status.ready,
            goal_ms: self.goal_at.map(|at| self.clock.now().ms_since(at)),
            moved_m: self.moved_m,
            answered: status.goal.answered,
        };
        while let Some(act) = self.operator.next(&seen) {
            let word = word_of(&act, &self.rehearsal.scenario.operator);
            self.say(client, &word)?;
        }
        if status.ready && self.goal_at.is_none() {
            let word = Word::Goal {
                who: self.rehearsal.scenario.operator.clone(),
                text: self.rehearsal.scenario.goal.clone(),
            };
            self.say(client, &word)?;
            self.goal_at = Some(self.clock.now());
        }
        Ok(())
    }

    fn say(&mut self, client: &mut Client, word: &Word) -> Result<(), AppError> {
        let result = match client.ask(word)? {
            Answer::Done { text } => text,
            Answer::Status(_) => "status".to_owned(),
            Answer::Refused { failed } => {
                let trouble = format!("{} refused: {}", word.as_str(), failed.join("; "));
                self.played.troubles.push(trouble.clone());
                trouble
            }
        };
        (self.rehearsal.progress)(&format!("{:>10} | {}: {result}", "operator", word.as_str()));
        Ok(())
    }

    /// Ends the node in order. A node that is gone already has ended.
    fn end(&self, client: &mut Client) {
        let who = self.rehearsal.scenario.operator.clone();
        if let Err(error) = client.ask(&Word::End { who }) {
            tracing::debug!(%error, "the node ended before it was asked to");
        }
    }

    fn walk(&mut self, position: Option<[f64; 3]>) {
        if let (Some([px, py, pz]), Some([x, y, z]), Some(_)) = (self.place, position, self.goal_at)
        {
            self.moved_m += (x - px).hypot(y - py).hypot(z - pz);
        }
        self.place = position.or(self.place);
    }

    fn in_time(&self) -> bool {
        let limit_ms = u64::from(self.rehearsal.scenario.limit_s).saturating_mul(1000);
        !self.rehearsal.over.load(Ordering::Acquire) && self.clock.now().as_ms() < limit_ms
    }
}

/// The goal has ended and what it began has come to rest.
fn has_settled(status: &Status) -> bool {
    let is_under_way = matches!(status.run, RunState::Moving | RunState::Stopping);
    status.goal.number > 0 && !status.goal.running && !is_under_way
}

fn word_of(act: &OperatorAct, who: &str) -> Word {
    let who = who.to_owned();
    match act {
        OperatorAct::Arm { why, for_s } => Word::Arm {
            who,
            why: why.clone(),
            for_s: *for_s,
        },
        OperatorAct::Disarm { why } => Word::Disarm {
            who,
            why: why.clone(),
        },
        OperatorAct::Stop { why } => Word::Stop {
            who,
            why: why.clone(),
        },
        OperatorAct::Estop { why } => Word::Estop {
            who,
            why: why.clone(),
        },
        OperatorAct::Reset { why } => Word::Reset {
            who,
            why: why.clone(),
        },
    }
}
