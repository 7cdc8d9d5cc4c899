//! What the tick publishes, and the progress counters of all parts: atomics only.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;

use super::{Calls, Elevations, FailedChecks, Lateness};
use crate::terms::{Mono, RunState};

/// Results of orders that are kept for those who asked.
const RESULTS: u32 = 8;

/// When the first verb of a stop was handed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StopSent {
    /// Which stop of this process.
    pub serial: u32,
    /// States received before it.
    pub states: u32,
}

/// Where the tick stands, as one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The run state.
    pub run: RunState,
    /// The call that holds the lease; 0 for none.
    pub lease_call: u64,
    /// Until when the lease lives without renewal; the origin when there is none.
    pub lease_until: Mono,
    /// Whether a stop sequence or a release is under way.
    pub stop_active: bool,
    /// The latest call that was ended because the time of arming ran out; 0 for none.
    pub outlasted: u64,
    /// The latest call that was ended because its Elevation did; 0 for none.
    pub lowered: u64,
    /// The checks on which arming would fail now.
    pub arm_checks: FailedChecks,
    /// The checks on which a reset would fail now.
    pub reset_checks: FailedChecks,
}

/// The atomics of [`Standing`], of the live calls and of progress.
#[derive(Debug)]
pub struct Shared {
    run: AtomicU8,
    lease_call: AtomicU64,
    lease_until: AtomicU64,
    stop_active: AtomicBool,
    outlasted: AtomicU64,
    lowered: AtomicU64,
    arm_checks: AtomicU32,
    reset_checks: AtomicU32,
    /// serial:32, states:32.
    stop_sent: AtomicU64,
    /// seq:32, failed checks:32.
    results: [AtomicU64; 8],
    /// The live calls.
    pub calls: Calls,
    /// The live Elevations.
    pub elevations: Elevations,
    /// How late the ticks came.
    pub lateness: Lateness,
    spine: Arc<AtomicU64>,
    outbox: AtomicU64,
    safety: AtomicU64,
    events_lost: AtomicU64,
    sender: OnceLock<Thread>,
    records: AtomicBool,
}

impl Shared {
    /// Makes the atomics of a process that has not yet begun. `spine` counts the iterations of the
    /// spine: whoever runs it holds the same counter.
    pub fn new(spine: Arc<AtomicU64>) -> Self {
        Self {
            run: AtomicU8::new(RunState::Boot.as_u8()),
            lease_call: AtomicU64::new(0),
            lease_until: AtomicU64::new(0),
            stop_active: AtomicBool::new(false),
            outlasted: AtomicU64::new(0),
            lowered: AtomicU64::new(0),
            arm_checks: AtomicU32::new(FailedChecks::WRONG_STATE.bits()),
            reset_checks: AtomicU32::new(FailedChecks::WRONG_STATE.bits()),
            stop_sent: AtomicU64::new(0),
            results: Default::default(),
            calls: Calls::default(),
            elevations: Elevations::default(),
            lateness: Lateness::default(),
            spine,
            outbox: AtomicU64::new(0),
            safety: AtomicU64::new(0),
            events_lost: AtomicU64::new(0),
            sender: OnceLock::new(),
            records: AtomicBool::new(true),
        }
    }

    /// Returns where the tick stands.
    pub fn standing(&self) -> Standing {
        Standing {
            run: self.run(),
            lease_call: self.lease_call.load(Ordering::SeqCst),
            lease_until: Mono::from_ns(self.lease_until.load(Ordering::SeqCst)),
            stop_active: self.stop_active.load(Ordering::SeqCst),
            outlasted: self.outlasted.load(Ordering::SeqCst),
            lowered: self.lowered.load(Ordering::SeqCst),
            arm_checks: FailedChecks::of_bits(self.arm_checks.load(Ordering::SeqCst)),
            reset_checks: FailedChecks::of_bits(self.reset_checks.load(Ordering::SeqCst)),
        }
    }

    /// Returns the run state.
    pub fn run(&self) -> RunState {
        RunState::from_u8(self.run.load(Ordering::SeqCst))
    }

    /// Returns whether `call` holds a lease that lives at `now`.
    pub fn lease_lives(&self, call: u64, now: Mono) -> bool {
        // The time is read before and after the holder, so that a lease which changes hands in
        // between lives for neither.
        let until = self.lease_until.load(Ordering::SeqCst);
        let holder = self.lease_call.load(Ordering::SeqCst);
        let again = self.lease_until.load(Ordering::SeqCst);
        call != 0 && holder == call && until == again && now.as_ns() < until
    }

    /// Returns the counter of the spine's iterations.
    pub fn spine(&self) -> &Arc<AtomicU64> {
        &self.spine
    }

    /// Counts one round of the sending thread.
    pub fn outbox_progressed(&self) {
        self.outbox.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns how many rounds the sending thread made.
    pub fn outbox_progress(&self) -> u64 {
        self.outbox.load(Ordering::SeqCst)
    }

    /// Returns how many rounds the safety thread made.
    pub fn safety_progress(&self) -> u64 {
        self.safety.load(Ordering::SeqCst)
    }

    /// Returns how many safety events found their queue full. Above 0 the robot is latched.
    pub fn events_lost(&self) -> u64 {
        self.events_lost.load(Ordering::SeqCst)
    }

    /// Counts one safety event that found its queue full.
    pub fn event_lost(&self) {
        self.events_lost.fetch_add(1, Ordering::SeqCst);
    }

    /// Notes whether what happens can be recorded. While it cannot, nothing is armed or moved, and what
    /// moves is stopped by the next tick.
    pub fn note_records(&self, can_record: bool) {
        self.records.store(can_record, Ordering::SeqCst);
    }

    /// Returns whether what happens can be recorded.
    pub fn records(&self) -> bool {
        self.records.load(Ordering::SeqCst)
    }

    /// Registers the sending thread, which the tick wakes when it has something to send.
    pub fn register_sender(&self, thread: Thread) -> bool {
        self.sender.set(thread).is_ok()
    }

    /// Wakes the sending thread.
    pub fn wake_sender(&self) {
        if let Some(thread) = self.sender.get() {
            thread.unpark();
        }
    }

    /// Notes that a verb of stop `serial` was handed over after `states` states; the first counts.
    pub fn note_stop_sent(&self, serial: u32, states: u32) {
        let word = (u64::from(serial) << 32) | u64::from(states);
        if self.stop_sent().is_none_or(|sent| sent.serial != serial) {
            self.stop_sent.store(word, Ordering::SeqCst);
        }
    }

    /// Returns when the first verb of the latest stop was handed over.
    pub fn stop_sent(&self) -> Option<StopSent> {
        let (serial, states) = halves(self.stop_sent.load(Ordering::SeqCst));
        (serial != 0).then_some(StopSent { serial, states })
    }

    /// Returns what became of an order: the failed checks, `None` while it waits or after seven
    /// newer orders.
    pub fn result(&self, seq: u32) -> Option<FailedChecks> {
        let slot = self.results.get(result_index(seq))?;
        let (of, failed) = halves(slot.load(Ordering::SeqCst));
        (of == seq).then(|| FailedChecks::of_bits(failed))
    }

    pub(super) fn set_result(&self, seq: u32, failed: FailedChecks) {
        if let Some(slot) = self.results.get(result_index(seq)) {
            let word = (u64::from(seq) << 32) | u64::from(failed.bits());
            slot.store(word, Ordering::SeqCst);
        }
    }

    pub(super) fn safety_progressed(&self) {
        self.safety.fetch_add(1, Ordering::SeqCst);
    }

    pub(super) fn spine_progress(&self) -> u64 {
        self.spine.load(Ordering::SeqCst)
    }

    /// Publishes where the tick stands. A lease that changes hands is first ended.
    pub(super) fn publish(&self, standing: &Standing) {
        if self.lease_call.load(Ordering::SeqCst) != standing.lease_call {
            self.lease_until.store(0, Ordering::SeqCst);
            self.lease_call.store(standing.lease_call, Ordering::SeqCst);
        }
        self.lease_until
            .store(standing.lease_until.as_ns(), Ordering::SeqCst);
        self.stop_active
            .store(standing.stop_active, Ordering::SeqCst);
        self.outlasted.store(standing.outlasted, Ordering::SeqCst);
        self.lowered.store(standing.lowered, Ordering::SeqCst);
        self.run.store(standing.run.as_u8(), Ordering::SeqCst);
        self.arm_checks
            .store(standing.arm_checks.bits(), Ordering::SeqCst);
        self.reset_checks
            .store(standing.reset_checks.bits(), Ordering::SeqCst);
    }
}

fn halves(word: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
    (
        u32::from_le_bytes([e, f, g, h]),
        u32::from_le_bytes([a, b, c, d]),
    )
}

fn result_index(seq: u32) -> usize {
    usize::try_from(seq % RESULTS).unwrap_or(usize::MAX)
}

#[cfg(test)]
impl Shared {
    /// Puts back what the sending thread noted: its rounds, and the first verb of the latest stop.
    pub(super) fn restore_sender(&self, rounds: u64, sent: Option<StopSent>) {
        self.outbox.store(rounds, Ordering::SeqCst);
        let word = sent.map_or(0, |s| (u64::from(s.serial) << 32) | u64::from(s.states));
        self.stop_sent.store(word, Ordering::SeqCst);
    }
}
