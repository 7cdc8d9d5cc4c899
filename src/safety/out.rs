//! What goes into the tick and what comes out of it.

use super::{CallNote, LatchWord, Seen, StopSent};
use crate::terms::{ActuationCmd, Mono, SafetyEvent, SafetyEventKind, StopCause, StopKind};

/// Frames that one tick can ask for besides commands: a stop verb, a heartbeat, a release.
const OUTS_MAX: usize = 4;
/// Events that one tick can raise. Chosen: about twice what the busiest tick raises.
const EVENTS_MAX: usize = 24;
/// Stops that one tick can ask for: one for each cause that it looks for.
const ASKS_MAX: usize = 12;

/// What the sending thread is to hand over.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a queue of fixed size on a path without a heap: a box is not possible"
)]
pub enum SafetyOut {
    /// A verb of the stop sequence. Nothing keeps it back.
    StopVerb {
        /// Which stop of this process.
        serial: u32,
        /// Index in the stop sequence.
        step: u8,
        /// Counts from 1 in each step.
        nth: u16,
        /// Whether it is sent without parameters.
        empty: bool,
    },
    /// A heartbeat. Leaves only while the lease of `call` lives.
    Heartbeat {
        /// The call.
        call: u64,
    },
    /// Gives up control. Leaves only while no newer stop was asked for.
    Release {
        /// Which stop of this process.
        serial: u32,
        /// Counts from 1.
        nth: u16,
        /// The epoch under which it was decided.
        epoch: u32,
    },
    /// A command.
    Command {
        /// The command.
        cmd: ActuationCmd,
        /// Whether it repeats a hold.
        repeat: bool,
    },
}

/// What the tick looks at.
#[derive(Debug, Clone, Copy)]
pub struct TickInput {
    /// The time.
    pub now: Mono,
    /// The latch word.
    pub word: LatchWord,
    /// What the robot last said.
    pub seen: Seen,
    /// Whether what happens can be recorded.
    pub records: bool,
    /// Iterations of the spine.
    pub spine: u64,
    /// Rounds of the sending thread.
    pub outbox: u64,
    /// What is known of the call that holds the lease.
    pub call: CallNote,
    /// Whether the Elevation that permits the call is over; `false` for a call that needs none.
    pub lowered: bool,
    /// When the first verb of the latest stop was handed over.
    pub stop_sent: Option<StopSent>,
}

/// What one tick decided. Used again for each tick; nothing in it grows.
#[derive(Debug, Default)]
pub struct TickOut {
    /// The time of the tick, and of its events.
    pub at: Mono,
    /// Frames for the sending thread, in order.
    pub outs: heapless::Vec<SafetyOut, OUTS_MAX>,
    /// What happened.
    pub events: heapless::Vec<SafetyEvent, EVENTS_MAX>,
    /// Stops that the tick itself asks for. The latch word is set, then the tick runs once more.
    pub asks: heapless::Vec<(StopKind, StopCause), ASKS_MAX>,
    /// The epoch whose stop flag is to be cleared, because its stop is over.
    pub clear_stop: Option<u32>,
    /// Whether something did not fit: the robot is latched then.
    pub overflow: bool,
}

impl TickOut {
    /// Empties it for a tick at `now`.
    pub fn clear(&mut self, now: Mono) {
        self.at = now;
        self.outs.clear();
        self.events.clear();
        self.asks.clear();
        self.clear_stop = None;
        self.overflow = false;
    }

    pub(super) fn send(&mut self, out: SafetyOut) {
        self.overflow |= self.outs.push(out).is_err();
    }

    pub(super) fn event(&mut self, kind: SafetyEventKind) {
        let at = self.at;
        self.overflow |= self.events.push(SafetyEvent { at, kind }).is_err();
    }

    pub(super) fn ask(&mut self, kind: StopKind, cause: StopCause) {
        if !self.asks.contains(&(kind, cause)) {
            self.overflow |= self.asks.push((kind, cause)).is_err();
        }
    }
}
