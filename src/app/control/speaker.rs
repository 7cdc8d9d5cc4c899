//! Who says a word, as far as the record needs it.

use std::fmt;

use crate::terms::SocketPeer;

/// Who says a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::app) enum Speaker {
    /// The operator of a scenario, in this process.
    Scenario,
    /// A process on the control socket.
    #[cfg_attr(
        not(any(feature = "dora", test)),
        expect(dead_code, reason = "this build serves no control socket")
    )]
    Process {
        /// Its process; 0 when the kernel does not say.
        pid: i32,
        /// Its user.
        uid: u32,
        /// Whether it descends from the runtime, or may do so.
        is_child: bool,
    },
}

impl Speaker {
    /// Returns what records say of the process; `None` for the operator of a scenario.
    pub(in crate::app) fn peer(self) -> Option<SocketPeer> {
        match self {
            Self::Scenario => None,
            Self::Process { pid, uid, .. } => Some(SocketPeer { pid, uid }),
        }
    }
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario => f.write_str("the scenario's operator"),
            Self::Process { pid: 0, .. } => f.write_str("process outside this PID namespace"),
            Self::Process { pid, uid, .. } => write!(f, "process {pid} (user {uid})"),
        }
    }
}
