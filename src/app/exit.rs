//! Exit codes, and the errors that end a command: joined here, printed by `cli`.

use super::control::remedies;
use crate::config::ConfigErrors;
use crate::node::NodeError;
use crate::terms::counted;

/// The exit codes. Scripts and service managers rely on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// The job is done.
    Done = 0,
    /// The job failed: an expectation, a tool, a goal.
    JobFailed = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A configuration file, or the state folder, is wrong.
    Config = 64,
    /// The board does not fit its file.
    Board = 65,
    /// dora's version, or the dataflow, does not fit.
    Graph = 66,
    /// Something inside broke, or the daemon is lost.
    Internal = 70,
    /// The safety thread stood still.
    LockUp = 71,
    /// A thread that must not panic did.
    Panic = 72,
    /// Another process holds this robot.
    SecondInstance = 75,
}

impl Exit {
    /// Returns the number.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// Why a command ends without having done its job.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The command line asks for something that cannot be.
    #[error("{problem}")]
    Usage {
        /// What is wrong.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// Configuration files are wrong: all faults of all of them.
    #[error("{} in the configuration", faults(.0))]
    Config(#[from] ConfigErrors),
    /// The machine does not fit its board file: everything in which it does not.
    #[error("board `{board}` does not fit this machine: {}", .misfits.join("; "))]
    Board {
        /// The board file's id.
        board: String,
        /// Each thing that does not fit.
        misfits: Vec<String>,
    },
    /// The state folder cannot be used.
    #[error("state folder {folder}: {problem}")]
    State {
        /// The folder.
        folder: String,
        /// What is wrong.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// Metrics cannot be served where somebody asked for them.
    #[error("{problem}")]
    Metrics {
        /// What is wrong, with the address.
        problem: String,
        /// The way out.
        hint: String,
    },
    /// dora or the dataflow does not fit.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// Another process holds this robot.
    #[error("another octos-edge holds robot `{robot}`{}", holder(.pid))]
    SecondInstance {
        /// The robot's id.
        robot: String,
        /// Its process, when it could be read.
        pid: Option<u32>,
    },
    /// The control socket gave no answer.
    #[error("control socket {socket}: {problem}")]
    Control {
        /// The socket.
        socket: String,
        /// What is wrong.
        problem: String,
    },
    /// No node listens for the robot that is meant.
    #[error("{problem}")]
    NoNode {
        /// What is wrong, with the place.
        problem: String,
        /// The way out, with the nodes that do listen.
        hint: String,
    },
    /// An operator's word was refused.
    #[error("refused: {}", .failed.join("; "))]
    Refused {
        /// The checks that failed.
        failed: Vec<String>,
    },
    /// Something inside broke.
    #[error("{0}")]
    Internal(String),
    /// The job ran and did not reach its end: what is missing.
    #[error("{0}")]
    JobFailed(String),
}

fn faults(errors: &ConfigErrors) -> String {
    counted(errors.faults().len(), "fault")
}

fn holder(pid: &Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})"))
        .unwrap_or_default()
}

impl AppError {
    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } => Exit::Usage,
            Self::Config(_) | Self::State { .. } | Self::Metrics { .. } => Exit::Config,
            Self::Board { .. } => Exit::Board,
            Self::Node(_) => Exit::Graph,
            Self::SecondInstance { .. } => Exit::SecondInstance,
            Self::Internal(_) => Exit::Internal,
            Self::Control { .. }
            | Self::NoNode { .. }
            | Self::Refused { .. }
            | Self::JobFailed(_) => Exit::JobFailed,
        }
    }

    /// Returns the lines that stand between the message and the way out.
    pub fn details(&self) -> Vec<String> {
        match self {
            Self::Config(errors) => errors.to_string().lines().map(str::to_owned).collect(),
            Self::Usage { .. }
            | Self::State { .. }
            | Self::Metrics { .. }
            | Self::Board { .. }
            | Self::Node(_)
            | Self::SecondInstance { .. }
            | Self::Control { .. }
            | Self::NoNode { .. }
            | Self::Refused { .. }
            | Self::Internal(_)
            | Self::JobFailed(_) => Vec::new(),
        }
    }

    /// Returns the faults of configuration files, one object each.
    pub fn faults(&self) -> Vec<serde_json::Value> {
        match self {
            Self::Config(errors) => errors
                .faults()
                .iter()
                .map(|fault| {
                    serde_json::json!({
                        "file": &*fault.place.file,
                        "line": fault.place.line,
                        "key": fault.key,
                        "problem": fault.problem,
                        "hint": fault.hint,
                    })
                })
                .collect(),
            Self::Refused { failed } => failed.iter().map(|f| f.as_str().into()).collect(),
            Self::Usage { .. }
            | Self::State { .. }
            | Self::Metrics { .. }
            | Self::Board { .. }
            | Self::Node(_)
            | Self::SecondInstance { .. }
            | Self::Control { .. }
            | Self::NoNode { .. }
            | Self::Internal(_)
            | Self::JobFailed(_) => Vec::new(),
        }
    }

    /// Returns the way out; empty when the message says it all.
    pub fn hint(&self) -> String {
        match self {
            Self::Usage { hint, .. }
            | Self::State { hint, .. }
            | Self::Metrics { hint, .. }
            | Self::NoNode { hint, .. } => hint.clone(),
            Self::Config(_) => "each fault names its file, line and key; tiers/README.md and boards/README.md list every key".to_owned(),
            Self::Board { .. } => "name another board with --board, or mend its file; boards/README.md lists every key".to_owned(),
            Self::Node(error) => error.hint(),
            Self::SecondInstance { .. } => {
                "one controller a robot: end the other process, or give this one another robot id".to_owned()
            }
            Self::Control { .. } => {
                "is a node running? its state folder must be the one given with --state".to_owned()
            }
            Self::Refused { failed } => remedies(failed),
            Self::Internal(_) | Self::JobFailed(_) => String::new(),
        }
    }
}
