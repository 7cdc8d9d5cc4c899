//! The dora edge: event stream and outputs of one node, and a daemon in this process.
//!
//! The only room that names a dora type, and the one that knows dora's files of a recorded session. It
//! translates and nothing more: payloads leave as the text they arrived as, events leave as
//! [`crate::terms::WireEvent`]. It decides nothing, parses no payload and keeps no state of a robot.
//!
//! Invariants: every kind of dora event is translated on purpose; a node does not come up unless
//! the dataflow gives it every input and output it needs ([`NodeError::Graph`]).

#[cfg(feature = "dora")]
mod attach;
#[cfg(feature = "embedded-daemon")]
mod daemon;
mod error;
#[cfg(feature = "dora")]
mod graph;
#[cfg(test)]
#[cfg(feature = "dora")]
mod played;
#[cfg(feature = "dora")]
mod session;
#[cfg(feature = "dora")]
mod stream;
#[cfg(feature = "dora")]
mod version;

#[cfg(feature = "dora")]
pub use attach::{Attached, DoraWire, Needs, attach};
#[cfg(feature = "embedded-daemon")]
pub use daemon::{DataflowRun, NodeEnd, NodeLog, RunEnd, run_dataflow};
pub use error::NodeError;
#[cfg(feature = "dora")]
pub use graph::{Dataflow, NodePatch, OwnNode};
#[cfg(test)]
#[cfg(feature = "dora")]
pub(crate) use played::attach_to_session;
#[cfg(feature = "dora")]
pub use session::{SESSION_BYTES_MAX, Session, SessionOutputs, TimedEvent};
#[cfg(feature = "dora")]
pub use stream::{DoraEvents, EventsCloser, Polled};
