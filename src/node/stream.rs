//! The receiving half of a dora node: every kind of event becomes a word of `terms`.

use std::fmt;

use dora_node_api::{DoraArray, Event, EventStream, TryRecvError};

use crate::terms::{Input, PeerEvent, WireEvent};

/// Payloads longer than this are cut here: whatever they hold, they are over every cap of the
/// envelope (the largest is 1 MiB), and the copy of a huge one would hurt a small board.
const PAYLOAD_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The event stream of one node. One thread owns it.
pub struct DoraEvents {
    stream: EventStream,
}

impl DoraEvents {
    pub(super) fn new(stream: EventStream) -> Self {
        Self { stream }
    }

    /// Waits for the next event; `None` when the stream has ended. After [`WireEvent::Stop`] dora lets
    /// through only what had arrived before it.
    pub fn next_event(&mut self) -> Option<WireEvent> {
        self.stream.recv().map(translate)
    }

    /// Takes the next event if there is one, without waiting.
    pub fn poll_event(&mut self) -> Polled {
        match self.stream.try_recv() {
            Ok(event) => Polled::Event(translate(event)),
            Err(TryRecvError::Empty) => Polled::Nothing,
            Err(TryRecvError::Closed) => Polled::Ended,
        }
    }
}

/// What a look at the stream found.
#[derive(Debug, Clone, PartialEq)]
pub enum Polled {
    /// An event.
    Event(WireEvent),
    /// Nothing has arrived yet.
    Nothing,
    /// The end of the stream.
    Ended,
}

impl fmt::Debug for DoraEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DoraEvents").finish_non_exhaustive()
    }
}

fn translate(event: Event) -> WireEvent {
    match event {
        Event::Input { id, data, .. } => match Input::of_id(id.as_str()) {
            Some(input) => WireEvent::Data {
                input,
                text: text_of(input, &data),
            },
            None => WireEvent::Stray {
                input: id.to_string(),
            },
        },
        Event::InputClosed { id } => peer(PeerEvent::Closed, id.to_string()),
        Event::InputRecovered { id } => peer(PeerEvent::Recovered, id.to_string()),
        Event::NodeRestarted { id } => peer(PeerEvent::Restarted, id.to_string()),
        Event::NodeFailed { source_node_id, .. } => {
            peer(PeerEvent::Failed, source_node_id.to_string())
        }
        Event::ParamUpdate { key, value } => WireEvent::Param {
            key,
            value: Some(value.to_string()),
        },
        Event::ParamDeleted { key } => WireEvent::Param { key, value: None },
        Event::Stop(_) => WireEvent::Stop,
        Event::Reload { .. } => WireEvent::Reload,
        Event::Error(text) => WireEvent::Broken(text),
        // dora declares its events open: a kind that this build does not know is told and ignored.
        _ => WireEvent::Unknown,
    }
}

fn peer(event: PeerEvent, who: String) -> WireEvent {
    WireEvent::Peer { event, who }
}

/// Returns the payload as text, `None` when it is not one string. A timer has no payload.
fn text_of(input: Input, data: &DoraArray) -> Option<String> {
    if input == Input::Tick {
        return Some(String::new());
    }
    let text = <&str>::try_from(data).ok()?;
    let mut end = text.len().min(PAYLOAD_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use dora_node_api::IntoArrow as _;
    use dora_node_api::dora_core::config::{DataId, NodeId};

    use super::*;

    fn id(text: &str) -> DataId {
        DataId::from(text.to_owned())
    }

    #[test]
    fn every_kind_of_event_has_a_word() {
        let node = || NodeId::from("rover".to_owned());
        let rows = [
            (
                Event::InputClosed { id: id("state") },
                peer(PeerEvent::Closed, "state".into()),
            ),
            (
                Event::InputRecovered { id: id("state") },
                peer(PeerEvent::Recovered, "state".into()),
            ),
            (
                Event::NodeRestarted { id: node() },
                peer(PeerEvent::Restarted, "rover".into()),
            ),
            (
                Event::NodeFailed {
                    affected_input_ids: vec![id("state")],
                    error: "killed".into(),
                    source_node_id: node(),
                },
                peer(PeerEvent::Failed, "rover".into()),
            ),
            (
                Event::ParamUpdate {
                    key: "max_tier".into(),
                    value: 3.into(),
                },
                WireEvent::Param {
                    key: "max_tier".into(),
                    value: Some("3".into()),
                },
            ),
            (
                Event::ParamDeleted {
                    key: "max_tier".into(),
                },
                WireEvent::Param {
                    key: "max_tier".into(),
                    value: None,
                },
            ),
            (
                Event::Stop(dora_node_api::StopCause::Manual),
                WireEvent::Stop,
            ),
            (
                Event::Stop(dora_node_api::StopCause::AllInputsClosed),
                WireEvent::Stop,
            ),
            (Event::Reload { operator_id: None }, WireEvent::Reload),
            (
                Event::Error("broken".into()),
                WireEvent::Broken("broken".into()),
            ),
        ];
        for (event, word) in rows {
            assert_eq!(translate(event), word);
        }
    }

    #[test]
    fn payloads_that_are_not_one_string_have_no_text() {
        let text: DoraArray = "{}".into_arrow();
        assert_eq!(text_of(Input::State, &text), Some("{}".to_owned()));
        let numbers: DoraArray = vec![1_u8, 2].into_arrow();
        assert_eq!(text_of(Input::State, &numbers), None);
        let huge: DoraArray = "é".repeat(PAYLOAD_BYTES_MAX).into_arrow();
        assert_eq!(
            text_of(Input::State, &huge).unwrap().len(),
            PAYLOAD_BYTES_MAX
        );
    }
}
