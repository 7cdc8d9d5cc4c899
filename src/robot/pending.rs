//! Answers that somebody waits for.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::mpsc;

/// Requests that can be open at once. More are refused as busy.
pub const PENDING_MAX: usize = 64;
/// Answered requests that are remembered, to tell a second answer from a stranger's.
const REMEMBERED: usize = 256;
/// Answers of one call that can wait to be read: one for each repetition of a hold that is on the
/// way at once.
const REPLIES: usize = 8;

/// What a robot answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Whether it did, or accepted, what was asked.
    pub ok: bool,
    /// The code; `"0"` on success.
    pub code: String,
    /// A message for people.
    pub msg: String,
    /// The result.
    pub data: Value,
}

/// What a waiting call gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    /// The robot answered.
    Answer(Answer),
    /// The robot's node is gone.
    Down,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// Somebody waited for it.
    Taken,
    /// It is the second to its request.
    Duplicate,
    /// Nobody asked for it, or nobody waits any more.
    Unknown,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: HashMap<[u8; 16], mpsc::Sender<Reply>>,
    answered: VecDeque<[u8; 16]>,
}

/// The open requests. The lock is held for a look-up only, and never on the way of a command.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<Inner>);

/// The open requests of one call. Dropping it closes them.
#[derive(Debug)]
pub(super) struct Waiting {
    pending: Arc<Pending>,
    ids: Vec<[u8; 16]>,
    sender: mpsc::Sender<Reply>,
    receiver: mpsc::Receiver<Reply>,
}

impl Pending {
    /// Delivers an answer.
    pub(super) fn deliver(&self, id: [u8; 16], answer: Answer) -> Delivery {
        let mut inner = self.lock();
        let Some(sender) = inner.waiting.remove(&id) else {
            return if inner.answered.contains(&id) {
                Delivery::Duplicate
            } else {
                Delivery::Unknown
            };
        };
        inner.remember(id);
        drop(inner);
        // A full channel means that the call has more answers than it reads: it knows enough.
        sender.try_send(Reply::Answer(answer)).ok();
        Delivery::Taken
    }

    /// Notes the answer to one of our own verbs. Returns `false` when it is the second.
    pub(super) fn first_of(&self, id: [u8; 16]) -> bool {
        let mut inner = self.lock();
        let first = !inner.answered.contains(&id);
        if first {
            inner.remember(id);
        }
        first
    }

    /// Fails all open requests: the robot's node is gone.
    pub(super) fn fail_all(&self) {
        let waiting = std::mem::take(&mut self.lock().waiting);
        for sender in waiting.into_values() {
            sender.try_send(Reply::Down).ok();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn remember(&mut self, id: [u8; 16]) {
        if self.answered.len() >= REMEMBERED {
            self.answered.pop_front();
        }
        self.answered.push_back(id);
    }
}

impl Waiting {
    pub(super) fn new(pending: Arc<Pending>) -> Self {
        let (sender, receiver) = mpsc::channel(REPLIES);
        Self {
            pending,
            ids: Vec::new(),
            sender,
            receiver,
        }
    }

    /// Opens a request. Returns `false` when too many are open.
    pub(super) fn open(&mut self, id: [u8; 16]) -> bool {
        let mut inner = self.pending.lock();
        let room = inner.waiting.len() < PENDING_MAX;
        if room {
            inner.waiting.insert(id, self.sender.clone());
            self.ids.push(id);
        }
        room
    }

    /// Waits for the next answer.
    pub(super) async fn next(&mut self) -> Reply {
        // The channel cannot close while this holds its own sender.
        self.receiver.recv().await.unwrap_or(Reply::Down)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut inner = self.pending.lock();
        for id in &self.ids {
            inner.waiting.remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        Answer {
            ok: true,
            code: "0".to_owned(),
            msg: String::new(),
            data: Value::Null,
        }
    }

    #[test]
    fn an_answer_is_taken_once_then_duplicate_and_unknown_before() {
        let pending = Arc::new(Pending::default());
        let mut waiting = Waiting::new(pending.clone());
        assert_eq!(pending.deliver([1; 16], answer()), Delivery::Unknown);
        assert!(waiting.open([1; 16]));
        assert_eq!(pending.deliver([1; 16], answer()), Delivery::Taken);
        assert_eq!(pending.deliver([1; 16], answer()), Delivery::Duplicate);
        assert_eq!(waiting.receiver.try_recv(), Ok(Reply::Answer(answer())));
    }

    #[test]
    fn nobody_waits_after_the_call_was_dropped_and_open_requests_are_bounded() {
        let pending = Arc::new(Pending::default());
        let mut waiting = Waiting::new(pending.clone());
        for n in 0..PENDING_MAX {
            assert!(waiting.open([u8::try_from(n).unwrap(); 16]));
        }
        assert!(!waiting.open([200; 16]));
        drop(waiting);
        assert_eq!(pending.deliver([1; 16], answer()), Delivery::Unknown);
        assert!(Waiting::new(pending).open([200; 16]));
    }

    #[test]
    fn a_lost_robot_fails_every_open_request_at_once() {
        let pending = Arc::new(Pending::default());
        let mut waiting = Waiting::new(pending.clone());
        assert!(waiting.open([3; 16]));
        pending.fail_all();
        assert_eq!(waiting.receiver.try_recv(), Ok(Reply::Down));
    }
}
