//! A dataflow file: read, judged, and patched in memory before an embedded run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dora_core::descriptor::{Descriptor, DescriptorExt as _};
use dora_message::descriptor::EnvValue;

use super::NodeError;
use super::attach::Needs;

/// The bare path that means this binary.
const OWN_NAME: &str = "octos-edge";
/// Largest dataflow file, bytes. The shipped ones are below 4 KiB.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What to add to nodes of this binary before a run. It changes no file.
#[derive(Debug, Clone, Default)]
pub struct NodePatch {
    /// Environment for nodes whose first argument is this word (`node`, `mock-robot`).
    pub env: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// The seed for `mock-robot`, when it is to differ from the file's.
    pub seed: Option<u64>,
}

/// A node of this binary in a dataflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnNode {
    /// Its id in the dataflow.
    pub id: String,
    /// Its arguments, split at white space as dora splits them.
    pub args: Vec<String>,
    /// Its environment, from the dataflow alone.
    pub env: BTreeMap<String, String>,
}

impl OwnNode {
    /// Returns the subcommand, empty when there is none.
    pub fn subcommand(&self) -> &str {
        self.args.first().map_or("", String::as_str)
    }

    /// Returns the value of a flag: behind it, or joined to it by `=`.
    pub fn flag(&self, flag: &str) -> Option<&str> {
        let is_flag = |arg: &String| {
            let rest = arg.strip_prefix(flag);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        };
        let at = self.args.iter().position(is_flag)?;
        let arg = self.args.get(at)?;
        match arg.split_once('=') {
            Some((_, value)) => Some(value),
            None => self.args.get(at.checked_add(1)?).map(String::as_str),
        }
    }
}

/// A dataflow that was read and found runnable.
#[derive(Debug, Clone)]
pub struct Dataflow {
    path: PathBuf,
    descriptor: Descriptor,
}

impl Dataflow {
    /// Reads a dataflow file and checks it as dora would, and the nodes of this binary as they
    /// would themselves.
    ///
    /// # Errors
    /// [`NodeError::File`] when it cannot be read or is no dataflow, [`NodeError::Dataflow`] with
    /// everything that its nodes lack.
    pub fn read(path: &Path) -> Result<Self, NodeError> {
        let file = |problem: String| NodeError::File {
            file: path.display().to_string(),
            problem,
        };
        let metadata = std::fs::metadata(path).map_err(|error| file(error.to_string()))?;
        if !metadata.is_file() {
            return Err(file("is not a regular file".to_owned()));
        }
        let size = metadata.len();
        if size > FILE_BYTES_MAX {
            return Err(file(format!(
                "{size} bytes exceed the largest dataflow of {FILE_BYTES_MAX}"
            )));
        }
        let descriptor =
            Descriptor::blocking_read(path).map_err(|error| file(format!("{error:#}")))?;
        let mut problems = own_problems(&descriptor);
        // dora names the first thing that it finds; what our nodes lack often explains it.
        if let Err(error) = dora_core::descriptor::validate::check_dataflow_static(&descriptor) {
            problems.push(format!("{error:#}"));
        }
        if !problems.is_empty() {
            return Err(NodeError::Dataflow {
                file: path.display().to_string(),
                problems,
            });
        }
        Ok(Self {
            path: path.to_owned(),
            descriptor,
        })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes every node of this binary run `binary`, and applies `patch`.
    pub fn patched(mut self, binary: &Path, patch: &NodePatch) -> Self {
        for node in &mut self.descriptor.nodes {
            if node.path.as_deref() != Some(OWN_NAME) {
                continue;
            }
            node.path = Some(binary.display().to_string());
            let word = first_word(node.args.as_deref()).to_owned();
            if let (Some(seed), "mock-robot") = (patch.seed, word.as_str()) {
                // The last of two equal flags wins.
                let args = node.args.take().unwrap_or_default();
                node.args = Some(format!("{args} --seed {seed}"));
            }
            let Some(extra) = patch.env.get(word.as_str()) else {
                continue;
            };
            let env = node.env.get_or_insert_with(BTreeMap::new);
            for (key, value) in extra {
                env.insert(key.clone(), EnvValue::String(value.clone()));
            }
        }
        self
    }

    /// Returns the nodes of this binary.
    pub fn own_nodes(&self) -> Vec<OwnNode> {
        let own = self
            .descriptor
            .nodes
            .iter()
            .filter(|node| node.path.as_deref() == Some(OWN_NAME));
        own.map(|node| OwnNode {
            id: node.id.to_string(),
            args: node
                .args
                .as_deref()
                .unwrap_or_default()
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            env: node
                .env
                .iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect(),
        })
        .collect()
    }

    #[cfg(feature = "embedded-daemon")]
    pub(super) fn into_descriptor(self) -> Descriptor {
        self.descriptor
    }
}

/// Returns what the nodes of this binary lack, each with its node.
fn own_problems(descriptor: &Descriptor) -> Vec<String> {
    let own = descriptor.nodes.iter();
    let own = own.filter(|node| node.path.as_deref() == Some(OWN_NAME));
    own.flat_map(|node| {
        let inputs: Vec<&str> = node.inputs.keys().map(|id| id.as_str()).collect();
        let outputs: Vec<&str> = node.outputs.iter().map(|id| id.as_str()).collect();
        let problems = match first_word(node.args.as_deref()) {
            "node" => Needs::AGENT.problems(&inputs, &outputs),
            "mock-robot" => Needs::ROBOT.problems(&inputs, &outputs),
            other => vec![format!(
                "args begin with `{other}`: a node of this binary is `node` or `mock-robot`"
            )],
        };
        let named = |problem| format!("node `{}`: {problem}", node.id);
        problems.into_iter().map(named).collect::<Vec<_>>()
    })
    .collect()
}

fn first_word(args: Option<&str>) -> &str {
    args.unwrap_or_default()
        .split_whitespace()
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_has_its_value_behind_it_or_joined_to_it() {
        let node = |args: &str| OwnNode {
            id: "a".to_owned(),
            args: args.split_whitespace().map(str::to_owned).collect(),
            env: BTreeMap::new(),
        };
        for args in [
            "node --robot rover --board b",
            "node --robot=rover --board=b",
        ] {
            assert_eq!(node(args).flag("--robot"), Some("rover"), "{args}");
            assert_eq!(node(args).flag("--board"), Some("b"), "{args}");
        }
        assert_eq!(node("node --robot-id=x").flag("--robot"), None);
        assert_eq!(node("node --robot").flag("--robot"), None);
    }
}
