//! Plays the scenario's operator: the same words that a person says, wherever the node lives.

use std::collections::VecDeque;
use std::fmt;

use crate::app::control::{Answer, Speaker, Status, Word};
use crate::app::exit::AppError;
use crate::app::parts::OperatorDesk;
use crate::config::{Event, OperatorAct, Scenario, ScriptedAnswer};
use crate::sim;
use crate::terms::{Mono, RunState};

/// Where the words go.
pub(in crate::app) trait Say {
    /// Says one word and returns its answer.
    ///
    /// # Errors
    /// When the node cannot be reached.
    fn say(&mut self, word: &Word) -> Result<Answer, AppError>;

    /// Says a word from a terminal of its own, which holds what the word gives. Returns the terminal,
    /// or the answer that refuses it.
    ///
    /// # Errors
    /// When the node cannot be reached.
    fn say_and_hold(&mut self, word: &Word) -> Result<Result<Terminal, Answer>, AppError>;
}

/// A terminal that is open; dropping it closes it.
pub(in crate::app) type Terminal = Box<dyn fmt::Debug + Send>;

impl Say for OperatorDesk {
    fn say(&mut self, word: &Word) -> Result<Answer, AppError> {
        Ok(self.carry_out(word, Speaker::Scenario))
    }

    fn say_and_hold(&mut self, word: &Word) -> Result<Result<Terminal, Answer>, AppError> {
        let held = self.elevate(word, Speaker::Scenario);
        Ok(held.map(|held| Box::new(held) as Terminal))
    }
}

/// What came of playing.
#[derive(Debug, Default)]
pub(in crate::app) struct Played {
    /// Events that did not happen.
    pub(in crate::app) unfired: Vec<Event>,
    /// What went wrong: a refused word, a node that did not come up, the time limit.
    pub(in crate::app) troubles: Vec<String>,
}

/// The operator of one run, who looks from time to time.
pub(in crate::app) struct Play {
    scenario: Scenario,
    progress: Box<dyn Fn(&str) + Send>,
    operator: sim::Operator,
    /// Answers that were not given yet.
    answers: VecDeque<ScriptedAnswer>,
    /// The questions that wait and were seen before.
    asked: Vec<String>,
    /// Terminals that hold an Elevation.
    terminals: Vec<Terminal>,
    goal_at: Option<Mono>,
    place: Option<[f64; 3]>,
    moved_m: f64,
    troubles: Vec<String>,
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play")
            .field("scenario", &self.scenario.name)
            .finish_non_exhaustive()
    }
}

impl Play {
    pub(in crate::app) fn new(scenario: Scenario, progress: Box<dyn Fn(&str) + Send>) -> Self {
        Self {
            operator: sim::Operator::new(&scenario),
            answers: scenario.answers.iter().copied().collect(),
            asked: Vec::new(),
            scenario,
            progress,
            terminals: Vec::new(),
            goal_at: None,
            place: None,
            moved_m: 0.0,
            troubles: Vec::new(),
        }
    }

    /// Looks at the node.
    ///
    /// # Errors
    /// When the node cannot be reached.
    pub(in crate::app) fn look(&mut self, to: &mut dyn Say) -> Result<Status, AppError> {
        let Answer::Status(status) = to.say(&Word::Status)? else {
            return Err(AppError::Internal(
                "a status was answered by something else".to_owned(),
            ));
        };
        self.walk(status.position);
        Ok(*status)
    }

    /// Returns what the conditions of a scenario are judged on.
    pub(in crate::app) fn seen(&self, status: &Status, now: Mono) -> sim::Status {
        sim::Status {
            ready: status.ready,
            goal_ms: self.goal_at.map(|at| now.ms_since(at)),
            moved_m: self.moved_m,
            answered: status.goal.answered,
        }
    }

    /// Does what is due; gives the goal once everything that belongs before it is done. Returns
    /// whether the goal has ended and the robot has settled.
    ///
    /// # Errors
    /// When the node cannot be reached.
    pub(in crate::app) fn act(
        &mut self,
        to: &mut dyn Say,
        status: &Status,
        now: Mono,
    ) -> Result<bool, AppError> {
        let seen = self.seen(status, now);
        while let Some(act) = self.operator.next(&seen) {
            match word_of(&act, &self.scenario.operator) {
                Some(word @ Word::Elevate { .. }) => self.raise(to, &word)?,
                Some(word) => self.say(to, &word)?,
                None => self.hang_up(),
            }
        }
        self.reply(to, status)?;
        if status.ready && self.goal_at.is_none() {
            let word = Word::Goal {
                who: self.scenario.operator.clone(),
                text: self.scenario.goal.clone(),
            };
            self.say(to, &word)?;
            self.goal_at = Some(now);
        }
        Ok(self.goal_at.is_some() && has_settled(status))
    }

    /// Answers the questions that are new, each with the next answer of the scenario.
    fn reply(&mut self, to: &mut dyn Say, status: &Status) -> Result<(), AppError> {
        let waiting = status.approvals.iter().map(|one| one.request.clone());
        let waiting: Vec<String> = waiting.collect();
        let seen = std::mem::replace(&mut self.asked, waiting.clone());
        for request in waiting.into_iter().filter(|id| !seen.contains(id)) {
            let who = self.scenario.operator.clone();
            let why = "an answer of the scenario".to_owned();
            match self.answers.pop_front() {
                Some(ScriptedAnswer::Approve) => {
                    self.say(to, &Word::Approve { who, why, request })?;
                }
                Some(ScriptedAnswer::Deny) => {
                    self.say(to, &Word::Deny { who, why, request })?;
                }
                Some(ScriptedAnswer::Silent) | None => {}
            }
        }
        Ok(())
    }

    /// Returns whether the run may go on at `now`.
    pub(in crate::app) fn in_time(&self, now: Mono) -> bool {
        now.as_ms() < u64::from(self.scenario.limit_s).saturating_mul(1000)
    }

    /// Notes something that went wrong.
    pub(in crate::app) fn trouble(&mut self, text: String) {
        self.troubles.push(text);
    }

    /// Notes that the time is up.
    pub(in crate::app) fn late(&mut self) {
        let limit_s = self.scenario.limit_s;
        self.trouble(format!("not over within limit_s = {limit_s}"));
    }

    /// Returns the word that ends the node in order.
    pub(in crate::app) fn last_word(&self) -> Word {
        Word::End {
            who: self.scenario.operator.clone(),
        }
    }

    /// Returns what came of playing.
    pub(in crate::app) fn played(mut self) -> Played {
        if !self.answers.is_empty() {
            let left = self.answers.len();
            let were = if left == 1 { "was" } else { "were" };
            self.trouble(format!("{left} of operator.answers {were} never asked for"));
        }
        Played {
            unfired: self.operator.unfired().to_vec(),
            troubles: self.troubles,
        }
    }

    /// Raises a tier, and keeps the terminal open.
    fn raise(&mut self, to: &mut dyn Say, word: &Word) -> Result<(), AppError> {
        match to.say_and_hold(word)? {
            Ok(terminal) => {
                self.terminals.push(terminal);
                self.tell(word.as_str(), "given, the terminal stays open");
            }
            Err(answer) => self.hear(word, answer),
        }
        Ok(())
    }

    /// Closes the terminals: what they hold ends.
    fn hang_up(&mut self) {
        if self.terminals.is_empty() {
            self.trouble("hang_up: no terminal is open".to_owned());
        }
        self.terminals.clear();
        self.tell("hang_up", "terminals are closed");
    }

    fn say(&mut self, to: &mut dyn Say, word: &Word) -> Result<(), AppError> {
        let answer = to.say(word)?;
        self.hear(word, answer);
        Ok(())
    }

    fn hear(&mut self, word: &Word, answer: Answer) {
        let result = match answer {
            Answer::Done { text } => text,
            Answer::Status(_) => "status".to_owned(),
            Answer::Ending { .. } => "the node ends".to_owned(),
            Answer::Elevation(news) => news.to_text(),
            Answer::Refused { failed } => {
                let trouble = format!("{} refused: {}", word.as_str(), failed.join("; "));
                self.troubles.push(trouble.clone());
                trouble
            }
        };
        self.tell(word.as_str(), &result);
    }

    fn tell(&self, what: &str, result: &str) {
        (self.progress)(&format!("{:>10} | {what}: {result}", "operator"));
    }

    fn walk(&mut self, position: Option<[f64; 3]>) {
        if let (Some([px, py, pz]), Some([x, y, z]), Some(_)) = (self.place, position, self.goal_at)
        {
            self.moved_m += (x - px).hypot(y - py).hypot(z - pz);
        }
        self.place = position.or(self.place);
    }
}

/// The goal has ended and what it began has come to rest.
fn has_settled(status: &Status) -> bool {
    let is_under_way = matches!(status.run, RunState::Moving | RunState::Stopping);
    status.goal.number > 0 && !status.goal.running && !is_under_way
}

/// Returns the word of an act; `None` for the one that says nothing.
fn word_of(act: &OperatorAct, who: &str) -> Option<Word> {
    let who = who.to_owned();
    Some(match act {
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
        OperatorAct::Elevate {
            why,
            tier,
            tools,
            calls,
            for_s,
        } => Word::Elevate {
            who,
            why: why.clone(),
            tier: *tier,
            tools: tools.clone(),
            calls: *calls,
            for_s: *for_s,
        },
        OperatorAct::HangUp => return None,
    })
}
