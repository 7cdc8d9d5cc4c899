//! The seats of the control socket: who may be connected, and who goes when room is needed.
//!
//! The newest always gets a seat, so that nobody who sits in silence keeps a stop out. Children of the
//! runtime have seats of their own and take none of anybody else's. A seat is free again when its
//! thread ends, by a panic too.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::control::peer::Peer;
use crate::terms::Mono;

/// Seats of children together, and seats of all others together.
pub(super) const SEATS_MAX: usize = 8;
/// Seats of one child.
pub(super) const SEATS_PER_CHILD_MAX: usize = 2;
/// Threads at once, with those of connections that were just closed and whose thread still ends.
pub(super) const THREADS_MAX: usize = 32;
/// A connection that has said no word for this long goes first, ms.
const FIRST_WORD_MS: u64 = 2000;

/// All seats.
#[derive(Debug, Clone, Default)]
pub(super) struct Seats(Arc<Mutex<Book>>);

#[derive(Debug, Default)]
struct Book {
    next: u64,
    closed: u64,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    peer: Peer,
    stream: Arc<UnixStream>,
    heard_at: Mono,
    has_spoken: bool,
    /// A word is being carried out: its answer is not to be lost.
    busy: bool,
    /// It was closed to make room, and its thread has not ended yet.
    closed: bool,
}

/// One connection's seat. Dropping it frees the seat.
#[derive(Debug)]
pub(super) struct Seat {
    book: Arc<Mutex<Book>>,
    number: u64,
}

impl Seats {
    /// Gives a connection a seat, and closes another one when room is needed: one without a first
    /// word, else the one that was silent for longest. `None` when every one that could go is having
    /// a word carried out, or when too many threads live.
    pub(super) fn take(&self, peer: Peer, stream: &Arc<UnixStream>, now: Mono) -> Option<Seat> {
        let mut book = lock(&self.0);
        if book.entries.len() >= THREADS_MAX {
            return None;
        }
        if peer.is_child {
            book.make_room(SEATS_PER_CHILD_MAX, now, |other| {
                other.is_child && other.pid == peer.pid
            })?;
        }
        book.make_room(SEATS_MAX, now, |other| other.is_child == peer.is_child)?;
        let number = book.next;
        book.next = number.saturating_add(1);
        book.entries.push(Entry {
            number,
            peer,
            stream: Arc::clone(stream),
            heard_at: now,
            has_spoken: false,
            busy: false,
            closed: false,
        });
        Some(Seat {
            book: Arc::clone(&self.0),
            number,
        })
    }

    #[cfg(test)]
    pub(super) fn taken(&self) -> usize {
        lock(&self.0).entries.len()
    }
}

impl Book {
    /// Leaves room for one more among `max` seats of these peers.
    fn make_room(&mut self, max: usize, now: Mono, of: impl Fn(Peer) -> bool) -> Option<()> {
        let mut sitting: Vec<&mut Entry> = self
            .entries
            .iter_mut()
            .filter(|entry| !entry.closed && of(entry.peer))
            .collect();
        if sitting.len() < max {
            return Some(());
        }
        let goes = sitting
            .iter_mut()
            .filter(|entry| !entry.busy)
            .min_by_key(|entry| (!entry.is_mute(now), entry.heard_at))?;
        goes.closed = true;
        // What it has sent before is still read; a connection that is gone already needs no closing.
        drop(goes.stream.shutdown(Shutdown::Both));
        let peer = goes.peer;
        self.closed = self.closed.saturating_add(1);
        if self.closed.is_power_of_two() {
            tracing::warn!(closed = self.closed, %peer, "control connections closed to make room");
        }
        Some(())
    }
}

impl Entry {
    fn is_mute(&self, now: Mono) -> bool {
        !self.has_spoken && now.ms_since(self.heard_at) >= FIRST_WORD_MS
    }
}

impl Seat {
    /// Notes that a word was heard and is being carried out.
    pub(super) fn heard(&self, now: Mono) {
        self.change(|entry| {
            entry.heard_at = now;
            entry.has_spoken = true;
            entry.busy = true;
        });
    }

    /// Notes that the word is answered.
    pub(super) fn answered(&self) {
        self.change(|entry| entry.busy = false);
    }

    fn change(&self, change: impl FnOnce(&mut Entry)) {
        let mut book = lock(&self.book);
        let entry = book.entries.iter_mut().find(|e| e.number == self.number);
        if let Some(entry) = entry {
            change(entry);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        lock(&self.book)
            .entries
            .retain(|entry| entry.number != self.number);
    }
}

fn lock(book: &Mutex<Book>) -> MutexGuard<'_, Book> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    fn child(pid: i32) -> Peer {
        Peer {
            uid: 1000,
            pid,
            is_child: true,
        }
    }

    fn operator() -> Peer {
        Peer {
            uid: 1000,
            pid: 7,
            is_child: false,
        }
    }

    /// A seat, and the far end of its connection.
    fn sit(seats: &Seats, peer: Peer, ms: u64) -> Option<(Seat, UnixStream)> {
        let (near, far) = UnixStream::pair().unwrap();
        far.set_nonblocking(true).unwrap();
        let seat = seats.take(peer, &Arc::new(near), Mono::from_ms(ms))?;
        Some((seat, far))
    }

    fn is_closed((_, far): &(Seat, UnixStream)) -> bool {
        matches!((&mut &*far).read(&mut [0; 1]), Ok(0))
    }

    #[test]
    fn the_newest_gets_a_seat_and_the_one_silent_for_longest_goes() {
        let seats = Seats::default();
        let mut held: Vec<_> = (0..8)
            .map(|n| sit(&seats, operator(), n).unwrap())
            .collect();
        for (seat, _) in &held {
            seat.heard(Mono::from_ms(100));
            seat.answered();
        }
        held[0].0.heard(Mono::from_ms(200));
        held[0].0.answered();
        held.push(sit(&seats, operator(), 300).unwrap());
        let closed: Vec<_> = held.iter().map(is_closed).collect();
        assert_eq!(closed.iter().position(|closed| *closed), Some(1));
        assert_eq!(closed.iter().filter(|closed| **closed).count(), 1);
    }

    #[test]
    fn a_connection_without_a_first_word_goes_after_two_seconds_before_any_that_spoke() {
        let seats = Seats::default();
        let mut held: Vec<_> = (0..8)
            .map(|n| sit(&seats, operator(), n * 10).unwrap())
            .collect();
        for (n, (seat, _)) in held.iter().enumerate().filter(|(n, _)| *n != 5) {
            seat.heard(Mono::from_ms(u64::try_from(n).unwrap()));
            seat.answered();
        }
        held.push(sit(&seats, operator(), 2050).unwrap());
        assert_eq!(held.iter().position(is_closed), Some(5));
    }

    #[test]
    fn children_take_no_seat_of_anybody_else_and_one_child_has_two() {
        let seats = Seats::default();
        let mine = sit(&seats, operator(), 0).unwrap();
        let mut held = Vec::new();
        for pid in 100..200 {
            held.push(sit(&seats, child(pid), 10).unwrap());
            held.retain(|seat| !is_closed(seat));
        }
        assert_eq!(held.len(), SEATS_MAX);
        assert!(!is_closed(&mine));

        let seats = Seats::default();
        let other = sit(&seats, child(1), 0).unwrap();
        let flood: Vec<_> = (0..5).map(|n| sit(&seats, child(2), n).unwrap()).collect();
        let closed: Vec<_> = flood.iter().map(is_closed).collect();
        assert_eq!(closed, [true, true, true, false, false]);
        assert!(!is_closed(&other));
    }

    #[test]
    fn who_waits_for_an_answer_is_not_closed_and_threads_have_a_bound() {
        let seats = Seats::default();
        let held: Vec<_> = (0..8)
            .map(|n| sit(&seats, operator(), n).unwrap())
            .collect();
        for (seat, _) in &held {
            seat.heard(Mono::from_ms(10));
        }
        assert!(sit(&seats, operator(), 20).is_none());
        held[3].0.answered();
        assert!(sit(&seats, operator(), 20).is_some());
        assert!(is_closed(&held[3]));

        let seats = Seats::default();
        let flood: Vec<_> = (0..1000).filter_map(|n| sit(&seats, child(n), 0)).collect();
        assert_eq!(flood.len(), THREADS_MAX);
        drop(flood);
        assert_eq!(seats.taken(), 0);
    }

    #[test]
    fn a_panic_frees_the_seat() {
        let seats = Seats::default();
        let held = sit(&seats, operator(), 0).unwrap();
        let thread = std::thread::spawn(move || {
            let _held = held;
            panic!("a test");
        });
        assert!(thread.join().is_err());
        assert_eq!(seats.taken(), 0);
    }
}
