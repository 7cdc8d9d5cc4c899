//! Board files: facts of the machine, no behaviour.

use super::Place;

/// Facts of one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The file.
    pub place: Place,
    /// Its id, the file's stem.
    pub id: String,
    /// Worker threads of the async runtime, 1 to 16.
    pub tokio_workers: u32,
    /// Period of the safety tick, ms, 1 to 50.
    pub safety_tick_ms: u32,
    /// A safety thread that makes no progress for this long is locked up: the process ends with 71.
    pub lockup_ms: u32,
    /// A safety tick later than this is recorded; three within 10 s stop the robot.
    pub jitter_ms: u32,
}
