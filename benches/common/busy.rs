//! Threads that do nothing as fast as they can: one for each core.

use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use super::machine;

/// The busy threads; they end when this is dropped.
#[derive(Debug)]
pub(crate) struct Busy {
    ending: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts one for each core.
    pub(crate) fn one_per_core() -> Self {
        let ending = Arc::new(AtomicBool::new(false));
        let start = |_| {
            let ending = Arc::clone(&ending);
            thread::spawn(move || {
                while !ending.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            })
        };
        Self {
            threads: (0..machine::cores()).map(start).collect(),
            ending,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}
