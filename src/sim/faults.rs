//! What goes wrong in a rehearsal: the faults of a scenario, when they are due, and what they hit.
//!
//! Faults of the link are decided message by message, the same ones for the same seed. The others
//! are handed to whoever drives the robot and the agent. What each fault hit is counted: the record
//! of a run says what was lost.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::link::{Fate, FateRule, Way};
use super::operator::{Status, holds};
use crate::config::{Fault, FaultAct, Loss};
use crate::terms::{Mono, Output};

/// A fault that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FaultSeen {
    /// Its word in the scenario file.
    pub what: &'static str,
    /// When it began, ms.
    pub t_ms: u64,
    /// How many messages it hit; 0 for a fault that hits none.
    pub messages: u32,
}

/// A fault of the link that is under way.
#[derive(Debug)]
struct Trouble {
    act: FaultAct,
    /// How many messages it may still hit; `None` for any number.
    left: Option<u32>,
    /// Its place in the list of what happened.
    seen: usize,
}

#[derive(Debug)]
struct Link {
    troubles: Vec<Trouble>,
    seen: Vec<FaultSeen>,
    random: fastrand::Rng,
}

/// The faults of one run.
#[derive(Debug)]
pub struct Faults {
    waiting: Vec<Fault>,
    link: Arc<Mutex<Link>>,
}

impl Faults {
    /// Makes the faults of a scenario; `seed` chooses the messages that are lost by chance.
    pub fn new(faults: Vec<Fault>, seed: u64) -> Self {
        Self {
            waiting: faults,
            link: Arc::new(Mutex::new(Link {
                troubles: Vec::new(),
                seen: Vec::new(),
                random: fastrand::Rng::with_seed(seed),
            })),
        }
    }

    /// Returns the rule that decides on each message of the link.
    pub fn rule(&self) -> FateRule {
        let link = Arc::clone(&self.link);
        FateRule::new(move |way, text| lock(&link).fate(way, text))
    }

    /// Begins the next fault that is due. Those of the link have taken effect when this returns;
    /// the others are for the driver.
    pub fn next(&mut self, status: &Status, now: Mono) -> Option<FaultAct> {
        let due = self
            .waiting
            .iter()
            .position(|fault| holds(fault.when, status))?;
        let act = self.waiting.remove(due).act;
        lock(&self.link).begin(&act, now);
        Some(act)
    }

    /// Returns what has not happened.
    pub fn unfired(&self) -> impl Iterator<Item = &Fault> {
        self.waiting.iter()
    }

    /// Returns what happened, in order.
    pub fn seen(&self) -> Vec<FaultSeen> {
        lock(&self.link).seen.clone()
    }
}

impl Link {
    fn begin(&mut self, act: &FaultAct, now: Mono) {
        if let Some(left) = messages_hit(act) {
            self.troubles.push(Trouble {
                act: act.clone(),
                left,
                seen: self.seen.len(),
            });
        }
        self.seen.push(FaultSeen {
            what: act.as_str(),
            t_ms: now.as_ms(),
            messages: 0,
        });
    }

    /// The first trouble that hits a message decides.
    fn fate(&mut self, way: Way, text: &str) -> Fate {
        let random = &mut self.random;
        let hit = self.troubles.iter_mut().find_map(|trouble| {
            let fate = fate(&trouble.act, way, text, random)?;
            trouble.left = trouble.left.map(|left| left.saturating_sub(1));
            Some((trouble.seen, fate))
        });
        self.troubles.retain(|trouble| trouble.left != Some(0));
        let Some((seen, fate)) = hit else {
            return Fate::Arrives;
        };
        if let Some(seen) = self.seen.get_mut(seen) {
            seen.messages = seen.messages.saturating_add(1);
        }
        fate
    }
}

/// How many messages a fault of the link may hit, `Some(None)` for any number; `None` for a fault
/// that is none of the link.
fn messages_hit(act: &FaultAct) -> Option<Option<u32>> {
    match act {
        FaultAct::LoseRequests { loss, .. }
        | FaultAct::LoseAnswers { loss }
        | FaultAct::LoseStates { loss } => Some(match loss {
            Loss::Count(count) => Some(*count),
            Loss::PerMille(_) => None,
        }),
        FaultAct::WrongIds { count } => Some(Some(*count)),
        FaultAct::LateAnswers { .. } | FaultAct::DeadRobot => Some(None),
        FaultAct::FrozenRobot { .. }
        | FaultAct::FrozenAgent { .. }
        | FaultAct::FrozenProcess { .. }
        | FaultAct::LostGraphTicks { .. }
        | FaultAct::ForeignController
        | FaultAct::Drift { .. } => None,
    }
}

/// What a fault makes of a message; `None` when it does not touch it.
fn fate(act: &FaultAct, way: Way, text: &str, random: &mut fastrand::Rng) -> Option<Fate> {
    let answer = way == Way::FromRobot(Output::CmdResponse);
    match act {
        FaultAct::LoseRequests { verb, loss } => {
            let of_verb = |verb: &String| text.contains(&format!("\"{verb}\""));
            let touched = way == Way::ToRobot && verb.as_ref().is_none_or(of_verb);
            (touched && is_lost(*loss, random)).then_some(Fate::Lost)
        }
        FaultAct::LoseAnswers { loss } => (answer && is_lost(*loss, random)).then_some(Fate::Lost),
        FaultAct::LoseStates { loss } => {
            let state = way == Way::FromRobot(Output::State);
            (state && is_lost(*loss, random)).then_some(Fate::Lost)
        }
        FaultAct::LateAnswers { by_ms } => answer.then_some(Fate::Late { by_ms: *by_ms }),
        FaultAct::WrongIds { .. } => answer.then_some(Fate::WrongId),
        FaultAct::DeadRobot => Some(Fate::Lost),
        FaultAct::FrozenRobot { .. }
        | FaultAct::FrozenAgent { .. }
        | FaultAct::FrozenProcess { .. }
        | FaultAct::LostGraphTicks { .. }
        | FaultAct::ForeignController
        | FaultAct::Drift { .. } => None,
    }
}

fn is_lost(loss: Loss, random: &mut fastrand::Rng) -> bool {
    match loss {
        Loss::Count(_) => true,
        Loss::PerMille(per_mille) => random.u16(..1000) < per_mille,
    }
}

fn lock(link: &Mutex<Link>) -> MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Condition, Place, When};

    fn fault(act: FaultAct) -> Fault {
        Fault {
            place: Place {
                file: "s.toml".into(),
                line: 1,
            },
            when: When::Once(Condition::AfterMs(0)),
            act,
        }
    }

    fn begun(act: FaultAct) -> (Faults, FateRule) {
        let mut faults = Faults::new(vec![fault(act)], 7);
        let status = Status {
            goal_ms: Some(0),
            ..Status::default()
        };
        assert!(faults.next(&status, Mono::from_ms(5)).is_some());
        let rule = faults.rule();
        (faults, rule)
    }

    #[test]
    fn a_counted_loss_hits_its_verb_alone_and_is_told() {
        let (faults, mut rule) = begun(FaultAct::LoseRequests {
            verb: Some("a.stop".to_owned()),
            loss: Loss::Count(2),
        });
        let stop = r#"{"verb":"a.stop"}"#;
        let fates =
            ["{\"verb\":\"a.go\"}", stop, stop, stop].map(|text| rule.of(Way::ToRobot, text));
        assert_eq!(
            fates,
            [Fate::Arrives, Fate::Lost, Fate::Lost, Fate::Arrives]
        );
        let seen = faults.seen();
        assert_eq!((seen[0].what, seen[0].messages), ("lose_requests", 2));
    }

    #[test]
    fn a_loss_by_chance_is_the_same_for_the_same_seed() {
        let run = || {
            let loss = Loss::PerMille(500);
            let (_, mut rule) = begun(FaultAct::LoseStates { loss });
            [0; 40].map(|_| rule.of(Way::FromRobot(Output::State), "{}"))
        };
        assert_eq!(run(), run());
        assert!(run().contains(&Fate::Lost) && run().contains(&Fate::Arrives));
    }

    #[test]
    fn a_fault_waits_for_its_moment_and_what_never_came_is_known() {
        let mut faults = Faults::new(vec![fault(FaultAct::DeadRobot)], 7);
        assert_eq!(faults.next(&Status::default(), Mono::ZERO), None);
        assert_eq!(faults.unfired().count(), 1);
        assert_eq!(faults.rule().of(Way::ToRobot, "{}"), Fate::Arrives);
    }
}
