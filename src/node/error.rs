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
    /// The nodes of this binary in a dataflow name what does not exist, or do not fit each other.
    #[error("{file}: {}", .problems.join("; "))]
    Misfit {
        /// The file.
        file: String,
        /// Each thing, with its node.
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
            Self::Dataflow { problems, .. } | Self::Misfit { problems, .. } => problems.clone(),
            Self::File { problem, .. } | Self::Session { problem, .. } => vec![problem.clone()],
            Self::NotStartedByDora
            | Self::Graph { .. }
            | Self::Version { .. }
            | Self::Dora(_)
            | Self::NotBuilt(_) => vec![self.to_string()],
        }
    }

    /// Returns the way out of all of it.
    pub fn hint(&self) -> String {
        match self {
            Self::NotStartedByDora => {
                "start it from a dataflow: `octos-edge run dataflows/rover-sim.yml`, or `octos-edge sim`"
                    .to_owned()
            }
            Self::Graph { problems, .. } | Self::Dataflow { problems, .. } => {
                let mut ways: Vec<&str> = Vec::new();
                for way in problems.iter().map(|problem| way_out(problem)) {
                    if !ways.contains(&way) {
                        ways.push(way);
                    }
                }
                format!("{}; {LISTED}", ways.join("; "))
            }
            Self::Misfit { .. } => {
                format!("correct the node's args or env; {LISTED}")
            }
            Self::Version { .. } => {
                "`pip install dora-rs-cli==1.1.0` brings the command line and the daemon of that version; `octos-edge run FILE.yml` brings its own"
                    .to_owned()
            }
            Self::Dora(_) => {
                "node, daemon and command line must all be dora 1.1.0; `octos-edge check` examines the dataflow"
                    .to_owned()
            }
            Self::File { .. } => "mend the file; dataflows/README.md shows a complete one".to_owned(),
            Self::Session { .. } => {
                "DORA_TEST_WITH_INPUTS names a session as DORA_WRITE_EVENTS_TO writes it; README.md, \"Replay a session\""
                    .to_owned()
            }
            Self::NotBuilt(_) => "cargo build".to_owned(),
        }
    }

    /// Returns the way out of one of its problems.
    pub fn hint_of(&self, problem: &str) -> String {
        match self {
            Self::Graph { .. } | Self::Dataflow { .. } => {
                format!("{}; {LISTED}", way_out(problem))
            }
            Self::NotStartedByDora
            | Self::Misfit { .. }
            | Self::Version { .. }
            | Self::Dora(_)
            | Self::File { .. }
            | Self::Session { .. }
            | Self::NotBuilt(_) => self.hint(),
        }
    }
}

/// What a problem says of an input or output that is not wired.
pub(super) const MISSING: &str = "is missing";
/// What a problem says of an input that nobody reads.
pub(super) const SURPLUS: &str = "is not one that this node reads";
/// Where the whole wiring is listed.
const LISTED: &str = "dataflows/README.md lists what each node has";

fn way_out(problem: &str) -> &'static str {
    if problem.contains(MISSING) {
        "add the missing inputs and outputs to the node in the dataflow"
    } else if problem.contains(SURPLUS) {
        "remove the surplus input from the node, or give it the name that the node reads"
    } else {
        "correct what is named, in the dataflow"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_speaks_of_what_is_wrong_and_of_nothing_else() {
        let of = |problems: &[&str]| NodeError::Dataflow {
            file: "x.yml".to_owned(),
            problems: problems.iter().map(|text| (*text).to_owned()).collect(),
        };
        let (missing, surplus) = (
            "node `a`: input `state` is missing (wired: none)",
            "node `a`: input `stat` is not one that this node reads",
        );
        let hint = of(&[surplus]).hint();
        assert!(
            hint.contains("remove the surplus") && !hint.contains("add the"),
            "{hint}"
        );
        let hint = of(&[missing]).hint();
        assert!(
            hint.contains("add the missing") && !hint.contains("surplus"),
            "{hint}"
        );
        let both = of(&[missing, surplus, missing]);
        assert_eq!(both.hint().matches("add the missing").count(), 1);
        assert!(both.hint().contains("surplus"), "{}", both.hint());
        assert!(!both.hint_of(surplus).contains("add the"));
    }
}
