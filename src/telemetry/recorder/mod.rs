//! The black box: facts in bounded channels, one thread that writes them.
//!
//! Raising a fact never waits. A full channel drops the fact and counts it; facts of the safety
//! class have a channel of their own. What was dropped is told by a record, and by
//! [`RecorderSink::dropped`] to those who keep the robot still. No stop waits for this thread; an answer
//! that says "latched" or "reset" does, with [`FactSink::keep`], after the verb has left. Fine detail is
//! thinned before it is written, see `thin`. How records lie on disk stands in `blackbox`.

#[cfg(test)]
mod stepped;
#[cfg(test)]
mod tests;
mod thin;
mod writer;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{JoinHandle, Thread};

#[cfg(test)]
pub(crate) use stepped::{FileAct, Stepped, Watch};
use writer::{Writer, rfc3339};

use super::Metrics;
use super::blackbox::{BlackBox, Disk, Folder, Limits, PerClass, Times};
use crate::terms::{Clock, Fact, FactClass, FactSink, Keeping, Mono};

/// Facts of the safety class that may wait. An overflow is told, never waited for.
const SAFETY_QUEUE: usize = 256;
/// Facts of the audit class that may wait; more are dropped and counted.
const AUDIT_QUEUE: usize = 512;
/// Facts of the trace class that may wait; more are dropped and counted.
const TRACE_QUEUE: usize = 512;

/// What a recorder works with.
#[derive(Debug, Clone)]
pub struct RecorderPlan {
    /// The folder of the black box; it exists.
    pub dir: PathBuf,
    /// Most that the black box may hold, bytes. Beyond it the oldest segments make room, except those that
    /// are written.
    pub bytes_max: u64,
    /// Gives both times of a record.
    pub clock: Arc<dyn Clock>,
    /// Counts each fact.
    pub metrics: Arc<Metrics>,
}

/// Why there is no black box.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The first segments, the head or the reserve could not be made.
    #[error("could not begin a segment of the black box in {}", dir.display())]
    Open {
        /// The folder.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The thread could not be started.
    #[error("could not start the recorder thread")]
    Thread(#[source] io::Error),
    /// The thread panicked. The process must end.
    #[error("the recorder thread panicked")]
    Panicked,
    /// The last records did not reach the disk.
    #[error("the black box could not be written")]
    Unhealthy,
}

/// The owner of the recorder thread.
#[derive(Debug)]
pub struct Recorder {
    sink: RecorderSink,
    thread: JoinHandle<()>,
}

impl Recorder {
    /// Begins the segments of this life and starts the thread.
    ///
    /// # Errors
    /// [`RecorderError::Open`] when the folder cannot be written, [`RecorderError::Thread`] when the
    /// system has no thread left.
    pub fn start(plan: RecorderPlan) -> Result<Self, RecorderError> {
        let disk = Box::new(Folder::new(&plan.dir));
        let limits = Limits {
            total_bytes: plan.bytes_max,
            ..Limits::default()
        };
        Self::start_on(disk, plan, limits)
    }

    /// As [`Recorder::start`], on another disk and with other limits.
    fn start_on(
        disk: Box<dyn Disk>,
        plan: RecorderPlan,
        limits: Limits,
    ) -> Result<Self, RecorderError> {
        let boot = uuid::Uuid::new_v4().simple().to_string();
        let times = Times {
            at: plan.clock.now(),
            wall: &rfc3339(plan.clock.wall()),
        };
        let opened = BlackBox::open(disk, (limits, boot), times);
        let opened = opened.map_err(|source| RecorderError::Open {
            dir: plan.dir.clone(),
            source,
        })?;
        let (lanes, queues) = channels();
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(&plan, (opened, queues), Arc::clone(&shared));
        let thread = std::thread::Builder::new()
            .name("recorder".to_owned())
            .spawn(move || writer.run())
            .map_err(RecorderError::Thread)?;
        let sink = RecorderSink(Arc::new(Inner {
            lanes,
            shared,
            wake: thread.thread().clone(),
            clock: plan.clock,
            metrics: plan.metrics,
        }));
        Ok(Self { sink, thread })
    }

    /// Returns where facts go. It may outlive the recorder: facts are then counted as dropped.
    pub fn sink(&self) -> RecorderSink {
        self.sink.clone()
    }

    /// Returns whether the thread has ended, which before [`Recorder::finish`] means that it
    /// panicked.
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Returns whether the thread lives, the disk takes records and the reserve is free. Callers keep
    /// the robot still while it is `false`.
    pub fn healthy(&self) -> bool {
        self.sink.healthy() && !self.thread.is_finished()
    }

    /// Writes what is left, syncs and joins the thread.
    ///
    /// # Errors
    /// [`RecorderError::Panicked`] when the thread had panicked, [`RecorderError::Unhealthy`] when
    /// the last records could not be written.
    pub fn finish(self) -> Result<(), RecorderError> {
        self.sink.0.shared.closing.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread
            .join()
            .map_err(|_payload| RecorderError::Panicked)?;
        if self.sink.healthy() {
            Ok(())
        } else {
            Err(RecorderError::Unhealthy)
        }
    }
}

/// Where facts go: cheap to clone, shared by all threads.
#[derive(Debug, Clone)]
pub struct RecorderSink(Arc<Inner>);

impl RecorderSink {
    /// Returns whether the disk takes records and the reserve is free.
    pub fn healthy(&self) -> bool {
        !self.0.shared.unhealthy.load(Ordering::Acquire)
    }

    /// Returns how many facts of a class found their channel full, in this life.
    pub fn dropped(&self, class: FactClass) -> u64 {
        self.0.shared.dropped.of(class).load(Ordering::Acquire)
    }
}

impl FactSink for RecorderSink {
    fn raise(&self, fact: Fact) {
        let inner = &self.0;
        let class = fact.class();
        inner.metrics.apply(&fact);
        let item = Raised {
            seq: inner
                .shared
                .seq
                .fetch_add(1, Ordering::AcqRel)
                .saturating_add(1),
            at: inner.clock.now(),
            wall: inner.clock.wall(),
            fact,
        };
        if let Err(error) = inner.lanes.of(class).try_send(Message::Raised(item)) {
            inner.metrics.dropped(class);
            inner
                .shared
                .dropped
                .of(class)
                .fetch_add(1, Ordering::AcqRel);
            // The thread is gone: nothing will be written any more.
            if let TrySendError::Disconnected(_) = error {
                inner.shared.unhealthy.store(true, Ordering::Release);
                inner.metrics.set_blackbox_healthy(/* healthy */ false);
            }
        }
        inner.wake.unpark();
    }

    /// The word goes through the channel of the safety class, behind what this thread raised. When it
    /// is full the answer stays no.
    fn keep(&self) -> Keeping {
        let (keeping, done) = Keeping::asked();
        drop(self.0.lanes.safety.try_send(Message::Keep(done)));
        self.0.wake.unpark();
        keeping
    }
}

#[derive(Debug)]
struct Inner {
    lanes: Lanes,
    shared: Arc<Shared>,
    wake: Thread,
    clock: Arc<dyn Clock>,
    metrics: Arc<Metrics>,
}

/// Words between the sinks and the thread.
#[derive(Debug, Default)]
struct Shared {
    seq: AtomicU64,
    closing: AtomicBool,
    unhealthy: AtomicBool,
    /// Facts that found their channel full.
    dropped: PerClass<AtomicU64>,
}

/// What goes through a channel.
#[derive(Debug)]
enum Message {
    Raised(Raised),
    /// To be set once all before it is on disk.
    Keep(Arc<AtomicBool>),
}

/// One fact on its way, with the times at which it was raised.
#[derive(Debug)]
struct Raised {
    seq: u64,
    at: Mono,
    wall: std::time::SystemTime,
    fact: Fact,
}

type Lanes = PerClass<SyncSender<Message>>;

/// The receiving ends, safety first, each with its length.
type Queues = [(Receiver<Message>, usize); 3];

fn channels() -> (Lanes, Queues) {
    let (safety, safety_out) = sync_channel(SAFETY_QUEUE);
    let (audit, audit_out) = sync_channel(AUDIT_QUEUE);
    let (trace, trace_out) = sync_channel(TRACE_QUEUE);
    let lanes = Lanes {
        safety,
        audit,
        trace,
    };
    let queues = [
        (safety_out, SAFETY_QUEUE),
        (audit_out, AUDIT_QUEUE),
        (trace_out, TRACE_QUEUE),
    ];
    (lanes, queues)
}
