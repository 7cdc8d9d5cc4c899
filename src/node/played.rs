//! For tests of other rooms: a node whose dataflow is a file. What it hears comes at the times of the
//! file, what it sends goes into another one; nobody answers.

use std::path::Path;

use dora_node_api::DoraNode;
use dora_node_api::integration_testing::{TestingInput, TestingOptions, TestingOutput};

use super::attach::DoraWire;
use super::{Attached, DoraEvents};

/// Attaches to a recorded session instead of a daemon.
pub(crate) fn attach_to_session(inputs: &Path, outputs: &Path) -> eyre::Result<Attached> {
    let (node, events) = DoraNode::init_testing(
        TestingInput::FromJsonFile(inputs.to_owned()),
        TestingOutput::ToFile(outputs.to_owned()),
        TestingOptions::default(),
    )?;
    Ok(Attached {
        wire: DoraWire::new(node),
        events: DoraEvents::new(events),
        restarts: 0,
        id: "played".to_owned(),
        tick_every: None,
    })
}
