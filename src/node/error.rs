//! Why a node does not come up, or a dataflow does not run. All of it ends with exit code 66.

/// What is wrong between this process and dora.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The process was not started by a dora daemon.
    #[error("this node was not started by dora: DORA_NODE_CONFIG is not set")]
    NotStartedByDora,
    /// The dataflow does not wire this node as it needs. One line per problem.
    #[error("node `{node}` is not wired as it needs: {}", .problems.join("; "))]
    Graph {
        /// The node's id in the dataflow.
        node: String,
        /// What is missing, and what is there instead.
        problems: Vec<String>,
    },
    /// The daemon that started this process is of another version.
    #[error("this node speaks dora {ours}, the daemon that started it is dora {theirs}")]
    Version {
        /// The version of this build.
        ours: &'static str,
        /// The version of the daemon, or what is known of it.
        theirs: String,
    },
    /// dora refused, with its own words.
    #[error("dora: {0}")]
    Dora(String),
    /// The dataflow file cannot be read or is not a dataflow.
    #[error("{file}: {problem}")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// The dataflow file is one, but cannot run: everything that is wrong with it.
    #[error("{file}: {}", .problems.join("; "))]
    Dataflow {
        /// The file.
        file: String,
        /// What is missing, and what is there instead.
        problems: Vec<String>,
    },
    /// The file of a recorded session cannot be read, is none, or its outputs cannot be written.
    #[error("{file}: {problem}")]
    Session {
        /// The file.
        file: String,
        /// What is wrong, with its place.
        problem: String,
    },
    /// This build has no dora.
    #[error("this build has no {0}: build it with the default features")]
    NotBuilt(&'static str),
}

impl NodeError {
    /// Returns each thing that is wrong, for a report that names the file itself.
    pub fn problems(&self) -> Vec<String> {
        match self {
            Self::Dataflow { problems, .. } => problems.clone(),
            Self::File { problem, .. } | Self::Session { problem, .. } => vec![problem.clone()],
            Self::NotStartedByDora
            | Self::Graph { .. }
            | Self::Version { .. }
            | Self::Dora(_)
            | Self::NotBuilt(_) => vec![self.to_string()],
        }
    }

    /// Returns the way out.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotStartedByDora => {
                "start it from a dataflow: `octos-edge run dataflows/rover-sim.yml`, or `octos-edge sim`"
            }
            Self::Graph { .. } | Self::Dataflow { .. } => {
                "add the missing inputs and outputs to the node in the dataflow; dataflows/README.md lists them"
            }
            Self::Version { .. } => {
                "`pip install dora-rs-cli==1.1.0` brings the command line and the daemon of that version; `octos-edge run FILE.yml` brings its own"
            }
            Self::Dora(_) => {
                "node, daemon and command line must all be dora 1.1.0; `octos-edge check` examines the dataflow"
            }
            Self::File { .. } => "mend the file; dataflows/README.md shows a complete one",
            Self::Session { .. } => {
                "DORA_TEST_WITH_INPUTS names a session as DORA_WRITE_EVENTS_TO writes it; README.md, \"Replay a session\""
            }
            Self::NotBuilt(_) => "cargo build",
        }
    }
}
