//! The fixed queues between the threads: one sender and one receiver each, no lock, no heap.
//!
//! Each queue counts what goes in, what comes out and what found it full, so that anybody may look at
//! it through a [`QueueMeter`] without a word to the two who use it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use heapless::spsc::{Consumer, Producer, Queue};

/// Slots of a queue of commands or reads; one fewer can wait. Full: the call is refused as busy.
pub const COMMAND_SLOTS: usize = 16;
/// Slots of the queue to the sending thread; one fewer can wait. Full: a command is dropped, a verb
/// waits for its next repetition.
pub const OUT_SLOTS: usize = 32;
/// Slots of a queue of safety events; one fewer can wait. Full: the robot is latched.
pub const EVENT_SLOTS: usize = 256;
/// Slots of the queue of orders; one fewer can wait. Full: the order is refused.
pub const ORDER_SLOTS: usize = 8;

/// The sending end of a queue.
pub struct Sender<T: 'static> {
    ends: Producer<'static, T>,
    counts: &'static Counts,
}

/// The receiving end of a queue.
pub struct Receiver<T: 'static> {
    ends: Consumer<'static, T>,
    counts: &'static Counts,
}

/// Counts of one queue. Each has one writer: the sender `pushed` and `full`, the receiver `popped`.
#[derive(Debug, Default)]
struct Counts {
    pushed: AtomicU64,
    popped: AtomicU64,
    full: AtomicU64,
}

/// A look at a queue from outside.
#[derive(Debug, Clone, Copy)]
pub struct QueueMeter(&'static Counts);

impl QueueMeter {
    /// Returns how many items wait, near enough: items may come and go during the look.
    pub fn depth(self) -> u64 {
        // What was taken out is read first, so that an item on its way counts as waiting.
        let popped = self.0.popped.load(Ordering::Acquire);
        let pushed = self.0.pushed.load(Ordering::Acquire);
        pushed.saturating_sub(popped)
    }

    /// Returns how many items found the queue full since the start.
    pub fn full(self) -> u64 {
        self.0.full.load(Ordering::Acquire)
    }
}

/// Makes a queue of `N` slots whose ends can go to two threads. Its memory, some kilobytes, is given
/// to the process for good: one robot is assembled once in the life of a process.
pub fn queue<T: 'static, const N: usize>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = Box::leak(Box::new(Queue::<T, N>::new())).split();
    let counts: &'static Counts = Box::leak(Box::default());
    let sender = Sender {
        ends: sender,
        counts,
    };
    let receiver = Receiver {
        ends: receiver,
        counts,
    };
    (sender, receiver)
}

impl<T> Sender<T> {
    /// Puts an item in, or gives it back when the queue is full.
    ///
    /// # Errors
    /// The item, when the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        let pushed = self.ends.enqueue(item);
        let count = match pushed {
            Ok(()) => &self.counts.pushed,
            Err(_) => &self.counts.full,
        };
        count.fetch_add(1, Ordering::Release);
        pushed
    }

    /// Returns how many items wait.
    pub fn waiting(&self) -> usize {
        self.ends.len()
    }

    /// Returns a look at the queue for others.
    pub fn meter(&self) -> QueueMeter {
        QueueMeter(self.counts)
    }
}

impl<T> Receiver<T> {
    /// Takes the oldest item out.
    pub fn pop(&mut self) -> Option<T> {
        let item = self.ends.dequeue()?;
        self.counts.popped.fetch_add(1, Ordering::Release);
        Some(item)
    }

    /// Returns how many items wait.
    pub fn waiting(&self) -> usize {
        self.ends.len()
    }

    /// Returns a look at the queue for others.
    pub fn meter(&self) -> QueueMeter {
        QueueMeter(self.counts)
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("waiting", &self.waiting())
            .finish()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("waiting", &self.waiting())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_45_the_meter_tells_what_waits_and_what_found_it_full() {
        let (mut sender, mut receiver) = queue::<u8, 4>();
        let meter = sender.meter();
        let taken = (0..5).filter(|item| sender.push(*item).is_ok()).count();
        assert_eq!((taken, meter.depth(), meter.full()), (3, 3, 2));
        assert_eq!(receiver.pop(), Some(0));
        assert_eq!((meter.depth(), receiver.meter().full()), (2, 2));
        while receiver.pop().is_some() {}
        assert_eq!((meter.depth(), meter.full()), (0, 2));
    }
}
