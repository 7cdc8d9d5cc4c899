//! What is done when a part that must not break does: latch word, latch on disk, then the end of the
//! process.
//!
//! These are the only places that end a process: 71 when the safety thread stands still, 72 when a
//! thread that carries the robot panics. The robot's own dead-man does the rest. The end does not wait
//! for the log while the robot may be moving; the log itself never waits.

use std::panic;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::app::exit::Exit;
use crate::app::state::StateFiles;
use crate::safety::{Latch, Shared};
use crate::telemetry::flush_log;
use crate::terms::{RunState, StopCause, StopKind};

/// Threads whose panic ends the process. A panic of a tool is an outcome and is caught elsewhere; that of
/// one connection's thread frees its seat.
const VITAL: [&str; 8] = [
    "safety",
    "dora-in",
    "dora-out",
    "recorder",
    "keeper",
    "supervisor",
    "signals",
    "control",
];
/// The last lines of the log may take so long when the robot is at rest.
const LAST_WORDS_WITHIN: Duration = Duration::from_millis(100);

/// Ends the process when it must not go on.
#[derive(Debug, Clone)]
pub(super) struct Lifeline {
    shared: Arc<Shared>,
    latch: Latch,
    files: StateFiles,
}

impl Lifeline {
    pub(super) fn new(shared: Arc<Shared>, latch: Latch, files: StateFiles) -> Self {
        Self {
            shared,
            latch,
            files,
        }
    }

    /// Makes a panic of a vital thread end the process with 72.
    pub(super) fn guard_panics(&self) {
        let line = self.clone();
        panic::set_hook(Box::new(move |info| {
            let name = thread::current().name().unwrap_or_default().to_owned();
            tracing::error!(thread = name, panic = %info, "a thread panicked");
            if is_vital(&name) {
                line.end(Exit::Panic);
            }
        }));
    }

    /// Sets the latch word and persists it when the robot may be moving or be made to, and ends the
    /// process.
    pub(super) fn end(&self, exit: Exit) {
        let armed = is_armed(self.shared.run());
        if armed {
            // First: whoever still lives sends no motion any more, and the stop verbs while the disk works.
            let epoch = self.latch.ask(StopKind::Estop, StopCause::InternalFault);
            if let Err(error) = self.files.persist_latch(StopCause::InternalFault, epoch, 0) {
                tracing::error!(%error, "the latch could not be written");
            }
        }
        tracing::error!(code = exit.code(), armed, "the process ends");
        if !armed {
            // Not written by then is lost.
            let _all_out: bool = flush_log(LAST_WORDS_WITHIN);
        }
        std::process::exit(i32::from(exit.code()));
    }
}

/// Returns whether a robot may be moving in this state, or be made to.
pub(super) fn is_armed(run: RunState) -> bool {
    match run {
        RunState::Armed | RunState::Moving | RunState::Stopping => true,
        RunState::Boot
        | RunState::Disarmed
        | RunState::Stopped
        | RunState::Latched
        | RunState::Fault => false,
    }
}

fn is_vital(thread: &str) -> bool {
    VITAL.contains(&thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_whoever_watches_or_hears_stops_ends_the_process_and_one_connection_does_not() {
        for thread in ["safety", "dora-out", "supervisor", "signals", "control"] {
            assert!(is_vital(thread), "{thread}");
        }
        for thread in ["control-peer", "agent", "main", "log", ""] {
            assert!(!is_vital(thread), "{thread}");
        }
    }
}
