//! Bounds the questions to a person: so many a turn and a minute, and none again that was denied.
//!
//! A model asks without tiring, and a person who is asked without end says yes in the end. Looking ahead
//! spends no rate of the gate, so the bound of the questions stands here, beside the one who asks.
//!
//! Invariants: what is refused here was never shown to anybody; a question that found nobody costs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::terms::Mono;

/// Questions of one turn. Chosen: as many calls of the upper tiers as a careful mission needs.
pub const QUESTIONS_PER_TURN_MAX: usize = 12;
/// Questions of all turns within a minute. Chosen: a quarter of a minute to look at each.
pub const QUESTIONS_PER_MINUTE_MAX: usize = 4;
/// A minute, ms.
const MINUTE_MS: u64 = 60_000;

/// What a turn has asked. Cheap to clone; the clones are one.
#[derive(Debug, Clone, Default)]
pub struct Questions(Arc<Mutex<Asked>>);

#[derive(Debug, Default)]
struct Asked {
    count: usize,
    /// Tool and digest of the calls that got no yes: at most one a question.
    denied: Vec<(String, String)>,
}

/// Why a person is not asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spared {
    /// The same call got no yes in this turn.
    Denied,
    /// The turn has asked so often already.
    Turn,
    /// So many were asked within a minute; the next may be after so many ms.
    Minute {
        /// Time until then, ms.
        wait_ms: u64,
    },
}

impl Questions {
    /// Takes room for a question about a call of `tool` with arguments of this digest.
    pub(super) fn take(
        &self,
        (tool, digest): (&str, &str),
        minute: &Minute,
        now: Mono,
    ) -> Result<(), Spared> {
        let mut asked = self.asked();
        let same = |(t, d): &(String, String)| t == tool && d == digest;
        if asked.denied.iter().any(same) {
            return Err(Spared::Denied);
        }
        if asked.count >= QUESTIONS_PER_TURN_MAX {
            return Err(Spared::Turn);
        }
        minute.take(now)?;
        asked.count = asked.count.saturating_add(1);
        Ok(())
    }

    /// Gives the room back: nobody was there to be asked.
    pub(super) fn give_back(&self, minute: &Minute) {
        let mut asked = self.asked();
        asked.count = asked.count.saturating_sub(1);
        minute.give_back();
    }

    /// Notes that this call got no yes.
    pub(super) fn deny(&self, (tool, digest): (&str, &str)) {
        let call = (tool.to_owned(), digest.to_owned());
        self.asked().denied.push(call);
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// When the latest questions of all turns were asked.
#[derive(Debug, Default)]
pub(super) struct Minute(Mutex<VecDeque<Mono>>);

impl Minute {
    fn take(&self, now: Mono) -> Result<(), Spared> {
        let mut times = self.times();
        while times
            .front()
            .is_some_and(|oldest| now.ms_since(*oldest) >= MINUTE_MS)
        {
            times.pop_front();
        }
        match times.front() {
            Some(oldest) if times.len() >= QUESTIONS_PER_MINUTE_MAX => Err(Spared::Minute {
                wait_ms: MINUTE_MS.saturating_sub(now.ms_since(*oldest)),
            }),
            Some(_) | None => {
                times.push_back(now);
                Ok(())
            }
        }
    }

    fn give_back(&self) {
        self.times().pop_back();
    }

    fn times(&self) -> MutexGuard<'_, VecDeque<Mono>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_a_minute_twelve_a_turn_and_none_again_that_got_no_yes() {
        let (minute, turn) = (Minute::default(), Questions::default());
        let ask = |turn: &Questions, digest: &str, ms| {
            turn.take(("grip", digest), &minute, Mono::from_ms(ms))
        };
        for n in 0..4 {
            assert_eq!(ask(&turn, "a", n * 1000), Ok(()));
        }
        let soon = Err(Spared::Minute { wait_ms: 56_000 });
        assert_eq!(ask(&turn, "a", 4_000), soon);
        assert_eq!(
            ask(&Questions::default(), "b", 4_000),
            soon,
            "of all turns together"
        );
        assert_eq!(ask(&turn, "a", 60_000), Ok(()), "the first is a minute old");
        turn.deny(("grip", "a"));
        assert_eq!(ask(&turn, "a", 600_000), Err(Spared::Denied));
        assert_eq!(ask(&Questions::default(), "a", 600_000), Ok(()));
        for n in 5..12 {
            assert_eq!(ask(&turn, "b", (n + 10) * 60_000), Ok(()));
        }
        assert_eq!(ask(&turn, "b", 9_000_000), Err(Spared::Turn));
        turn.give_back(&minute);
        assert_eq!(ask(&turn, "b", 9_000_000), Ok(()));
    }
}
