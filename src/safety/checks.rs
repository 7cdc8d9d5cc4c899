//! The checks that an operator's order must pass, as bits: the tick cannot build a list of texts.

/// Checks that failed. None failed: the order is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailedChecks(u32);

/// Each check with the word that the operator reads.
const NAMES: [(FailedChecks, &str); 18] = [
    (FailedChecks::WRONG_STATE, "wrong run state"),
    (FailedChecks::LATCHED, "latched"),
    (FailedChecks::STOPPING, "a stop is under way"),
    (FailedChecks::PEER_DOWN, "robot not heard"),
    (FailedChecks::ADVERT_UNSEEN, "advert not seen"),
    (FailedChecks::STATE_STALE, "state missing or stale"),
    (FailedChecks::DEADMAN, "no usable dead-man time"),
    (FailedChecks::FOREIGN_HOLDER, "somebody else holds control"),
    (
        FailedChecks::VENDOR_ESTOP,
        "robot reports an emergency stop",
    ),
    (FailedChecks::NOT_AT_REST, "robot not at rest"),
    (FailedChecks::OVERLOADED, "board was overloaded just now"),
    (FailedChecks::NO_TIME, "no time to arm for"),
    (FailedChecks::BLIND, "position or speed unknown"),
    (FailedChecks::OUTSIDE, "robot outside its workspace"),
    (FailedChecks::OVERSPEED, "robot faster than its ceiling"),
    (FailedChecks::ENDING, "this process is ending"),
    (FailedChecks::BLACKBOX, "black box cannot be written"),
    (FailedChecks::GRAPH_TIMER, "the graph's timer stands still"),
];

impl FailedChecks {
    /// None failed.
    pub const NONE: Self = Self(0);
    /// The order does not fit the run state: arming needs `disarmed`, a reset needs `latched`.
    pub const WRONG_STATE: Self = Self(1);
    /// The robot is latched: only a reset helps.
    pub const LATCHED: Self = Self(1 << 1);
    /// A stop is under way: wait for rest.
    pub const STOPPING: Self = Self(1 << 2);
    /// No robot answered, or it is known to be gone.
    pub const PEER_DOWN: Self = Self(1 << 3);
    /// The robot has not advertised itself.
    pub const ADVERT_UNSEEN: Self = Self(1 << 4);
    /// The latest state is missing or too old.
    pub const STATE_STALE: Self = Self(1 << 5);
    /// The robot has no dead-man time of at least 150 ms, and the robot file waives none.
    pub const DEADMAN: Self = Self(1 << 6);
    /// The robot's state names another controller.
    pub const FOREIGN_HOLDER: Self = Self(1 << 7);
    /// The robot's state says that it is stopped in an emergency.
    pub const VENDOR_ESTOP: Self = Self(1 << 8);
    /// The robot's state does not say that it stands still.
    pub const NOT_AT_REST: Self = Self(1 << 9);
    /// Ticks came late within the last 30 s.
    pub const OVERLOADED: Self = Self(1 << 10);
    /// An arming for no time at all.
    pub const NO_TIME: Self = Self(1 << 11);
    /// The state lacks the position or the speed that the robot file watches.
    pub const BLIND: Self = Self(1 << 12);
    /// The observed position is outside the workspace, or too near to its border.
    pub const OUTSIDE: Self = Self(1 << 13);
    /// The observed speed is above the ceiling times the monitor's factor.
    pub const OVERSPEED: Self = Self(1 << 14);
    /// A stop was asked for because the process ends: nothing is armed any more.
    pub const ENDING: Self = Self(1 << 15);
    /// The disk takes no records, or only into the reserve: what is not recorded is not done.
    pub const BLACKBOX: Self = Self(1 << 17);
    /// The timer of the dataflow stands still, or has not ticked for long enough since.
    pub const GRAPH_TIMER: Self = Self(1 << 16);

    /// Returns these, with `check` added when `failed`.
    #[must_use]
    pub fn with(self, check: Self, failed: bool) -> Self {
        if failed { Self(self.0 | check.0) } else { self }
    }

    /// Returns whether no check failed.
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Returns whether `check` is among these.
    pub fn has(self, check: Self) -> bool {
        self.0 & check.0 != 0
    }

    /// Returns the bits, as kept in atomics and events.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Makes the checks of these bits.
    pub fn of_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// Returns the words of the failed checks, in the order of their bits.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .into_iter()
            .filter(move |(check, _)| self.has(*check))
            .map(|(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_check_has_one_bit_and_one_name() {
        let all = NAMES
            .into_iter()
            .fold(FailedChecks::NONE, |sum, (check, _)| {
                assert!(!sum.has(check), "bits are distinct");
                sum.with(check, true)
            });
        assert_eq!(all.names().count(), NAMES.len());
        assert_eq!(FailedChecks::of_bits(all.bits()), all);
        assert!(FailedChecks::NONE.names().next().is_none());
    }
}
