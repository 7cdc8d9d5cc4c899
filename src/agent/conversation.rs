//! The conversation of one goal, bounded in bytes.
//!
//! It does not summarise. When it grows too long, the oldest tool outputs are replaced by a short
//! note; what the model said and which calls were refused stays. The newest outputs are never
//! dropped: without them the model would ask for the same again. If that is not enough, the
//! conversation is full and the goal ends. The sensor context stands at its end for one reply only.

use std::io;

use serde::Serialize;

use crate::terms::{Message, Outcome};

/// Largest conversation, bytes of its serialised messages. Chosen: about 64,000 tokens.
pub(super) const BYTES_MAX: usize = 262_144;
/// Stands where an old output was.
pub(super) const DROPPED: &str = "(old output dropped)";

/// The conversation is full.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

#[derive(Debug, Default)]
pub(super) struct Conversation {
    messages: Vec<Message>,
    bytes: usize,
}

impl Conversation {
    pub(super) fn begin(system: &str, goal: String) -> Self {
        let mut conversation = Self::default();
        conversation.push(Message::System(system.to_owned()));
        conversation.push(Message::User(goal));
        conversation
    }

    /// Makes `text` the sensor context: the last entry, in the place of the one before.
    pub(super) fn show(&mut self, text: String) {
        self.unshow();
        self.push(Message::Sensors(text));
    }

    pub(super) fn push(&mut self, message: Message) {
        self.unshow();
        self.bytes = self.bytes.saturating_add(bytes_of(&message));
        self.messages.push(message);
    }

    /// Makes the conversation fit, dropping the oldest outputs first.
    pub(super) fn fit(&mut self) -> Result<(), Full> {
        let newest = self.messages.len().saturating_sub(1);
        for message in self.messages.iter_mut().take(newest) {
            if self.bytes <= BYTES_MAX {
                break;
            }
            let before = bytes_of(message);
            drop_outputs(message);
            let saved = before.saturating_sub(bytes_of(message));
            self.bytes = self.bytes.saturating_sub(saved);
        }
        if self.bytes <= BYTES_MAX {
            Ok(())
        } else {
            Err(Full)
        }
    }

    fn unshow(&mut self) {
        if let Some(Message::Sensors(_)) = self.messages.last()
            && let Some(old) = self.messages.pop()
        {
            self.bytes = self.bytes.saturating_sub(bytes_of(&old));
        }
    }

    pub(super) fn messages(&self) -> &[Message] {
        &self.messages
    }
}

fn drop_outputs(message: &mut Message) {
    let Message::Tools(reports) = message else {
        return;
    };
    for report in reports {
        if let Outcome::Done { text, .. } = &mut report.outcome
            && text.len() > DROPPED.len()
        {
            DROPPED.clone_into(text);
        }
    }
}

fn bytes_of(message: &Message) -> usize {
    match message {
        Message::System(text) | Message::User(text) | Message::Sensors(text) => text.len(),
        Message::Assistant(reply) => serialized_bytes(reply),
        Message::Tools(reports) => serialized_bytes(reports),
    }
}

/// Counts without keeping. What cannot be serialised counts as larger than any conversation.
fn serialized_bytes(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_unserialisable) => BYTES_MAX + 1,
    }
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
