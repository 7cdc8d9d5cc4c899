//! The person of a scenario: what they do, and when.
//!
//! Pure: [`Operator::next`] is asked with what is known now and answers with at most one act. Each
//! event happens once. What never happened is told to the judge.

use crate::config::{Condition, Event, OperatorAct, Scenario, When};
use crate::terms::{Fact, RunState, StopCause};

/// What the operator can see.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Status {
    /// The robot is known, its state arrives, and an order would be heard.
    pub ready: bool,
    /// Time since the goal was given, ms; `None` before.
    pub goal_ms: Option<u64>,
    /// The way since the goal was given, m.
    pub moved_m: f64,
    /// Calls of the model that were answered.
    pub answered: u32,
}

/// The operator of one run.
#[derive(Debug, Clone)]
pub struct Operator {
    waiting: Vec<Event>,
}

impl Operator {
    /// Makes the operator of a scenario.
    pub fn new(scenario: &Scenario) -> Self {
        Self {
            waiting: scenario.events.clone(),
        }
    }

    /// Returns the next thing to do, `None` when nothing is due. Of several that are due the one
    /// that stands first in the file comes first.
    pub fn next(&mut self, status: &Status) -> Option<OperatorAct> {
        let due = self
            .waiting
            .iter()
            .position(|event| holds(event.when, status))?;
        Some(self.waiting.remove(due).act)
    }

    /// Returns the events that have not happened.
    pub fn unfired(&self) -> &[Event] {
        &self.waiting
    }
}

/// Whether a moment of the run has come.
pub(super) fn holds(when: When, status: &Status) -> bool {
    let since_goal = status.goal_ms;
    match when {
        When::Ready => status.ready,
        When::Once(Condition::MovedM(m)) => since_goal.is_some() && status.moved_m >= m,
        When::Once(Condition::AfterMs(ms)) => since_goal.is_some_and(|since| since >= ms),
        When::Once(Condition::Answered(n)) => since_goal.is_some() && status.answered >= n,
    }
}

/// Follows a run by its facts, for the operator.
#[derive(Debug, Clone, Default)]
pub struct Progress {
    known: bool,
    states: u64,
    hears: bool,
    goal_at_ms: Option<u64>,
    ended: bool,
    place: Option<[f64; 3]>,
    moved_m: f64,
    answered: u32,
}

impl Progress {
    /// Takes one fact, raised at `t_ms`.
    pub fn apply(&mut self, t_ms: u64, fact: &Fact) {
        if let Fact::Advert { .. } = fact {
            self.known = true;
        }
        if let Fact::RunStateChanged { to, .. } = fact {
            self.hears = hears_orders(*to);
        }
        if let Fact::GoalBegun { .. } = fact {
            self.goal_at_ms = Some(t_ms);
        }
        if let Fact::GoalEnded { .. } = fact {
            self.ended = true;
        }
        if let Fact::RobotState { position, .. } = fact {
            self.states = self.states.saturating_add(1);
            self.walk(*position);
        }
        if is_answer(fact) {
            self.answered = self.answered.saturating_add(1);
        }
    }

    /// Returns what the operator can see at `now_ms`.
    pub fn status(&self, now_ms: u64) -> Status {
        Status {
            ready: self.known && self.states > 0 && self.hears,
            goal_ms: self.goal_at_ms.map(|at| now_ms.saturating_sub(at)),
            moved_m: self.moved_m,
            answered: self.answered,
        }
    }

    /// Returns whether the agent has finished the goal.
    pub fn goal_ended(&self) -> bool {
        self.ended
    }

    fn walk(&mut self, position: Option<[f64; 3]>) {
        let Some([x, y, z]) = position else { return };
        if let (Some([px, py, pz]), Some(_)) = (self.place, self.goal_at_ms) {
            self.moved_m += (x - px).hypot(y - py).hypot(z - pz);
        }
        self.place = position;
    }
}

/// Whether a fact is the answer to a call of the model.
fn is_answer(fact: &Fact) -> bool {
    // A refusal after the grant raises both; it is one answer.
    let ended = matches!(fact, Fact::Finished { outcome, .. } if outcome != "refused");
    let refused = matches!(fact, Fact::Refused { .. });
    let by_model = StopCause::ModelStop;
    let stopped = matches!(fact, Fact::StopAsked { cause, .. } if *cause == by_model);
    ended || refused || stopped
}

fn hears_orders(state: RunState) -> bool {
    match state {
        RunState::Disarmed
        | RunState::Armed
        | RunState::Moving
        | RunState::Stopped
        | RunState::Latched => true,
        RunState::Boot | RunState::Stopping | RunState::Fault => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests::{event, scenario};

    fn stop(why: &str) -> OperatorAct {
        OperatorAct::Stop {
            why: why.to_owned(),
        }
    }

    #[test]
    fn each_event_happens_once_when_its_condition_holds() {
        let mut operator = Operator::new(&crate::config::Scenario {
            events: vec![
                event(When::Once(Condition::MovedM(0.8)), stop("far")),
                event(When::Ready, stop("ready")),
                event(When::Once(Condition::AfterMs(50)), stop("late")),
                event(When::Once(Condition::Answered(9)), stop("never")),
            ],
            ..scenario()
        });
        let mut status = Status {
            moved_m: 5.0,
            answered: 20,
            ..Status::default()
        };
        assert_eq!(operator.next(&status), None, "no goal yet");
        status.ready = true;
        assert_eq!(operator.next(&status), Some(stop("ready")));
        status = Status {
            ready: true,
            goal_ms: Some(50),
            moved_m: 0.8,
            answered: 8,
        };
        assert_eq!(operator.next(&status), Some(stop("far")));
        assert_eq!(operator.next(&status), Some(stop("late")));
        assert_eq!(operator.next(&status), None);
        assert_eq!(operator.unfired().len(), 1);
    }

    #[test]
    fn the_way_counts_from_the_goal_and_answers_count_refusals() {
        let mut progress = Progress::default();
        let at = |x| Fact::RobotState {
            position: Some([x, 0.0, 0.0]),
            speed: None,
            status: None,
        };
        progress.apply(1, &at(0.0));
        progress.apply(2, &at(5.0));
        progress.apply(
            10,
            &Fact::GoalBegun {
                goal: 1,
                digest: String::new(),
                by: "ann".to_owned(),
                peer: None,
            },
        );
        progress.apply(20, &at(5.5));
        progress.apply(30, &at(5.25));
        let status = progress.status(110);
        assert_eq!(status.goal_ms, Some(100));
        assert!((status.moved_m - 0.75).abs() < 1e-9);
        assert!(!status.ready, "no advert and no run state");
    }
}
