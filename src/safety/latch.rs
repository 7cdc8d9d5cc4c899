//! The latch word: one atomic that says whether the robot must stop.
//!
//! Any thread may ask for a stop at any time, the thread of the signals included: one
//! compare-and-swap, one wake-up, no lock, no allocation, no waiting. Each request raises the
//! epoch, and a command that was admitted under an earlier epoch never leaves. The tick alone
//! clears the stop flag, and only when no newer request came in between; the estop flag falls only
//! by an operator's reset. A request because the process ends is remembered beside them for good.
//! The latch does not know how a robot is stopped.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use crate::terms::{StopCause, StopKind};

/// Most threads that a request wakes. The safety thread needs one.
const WOKEN_MAX: usize = 4;
const STOP: u8 = 0b01;
const ESTOP: u8 = 0b10;
const ENDING: u8 = 0b100;

/// What the latch says at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatchWord {
    /// Counts the requests; never 0 after the first.
    pub epoch: u32,
    /// Whether a stop is asked for and not yet over.
    pub stop: bool,
    /// Whether it latches until a person resets it.
    pub estop: bool,
    /// Whether a stop was ever asked for because the process ends. It never falls, and it stands
    /// beside the cause, which a stronger one may hide.
    pub ending: bool,
    /// The cause of the last stop; of several at once the strongest.
    pub cause: Option<StopCause>,
}

impl LatchWord {
    /// Returns whether motion is forbidden now.
    pub fn forbids_motion(self) -> bool {
        self.stands() || self.ending
    }

    /// Returns whether a stop of this kind and cause would add nothing: a stop that is not over
    /// stands, no weaker in kind and cause, and what ends the process is known already.
    pub fn covers(self, kind: StopKind, cause: StopCause) -> bool {
        let known = self.ending || cause != StopCause::Shutdown;
        let no_weaker = self
            .cause
            .is_some_and(|old| (self.kind(), old) >= (kind, cause));
        self.stop && known && no_weaker
    }

    fn stands(self) -> bool {
        self.stop || self.estop
    }

    fn kind(self) -> StopKind {
        if self.estop {
            StopKind::Estop
        } else {
            StopKind::Stop
        }
    }

    fn from_bits(bits: u64) -> Self {
        let [flags, cause, _, _, e0, e1, e2, e3] = bits.to_le_bytes();
        Self {
            epoch: u32::from_le_bytes([e0, e1, e2, e3]),
            stop: flags & STOP != 0,
            estop: flags & ESTOP != 0,
            ending: flags & ENDING != 0,
            cause: StopCause::from_u8(cause),
        }
    }

    fn to_bits(self) -> u64 {
        let [e0, e1, e2, e3] = self.epoch.to_le_bytes();
        let stop = if self.stop { STOP } else { 0 };
        let estop = if self.estop { ESTOP } else { 0 };
        let ending = if self.ending { ENDING } else { 0 };
        let cause = self.cause.map_or(0, StopCause::as_u8);
        u64::from_le_bytes([stop | estop | ending, cause, 0, 0, e0, e1, e2, e3])
    }

    /// The word after one more request. While a stop is under way or latched the stronger of the
    /// two stays: an estop beats a stop, then the later cause of the list wins.
    fn asked(self, kind: StopKind, cause: StopCause) -> Self {
        let strongest = match self.cause {
            Some(old) if self.stands() => (self.kind(), old).max((kind, cause)).1,
            Some(_) | None => cause,
        };
        Self {
            epoch: next_epoch(self.epoch),
            stop: true,
            estop: self.estop || kind == StopKind::Estop,
            ending: self.ending || cause == StopCause::Shutdown,
            cause: Some(strongest),
        }
    }
}

/// Zero is kept for "no stop yet", also after four thousand million stops.
fn next_epoch(epoch: u32) -> u32 {
    epoch.wrapping_add(1).max(1)
}

#[derive(Debug)]
struct Inner {
    word: AtomicU64,
    person_stops: AtomicU32,
    falls: AtomicU32,
    woken: [OnceLock<Thread>; WOKEN_MAX],
}

/// A shared handle on the latch word.
#[derive(Debug, Clone)]
pub struct Latch(Arc<Inner>);

impl Latch {
    /// Makes a latch. With `latched` it starts latched: the last life left it so on disk.
    pub fn new(epoch: u32, latched: Option<StopCause>) -> Self {
        let word = LatchWord {
            epoch,
            stop: false,
            estop: latched.is_some(),
            ending: false,
            cause: latched,
        };
        Self(Arc::new(Inner {
            word: AtomicU64::new(word.to_bits()),
            person_stops: AtomicU32::new(0),
            falls: AtomicU32::new(0),
            woken: Default::default(),
        }))
    }

    /// Asks for a stop and wakes the registered threads. Returns the epoch that the stop began.
    pub fn ask(&self, kind: StopKind, cause: StopCause) -> u32 {
        // Counted first: whoever sees the new epoch sees the count as well.
        if kind == StopKind::Estop || cause.is_a_persons() {
            self.0.person_stops.fetch_add(1, Ordering::SeqCst);
        }
        if kind == StopKind::Estop || cause != StopCause::Deadline {
            self.0.falls.fetch_add(1, Ordering::SeqCst);
        }
        let asked = |bits| Some(LatchWord::from_bits(bits).asked(kind, cause).to_bits());
        let before = self
            .0
            .word
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, asked)
            .unwrap_or_else(|unchanged| unchanged);
        self.wake();
        next_epoch(LatchWord::from_bits(before).epoch)
    }

    /// Returns how often a person asked for a stop, or anybody for an estop; wraps.
    pub fn person_stops(&self) -> u32 {
        self.0.person_stops.load(Ordering::SeqCst)
    }

    /// Returns how often anything but the ordinary end of a call was asked for; wraps. An Elevation
    /// that was given before the last of them is over.
    pub fn falls(&self) -> u32 {
        self.0.falls.load(Ordering::SeqCst)
    }

    /// Registers a thread to be woken by each request. Returns `false` when four are registered.
    pub fn register(&self, thread: &Thread) -> bool {
        let slots = &self.0.woken;
        slots.iter().any(|slot| slot.set(thread.clone()).is_ok())
    }

    /// Wakes the registered threads.
    pub fn wake(&self) {
        for thread in self.0.woken.iter().filter_map(OnceLock::get) {
            thread.unpark();
        }
    }

    /// Returns what the latch says now.
    pub fn word(&self) -> LatchWord {
        LatchWord::from_bits(self.0.word.load(Ordering::SeqCst))
    }

    /// Clears the stop flag, unless a request came after `epoch`. Only the tick calls this.
    pub(super) fn clear_stop(&self, epoch: u32) -> bool {
        self.lower(epoch, |word| LatchWord {
            stop: false,
            ..word
        })
    }

    /// Clears the estop flag, unless a request came after `epoch` or a stop is under way. Only an
    /// operator's reset leads here.
    pub(super) fn reset(&self, epoch: u32) -> bool {
        !self.word().stop
            && self.lower(epoch, |word| LatchWord {
                estop: false,
                ..word
            })
    }

    fn lower(&self, epoch: u32, lowered: impl Fn(LatchWord) -> LatchWord) -> bool {
        let change = |bits| {
            let word = LatchWord::from_bits(bits);
            (word.epoch == epoch).then(|| lowered(word).to_bits())
        };
        let word = &self.0.word;
        word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change)
            .is_ok()
    }
}

#[cfg(test)]
impl Latch {
    /// Puts a word back as it was.
    pub(super) fn restore(&self, word: LatchWord) {
        self.0.word.store(word.to_bits(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_raises_the_epoch_and_sets_the_flags() {
        let latch = Latch::new(7, None);
        assert_eq!(latch.ask(StopKind::Stop, StopCause::ModelStop), 8);
        let word = latch.word();
        assert_eq!((word.epoch, word.stop, word.estop), (8, true, false));
        assert_eq!(word.cause, Some(StopCause::ModelStop));
        assert_eq!(latch.ask(StopKind::Estop, StopCause::OperatorStop), 9);
        assert!(latch.word().estop);
    }

    #[test]
    fn case_30_the_stronger_of_two_causes_stays() {
        let latch = Latch::new(0, None);
        latch.ask(StopKind::Stop, StopCause::Overspeed);
        latch.ask(StopKind::Stop, StopCause::ModelStop);
        assert_eq!(latch.word().cause, Some(StopCause::Overspeed));
        latch.ask(StopKind::Estop, StopCause::OperatorStop);
        latch.ask(StopKind::Stop, StopCause::InternalFault);
        assert_eq!(latch.word().cause, Some(StopCause::OperatorStop));
        assert_eq!(latch.word().epoch, 4);
    }

    #[test]
    fn a_cleared_stop_does_not_lend_its_cause_to_the_next() {
        let latch = Latch::new(0, None);
        let epoch = latch.ask(StopKind::Stop, StopCause::Overspeed);
        assert!(latch.clear_stop(epoch));
        latch.ask(StopKind::Stop, StopCause::ModelStop);
        assert_eq!(latch.word().cause, Some(StopCause::ModelStop));
    }

    #[test]
    fn clearing_and_resetting_lose_against_a_newer_request() {
        let latch = Latch::new(0, None);
        let old = latch.ask(StopKind::Estop, StopCause::OperatorStop);
        let new = latch.ask(StopKind::Stop, StopCause::ModelStop);
        assert!(!latch.clear_stop(old));
        assert!(!latch.reset(new), "a stop is still under way");
        assert!(latch.clear_stop(new));
        assert!(!latch.reset(old));
        assert!(latch.reset(new));
        assert!(!latch.word().forbids_motion());
        assert_eq!(latch.word().cause, Some(StopCause::OperatorStop));
    }

    #[test]
    fn a_process_that_ends_is_remembered_under_a_stronger_cause_and_after_the_stop() {
        let latch = Latch::new(0, None);
        latch.ask(StopKind::Stop, StopCause::Overspeed);
        let epoch = latch.ask(StopKind::Stop, StopCause::Shutdown);
        assert_eq!(latch.word().cause, Some(StopCause::Overspeed));
        assert!(latch.clear_stop(epoch));
        let word = latch.word();
        assert!(word.ending && word.forbids_motion() && !word.stop);
        latch.ask(StopKind::Stop, StopCause::ModelStop);
        assert_eq!(latch.word().cause, Some(StopCause::ModelStop), "not lent");
        assert!(latch.word().ending);
    }

    #[test]
    fn a_word_covers_what_is_no_stronger_and_only_while_its_stop_is_not_over() {
        use StopCause as C;
        let latch = Latch::new(0, None);
        let covers = |kind, cause| latch.word().covers(kind, cause);
        assert!(!covers(StopKind::Stop, C::ModelStop), "nothing stands");
        let epoch = latch.ask(StopKind::Stop, C::OperatorStop);
        assert!(covers(StopKind::Stop, C::OperatorStop) && covers(StopKind::Stop, C::ModelStop));
        assert!(!covers(StopKind::Stop, C::FleetStop) && !covers(StopKind::Estop, C::ModelStop));
        assert!(latch.clear_stop(epoch));
        assert!(!covers(StopKind::Stop, C::OperatorStop), "that one is over");
        let epoch = latch.ask(StopKind::Estop, C::ModelStop);
        assert!(
            covers(StopKind::Stop, C::Overspeed),
            "an estop covers every stop"
        );
        assert!(
            !covers(StopKind::Stop, C::Shutdown),
            "but not that the process ends"
        );
        latch.ask(StopKind::Stop, C::Shutdown);
        assert!(covers(StopKind::Stop, C::Shutdown));
        assert!(!latch.clear_stop(epoch));
    }

    #[test]
    fn a_persisted_latch_is_latched_from_the_first_moment() {
        let word = Latch::new(3, Some(StopCause::VendorEvent)).word();
        assert!(word.estop && !word.stop);
        assert_eq!((word.epoch, word.cause), (3, Some(StopCause::VendorEvent)));
    }

    #[test]
    fn the_epoch_skips_zero() {
        let latch = Latch::new(u32::MAX, None);
        assert_eq!(latch.ask(StopKind::Stop, StopCause::ModelStop), 1);
    }
}
