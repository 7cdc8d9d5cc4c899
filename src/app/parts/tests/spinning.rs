//! Busy async workers do not delay an estop: the way of a stop is made of plain threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use super::words::world_on;
use crate::app::clock::SystemClock;
use crate::app::control::{Answer, Client, Server, Word};
use crate::app::parts::*;
use crate::app::state::StateFiles;
use crate::robot::{EventTap, Parts};
use crate::safety::{Latch, run_safety};
use crate::terms::{Mono, Output, SafetyEventKind, Wire, WireError};

/// Nothing here takes longer than some ticks; a test that waits this long has failed.
const HANG: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(1);

/// Lets every thread of the test end, also when it fails.
struct Ends(Arc<AtomicBool>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Waits for what another thread does.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let clock = SystemClock::start();
    while !done() {
        let waited = clock.now().since(Mono::ZERO);
        assert!(waited < HANG, "never: {what}");
        thread::park_timeout(PAUSE);
    }
}

/// The dataflow: notes what stood when the first stop verb left.
#[derive(Debug)]
struct Line {
    latch: Latch,
    files: StateFiles,
    /// 0 before the verb; then 1, plus 1 when the latch word stood, plus 2 when the disk was asked first.
    verb: Arc<AtomicU32>,
}

impl Wire for Line {
    fn send(&mut self, _: Output, payload: &str, _: Option<&str>) -> Result<(), WireError> {
        if payload.contains("vendor.octos.rover.stop") && self.verb.load(Ordering::SeqCst) == 0 {
            let word = u32::from(self.latch.word().estop);
            let disk = if self.files.latched().is_some() { 2 } else { 0 };
            self.verb.store(1 + word + disk, Ordering::SeqCst);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Patient;

impl Wait for Patient {
    fn for_tick(&self) {
        thread::park_timeout(PAUSE);
    }

    fn for_disk(&self) {
        thread::park_timeout(PAUSE);
    }
}

/// The keeper, whose disk is so slow that it takes nothing before the verb has left.
fn keep(mut tap: EventTap, desk: &Desk, verb: &AtomicU32, ending: &AtomicBool) {
    while !ending.load(Ordering::SeqCst) {
        tap.drain(|event| {
            if let SafetyEventKind::State { to, .. } = event.kind {
                if to == crate::terms::RunState::Latched {
                    until("the verb", || verb.load(Ordering::SeqCst) != 0);
                }
                desk.follow(to, std::time::SystemTime::UNIX_EPOCH);
            }
        });
        thread::park_timeout(PAUSE);
    }
}

#[test]
fn case_63_an_estop_is_honoured_while_both_workers_spin_word_verb_disk_and_then_the_answer() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    let mut world = world_on(runtime.unwrap());
    world.desk.wait = Arc::new(Patient);
    let (ending, spinning) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU32::new(0)),
    );
    let ends = Ends(ending.clone());
    for _ in 0..2 {
        let (ending, spinning) = (ending.clone(), spinning.clone());
        world.runtime.spawn(async move {
            spinning.fetch_add(1, Ordering::SeqCst);
            while !ending.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        });
    }
    until("both workers", || spinning.load(Ordering::SeqCst) == 2);

    let Parts {
        safety,
        outbox,
        events,
        links,
        ..
    } = world.parts;
    let verb = Arc::new(AtomicU32::new(0));
    let mut line = Line {
        latch: links.latch.clone(),
        files: world.folder.files().clone(),
        verb: verb.clone(),
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let (tick_clock, tick_ending) = (clock.clone(), ending.clone());
    let (send_ending, keep_ending) = (ending.clone(), ending.clone());
    let (desk, seen) = (world.desk.desk.clone(), verb.clone());
    let threads = [
        thread::spawn(move || run_safety(safety, tick_clock.as_ref(), &tick_ending)),
        thread::spawn(move || outbox.run(&mut line, &send_ending)),
        thread::spawn(move || keep(events, &desk, &seen, &keep_ending)),
    ];
    let socket = world.dir.path().join("control.sock");
    let desk = world.desk.desk.clone();
    let server = Server::listen(&socket, Arc::new(world.desk), clock).unwrap();
    let estop = Word::Estop {
        who: "ann".to_owned(),
        why: "test".to_owned(),
    };
    let answer = Client::stop(&socket, &estop);
    let Answer::Done { text } = answer.unwrap() else {
        panic!("an estop is never refused");
    };

    assert_eq!(
        verb.load(Ordering::SeqCst),
        2,
        "the word, then the verb, then the disk"
    );
    assert!(text.starts_with("latched and on disk"), "{text}");
    assert!(desk.is_persisted() && world.folder.files().latched().is_some());
    let asked = |f: &Fact| matches!(f, Fact::StopAsked { .. });
    let kept = |f: &Fact| matches!(f, Fact::LatchPersisted { .. });
    let facts = world.facts.0.lock().unwrap();
    assert!(facts.iter().any(asked) && facts.iter().any(kept));
    drop((server, facts));
    drop(ends);
    for thread in threads {
        thread.thread().unpark();
        thread.join().unwrap();
    }
}
