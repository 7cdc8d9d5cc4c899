//! Which words of a stop were recorded: each cause once for the stop that stands.
//!
//! It keeps no words, only that they were told. One atomic, no lock: a stop waits for nobody.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::terms::StopCause;

/// The causes that were told under the latest epoch: epoch:32, a bit for each number of a cause.
#[derive(Debug, Default)]
pub(super) struct ToldCauses(AtomicU64);

impl ToldCauses {
    /// Notes a word of `cause` under `epoch`. Returns whether it is the first one.
    ///
    /// A word of an epoch that is not the latest counts as the first: rather told twice than never.
    pub(super) fn is_first(&self, epoch: u32, cause: StopCause) -> bool {
        let bit = 1_u64 << u32::from(cause.as_u8());
        let noted = |old: u64| {
            let same = old >> 32 == u64::from(epoch);
            let causes = if same { old & u64::from(u32::MAX) } else { 0 };
            Some((u64::from(epoch) << 32) | causes | bit)
        };
        let before = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, noted);
        before.is_ok_and(|old| old >> 32 != u64::from(epoch) || old & bit == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cause_is_told_once_for_each_epoch() {
        let told = ToldCauses::default();
        assert!(told.is_first(1, StopCause::ModelStop));
        assert!(!told.is_first(1, StopCause::ModelStop));
        assert!(told.is_first(1, StopCause::EstopInput));
        assert!(!told.is_first(1, StopCause::ModelStop));
        assert!(told.is_first(2, StopCause::ModelStop));
        assert!(!told.is_first(2, StopCause::ModelStop));
    }
}
