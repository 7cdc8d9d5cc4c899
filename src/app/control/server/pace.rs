//! How many words a second a connection may say.

use crate::terms::Mono;

/// Words that may come at once.
pub(super) const WORDS_AT_ONCE: u32 = 64;
/// Words a second in the long run: twice what an operator's display asks.
pub(super) const WORDS_PER_S: u64 = 100;

/// The words that a connection has left.
#[derive(Debug)]
pub(super) struct Pace {
    left: u32,
    filled_at: Mono,
}

impl Pace {
    pub(super) fn new(now: Mono) -> Self {
        Self {
            left: WORDS_AT_ONCE,
            filled_at: now,
        }
    }

    /// Takes one word; returns `false` when there was none left.
    pub(super) fn take(&mut self, now: Mono) -> bool {
        let every_ms = 1000 / WORDS_PER_S;
        let grown = now.ms_since(self.filled_at) / every_ms;
        self.filled_at = self.filled_at.plus_ms(grown.saturating_mul(every_ms));
        let grown = u32::try_from(grown).unwrap_or(u32::MAX);
        self.left = self.left.saturating_add(grown).min(WORDS_AT_ONCE);
        let had_one = self.left > 0;
        self.left = self.left.saturating_sub(1);
        had_one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_passes_then_a_hundred_words_a_second() {
        let mut pace = Pace::new(Mono::ZERO);
        let taken =
            |pace: &mut Pace, ms| (0..1000).filter(|_| pace.take(Mono::from_ms(ms))).count();
        assert_eq!(taken(&mut pace, 0), 64);
        assert_eq!(taken(&mut pace, 9), 0);
        assert_eq!(taken(&mut pace, 19), 1);
        assert_eq!(taken(&mut pace, 520), 51);
        assert_eq!(taken(&mut pace, 60_000), 64);
    }
}
