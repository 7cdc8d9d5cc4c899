//! Operator's orders: asked by a plain thread, carried out by the tick, answered through an atomic.
//!
//! The asking thread never waits on the tick and the tick never on it. Who ordered and why is the
//! business of the one who asks; the tick knows only what is to be done.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::queue::{ORDER_SLOTS, QueueMeter, Receiver, Sender, queue};
use super::{FailedChecks, Latch, Shared};

/// What an operator wants. Stops are no orders: they go straight to the latch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Arm for this long, ms; when it ends while the robot moves, it is stopped and disarmed.
    Arm {
        /// Above 0.
        for_ms: u32,
    },
    /// Disarm. A moving robot is stopped first. Acknowledges a stop that left it `stopped`.
    Disarm,
    /// Reset the latch. Never starts motion: it leads to `disarmed`.
    Reset,
}

/// An order with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrderEntry {
    pub(super) seq: u32,
    pub(super) order: Order,
}

/// Where orders are given.
#[derive(Debug, Clone)]
pub struct OrderPort {
    queue: Arc<Mutex<Sender<OrderEntry>>>,
    next: Arc<AtomicU32>,
    shared: Arc<Shared>,
    latch: Latch,
}

impl OrderPort {
    pub(super) fn new(shared: Arc<Shared>, latch: Latch) -> (Self, Receiver<OrderEntry>) {
        let (sender, receiver) = queue::<_, ORDER_SLOTS>();
        let port = Self {
            queue: Arc::new(Mutex::new(sender)),
            next: Arc::new(AtomicU32::new(1)),
            shared,
            latch,
        };
        (port, receiver)
    }

    /// Returns a look at the queue of orders.
    pub fn meter(&self) -> QueueMeter {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.meter()
    }

    /// Gives an order. Returns its number, `None` when too many wait.
    pub fn submit(&self, order: Order) -> Option<u32> {
        let seq = self.next.fetch_add(1, Ordering::SeqCst).max(1);
        // The lock is between those who ask; the tick reads the other end without it.
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push(OrderEntry { seq, order }).ok()?;
        drop(queue);
        self.latch.wake();
        Some(seq)
    }

    /// Returns what became of an order: no failed check means that it was carried out. `None` while
    /// it waits, and after seven newer ones.
    pub fn result(&self, seq: u32) -> Option<FailedChecks> {
        self.shared.result(seq)
    }

    /// Returns the checks on which arming would fail now, as the last tick saw it.
    pub fn arm_checks(&self) -> FailedChecks {
        self.shared.standing().arm_checks
    }

    /// Returns the checks on which a reset would fail now, as the last tick saw it. Whoever resets
    /// clears the persisted latch first, and only when none fails.
    pub fn reset_checks(&self) -> FailedChecks {
        self.shared.standing().reset_checks
    }
}
