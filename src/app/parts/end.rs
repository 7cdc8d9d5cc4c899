//! Why an agent ends.

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
