//! Takes events until the dataflow ends, and sends one text for each.

use dora_node_api::dora_core::config::DataId;
use dora_node_api::{DoraNode, Event, MetadataParameters};

fn main() {
    let (mut node, mut events) = DoraNode::init_from_env_force().expect("started by dora");
    let output = DataId::from("cmd_request".to_owned());
    while let Some(event) = events.recv() {
        match event {
            Event::Input { .. } => node
                .send_output(output.clone(), MetadataParameters::default(), "{}")
                .expect("the dataflow takes it"),
            Event::Stop(_) => return,
            _ => {}
        }
    }
}
