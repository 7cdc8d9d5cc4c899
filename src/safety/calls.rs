//! The live calls that may move the robot: what their futures tell the tick, and back.
//!
//! A slot belongs to one call at a time, found by the call's number. A call without a slot counts as
//! one whose future is gone, so a command of it that still waits in the queue never leaves.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::terms::DropCause;

/// Calls that can be live at once. Motion on one device is exclusive, so one is the rule.
const SLOTS: u64 = 8;

/// How far a call has come, told by its future.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum CallEnd {
    /// Its future lives and waits.
    #[default]
    Running = 0,
    /// It is over because the robot's state said that it arrived: the robot may be at rest.
    Arrived = 1,
    /// It is over for another reason; its future still waits for rest.
    Over = 2,
    /// Its future is gone.
    Dropped = 3,
}

/// What the tick knows of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallNote {
    /// Counts the polls of its future that a state of the robot caused; wraps.
    pub polls: u32,
    /// How far it has come.
    pub end: CallEnd,
}

impl CallNote {
    /// What a call without a slot looks like: its future is gone.
    pub(super) const GONE: Self = Self {
        polls: 0,
        end: CallEnd::Dropped,
    };
}

#[derive(Debug, Default)]
struct Slot {
    /// The number of the call; 0 when it is free.
    call: AtomicU64,
    polls: AtomicU32,
    end: AtomicU8,
    /// Number of a [`DropCause`] plus 1; 0 when nothing was dropped.
    dropped: AtomicU8,
    sent: AtomicU32,
}

/// The slots of all live calls.
#[derive(Debug, Default)]
pub struct Calls {
    slots: [Slot; 8],
    live: AtomicU32,
}

impl Calls {
    /// Opens the slot of a call. Returns `false` when it is taken, or when the number is 0.
    pub fn open(&self, call: u64) -> bool {
        let Some(slot) = self.slots.get(index(call)).filter(|_| call != 0) else {
            return false;
        };
        let free = slot
            .call
            .compare_exchange(0, call, Ordering::SeqCst, Ordering::SeqCst);
        if free.is_err() {
            return false;
        }
        slot.polls.store(0, Ordering::SeqCst);
        slot.dropped.store(0, Ordering::SeqCst);
        slot.sent.store(0, Ordering::SeqCst);
        slot.end.store(0, Ordering::SeqCst);
        self.live.fetch_add(1, Ordering::SeqCst);
        true
    }

    /// Counts one poll of the call's future that a state of the robot caused.
    pub fn polled(&self, call: u64) {
        if let Some(slot) = self.slot(call) {
            slot.polls.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Notes that the call is over while its future still waits for rest.
    pub fn end(&self, call: u64, end: CallEnd) {
        if let Some(slot) = self.slot(call) {
            slot.end.store(end as u8, Ordering::SeqCst);
        }
    }

    /// Closes the slot: the future is gone.
    pub fn close(&self, call: u64) {
        if let Some(slot) = self.slot(call) {
            slot.end.store(CallEnd::Dropped as u8, Ordering::SeqCst);
            slot.call.store(0, Ordering::SeqCst);
            self.live.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Returns what is known of the call. A call without a slot is one whose future is gone.
    pub fn note(&self, call: u64) -> CallNote {
        let Some(slot) = self.slot(call) else {
            return CallNote::GONE;
        };
        CallNote {
            polls: slot.polls.load(Ordering::SeqCst),
            end: match slot.end.load(Ordering::SeqCst) {
                0 => CallEnd::Running,
                1 => CallEnd::Arrived,
                2 => CallEnd::Over,
                _ => CallEnd::Dropped,
            },
        }
    }

    /// Notes that a command of the call was kept back.
    pub fn dropped(&self, call: u64, why: DropCause) {
        let number = DropCause::ALL.iter().position(|cause| *cause == why);
        let code = number.and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
        if let Some(slot) = self.slot(call) {
            slot.dropped.store(code.saturating_add(1), Ordering::SeqCst);
        }
    }

    /// Returns why a command of the call was kept back, `None` when none was.
    pub fn drop_cause(&self, call: u64) -> Option<DropCause> {
        let code = self.slot(call)?.dropped.load(Ordering::SeqCst);
        let number = usize::from(code.checked_sub(1)?);
        DropCause::ALL.get(number).copied()
    }

    /// Notes that a command of the call was handed over.
    pub fn sent(&self, call: u64) {
        if let Some(slot) = self.slot(call) {
            slot.sent.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns how many commands of the call were handed over.
    pub fn sent_count(&self, call: u64) -> u32 {
        self.slot(call)
            .map_or(0, |slot| slot.sent.load(Ordering::SeqCst))
    }

    /// Returns how many calls are live.
    pub fn live(&self) -> u32 {
        self.live.load(Ordering::SeqCst)
    }

    fn slot(&self, call: u64) -> Option<&Slot> {
        let slot = self.slots.get(index(call))?;
        (call != 0 && slot.call.load(Ordering::SeqCst) == call).then_some(slot)
    }
}

fn index(call: u64) -> usize {
    usize::try_from(call % SLOTS).unwrap_or(usize::MAX)
}

#[cfg(test)]
impl Calls {
    /// Makes `call` the only live one, with this note; none when its future is gone.
    pub(super) fn restore(&self, call: u64, note: CallNote) {
        for slot in &self.slots {
            slot.call.store(0, Ordering::SeqCst);
        }
        self.live.store(0, Ordering::SeqCst);
        if note != CallNote::GONE && self.open(call) {
            self.end(call, note.end);
            if let Some(slot) = self.slot(call) {
                slot.polls.store(note.polls, Ordering::SeqCst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_serves_one_call_and_forgets_it() {
        let calls = Calls::default();
        assert!(calls.open(9));
        assert!(!calls.open(9) && !calls.open(17) && !calls.open(0));
        calls.polled(9);
        calls.polled(17);
        calls.dropped(9, DropCause::Lease);
        calls.sent(9);
        assert_eq!(calls.note(9).polls, 1);
        assert_eq!(calls.drop_cause(9), Some(DropCause::Lease));
        assert_eq!((calls.sent_count(9), calls.live()), (1, 1));
        calls.close(9);
        calls.close(9);
        assert_eq!(calls.note(9), CallNote::GONE);
        assert_eq!(calls.live(), 0);
        assert!(calls.open(17));
        assert_eq!(calls.drop_cause(17), None);
    }
}
