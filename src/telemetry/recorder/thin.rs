//! Which facts of fine detail are kept: a box of bounded size must not be filled by repetition.
//!
//! A robot at rest reports the same state for days, and a broken peer may send rubbish without end;
//! both would push the records of a stop out of the box. Every fact is counted before it comes here.

use std::collections::BTreeMap;

use crate::terms::{Fact, FactClass, Input, InputFault, Mono};

/// States that differ are kept at most this often, ms. Chosen: twice the rate of usual robots.
const STATE_MS_MIN: u64 = 50;
/// A state that does not change is kept this often, ms.
const SAME_STATE_MS: u64 = 10_000;
/// One kind of bad message is kept at most this often, ms.
const IGNORED_MS: u64 = 1000;

/// What was kept last.
#[derive(Debug, Default)]
pub(super) struct Thin {
    state: Option<(Mono, Fact)>,
    ignored: BTreeMap<(Option<Input>, InputFault), Mono>,
}

impl Thin {
    /// Returns whether a fact raised at `at` is kept.
    pub(super) fn keeps(&mut self, at: Mono, fact: &Fact) -> bool {
        if fact.class() != FactClass::Trace {
            return true;
        }
        if let Fact::RobotState { .. } = fact {
            return self.keeps_state(at, fact);
        }
        if let Fact::InputIgnored { input, fault } = fact {
            let kind = (*input, *fault);
            let last = self.ignored.get(&kind);
            let due = last.is_none_or(|last| at.ms_since(*last) >= IGNORED_MS);
            if due {
                self.ignored.insert(kind, at);
            }
            return due;
        }
        true
    }

    fn keeps_state(&mut self, at: Mono, fact: &Fact) -> bool {
        let due = self.state.as_ref().is_none_or(|(last, state)| {
            let wait = if state == fact {
                SAME_STATE_MS
            } else {
                STATE_MS_MIN
            };
            at.ms_since(*last) >= wait
        });
        if due {
            self.state = Some((at, fact.clone()));
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(facts: impl Iterator<Item = (u64, Fact)>) -> Vec<u64> {
        let mut thin = Thin::default();
        facts
            .filter(|(t_ms, fact)| thin.keeps(Mono::from_ms(*t_ms), fact))
            .map(|(t_ms, _)| t_ms)
            .collect()
    }

    fn state(x: f64) -> Fact {
        Fact::RobotState {
            position: Some([x, 0.0, 0.0]),
            speed: None,
            status: None,
        }
    }

    #[test]
    fn a_resting_robot_is_kept_every_ten_seconds_and_a_moving_one_at_every_state() {
        let resting = (0..250).map(|n| (n * 100, state(1.0)));
        assert_eq!(kept(resting), [0, 10_000, 20_000]);
        let moving = (0..20_u32).map(|n| (u64::from(n) * 100, state(f64::from(n))));
        assert_eq!(kept(moving).len(), 20);
    }

    #[test]
    fn a_flood_is_kept_once_a_second_for_each_kind() {
        let bad = |fault| Fact::InputIgnored {
            input: Some(Input::State),
            fault,
        };
        let flood = (0..3000).flat_map(|t_ms| {
            [InputFault::NotJson, InputFault::Oversized].map(|fault| (t_ms, bad(fault)))
        });
        assert_eq!(kept(flood), [0, 0, 1000, 1000, 2000, 2000]);
    }

    #[test]
    fn stops_and_refusals_are_all_kept() {
        let same = (0..100).map(|_| (0, Fact::SendFailed));
        assert_eq!(kept(same).len(), 100);
    }
}
