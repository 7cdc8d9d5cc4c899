//! A recorded session of one node: the events in, the outputs out, in dora's own file formats.
//!
//! dora has a reader and a writer for both (`DORA_TEST_WITH_INPUTS`, `DoraNode::init_testing`). They
//! are not used, because with them no replay is the same twice, and some recordings are not read at
//! all: its stream waits in real time and stamps outputs with the machine's clock; an event that it
//! cannot decode is a line of the log and is left out; it refuses the events `InputRecovered` and
//! `NodeRestarted`, which its recorder writes; and it prints to standard output. The tests hold both
//! formats against those of dora.
//!
//! Every byte of a file is judged: what is wrong is named with its place, nothing panics.

mod outputs;
mod raw;
#[cfg(test)]
mod tests;

pub use outputs::SessionOutputs;

use std::time::Duration;

use serde_json::Value;

use super::NodeError;
use super::stream::{arrived, peer};
use crate::terms::{Input, Mono, PeerEvent, WireEvent};
use raw::{RawEvent, RawSession, RawStatus};

/// Largest file that is read, bytes. Chosen: a day of a rover that says its state ten times a second
/// is more, and dora, which keeps a recording in memory, advises against so long ones.
pub const SESSION_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Longest session, s: a day, as for `run --stop-after`.
const SESSION_S_MAX: u64 = 24 * 3600;
/// Longest silence between two events, s. A dataflow with a timer is never silent for so long, and a replay
/// lives through every tick of it: one late event would cost hours of them. Chosen: twice the longest time
/// that a model may take for a reply.
const SILENCE_S_MAX: u64 = 120;

/// The kinds of events that are read.
const KINDS: &str = "Input, InputClosed, InputRecovered, NodeRestarted, AllInputsClosed or Stop";
/// The Arrow types whose one value is text.
const TEXT_TYPES: [&str; 3] = ["Utf8", "LargeUtf8", "Utf8View"];

/// One event and its moment.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedEvent {
    /// When, since the start of the node.
    pub at: Mono,
    /// What.
    pub event: WireEvent,
}

/// What a node heard, in the order of time. Nothing comes after a [`WireEvent::Stop`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    events: Vec<TimedEvent>,
}

impl Session {
    /// Reads the bytes of a session; `file` is how people call them.
    ///
    /// # Errors
    /// [`NodeError::Session`] with the place of the first fault and what is permitted there.
    pub fn read(file: &str, bytes: &[u8]) -> Result<Self, NodeError> {
        Self::parse(bytes).map_err(|problem| NodeError::Session {
            file: file.to_owned(),
            problem,
        })
    }

    fn parse(bytes: &[u8]) -> Result<Self, String> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SESSION_BYTES_MAX {
            return Err(format!("it is larger than {SESSION_BYTES_MAX} bytes"));
        }
        let raw: RawSession = serde_json::from_slice(bytes).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            let why = shown(&error.to_string(), WHY_CHARS_MAX);
            format!("no session, line {line} column {column}: {why}")
        })?;
        if let Some(RawStatus::Poisoned {
            first_failure_event_index: index,
            first_failure_error: why,
        }) = raw.recording_status
        {
            return Err(format!(
                "the recording is incomplete from events[{index}] on: {}",
                shown(&why, WHY_CHARS_MAX)
            ));
        }
        let mut events = Vec::with_capacity(raw.events.len());
        for (index, event) in raw.events.into_iter().enumerate() {
            let event = timed(event).map_err(|problem| format!("events[{index}]{problem}"))?;
            events.push(event);
        }
        // As in dora: by time, and events of the same time as they stand.
        events.sort_by_key(|event| event.at);
        if let Some(stop) = events.iter().position(|e| e.event == WireEvent::Stop) {
            events.truncate(stop.saturating_add(1));
        }
        no_long_silence(&events)?;
        Ok(Self { events })
    }

    /// Returns the events.
    pub fn events(&self) -> &[TimedEvent] {
        &self.events
    }

    /// Returns the texts that arrived on an input.
    pub fn texts(&self, of: Input) -> impl Iterator<Item = &str> {
        self.events.iter().filter_map(move |timed| {
            if let WireEvent::Data { input, text } = &timed.event
                && *input == of
            {
                text.as_deref()
            } else {
                None
            }
        })
    }
}

/// Judges the times of all events, in their order.
fn no_long_silence(events: &[TimedEvent]) -> Result<(), String> {
    let times = events.iter().map(|timed| timed.at);
    for (before, at) in std::iter::once(Mono::ZERO).chain(times.clone()).zip(times) {
        if at.since(before) > Duration::from_secs(SILENCE_S_MAX) {
            let (at, before) = (at.since(Mono::ZERO), before.since(Mono::ZERO));
            return Err(format!(
                "nothing was heard from {} s to {} s: a session is silent for at most {SILENCE_S_MAX} s; cut it \
                 there, or bring its events nearer",
                before.as_secs_f64(),
                at.as_secs_f64()
            ));
        }
    }
    Ok(())
}

/// Judges one event; a fault begins with the key below the event.
fn timed(raw: RawEvent) -> Result<TimedEvent, String> {
    let at = moment(raw.time_offset_secs.as_ref())?;
    let Some(Value::String(kind)) = &raw.kind else {
        return Err(format!(".type: {}; give {KINDS}", found(raw.kind.as_ref())));
    };
    let event = match kind.as_str() {
        "Stop" | "AllInputsClosed" => WireEvent::Stop,
        "Input" => {
            if raw.path.is_some() {
                return Err(
                    ".path: payloads of Arrow files are not read; give the text in `data`"
                        .to_owned(),
                );
            }
            let id = raw.id()?;
            arrived(id, raw.text())
        }
        "InputClosed" => peer(PeerEvent::Closed, raw.id()?.to_owned()),
        "InputRecovered" => peer(PeerEvent::Recovered, raw.id()?.to_owned()),
        "NodeRestarted" => peer(PeerEvent::Restarted, raw.id()?.to_owned()),
        _ => return Err(format!(".type: {}; give {KINDS}", found(raw.kind.as_ref()))),
    };
    Ok(TimedEvent { at, event })
}

fn moment(raw: Option<&Value>) -> Result<Mono, String> {
    let bad = || {
        let found = found(raw);
        format!(".time_offset_secs: {found}; give seconds since the start, 0 to {SESSION_S_MAX}")
    };
    let secs = raw.and_then(Value::as_f64).ok_or_else(bad)?;
    let since = Duration::try_from_secs_f64(secs).map_err(|_negative_or_endless| bad())?;
    if since > Duration::from_secs(SESSION_S_MAX) {
        return Err(bad());
    }
    let ns = u64::try_from(since.as_nanos()).map_err(|_beyond| bad())?;
    Ok(Mono::from_ns(ns))
}

impl RawEvent {
    fn id(&self) -> Result<&str, String> {
        match &self.id {
            Some(Value::String(id)) => Ok(id),
            other => Err(format!(
                ".id: {}; give the id of the input or node as text",
                found(other.as_ref())
            )),
        }
    }

    /// Returns the payload when dora would make one Arrow string of it.
    fn text(&self) -> Option<&str> {
        let is_text = match &self.data_type {
            None | Some(Value::Null) => true,
            Some(Value::String(name)) => TEXT_TYPES.contains(&name.as_str()),
            Some(_) => false,
        };
        match &self.data {
            Some(Value::String(text)) if is_text => Some(text),
            Some(Value::Array(list)) if is_text => match list.as_slice() {
                [Value::String(text)] => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns what stands in a place, short.
fn found(value: Option<&Value>) -> String {
    value.map_or_else(
        || "it is missing".to_owned(),
        |value| format!("found `{}`", shown(&value.to_string(), FOUND_CHARS_MAX)),
    )
}

/// Longest part of a wrong value that is shown, characters.
const FOUND_CHARS_MAX: usize = 40;
/// Longest part of a reader's or recorder's own words that is shown, characters.
const WHY_CHARS_MAX: usize = 160;

fn shown(text: &str, chars_max: usize) -> String {
    let mut short: String = text.chars().take(chars_max).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}
