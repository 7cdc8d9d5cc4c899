//! The receiving half of a dora node: every kind of event becomes a word of `terms`.

use std::fmt;
use std::pin::pin;

use dora_node_api::futures::channel::oneshot;
use dora_node_api::futures::executor::block_on;
use dora_node_api::futures::future::{Either, select};
use dora_node_api::{Event, EventStream, TryRecvError};

use crate::terms::{Input, PeerEvent, WireEvent};

/// Payloads longer than this are cut here: whatever they hold, they are over every cap of the
/// envelope (the largest is 1 MiB), and the copy of a huge one would hurt a small board.
const PAYLOAD_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The event stream of one node. One thread owns it. A session that dora records is written when this
/// is dropped, so whoever ends the process closes it first.
pub struct DoraEvents {
    stream: EventStream,
    closer: Option<oneshot::Sender<()>>,
    closed: oneshot::Receiver<()>,
}

/// Closes the event stream that another thread waits for; so does its end.
#[derive(Debug)]
pub struct EventsCloser(Option<oneshot::Sender<()>>);

impl EventsCloser {
    /// Closes the stream: who waits for an event gets none.
    pub fn close(self) {
        drop(self.0);
    }
}

impl DoraEvents {
    pub(super) fn new(stream: EventStream) -> Self {
        let (closer, closed) = oneshot::channel();
        Self {
            stream,
            closer: Some(closer),
            closed,
        }
    }

    /// Returns the one thing that closes the stream from outside; the second one closes nothing.
    pub fn closer(&mut self) -> EventsCloser {
        EventsCloser(self.closer.take())
    }

    /// Waits for the next event; `None` when the stream has ended or was closed. After
    /// [`WireEvent::Stop`] dora lets through only what had arrived before it.
    pub fn next_event(&mut self) -> Option<WireEvent> {
        // Whoever is dropped here has taken nothing from the stream: no event is lost.
        let next = pin!(self.stream.recv_async());
        match block_on(select(&mut self.closed, next)) {
            Either::Left(_) => None,
            Either::Right((event, _)) => event.map(translate),
        }
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

pub(super) fn translate(event: Event) -> WireEvent {
    match event {
        Event::Input { id, data, .. } => arrived(id.as_str(), <&str>::try_from(&data).ok()),
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

pub(super) fn peer(event: PeerEvent, who: String) -> WireEvent {
    WireEvent::Peer { event, who }
}

/// Returns the word for a payload on the input `id`; `text` is `None` when it was not one string. A
/// timer has no payload.
pub(super) fn arrived(id: &str, text: Option<&str>) -> WireEvent {
    let Some(input) = Input::of_id(id) else {
        return WireEvent::Stray {
            input: id.to_owned(),
        };
    };
    let text = match input {
        Input::Tick => Some(String::new()),
        Input::CmdRequest
        | Input::CmdResponse
        | Input::Capabilities
        | Input::State
        | Input::SafetyEvent => text.map(|text| cut(text).to_owned()),
    };
    WireEvent::Data { input, text }
}

fn cut(text: &str) -> &str {
    let mut end = text.len().min(PAYLOAD_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use dora_node_api::dora_core::config::{DataId, NodeId};
    use dora_node_api::uhlc::HLC;
    use dora_node_api::{DoraArray, IntoArrow as _, Metadata};

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
        let text_of = |data: DoraArray| {
            let event = Event::Input {
                id: id("state"),
                metadata: Metadata::new(HLC::default().new_timestamp()),
                data,
            };
            let WireEvent::Data {
                input: Input::State,
                text,
            } = translate(event)
            else {
                panic!("a payload on an input of the envelope is data");
            };
            text
        };
        assert_eq!(text_of("{}".into_arrow()), Some("{}".to_owned()));
        assert_eq!(text_of(vec![1_u8, 2].into_arrow()), None);
        let huge = text_of("é".repeat(PAYLOAD_BYTES_MAX).into_arrow());
        assert_eq!(huge.unwrap().len(), PAYLOAD_BYTES_MAX);
    }
}
