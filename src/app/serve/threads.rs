//! The plain threads of a node: started together, joined together.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

use super::keeper::Keeper;
use super::lifeline::Lifeline;
use crate::app::exit::{AppError, Exit};
use crate::app::fingerprint::Fingerprint;
use crate::app::parts::{Desk, End, Scribe};
use crate::config::Board;
use crate::node::{Attached, DoraEvents, DoraWire, EventsCloser};
use crate::robot::{Heard, Inbox, Outbox, Parts};
use crate::safety::{Latch, Supervisor, run_safety};
use crate::telemetry::{LogHandle, RecorderSink};
use crate::terms::{Clock, FactClass, StopCause, StopKind};

/// How long the threads may take to end: 200 looks of 10 ms.
const JOIN_LOOKS_MAX: u32 = 200;
const JOIN_LOOK: Duration = Duration::from_millis(10);
/// How often the loaded files are looked at.
const FILES_LOOK: Duration = Duration::from_secs(1);
/// How long dora's library may take to say goodbye to its daemon: 100 looks. A daemon that has lost its
/// coordinator answers nobody for as long as it looks for it; what had to be sent has left by then.
const GOODBYE_LOOKS_MAX: u32 = 100;

/// What the threads need.
pub(super) struct Spawn {
    pub(super) parts: Parts,
    pub(super) attached: Attached,
    pub(super) board: Board,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) desk: Desk,
    pub(super) lifeline: Lifeline,
    pub(super) recorder: RecorderSink,
    pub(super) scribe: Scribe,
    pub(super) log: LogHandle,
    pub(super) files: Fingerprint,
    pub(super) end: SyncSender<End>,
}

/// The threads that run.
#[derive(Debug)]
pub(super) struct Threads {
    ending: Arc<AtomicBool>,
    joined: Vec<JoinHandle<()>>,
    /// Ends after all others, so that their last events are kept.
    keeper: JoinHandle<()>,
    kept: Arc<AtomicBool>,
    /// Gets the sending half from the sending thread, to let go of it.
    goodbye: JoinHandle<()>,
    signals: Handle,
    /// Waits for events. A session that is recorded is written when it ends.
    receiver: JoinHandle<()>,
    /// Looks at files on a disk that may hang, so nothing waits for its end.
    files: JoinHandle<()>,
    events: EventsCloser,
}

impl Threads {
    /// Starts all of them.
    pub(super) fn spawn(given: Spawn) -> Result<Self, AppError> {
        let Spawn {
            parts,
            attached,
            board,
            clock,
            desk,
            lifeline,
            recorder,
            scribe,
            log,
            files,
            end,
        } = given;
        let ending = Arc::new(AtomicBool::new(false));
        let Attached {
            wire, mut events, ..
        } = attached;
        let closer = events.closer();
        let latch = parts.links.latch.clone();
        let mut joined = Vec::new();

        let (step, flag, tick_clock) = (parts.safety, Arc::clone(&ending), Arc::clone(&clock));
        joined.push(start("safety", move || {
            run_safety(step, tick_clock.as_ref(), &flag)
        })?);

        let (sender, goodbye) = start_sender(parts.outbox, wire, Arc::clone(&ending))?;
        joined.push(sender);

        let supervisor = Supervisor::new(parts.links.shared.clone());
        let flag = Arc::clone(&ending);
        joined.push(start("supervisor", move || {
            supervisor.run(board.lockup_ms, &flag, || lifeline.end(Exit::LockUp));
        })?);

        let keeper = Keeper {
            tap: parts.events,
            names: parts.names,
            pulse: parts.pulse,
            desk,
            sink: recorder.clone(),
            scribe,
            clock: Arc::clone(&clock),
            looks: 0,
            dropped: [(FactClass::Safety, 0), (FactClass::Audit, 0)],
        };
        let kept = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&kept);
        let keeper = start("keeper", move || keeper.run(&flag))?;

        let (signals, thread) = listen_to_signals(latch, end.clone())?;
        joined.push(thread);

        let watch = start_watch(files.clone(), recorder.clone(), Arc::clone(&ending))?;

        let receiver = Receiving {
            inbox: parts.inbox,
            events,
            clock,
            log,
            files,
            sink: recorder,
            end,
        };
        let receiver = start("dora-in", move || receiver.run())?;
        Ok(Self {
            ending,
            joined,
            keeper,
            kept,
            goodbye,
            signals,
            receiver,
            files: watch,
            events: closer,
        })
    }

    /// Ends them and waits for each, all together at most two seconds. The sending thread empties its
    /// queue first, the safety thread makes one more round, and the keeper is the last. Returns whether
    /// all ended. The receiving thread holds nothing that the end needs but a recording, so whether it
    /// hangs changes nothing. Then dora's library says goodbye, a second at most: one that hangs ends with
    /// the process.
    pub(super) fn join(self) -> bool {
        self.ending.store(true, Ordering::SeqCst);
        self.signals.close();
        let mut looks = 0;
        let mut all = true;
        for thread in self.joined {
            all &= ended(thread, (&mut looks, JOIN_LOOKS_MAX));
        }
        self.kept.store(true, Ordering::SeqCst);
        all &= ended(self.keeper, (&mut looks, JOIN_LOOKS_MAX));
        self.events.close();
        // All three the log tells; the node has done its part.
        let _heard: bool = ended(self.receiver, (&mut looks, JOIN_LOOKS_MAX));
        let _looked: bool = ended(self.files, (&mut looks, JOIN_LOOKS_MAX));
        let _said: bool = ended(self.goodbye, (&mut 0, GOODBYE_LOOKS_MAX));
        all
    }
}

/// Starts the thread that looks at the loaded files until `ending` is set.
fn start_watch(
    files: Fingerprint,
    sink: RecorderSink,
    ending: Arc<AtomicBool>,
) -> Result<JoinHandle<()>, AppError> {
    start("files", move || {
        while !ending.load(Ordering::SeqCst) {
            files.watch(&sink);
            thread::park_timeout(FILES_LOOK);
        }
    })
}

/// Starts the sending thread, and the one that lets go of the sending half: that may wait for the daemon,
/// and whatever comes of it is no business of the sending thread.
fn start_sender(
    outbox: Outbox,
    mut wire: DoraWire,
    ending: Arc<AtomicBool>,
) -> Result<(JoinHandle<()>, JoinHandle<()>), AppError> {
    let (used, wires) = sync_channel(1);
    let sender = start("dora-out", move || {
        outbox.run(&mut wire, &ending);
        drop(used.send(wire));
    })?;
    let goodbye = start("dora-end", move || drop(wires.recv()))?;
    Ok((sender, goodbye))
}

/// Waits for one thread, as long as there are looks left.
fn ended(thread: JoinHandle<()>, (looks, looks_max): (&mut u32, u32)) -> bool {
    let name = thread.thread().name().unwrap_or_default().to_owned();
    thread.thread().unpark();
    while !thread.is_finished() && *looks < looks_max {
        *looks += 1;
        thread::park_timeout(JOIN_LOOK);
    }
    if !thread.is_finished() {
        tracing::warn!(thread = name, "a thread did not end in time");
        return false;
    }
    if thread.join().is_err() {
        tracing::error!(thread = name, "a thread had panicked");
    }
    true
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, AppError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| AppError::Internal(format!("no thread `{name}`: {error}")))
}

/// The thread that owns the event stream.
struct Receiving {
    inbox: Inbox,
    events: DoraEvents,
    clock: Arc<dyn Clock>,
    log: LogHandle,
    files: Fingerprint,
    sink: RecorderSink,
    end: SyncSender<End>,
}

impl Receiving {
    fn run(mut self) {
        while let Some(event) = self.events.next_event() {
            match self.inbox.handle(event, self.clock.now()) {
                Heard::Nothing => {}
                Heard::Reload => self.files.answer(&self.sink),
                Heard::LogLevel(level) => {
                    let set = self.log.set_level(level.as_deref());
                    tracing::info!(?level, set, "the log level was asked for");
                }
                // What had arrived before the Stop is still to be heard.
                Heard::Stop => say(&self.end, End::Graph),
                Heard::Lost => return say(&self.end, End::GraphLost),
            }
        }
        say(&self.end, End::GraphLost);
    }
}

/// Says why the node must end. A full channel means that it ends already.
fn say(end: &SyncSender<End>, why: End) {
    drop(end.try_send(why));
}

/// SIGTERM and SIGHUP end the node in order; so does the first SIGINT. Every signal stops the robot
/// at once; a second SIGINT is an estop.
fn listen_to_signals(
    latch: Latch,
    end: SyncSender<End>,
) -> Result<(Handle, JoinHandle<()>), AppError> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP])
        .map_err(|error| AppError::Internal(format!("signals: {error}")))?;
    let handle = signals.handle();
    let thread = start("signals", move || {
        let mut interrupts = 0_u32;
        for signal in signals.forever() {
            interrupts = interrupts.saturating_add(u32::from(signal == SIGINT));
            if interrupts > 1 {
                latch.ask(StopKind::Estop, StopCause::OperatorStop);
            } else {
                latch.ask(StopKind::Stop, StopCause::Shutdown);
            }
            let name = match signal {
                SIGTERM => "SIGTERM",
                SIGINT => "SIGINT",
                _ => "SIGHUP",
            };
            say(&end, End::Signal(name));
        }
    })?;
    Ok((handle, thread))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_38_a_thread_that_hangs_is_waited_for_so_many_looks_and_no_longer() {
        let (hold, held) = sync_channel::<()>(0);
        let hangs = start("hangs", move || {
            let _gone = held.recv();
        })
        .unwrap();
        let mut looks = 0;
        assert!(!ended(hangs, (&mut looks, 2)));
        assert_eq!(looks, 2);
        let ends = start("ends", || ()).unwrap();
        assert!(ended(ends, (&mut 0, JOIN_LOOKS_MAX)));
        drop(hold);
    }
}
