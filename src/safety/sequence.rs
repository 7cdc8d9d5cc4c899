//! One run of the stop sequence, from the first verb to rest and release.
//!
//! A verb may be lost on the way, so each one repeats every 50 ms until the robot answers. A step
//! that was refused, or that brought no rest in its time, gives way to the next. Rest counts only on
//! states that arrived after the first verb was handed over: one after an `ok`, two without. Without
//! rest in time the run escalates: it repeats the last step for as long as it takes, at first
//! quickly, and asks for the latch.
//!
//! When the dataflow ends, it closes the way in first: verbs still leave, but neither an answer nor a
//! state arrives. A robot that moved nothing and was last seen at rest then needs three verbs and no
//! word; a robot that moved cannot be confirmed, so its verbs go on until the process ends, no latch
//! is asked for, and the next start begins with the stop sequence.
//!
//! A robot that is known to be gone cannot confirm anything. Its first step is repeated until it is
//! heard again, for ten seconds at most, and only then the time of the robot file begins: a robot
//! node that is just starting would otherwise be met with the harshest verb of the sequence.

use super::{AnswerClass, SafetyOut, SafetyPlan, StopAnswer, TickInput, TickOut};
use crate::terms::{Mono, RunState, SafetyEventKind, StopCause};

/// Period of an unanswered verb, ms.
pub const REPEAT_MS: u64 = 50;
/// Period of the last step once it was repeated quickly for long enough, ms.
pub const SLOW_REPEAT_MS: u64 = 1_000;
/// How long the last step is repeated quickly after an escalation, ms.
pub const QUICK_FOR_MS: u64 = 10_000;
/// How long a stop waits for a robot that is known to be gone before its own time begins, ms.
pub const PEER_WAIT_MS: u64 = 10_000;
/// Verbs that a robot at rest is sent when nothing can be heard any more. One may be lost, or two.
const DEAF_VERBS: u16 = 3;
/// How long a release is repeated before it counts as unanswered, ms.
pub const RELEASE_WAIT_MS: u64 = 500;

/// How the run of a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    index: u8,
    began: Mono,
    next_send: Mono,
    /// Counts the verbs of this step.
    nth: u16,
    /// Whether the verb goes out without parameters.
    empty: bool,
    answered: bool,
}

impl Step {
    fn at(index: u8, now: Mono) -> Self {
        Self {
            index,
            began: now,
            next_send: now,
            nth: 0,
            empty: false,
            answered: false,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Verbs go out until the robot rests.
    Verbs(Step),
    /// It rests; control is being released.
    Release {
        began: Mono,
        next_send: Mono,
        nth: u16,
    },
}

/// How a run came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// Rest is confirmed; control was released, or there was none to release.
    AtRest,
    /// Rest is confirmed, but nobody answered the release.
    ReleaseUnanswered,
}

/// One run of the stop sequence.
#[derive(Debug, Clone)]
pub(super) struct StopRun {
    /// Counts the runs of this process, from 1: answers name it.
    serial: u32,
    /// The run state before it.
    pub(super) from: RunState,
    /// `None` for the ordinary end of a call whose robot rests already.
    pub(super) cause: Option<StopCause>,
    began: Mono,
    /// From here the time to confirm rest counts.
    counted_from: Mono,
    escalated: Option<Mono>,
    phase: Phase,
}

impl StopRun {
    /// Begins with the first verb.
    pub(super) fn stop(serial: u32, now: Mono, from: RunState, cause: StopCause) -> Self {
        Self {
            serial,
            from,
            cause: Some(cause),
            began: now,
            counted_from: now,
            escalated: None,
            phase: Phase::Verbs(Step::at(0, now)),
        }
    }

    /// Begins at rest: a call ended and its robot stands still already.
    pub(super) fn end_of_call(serial: u32, now: Mono, from: RunState) -> Self {
        Self {
            serial,
            from,
            cause: None,
            began: now,
            counted_from: now,
            escalated: None,
            phase: Phase::Release {
                began: now,
                next_send: now,
                nth: 0,
            },
        }
    }

    /// Whether verbs go out: a further request joins this run instead of beginning a new one.
    pub(super) fn in_verbs(&self) -> bool {
        matches!(self.phase, Phase::Verbs(_))
    }

    /// Whether the run asked for the latch because rest was not confirmed.
    pub(super) fn escalated(&self) -> bool {
        self.escalated.is_some()
    }

    /// Goes on. Returns how it ended, `None` while it runs.
    pub(super) fn advance(&mut self, round: &Round<'_>, out: &mut TickOut) -> Option<Ended> {
        if let Phase::Verbs(step) = self.phase {
            let mut step = step;
            let now = round.input.now;
            self.wait_for_peer(&mut step, round);
            self.hear(&mut step, round, out);
            if self.needs_no_word(step, round) {
                return Some(Ended::AtRest);
            }
            if !self.rests(step, round) {
                self.press_on(&mut step, round, out);
                self.phase = Phase::Verbs(step);
                return None;
            }
            let after_ms = short_ms(now.ms_since(self.began));
            out.event(SafetyEventKind::Standstill { after_ms });
            self.phase = Phase::Release {
                began: now,
                next_send: now,
                nth: 0,
            };
        }
        self.release(round, out)
    }

    /// While the robot is known to be gone, neither the step nor the time to confirm runs.
    fn wait_for_peer(&mut self, step: &mut Step, round: &Round<'_>) {
        let now = round.input.now;
        let waits = !round.input.seen.peer_up && now.ms_since(self.began) < PEER_WAIT_MS;
        if waits && self.escalated.is_none() {
            step.began = now;
            self.counted_from = now;
        }
    }

    fn hear(&self, step: &mut Step, round: &Round<'_>, out: &mut TickOut) {
        let ours = |a: &StopAnswer| {
            let same = a.verb.step == step.index && a.verb.empty == step.empty;
            same && !step.answered && step.nth != 0
        };
        let Some(answer) = self.answer(round).filter(ours) else {
            return;
        };
        let (class, index, now) = (answer.verb.class, step.index, round.input.now);
        let ok = class == AnswerClass::Ok;
        out.event(SafetyEventKind::StopAnswered { step: index, ok });
        match class {
            AnswerClass::Ok => step.answered = true,
            AnswerClass::InvalidParams if round.plan.step(index).retry_empty && !step.empty => {
                step.empty = true;
                step.next_send = now;
            }
            AnswerClass::InvalidParams | AnswerClass::Refused if index < round.plan.last_step() => {
                *step = Step::at(index.saturating_add(1), now);
            }
            // The last step was refused. There is nothing harsher: it goes on being repeated.
            AnswerClass::InvalidParams | AnswerClass::Refused => step.answered = true,
        }
    }

    fn answer(&self, round: &Round<'_>) -> Option<StopAnswer> {
        let answer = round.input.seen.answer;
        answer.filter(|a| a.verb.serial == self.serial)
    }

    /// Whether the way in is closed and there was nothing to stop.
    fn needs_no_word(&self, step: Step, round: &Round<'_>) -> bool {
        let seen = &round.input.seen;
        let moved_nothing = match self.from {
            RunState::Disarmed | RunState::Armed | RunState::Stopped => !round.releases,
            RunState::Boot
            | RunState::Moving
            | RunState::Stopping
            | RunState::Latched
            | RunState::Fault => false,
        };
        self.is_deaf(round) && moved_nothing && seen.still_run > 0 && step.nth >= DEAF_VERBS
    }

    /// Whether this is the stop of an ending dataflow that lets nothing in any more.
    pub(super) fn is_deaf(&self, round: &Round<'_>) -> bool {
        round.input.seen.deaf && self.cause == Some(StopCause::Shutdown)
    }

    /// Whether the robot rests, on states that arrived after the first verb was handed over.
    fn rests(&self, step: Step, round: &Round<'_>) -> bool {
        let seen = &round.input.seen;
        let sent = round.input.stop_sent.filter(|s| s.serial == self.serial);
        let Some(sent) = sent else {
            return false;
        };
        let still_since =
            |states: u32| u32::from(seen.still_run).min(seen.states.wrapping_sub(states));
        let ok = self
            .answer(round)
            .filter(|a| a.verb.class == AnswerClass::Ok);
        let still = still_since(sent.states) >= 2 || ok.is_some_and(|a| still_since(a.states) >= 1);
        // After an escalation rest alone is not believed: the robot must also have answered.
        still && (self.escalated.is_none() || step.answered)
    }

    fn press_on(&mut self, step: &mut Step, round: &Round<'_>, out: &mut TickOut) {
        let (now, plan) = (round.input.now, round.plan);
        let waited = now.ms_since(self.counted_from);
        if self.escalated.is_none() && waited >= u64::from(plan.within_ms) {
            let after_ms = short_ms(now.ms_since(self.began));
            out.event(SafetyEventKind::NotConfirmed { after_ms });
            self.escalated = Some(now);
            if step.index != plan.last_step() {
                *step = Step::at(plan.last_step(), now);
            }
        }
        let step_over = now.ms_since(step.began) >= u64::from(plan.step(step.index).wait_ms);
        if step_over && step.index < plan.last_step() {
            *step = Step::at(step.index.saturating_add(1), now);
        }
        // An answered step is silent until its time is over; after that an answer proves nothing.
        let silent = step.answered && !step_over && self.escalated.is_none();
        if silent || now < step.next_send {
            return;
        }
        let slow = self
            .escalated
            .is_some_and(|at| now.ms_since(at) >= QUICK_FOR_MS);
        let period = if slow { SLOW_REPEAT_MS } else { REPEAT_MS };
        step.next_send = now.plus_ms(period);
        step.nth = step.nth.saturating_add(1);
        out.send(SafetyOut::StopVerb {
            serial: self.serial,
            step: step.index,
            nth: step.nth,
            empty: step.empty,
        });
    }

    fn release(&mut self, round: &Round<'_>, out: &mut TickOut) -> Option<Ended> {
        let Phase::Release {
            began,
            next_send,
            nth,
        } = &mut self.phase
        else {
            return None;
        };
        let (now, serial) = (round.input.now, self.serial);
        if !round.releases {
            return Some(Ended::AtRest);
        }
        if let Some((_, ok)) = round.input.seen.release.filter(|(of, _)| *of == serial) {
            // A robot that refuses the verb does not know it: nothing is left to give back.
            if ok {
                out.event(SafetyEventKind::Released);
            }
            return Some(Ended::AtRest);
        }
        if now.ms_since(*began) >= RELEASE_WAIT_MS {
            return Some(Ended::ReleaseUnanswered);
        }
        // A stop that this very tick asks for voids the release, as the last check would.
        if now >= *next_send && out.asks.is_empty() {
            *next_send = now.plus_ms(REPEAT_MS);
            *nth = nth.saturating_add(1);
            out.send(SafetyOut::Release {
                serial,
                nth: *nth,
                epoch: round.input.word.epoch,
            });
        }
        None
    }
}

/// What one round of a run looks at.
pub(super) struct Round<'a> {
    pub(super) plan: &'a SafetyPlan,
    pub(super) input: &'a TickInput,
    /// Whether there is control to release.
    pub(super) releases: bool,
}

fn short_ms(ms: u64) -> u32 {
    u32::try_from(ms).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl StopRun {
    /// Writes what of it can still matter into `to`.
    pub(super) fn shape(&self, plan: &SafetyPlan, input: &TickInput, to: &mut Vec<u64>) {
        use super::core::{age, left};
        let now = input.now;
        to.extend([
            u64::from(self.from.as_u8()),
            self.cause.map_or(0, |cause| u64::from(cause.as_u8())),
        ]);
        match self.escalated {
            Some(at) => to.extend([1, age(now, at, QUICK_FOR_MS)]),
            None => to.extend([
                0,
                age(now, self.began, PEER_WAIT_MS),
                age(now, self.counted_from, u64::from(plan.within_ms)),
            ]),
        }
        match self.phase {
            Phase::Verbs(step) => to.extend([
                0,
                u64::from(step.index),
                age(now, step.began, u64::from(plan.step(step.index).wait_ms)),
                left(now, step.next_send),
                u64::from(step.nth.min(DEAF_VERBS)),
                u64::from(step.empty),
                u64::from(step.answered),
            ]),
            Phase::Release {
                began, next_send, ..
            } => {
                to.extend([1, age(now, began, RELEASE_WAIT_MS), left(now, next_send)]);
            }
        }
        // Of what was heard only what names this stop counts.
        let seen = &input.seen;
        let sent = input.stop_sent.filter(|sent| sent.serial == self.serial);
        let since = |states: u32| u64::from(seen.states.wrapping_sub(states));
        to.push(sent.map_or(0, |sent| since(sent.states).min(2).saturating_add(1)));
        let answer = seen
            .answer
            .filter(|answer| answer.verb.serial == self.serial);
        match answer {
            Some(answer) => to.extend([
                u64::from(answer.verb.step).saturating_add(1),
                u64::from(answer.verb.empty),
                answer.verb.class as u64,
                since(answer.states).min(1),
            ]),
            None => to.push(0),
        }
        let release = seen.release.filter(|(of, _)| *of == self.serial);
        to.push(release.map_or(0, |(_, ok)| if ok { 2 } else { 1 }));
    }

    /// Which stop it is.
    pub(super) fn serial(&self) -> u32 {
        self.serial
    }
}
