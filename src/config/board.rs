//! Board files `boards/<board>.toml`: facts of the machine, no behaviour.

use std::path::Path;

use super::reader::{self, Node, Parsed, Source, Table, list, schema, stem_of, text, whole};
use super::{ConfigErrors, Place, file};

const GUIDE: &str = "boards/README.md";
/// Most that the black box of any board holds, MiB: whoever reads it must be able to hold it.
const BLACKBOX_MAX_MB: u32 = 256;

/// Facts of one board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The file.
    pub place: Place,
    /// Its id, the file's stem.
    pub id: String,
    /// `compatible` strings of the device tree, one of which the machine must have; empty: any
    /// machine will do.
    pub matches: Vec<String>,
    /// Least memory, MiB, 0 to 1 048 576; 0: any.
    pub ram_min_mb: u32,
    /// Most that the black box may hold, MiB, 16 to 256; 256 unless the file says less. Beyond it the oldest
    /// segments make room.
    pub blackbox_max_mb: u32,
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
    let matches = t.may("match", list(0..=16, text(1..=128)));
    let system = t.must("system", system);
    for key in [
        "backend", "pins", "chips", "roles", "sim", "thermal", "extends",
    ] {
        t.later(
            key,
            "pins, chips, roles and sensors come with the first board that has them",
        );
    }
    let system = system?;
    Some(Board {
        place: t.file(),
        id: id?,
        matches: matches.unwrap_or_default(),
        ram_min_mb: system.ram_min_mb,
        blackbox_max_mb: system.blackbox_max_mb,
        tokio_workers: system.tokio_workers,
        safety_tick_ms: system.safety_tick_ms,
        lockup_ms: system.lockup_ms,
        jitter_ms: system.jitter_ms,
    })
}

struct System {
    ram_min_mb: u32,
    blackbox_max_mb: u32,
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
        let ram_min_mb = t.may("ram_min_mb", whole(0..=1_048_576)).unwrap_or(0);
        let blackbox_max_mb = t
            .may("blackbox_max_mb", whole(16..=BLACKBOX_MAX_MB))
            .unwrap_or(BLACKBOX_MAX_MB);
        t.later(
            "rtc",
            "facts that nothing reads yet come with the board that has them",
        );
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
            ram_min_mb,
            blackbox_max_mb,
            tokio_workers: tokio_workers?,
            safety_tick_ms: safety_tick_ms?,
            lockup_ms: lockup_ms?,
            jitter_ms: jitter_ms?,
        })
    })
}
