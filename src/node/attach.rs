//! Attaches this process to the dora daemon that started it.
//!
//! The wiring is checked before anything else happens: dora drops what is sent to an undeclared
//! output and says that all is well, so a stop could vanish without a trace.

use std::fmt;
use std::time::Duration;

use dora_message::config::InputMapping;
use dora_node_api::dora_core::config::DataId;
use dora_node_api::{DoraNode, MetadataParameters, NodeError as DoraError, Parameter};

use super::error::{MISSING, SURPLUS};
use super::version::{DORA_VERSION, ask_version, version_in};
use super::{DoraEvents, NodeError};
use crate::terms::{Input, Output, Wire, WireError, nearest};

/// What a node needs of its dataflow.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Inputs that must be wired.
    pub inputs: &'static [Input],
    /// Outputs that must be declared.
    pub outputs: &'static [Output],
}

impl Needs {
    /// What the agent's node needs. The timer is optional: with one the node notices that nobody tells
    /// of failed nodes any more.
    pub const AGENT: Self = Self {
        inputs: &[
            Input::CmdResponse,
            Input::Capabilities,
            Input::State,
            Input::SafetyEvent,
        ],
        outputs: &[Output::CmdRequest],
    };
    /// What a simulated robot needs.
    pub const ROBOT: Self = Self {
        inputs: &[Input::CmdRequest],
        outputs: &[
            Output::CmdResponse,
            Output::Capabilities,
            Output::State,
            Output::SafetyEvent,
        ],
    };

    /// Returns every problem of a wiring given as names.
    pub(super) fn problems(&self, inputs: &[&str], outputs: &[&str]) -> Vec<String> {
        let list = |names: &[&str]| match names {
            [] => "none".to_owned(),
            some => some.join(", "),
        };
        let mut problems = Vec::new();
        for need in self
            .inputs
            .iter()
            .filter(|need| !inputs.contains(&need.as_str()))
        {
            problems.push(format!(
                "input `{}` {MISSING} (wired: {})",
                need.as_str(),
                list(inputs)
            ));
        }
        for need in self
            .outputs
            .iter()
            .filter(|need| !outputs.contains(&need.as_str()))
        {
            problems.push(format!(
                "output `{}` {MISSING} (declared: {})",
                need.as_str(),
                list(outputs)
            ));
        }
        for name in inputs.iter().filter(|name| Input::of_id(name).is_none()) {
            let reads = || {
                self.inputs
                    .iter()
                    .map(|input| input.as_str())
                    .chain(["tick"])
            };
            let meant = match nearest(name, reads()) {
                Some(near) => format!(": did you mean `{near}`?"),
                None => format!(": it reads {}", reads().collect::<Vec<_>>().join(", ")),
            };
            problems.push(format!("input `{name}` {SURPLUS}{meant}"));
        }
        problems
    }
}

/// A node that is attached.
#[derive(Debug)]
pub struct Attached {
    /// Its sending half.
    pub wire: DoraWire,
    /// Its receiving half.
    pub events: DoraEvents,
    /// How often the dataflow restarted it; above 0 it is a second life.
    pub restarts: u32,
    /// Its id in the dataflow.
    pub id: String,
    /// The period of the timer on its input `tick`; `None` without one, and when another node feeds it.
    pub tick_every: Option<Duration>,
}

/// Attaches to the daemon that started this process. `config` is what it left in `DORA_NODE_CONFIG`.
///
/// # Errors
/// [`NodeError::NotStartedByDora`] when no daemon started this process, [`NodeError::Version`] when it
/// is another dora, [`NodeError::Graph`] when the dataflow lacks an input or output of `needs`,
/// [`NodeError::Dora`] for all else.
pub fn attach(needs: Needs, config: Option<&str>) -> Result<Attached, NodeError> {
    config.map_or(Ok(()), ask_version)?;
    let (node, events) = DoraNode::init_from_env_force().map_err(|error| refusal(&error))?;
    let config = node.node_config();
    let inputs: Vec<&str> = config.inputs.keys().map(|id| id.as_str()).collect();
    let outputs: Vec<&str> = config.outputs.iter().map(|id| id.as_str()).collect();
    let problems = needs.problems(&inputs, &outputs);
    if !problems.is_empty() {
        return Err(NodeError::Graph {
            node: node.id().to_string(),
            problems,
        });
    }
    let tick = config
        .inputs
        .get(&DataId::from(Input::Tick.as_str().to_owned()));
    let tick_every = tick.and_then(|input| period(&input.mapping));
    Ok(Attached {
        restarts: node.restart_count(),
        id: node.id().to_string(),
        tick_every,
        wire: DoraWire::new(node),
        events: DoraEvents::new(events),
    })
}

/// Returns the period of an input, when it is a timer of the dataflow.
fn period(mapping: &InputMapping) -> Option<Duration> {
    match mapping {
        InputMapping::Timer { interval } => Some(*interval),
        InputMapping::Logs(_) | InputMapping::User(_) => None,
    }
}

fn refusal(error: &DoraError) -> NodeError {
    diagnose(chain(error))
}

/// Sorts what dora said. Most daemons of another version were found out before.
fn diagnose(said: String) -> NodeError {
    let says = |words: &str| said.contains(words);
    if says("DORA_NODE_CONFIG env variable is not set") {
        NodeError::NotStartedByDora
    } else if says("failed to send register request")
        || says("version mismatch")
        || says("failed to deserialize node config")
    {
        NodeError::Version {
            ours: DORA_VERSION,
            theirs: version_in(&said)
                .map_or_else(|| format!("of another version ({said})"), str::to_owned),
        }
    } else {
        NodeError::Dora(said)
    }
}

/// Returns an error with all its sources in one line.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    // The chain of causes is as long as the libraries make it; 16 is more than any seen.
    for _ in 0..16 {
        let Some(next) = cause else { break };
        text.push_str(": ");
        text.push_str(&next.to_string());
        cause = next.source();
    }
    text
}

/// The sending half of a dora node.
pub struct DoraWire {
    node: DoraNode,
    /// The ids of the outputs, made once.
    ids: [(Output, DataId); 5],
}

impl DoraWire {
    pub(super) fn new(node: DoraNode) -> Self {
        let ids = Output::ALL.map(|output| (output, DataId::from(output.as_str().to_owned())));
        Self { node, ids }
    }
}

impl fmt::Debug for DoraWire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoraWire")
            .field("node", &self.node.id())
            .finish_non_exhaustive()
    }
}

impl Wire for DoraWire {
    fn send(
        &mut self,
        output: Output,
        payload: &str,
        request_id: Option<&str>,
    ) -> Result<(), WireError> {
        let Some((_, id)) = self.ids.iter().find(|(known, _)| *known == output) else {
            return Err(WireError(format!("no output `{}`", output.as_str())));
        };
        let mut parameters = MetadataParameters::default();
        if let Some(request) = request_id {
            parameters.insert(
                "request_id".to_owned(),
                Parameter::String(request.to_owned()),
            );
        }
        self.node
            .send_output(id.clone(), parameters, payload)
            .map_err(|error| WireError(chain(&error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_39_a_missing_output_and_a_misspelt_input_are_both_named() {
        let problems = Needs::AGENT.problems(
            &["cmd_response", "capabilities", "stat", "safety_event"],
            &["cmd_requests"],
        );
        assert_eq!(
            problems,
            [
                "input `state` is missing (wired: cmd_response, capabilities, stat, safety_event)",
                "output `cmd_request` is missing (declared: cmd_requests)",
                "input `stat` is not one that this node reads: did you mean `state`?",
            ]
        );
    }

    #[test]
    fn case_38_only_a_timer_of_the_dataflow_has_a_period() {
        let period_of = |text: &str| period(&text.parse().unwrap());
        assert_eq!(
            period_of("dora/timer/millis/1000"),
            Some(Duration::from_secs(1))
        );
        assert_eq!(
            period_of("dora/timer/hz/4"),
            Some(Duration::from_millis(250))
        );
        assert_eq!(period_of("rover/tick"), None);
    }

    #[test]
    fn the_version_that_is_named_is_the_one_that_is_pinned() {
        let manifest = include_str!("../../Cargo.toml");
        for crate_name in ["dora-node-api", "dora-daemon", "dora-core", "dora-message"] {
            let pin = format!("{crate_name} = {{ version = \"={DORA_VERSION}\"");
            assert!(manifest.contains(&pin), "{crate_name}");
        }
    }

    #[test]
    fn what_dora_says_is_sorted_by_what_helps() {
        let closed = "internal error: failed to init event stream: failed to send register request \
                      to dora-daemon: server disconnected unexpectedly";
        let refused = "internal error: failed to init event stream: failed to register node with \
                       dora-daemon: version mismatch: message format v1.1.0 is not compatible with \
                       expected message format v2.0.3";
        for (said, theirs) in [
            (closed, "disconnected unexpectedly"),
            (refused, "dora 2.0.3"),
        ] {
            let error = diagnose(said.to_owned());
            assert!(matches!(error, NodeError::Version { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("1.1.0") && text.contains(theirs), "{text}");
            assert!(error.hint().contains("octos-edge run"));
        }
        let alone = "initialization failed: DORA_NODE_CONFIG env variable is not set";
        assert_eq!(diagnose(alone.to_owned()), NodeError::NotStartedByDora);
        assert_eq!(
            diagnose("no zenoh".to_owned()),
            NodeError::Dora("no zenoh".to_owned())
        );
    }

    #[test]
    fn a_complete_wiring_has_no_problem() {
        let inputs = [
            "tick",
            "cmd_response",
            "capabilities",
            "state",
            "safety_event",
        ];
        assert!(Needs::AGENT.problems(&inputs, &["cmd_request"]).is_empty());
    }
}
