//! What the robot last said, as small atomics: one receiving thread writes, the tick reads.
//!
//! No reader ever waits for the writer. Where two atomics belong together, the order of the stores
//! and of the loads is chosen so that a reader in between sees the pair as older than it is, never
//! as newer: an old state does not become fresh, and a standstill does not become confirmed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::GraphSeen;
use super::graph::GraphTicks;
use crate::terms::{GraphTimer, Mono};

/// What one state of the robot says, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs(u16);

impl Signs {
    /// It stands still.
    pub const STILL: Self = Self(1);
    /// It moves faster than its ceiling times the monitor's factor.
    pub const OVERSPEED: Self = Self(1 << 1);
    /// It is outside its workspace, or too near to its border.
    pub const OUTSIDE: Self = Self(1 << 2);
    /// The position or the speed that the robot file watches is missing.
    pub const BLIND: Self = Self(1 << 3);
    /// It reports an emergency stop of its own.
    pub const VENDOR_ESTOP: Self = Self(1 << 4);
    /// Somebody else holds control.
    pub const FOREIGN: Self = Self(1 << 5);
    /// We hold control.
    pub const OURS: Self = Self(1 << 6);

    /// The signs under which no motion begins and none is prolonged.
    pub(super) const AGAINST_MOTION: [Self; 5] = [
        Self::OVERSPEED,
        Self::OUTSIDE,
        Self::BLIND,
        Self::VENDOR_ESTOP,
        Self::FOREIGN,
    ];

    /// Returns these signs, with `sign` added when `present`.
    #[must_use]
    pub fn with(self, sign: Self, present: bool) -> Self {
        if present { Self(self.0 | sign.0) } else { self }
    }

    /// Returns whether `sign` is among these.
    pub fn has(self, sign: Self) -> bool {
        self.0 & sign.0 != 0
    }
}

/// How the robot answered a stop verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerClass {
    /// `ok`.
    Ok,
    /// Refused as `INVALID_PARAMS`.
    InvalidParams,
    /// Refused otherwise.
    Refused,
}

/// An answer to a stop verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerbAnswer {
    /// Which stop of this process.
    pub serial: u32,
    /// Which step of its sequence.
    pub step: u8,
    /// Whether it answers the verb without parameters.
    pub empty: bool,
    /// How.
    pub class: AnswerClass,
}

/// The latest answer to a stop verb, and when it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopAnswer {
    /// The answer.
    pub verb: VerbAnswer,
    /// States received before it.
    pub states: u32,
}

/// A reading of [`Observed`] at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// When the latest state arrived; the origin of the clock before the first.
    pub at: Mono,
    /// States received so far; wraps.
    pub states: u32,
    /// How many states in a row said that it stands still; stays at its maximum.
    pub still_run: u16,
    /// What the latest state says.
    pub signs: Signs,
    /// Whether a robot answered at all and is not known to be gone.
    pub peer_up: bool,
    /// How often the robot's node was lost or restarted; wraps.
    pub losses: u32,
    /// The dead-man time in force, ms, 0 for none; `None` before an advert is known.
    pub deadman_ms: Option<u32>,
    /// The latest answer to a stop verb.
    pub answer: Option<StopAnswer>,
    /// The latest answer to a release: serial of the stop, and whether it was `ok`.
    pub release: Option<(u32, bool)>,
    /// Whether nothing more can be heard, because the dataflow is ending.
    pub deaf: bool,
    /// The timer of the dataflow.
    pub graph: GraphSeen,
}

impl Seen {
    /// Returns whether a state arrived within the last `max_ms`.
    pub fn fresh(&self, now: Mono, max_ms: u32) -> bool {
        self.states != 0 && now.since(self.at).as_millis() <= u128::from(max_ms)
    }
}

/// The atomics. One thread writes; any thread reads.
#[derive(Debug, Default)]
pub struct Observed {
    /// Arrival of the latest state, ns. Stored after `state`, loaded before it.
    at: AtomicU64,
    /// count:32, still run:16, signs:16.
    state: AtomicU64,
    /// losses:32, up:1.
    peer: AtomicU64,
    /// known:1 above, dead-man time:32.
    advert: AtomicU64,
    /// serial:32, step:8, empty:8, class:8, set:8. Stored after `answer_states`.
    answer: AtomicU64,
    /// States received before the answer.
    answer_states: AtomicU64,
    /// serial:32, ok:8, set:8.
    release: AtomicU64,
    deaf: AtomicBool,
    graph: GraphTicks,
}

impl Observed {
    /// Notes a state.
    pub fn note_state(&self, now: Mono, signs: Signs) {
        let (count, run, _) = unpack_state(self.state.load(Ordering::SeqCst));
        let run = if signs.has(Signs::STILL) {
            run.saturating_add(1)
        } else {
            0
        };
        let word = pack_state(count.wrapping_add(1).max(1), run, signs);
        self.state.store(word, Ordering::SeqCst);
        self.at.store(now.as_ns(), Ordering::SeqCst);
    }

    /// Notes that the robot said something.
    pub fn note_peer_up(&self) {
        let (losses, _) = unpack_peer(self.peer.load(Ordering::SeqCst));
        self.peer.store(pack_peer(losses, UP), Ordering::SeqCst);
    }

    /// Notes that the robot's node is gone or was restarted. What it advertised is forgotten.
    pub fn note_peer_lost(&self) {
        let (losses, _) = unpack_peer(self.peer.load(Ordering::SeqCst));
        self.advert.store(0, Ordering::SeqCst);
        let word = pack_peer(losses.wrapping_add(1), 0);
        self.peer.store(word, Ordering::SeqCst);
    }

    /// Notes an advert with the dead-man time that is in force then, ms, 0 for none.
    pub fn note_advert(&self, deadman_ms: u32) {
        self.advert
            .store(KNOWN | u64::from(deadman_ms), Ordering::SeqCst);
    }

    /// Notes an answer to a stop verb. Of several answers to one step the first `ok` stays, so
    /// that late duplicates do not push the confirmation away.
    pub fn note_answer(&self, answer: VerbAnswer) {
        let known = |a: StopAnswer| {
            let step = (a.verb.serial, a.verb.step) == (answer.serial, answer.step);
            step && (a.verb.class == AnswerClass::Ok || a.verb == answer)
        };
        if self.answer().is_some_and(known) {
            return;
        }
        let (count, _, _) = unpack_state(self.state.load(Ordering::SeqCst));
        self.answer_states.store(u64::from(count), Ordering::SeqCst);
        let [a, b, c, d] = answer.serial.to_le_bytes();
        let (empty, class) = (u8::from(answer.empty), class_code(answer.class));
        let word = [a, b, c, d, answer.step, empty, class, 1];
        self.answer
            .store(u64::from_le_bytes(word), Ordering::SeqCst);
    }

    /// Notes an answer to a release.
    pub fn note_release(&self, serial: u32, ok: bool) {
        let [a, b, c, d] = serial.to_le_bytes();
        let word = u64::from_le_bytes([a, b, c, d, u8::from(ok), 1, 0, 0]);
        self.release.store(word, Ordering::SeqCst);
    }

    /// Notes that the dataflow is ending: from now on frames leave, but none arrives.
    pub fn note_deaf(&self) {
        self.deaf.store(true, Ordering::SeqCst);
    }

    /// Begins to watch the timer that the dataflow gives this node, with its period. Without this there
    /// is no watch.
    pub fn watch_graph(&self, every: Duration, now: Mono) {
        self.graph.watch(every, now);
    }

    /// Notes a tick of that timer.
    pub fn note_graph_tick(&self, now: Mono) {
        self.graph.note(now);
    }

    /// Returns how that timer stands.
    pub fn graph_timer(&self, now: Mono) -> GraphTimer {
        self.graph.seen().at(now)
    }

    /// Returns how many states were received; wraps.
    pub fn states(&self) -> u32 {
        unpack_state(self.state.load(Ordering::SeqCst)).0
    }

    /// Returns whether a robot answered at all and is not known to be gone.
    pub fn peer_up(&self) -> bool {
        unpack_peer(self.peer.load(Ordering::SeqCst)).1 == UP
    }

    /// Returns whether an advert is known.
    pub fn advert_known(&self) -> bool {
        self.advert.load(Ordering::SeqCst) & KNOWN != 0
    }

    /// Takes a reading.
    pub fn seen(&self) -> Seen {
        let at = Mono::from_ns(self.at.load(Ordering::SeqCst));
        let (states, still_run, signs) = unpack_state(self.state.load(Ordering::SeqCst));
        let (losses, up) = unpack_peer(self.peer.load(Ordering::SeqCst));
        let advert = self.advert.load(Ordering::SeqCst);
        let [r0, r1, r2, r3, ok, set, _, _] = self.release.load(Ordering::SeqCst).to_le_bytes();
        Seen {
            at,
            states,
            still_run,
            signs,
            peer_up: up == UP,
            losses,
            deadman_ms: (advert & KNOWN != 0).then(|| low_half(advert)),
            answer: self.answer(),
            release: (set == 1).then(|| (u32::from_le_bytes([r0, r1, r2, r3]), ok == 1)),
            deaf: self.deaf.load(Ordering::SeqCst),
            graph: self.graph.seen(),
        }
    }

    fn answer(&self) -> Option<StopAnswer> {
        let [a, b, c, d, step, empty, class, set] =
            self.answer.load(Ordering::SeqCst).to_le_bytes();
        let states = low_half(self.answer_states.load(Ordering::SeqCst));
        let verb = VerbAnswer {
            serial: u32::from_le_bytes([a, b, c, d]),
            step,
            empty: empty == 1,
            class: class_of(class),
        };
        (set == 1).then_some(StopAnswer { verb, states })
    }
}

const UP: u32 = 1;
const KNOWN: u64 = 1 << 32;

fn low_half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

fn pack_state(count: u32, run: u16, signs: Signs) -> u64 {
    let [c0, c1, c2, c3] = count.to_le_bytes();
    let [r0, r1] = run.to_le_bytes();
    let [s0, s1] = signs.0.to_le_bytes();
    u64::from_le_bytes([c0, c1, c2, c3, r0, r1, s0, s1])
}

fn unpack_state(word: u64) -> (u32, u16, Signs) {
    let [c0, c1, c2, c3, r0, r1, s0, s1] = word.to_le_bytes();
    (
        u32::from_le_bytes([c0, c1, c2, c3]),
        u16::from_le_bytes([r0, r1]),
        Signs(u16::from_le_bytes([s0, s1])),
    )
}

fn pack_peer(losses: u32, up: u32) -> u64 {
    (u64::from(losses) << 32) | u64::from(up)
}

fn unpack_peer(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
    (
        u32::from_le_bytes([e, f, g, h]),
        u32::from_le_bytes([a, b, c, d]),
    )
}

fn class_code(class: AnswerClass) -> u8 {
    match class {
        AnswerClass::Ok => 1,
        AnswerClass::InvalidParams => 2,
        AnswerClass::Refused => 3,
    }
}

fn class_of(code: u8) -> AnswerClass {
    match code {
        1 => AnswerClass::Ok,
        2 => AnswerClass::InvalidParams,
        _ => AnswerClass::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_gives_back_what_was_noted() {
        let observed = Observed::default();
        assert!(!observed.seen().fresh(Mono::ZERO, 500));
        observed.note_peer_up();
        observed.note_advert(1000);
        observed.note_state(Mono::from_ms(5), Signs::STILL);
        observed.note_state(Mono::from_ms(9), Signs::STILL.with(Signs::FOREIGN, true));
        let seen = observed.seen();
        assert_eq!((seen.states, seen.still_run), (2, 2));
        assert!(seen.signs.has(Signs::FOREIGN) && !seen.signs.has(Signs::OUTSIDE));
        assert_eq!((seen.peer_up, seen.deadman_ms), (true, Some(1000)));
        assert!(seen.fresh(Mono::from_ms(509), 500));
        assert!(!seen.fresh(Mono::from_ns(509_000_001 + 1_000_000), 500));
        observed.note_state(Mono::from_ms(12), Signs::default());
        assert_eq!(observed.seen().still_run, 0);
    }

    #[test]
    fn a_lost_peer_takes_its_advert_along() {
        let observed = Observed::default();
        observed.note_peer_up();
        observed.note_advert(0);
        assert_eq!(observed.seen().deadman_ms, Some(0));
        observed.note_peer_lost();
        let seen = observed.seen();
        assert_eq!(
            (seen.peer_up, seen.losses, seen.deadman_ms),
            (false, 1, None)
        );
    }

    #[test]
    fn the_first_ok_of_a_step_stays() {
        let observed = Observed::default();
        let answer = |empty, class| VerbAnswer {
            serial: 4,
            step: 1,
            empty,
            class,
        };
        observed.note_answer(answer(false, AnswerClass::InvalidParams));
        observed.note_state(Mono::ZERO, Signs::STILL);
        observed.note_answer(answer(true, AnswerClass::Ok));
        observed.note_state(Mono::ZERO, Signs::STILL);
        observed.note_answer(answer(true, AnswerClass::Ok));
        let expected = StopAnswer {
            verb: answer(true, AnswerClass::Ok),
            states: 1,
        };
        assert_eq!(observed.seen().answer, Some(expected));
    }
}
