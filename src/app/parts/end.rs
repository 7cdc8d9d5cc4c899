//! Why an agent ends, and what came of it.

#[cfg(feature = "dora")]
use std::sync::{Arc, Condvar, Mutex, PoisonError};
#[cfg(feature = "dora")]
use std::time::Duration;

/// Reasons to end that may wait; the first one counts.
pub(in crate::app) const ENDS_MAX: usize = 8;

/// Why an agent ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum End {
    /// The dataflow asks.
    #[cfg(feature = "dora")]
    Graph,
    /// The dataflow is gone: nobody can be reached.
    #[cfg(feature = "dora")]
    GraphLost,
    /// An operator asks.
    Operator(String),
    /// A signal asks.
    #[cfg(feature = "dora")]
    Signal(&'static str),
    /// A part broke.
    Broken(&'static str),
}

/// Tells those who asked for an end what came of it, once that is known.
#[cfg(feature = "dora")]
#[derive(Debug, Clone, Default)]
pub(in crate::app) struct EndWatch(Arc<(Mutex<Option<EndSeen>>, Condvar)>);

/// What came of an end, as far as it is known while the process still lives.
#[cfg(feature = "dora")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) struct EndSeen {
    /// Whether the robot is seen to be at rest.
    pub(in crate::app) at_rest: bool,
    /// The code with which the process ends.
    pub(in crate::app) code: u8,
}

#[cfg(feature = "dora")]
impl EndWatch {
    /// Says what came of the end.
    pub(in crate::app) fn tell(&self, seen: EndSeen) {
        let (told, changed) = &*self.0;
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
        changed.notify_all();
    }

    /// Waits until it is known; `None` when it is not within `within`.
    pub(in crate::app) fn wait(&self, within: Duration) -> Option<EndSeen> {
        let (told, changed) = &*self.0;
        let told = told.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = |seen: &mut Option<EndSeen>| seen.is_none();
        let waited = changed.wait_timeout_while(told, within, unknown);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
