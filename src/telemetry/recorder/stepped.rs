//! A recorder without its thread on a real folder: whoever owns it lets it go round, and sees each act on
//! a file before it is done.
//!
//! With it a test kills the process, or lets the disk refuse, between any two acts. A write is done in
//! halves, so that a line can be torn.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{
    BlackBox, Inner, Metrics, RecorderPlan, RecorderSink, Shared, Times, Writer, channels, rfc3339,
};
use crate::telemetry::RobotLabels;
use crate::telemetry::blackbox::{Disk, DiskFile, Folder, Limits};
use crate::terms::{Clock, Fact, FactClass, FactSink, Keeping};

/// A write shorter than this is done in one, bytes.
const HALVED_FROM: usize = 120;

/// Limits under which a run of some seconds fills segments and lets the oldest make room: traces and orders,
/// while all of its stops still fit in.
const SMALL: Limits = Limits {
    segment_bytes: 4 * 1024,
    total_bytes: 32 * 1024,
    segments: 64,
    reserve_bytes: 48 * 1024,
};

/// Something that is about to be done to a file of the box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileAct {
    /// A file is made.
    Create,
    /// A file of fixed size is opened, and made when it is missing.
    Fix,
    /// A file that grows is written; `torn`: the other half of it.
    Grow {
        /// Whether the first half is written.
        torn: bool,
    },
    /// A file of fixed size is written; `torn`: the other half of it.
    Fill {
        /// Whether the first half is written.
        torn: bool,
    },
    /// A file is brought to the disk.
    Sync,
    /// A file is removed.
    Remove,
    /// The names of the folder are brought to the disk.
    SyncNames,
}

/// Sees each act before it is done; an error is what the disk answers instead.
pub(crate) trait Watch: Send + Sync + fmt::Debug {
    /// A file of this name.
    fn before(&self, act: FileAct, name: &str) -> io::Result<()>;
}

/// The recorder.
#[derive(Debug)]
pub(crate) struct Stepped {
    sink: RecorderSink,
    writer: Mutex<Writer>,
}

impl Stepped {
    /// Begins the records of a life in a folder, with small segments.
    pub(crate) fn begin(
        dir: &Path,
        clock: Arc<dyn Clock>,
        watch: Arc<dyn Watch>,
    ) -> io::Result<Self> {
        let metrics = Metrics::new(RobotLabels::default()).map_err(io::Error::other)?;
        let plan = RecorderPlan {
            dir: dir.to_owned(),
            bytes_max: 256 * 1024 * 1024,
            clock,
            metrics: Arc::new(metrics),
        };
        let wall = rfc3339(plan.clock.wall());
        let times = Times {
            at: plan.clock.now(),
            wall: &wall,
        };
        let disk = Watched {
            folder: Folder::new(dir),
            watch,
        };
        let boot = uuid::Uuid::new_v4().simple().to_string();
        let opened = BlackBox::open(Box::new(disk), (SMALL, boot), times)?;
        let (lanes, queues) = channels();
        let shared = Arc::new(Shared::default());
        let writer = Writer::new(&plan, (opened, queues), Arc::clone(&shared));
        let sink = RecorderSink(Arc::new(Inner {
            lanes,
            shared,
            wake: std::thread::current(),
            clock: plan.clock,
            metrics: plan.metrics,
        }));
        Ok(Self {
            sink,
            writer: Mutex::new(writer),
        })
    }

    /// Does what the thread would do now.
    pub(crate) fn round(&self, closing: bool) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.round(closing);
    }

    pub(crate) fn healthy(&self) -> bool {
        self.sink.healthy()
    }

    pub(crate) fn dropped(&self, class: FactClass) -> u64 {
        self.sink.dropped(class)
    }

    /// Returns the sum of a counter over its labels.
    pub(crate) fn counted(&self, name: &str) -> u64 {
        let text = self.sink.0.metrics.render();
        let lines = text.lines().filter(|line| line.starts_with(name));
        let values = lines.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        values.sum()
    }
}

impl FactSink for Stepped {
    fn raise(&self, fact: Fact) {
        self.sink.raise(fact);
    }

    fn keep(&self) -> Keeping {
        self.sink.keep()
    }
}

#[derive(Debug)]
struct Watched {
    folder: Folder,
    watch: Arc<dyn Watch>,
}

impl Watched {
    fn file(&self, name: &str, file: Box<dyn DiskFile>, grows: bool) -> Box<dyn DiskFile> {
        Box::new(WatchedFile {
            file,
            grows,
            name: name.to_owned(),
            half: false,
            watch: Arc::clone(&self.watch),
        })
    }
}

impl Disk for Watched {
    fn list(&self) -> io::Result<Vec<(String, u64)>> {
        self.folder.list()
    }

    fn read(&self, name: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        self.folder.read(name, bytes_max)
    }

    fn create(&self, name: &str) -> io::Result<Box<dyn DiskFile>> {
        self.watch.before(FileAct::Create, name)?;
        let file = self.folder.create(name)?;
        Ok(self.file(name, file, /* grows */ true))
    }

    fn fixed(&self, name: &str, bytes: u64) -> io::Result<Box<dyn DiskFile>> {
        self.watch.before(FileAct::Fix, name)?;
        let file = self.folder.fixed(name, bytes)?;
        Ok(self.file(name, file, /* grows */ false))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.watch.before(FileAct::Remove, name)?;
        self.folder.remove(name)
    }

    fn sync_names(&self) -> io::Result<()> {
        self.watch.before(FileAct::SyncNames, "")?;
        self.folder.sync_names()
    }
}

#[derive(Debug)]
struct WatchedFile {
    file: Box<dyn DiskFile>,
    grows: bool,
    name: String,
    /// Whether the first half of a write is done.
    half: bool,
    watch: Arc<dyn Watch>,
}

impl DiskFile for WatchedFile {
    fn write_at(&mut self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let torn = self.half;
        let act = if self.grows {
            FileAct::Grow { torn }
        } else {
            FileAct::Fill { torn }
        };
        self.half = !torn && bytes.len() >= HALVED_FROM;
        let asked = self.watch.before(act, &self.name);
        self.half &= asked.is_ok();
        asked?;
        let bytes = if self.half {
            bytes.split_at(bytes.len() / 2).0
        } else {
            bytes
        };
        self.file.write_at(at, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.watch.before(FileAct::Sync, &self.name)?;
        self.file.sync()
    }
}
