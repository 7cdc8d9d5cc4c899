//! What stands outside of a run and looks on: it sees what is about to happen, and lets the disk refuse it
//! or kills the process there.

use std::fs::File;
use std::io::{self, Write as _};
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::app::state::death;
use crate::telemetry::{FileAct, Watch};
use crate::terms::RunState;

/// What the disk answers while it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// Nothing that grows has room.
    Full,
    /// Nothing can be changed.
    ReadOnly,
    /// Nothing can be written or synced.
    Broken,
}

impl Trouble {
    fn error(self) -> io::Error {
        match self {
            Self::Full => io::ErrorKind::StorageFull.into(),
            Self::ReadOnly => io::ErrorKind::ReadOnlyFilesystem.into(),
            Self::Broken => io::Error::from_raw_os_error(rustix::io::Errno::IO.raw_os_error()),
        }
    }

    /// Whether it concerns this act on a file of the box.
    fn hits(self, act: FileAct) -> bool {
        match act {
            FileAct::Create | FileAct::Grow { .. } => true,
            FileAct::Fix | FileAct::Fill { .. } => self != Self::Full,
            FileAct::Sync | FileAct::SyncNames => self == Self::Broken,
            FileAct::Remove => self == Self::ReadOnly,
        }
    }
}

/// Sees what happens, and decides on it.
#[derive(Debug, Default)]
pub(super) struct Outside(Mutex<Seen>);

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// How much has happened.
    count: usize,
    /// What has happened, and in which run state, when somebody wants to know.
    pub(super) happened: Option<Vec<(String, Option<RunState>)>>,
    pub(super) run: Option<RunState>,
    /// Before this is counted the process is killed.
    pub(super) dies_at: Option<usize>,
    /// Where a process that is about to be killed tells what it was told.
    pub(super) told: Option<File>,
    pub(super) trouble: Option<Trouble>,
    /// After so many further records the trouble begins.
    pub(super) trouble_in: Option<(u32, Trouble)>,
}

impl Outside {
    pub(super) fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap()
    }

    /// Something is about to happen.
    pub(super) fn happens(&self, what: impl FnOnce() -> String) {
        let mut seen = self.seen();
        let run = seen.run;
        if seen.dies_at == Some(seen.count) {
            let last = format!("killed before {} ({run:?})", what());
            tell(&mut seen.told, &last);
            let me = rustix::process::getpid();
            rustix::process::kill_process(me, rustix::process::Signal::KILL).unwrap();
            panic!("a process that was killed goes on");
        }
        seen.count += 1;
        if let Some(happened) = &mut seen.happened {
            happened.push((what(), run));
        }
    }

    /// Somebody was told something: it holds from here on.
    pub(super) fn tell(&self, text: &str) {
        tell(&mut self.seen().told, text);
    }

    pub(super) fn trouble(&self, trouble: Option<Trouble>) {
        self.seen().trouble = trouble;
    }

    /// The watch over the state files of this thread.
    pub(super) fn over_state(self: &Arc<Self>) {
        let outside = Arc::clone(self);
        death::watch(Some(Rc::new(move |name: &str| {
            outside.happens(|| format!("state {name}"));
            let trouble = outside.seen().trouble;
            trouble.map_or(Ok(()), |trouble| Err(trouble.error()))
        })));
    }
}

/// Written at once and not synced: a killed process loses nothing by that.
fn tell(told: &mut Option<File>, text: &str) {
    if let Some(file) = told {
        file.write_all(format!("{text}\n").as_bytes()).unwrap();
    }
}

impl Watch for Outside {
    fn before(&self, act: FileAct, name: &str) -> io::Result<()> {
        let short = name.split('-').next().unwrap_or(name);
        self.happens(|| format!("box {act:?} {short}"));
        let mut seen = self.seen();
        if act == (FileAct::Grow { torn: false }) {
            // A record is begun.
            match seen.trouble_in.take() {
                Some((0 | 1, trouble)) => seen.trouble = Some(trouble),
                Some((left, trouble)) => seen.trouble_in = Some((left - 1, trouble)),
                None => {}
            }
        }
        match seen.trouble {
            Some(trouble) if trouble.hits(act) => Err(trouble.error()),
            Some(_) | None => Ok(()),
        }
    }
}
