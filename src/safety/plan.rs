//! What the tick must know of one robot and one board, fixed at start.

use crate::terms::StopCause;

/// Most steps of a stop sequence.
pub const STEPS_MAX: usize = 8;
/// The shortest dead-man time that a robot may advertise, ms: Linux cannot promise a shorter one.
pub const DEADMAN_MS_MIN: u32 = 150;

/// One step of the stop sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepPlan {
    /// How long it may take before the next one begins, ms.
    pub wait_ms: u32,
    /// Whether a refusal as `INVALID_PARAMS` is answered by the verb without parameters.
    pub retry_empty: bool,
}

/// How the last life of this process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Boot {
    /// It ended while armed, or the dataflow restarted it: the first output is the stop sequence.
    pub unclean: bool,
    /// It left a latch on disk, or a latch that cannot be read.
    pub latched: Option<StopCause>,
}

/// The numbers that the tick works with.
#[derive(Debug, Clone)]
pub struct SafetyPlan {
    /// Period of the tick, ms.
    pub tick_ms: u32,
    /// A tick later than this is recorded, ms.
    pub jitter_ms: u32,
    /// A tick this late is a stop; a sending thread without progress for twice as long too, ms.
    pub lockup_ms: u32,
    /// The stop sequence, at least one step.
    pub steps: heapless::Vec<StepPlan, STEPS_MAX>,
    /// Standstill not confirmed within this time: escalate and latch, ms.
    pub within_ms: u32,
    /// Whether control is released after standstill.
    pub has_release: bool,
    /// An armed robot that was idle this long is disarmed, s.
    pub idle_disarm_s: u32,
    /// Whether motion is permitted without a dead-man.
    pub waive_deadman: bool,
    /// A state older than this is no ground to move on, ms.
    pub stale_after_ms: u32,
    /// How the last life ended.
    pub boot: Boot,
}

impl SafetyPlan {
    /// Index of the last step of the stop sequence.
    pub(super) fn last_step(&self) -> u8 {
        u8::try_from(self.steps.len().saturating_sub(1)).unwrap_or(u8::MAX)
    }

    /// The step of this index; a plan without steps behaves like one step of 200 ms.
    pub(super) fn step(&self, index: u8) -> StepPlan {
        let absent = StepPlan {
            wait_ms: 200,
            retry_empty: false,
        };
        *self.steps.get(usize::from(index)).unwrap_or(&absent)
    }
}
