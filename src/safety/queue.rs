//! The fixed queues between the threads: one sender and one receiver each, no lock, no heap.

use std::fmt;

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
pub struct Sender<T: 'static>(Producer<'static, T>);

/// The receiving end of a queue.
pub struct Receiver<T: 'static>(Consumer<'static, T>);

/// Makes a queue of `N` slots whose ends can go to two threads. Its memory, some kilobytes, is given
/// to the process for good: one robot is assembled once in the life of a process.
pub fn queue<T: 'static, const N: usize>() -> (Sender<T>, Receiver<T>) {
    let (producer, consumer) = Box::leak(Box::new(Queue::<T, N>::new())).split();
    (Sender(producer), Receiver(consumer))
}

impl<T> Sender<T> {
    /// Puts an item in, or gives it back when the queue is full.
    ///
    /// # Errors
    /// The item, when the queue is full.
    pub fn push(&mut self, item: T) -> Result<(), T> {
        self.0.enqueue(item)
    }

    /// Returns how many items wait.
    pub fn waiting(&self) -> usize {
        self.0.len()
    }
}

impl<T> Receiver<T> {
    /// Takes the oldest item out.
    pub fn pop(&mut self) -> Option<T> {
        self.0.dequeue()
    }

    /// Returns how many items wait.
    pub fn waiting(&self) -> usize {
        self.0.len()
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
