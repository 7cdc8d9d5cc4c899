//! What one goal may spend: steps, time and motions.
//!
//! Counting only; what follows from a spent budget is decided in [`super::Agent::step`].

use super::End;
use crate::terms::Mono;

/// Bounds of one goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How often the model is asked, 1 or more.
    pub steps_max: u32,
    /// Time from the goal to its last step, ms.
    pub wall_ms_max: u64,
    /// Calls that can move or configure the robot and were not refused.
    pub actuations_max: u32,
    /// How often in a row the same call may come to the same outcome.
    pub repeats_max: u32,
}

impl Default for Limits {
    /// Chosen, not measured: room for a mission of several rooms, an end for a model in a circle.
    fn default() -> Self {
        Self {
            steps_max: 64,
            wall_ms_max: 15 * 60 * 1000,
            actuations_max: 64,
            repeats_max: 5,
        }
    }
}

/// What one goal has spent so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    limits: Limits,
    began: Mono,
    steps_used: u32,
    actuations_used: u32,
}

impl Budget {
    pub(super) fn begin(limits: Limits, now: Mono) -> Self {
        Self {
            limits,
            began: now,
            steps_used: 0,
            actuations_used: 0,
        }
    }

    /// Takes one step, or says which budget is spent.
    pub(super) fn take_step(&mut self, now: Mono) -> Result<(), End> {
        if now >= self.deadline() {
            return Err(End::TimeSpent);
        }
        if self.steps_used >= self.limits.steps_max {
            return Err(End::StepsSpent);
        }
        self.steps_used = self.steps_used.saturating_add(1);
        Ok(())
    }

    pub(super) fn spend_actuation(&mut self) {
        self.actuations_used = self.actuations_used.saturating_add(1);
    }

    pub(super) fn actuations_left(&self) -> u32 {
        self.limits
            .actuations_max
            .saturating_sub(self.actuations_used)
    }

    pub(super) fn deadline(&self) -> Mono {
        self.began.plus_ms(self.limits.wall_ms_max)
    }

    pub(super) fn steps_used(&self) -> u32 {
        self.steps_used
    }

    pub(super) fn actuations_used(&self) -> u32 {
        self.actuations_used
    }
}
