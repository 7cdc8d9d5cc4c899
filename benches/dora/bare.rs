//! Two nodes that know nothing of us: one sends a text and waits for another, one answers.

use std::path::Path;
use std::time::Instant;

use dora_node_api::dora_core::config::DataId;
use dora_node_api::{DoraNode, Event, EventStream, MetadataParameters};

use crate::common::sample::us;
use crate::{TRIPS, WARM};

/// The texts of a real call of `rover_get_pose`, byte for byte as long as ours.
const REQUEST: &str = "{\"envelope_version\":\"1.0\",\"spec_version\":\"1.0.0\",\"verb\":\"vendor.octos.rover.get_pose\",\"target\":\"rover-1\",\"request_id\":\"8f14e45f-ceea-467f-a0e1-1d2c3b4a5968\",\"ts\":\"2026-01-01T00:00:00.000Z\",\"auth\":{\"cmd_token\":\"octos-edge\"},\"params\":{}}";
const ANSWER: &str = "{\"code\":\"0\",\"data\":{\"frame\":\"map\",\"position\":[0.0,0.0,0.0],\"theta\":0.0},\"envelope_version\":\"1.0\",\"msg\":\"\",\"ok\":true,\"request_id\":\"8f14e45f-ceea-467f-a0e1-1d2c3b4a5968\",\"spec_version\":\"1.0.0\",\"ts\":\"2026-01-01T00:00:00.000Z\"}";

/// Sends requests one after another and keeps the time of each round trip.
pub(crate) fn call(out: &Path) {
    let (mut node, mut events) = DoraNode::init_from_env_force().unwrap();
    let output = DataId::from("cmd_request".to_owned());
    let mut times = Vec::new();
    for _ in 0..TRIPS + WARM {
        let began = Instant::now();
        node.send_output(output.clone(), MetadataParameters::default(), REQUEST)
            .unwrap();
        if !next_input(&mut events) {
            break;
        }
        times.push(us(began.elapsed()));
    }
    crate::keep(&times, out);
}

/// Answers each request.
pub(crate) fn echo() {
    let (mut node, mut events) = DoraNode::init_from_env_force().unwrap();
    let output = DataId::from("cmd_response".to_owned());
    while next_input(&mut events) {
        node.send_output(output.clone(), MetadataParameters::default(), ANSWER)
            .unwrap();
    }
}

/// Waits for an input; `false` when there will be none.
fn next_input(events: &mut EventStream) -> bool {
    while let Some(event) = events.recv() {
        if let Event::Input { data, .. } = event {
            // As ours does, it looks at the text.
            let text = <&str>::try_from(&data).unwrap_or_default();
            return !text.is_empty();
        } else if matches!(event, Event::Stop(_) | Event::InputClosed { .. }) {
            return false;
        }
    }
    false
}
