//! Board files `boards/<board>.toml`: facts of the machine, no behaviour.

use std::path::Path;

use super::reader::{self, Node, Parsed, Source, Table, schema, stem_of, whole};
use super::{ConfigErrors, Place, file};

const GUIDE: &str = "boards/README.md";

/// Facts of one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The file.
    pub place: Place,
    /// Its id, the file's stem.
    pub id: String,
    /// Worker threads of the async runtime, 1 to 16.
    pub tokio_workers: u32,
    /// Period of the safety tick, ms, 1 to 50.
    pub safety_tick_ms: u32,
    /// A safety thread that makes no progress for this long is locked up: the process ends with 71.
    pub lockup_ms: u32,
    /// A safety tick later than this is recorded; three within 10 s stop the robot.
    pub jitter_ms: u32,
}

impl Board {
    /// Loads `<dir>/<id>.toml`.
    ///
    /// # Errors
    /// Every fault of the file, or of the id.
    pub fn load(dir: &Path, id: &str) -> Result<Self, ConfigErrors> {
        let (path, bytes) = file::read_named(dir, id, "board")?;
        Self::parse_bytes(&path, &bytes).done()
    }

    /// Parses the text of a board file; its id is the stem of `file`.
    ///
    /// # Errors
    /// Every fault of the text.
    pub fn parse(file: &str, text: &str) -> Result<Self, ConfigErrors> {
        Self::parse_bytes(file, text.as_bytes()).done()
    }

    pub(crate) fn parse_bytes(file: &str, bytes: &[u8]) -> Parsed<Self> {
        let source = Source {
            file,
            bytes,
            guide: GUIDE,
        };
        reader::read(source, |root| root.table(|t| board(t, file)))
    }
}

fn board(t: &mut Table<'_>, file: &str) -> Option<Board> {
    t.must("schema", schema);
    let id = t.must("id", stem_of(file));
    let system = t.must("system", system);
    for key in [
        "match", "backend", "pins", "chips", "roles", "sim", "thermal", "extends",
    ] {
        t.later(
            key,
            "pins, chips, roles and sensors come with the board room",
        );
    }
    let system = system?;
    Some(Board {
        place: t.file(),
        id: id?,
        tokio_workers: system.tokio_workers,
        safety_tick_ms: system.safety_tick_ms,
        lockup_ms: system.lockup_ms,
        jitter_ms: system.jitter_ms,
    })
}

struct System {
    tokio_workers: u32,
    safety_tick_ms: u32,
    lockup_ms: u32,
    jitter_ms: u32,
}

fn system(node: Node<'_>) -> Option<System> {
    node.table(|t| {
        let tokio_workers = t.must("tokio_workers", whole(1..=16));
        let safety_tick_ms = t.must("safety_tick_ms", whole(1..=50));
        let lockup_ms = t.must("lockup_ms", whole(100..=10_000));
        let jitter_ms = t.must("jitter_ms", whole(1..=5_000));
        for key in ["rtc", "ram_min_mb"] {
            t.later(key, "facts that nothing reads yet come with the board room");
        }
        if let (Some(jitter_ms), Some(lockup_ms)) = (jitter_ms, lockup_ms)
            && lockup_ms <= jitter_ms
        {
            let problem = format!("found `{lockup_ms}`, needs more than jitter_ms, {jitter_ms}");
            t.fault(
                "lockup_ms",
                problem,
                "a late tick must be seen before it counts as a lock-up",
            );
        }
        Some(System {
            tokio_workers: tokio_workers?,
            safety_tick_ms: safety_tick_ms?,
            lockup_ms: lockup_ms?,
            jitter_ms: jitter_ms?,
        })
    })
}
