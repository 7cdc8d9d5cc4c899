//! `boards/<board>.toml`.

use std::path::Path;
use std::sync::Arc;

use super::row::{BOARD, Row};
use super::site::{GO, Site};
use crate::app::clock::SystemClock;
use crate::app::state::StateFolder;
use crate::terms::{Fact, RobotId};

/// The whole process stands still for a moment.
const STALL: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = { moved_m = 0.2 }, do = "frozen_process", for_ms = 700 } ]"#;

/// So many full segments are more than the smallest black box holds.
const FULL_SEGMENTS: u32 = 5;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::of(BOARD, "schema", "2")
            .faulty("schema: found `2`, needs `1`, the only schema of this release"),
        Row::of(BOARD, "id", "\"bench\"")
            .faulty("id: found the text \"bench\", needs the name of its file, `sim`"),
        Row::of(BOARD, "match", "[\"nobody,nothing\"]").seen(
            machine,
            "fits",
            "board `sim` does not fit this machine: the machine is none of nobody,nothing…",
        ),
        Row::of(BOARD, "system/ram_min_mb", "1048576").seen(
            machine,
            "fits",
            "board `sim` does not fit this machine: memory…",
        ),
        Row::of(BOARD, "system/blackbox_max_mb", "16").seen(
            segments_kept,
            "5 of the lives before, 3 of this one",
            "3 of the lives before, 3 of this one",
        ),
        Row::of(BOARD, "system/tokio_workers", "3").seen(workers, "2", "3"),
        Row::of(BOARD, "system/safety_tick_ms", "5").seen(
            |site| {
                let seen = site.calls(&[GO]);
                let between = seen.facts.iter().any(|(t_ms, _)| !t_ms.is_multiple_of(10));
                if between { "5 ms" } else { "10 ms" }.to_owned()
            },
            "10 ms",
            "5 ms",
        ),
        Row::of(BOARD, "system/jitter_ms", "800").seen(late, "told", "in time"),
        Row::of(BOARD, "system/lockup_ms", "600").seen(
            |site| {
                let stops = site.happens(STALL, &[GO]).stops();
                let stopped = stops.contains("board_fault");
                if stopped { "board_fault" } else { "goes on" }.to_owned()
            },
            "goes on",
            "board_fault",
        ),
    ]
}

/// Whether a late tick was told.
fn late(site: &Site) -> String {
    let seen = site.happens(STALL, &[GO]);
    let late = seen.count(|fact| matches!(fact, Fact::LateTick { .. }));
    if late > 0 { "told" } else { "in time" }.to_owned()
}

fn machine(site: &Site) -> String {
    match site.load().unwrap().check_machine() {
        Ok(()) => "fits".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn workers(site: &Site) -> String {
    let board = site.load().unwrap().board;
    let runtime = crate::app::serve::async_runtime(board.tokio_workers).unwrap();
    runtime.metrics().num_workers().to_string()
}

/// How many segments of the black box are left when a node has begun its records behind five full ones.
fn segments_kept(site: &Site) -> String {
    let robot_id = RobotId::parse("rover-sim-001").unwrap();
    let folder = StateFolder::open(&site.path("state"), &robot_id).unwrap();
    let audit = folder.files().audit();
    leave_full_segments(&audit);
    let clock = Arc::new(SystemClock::start());
    let installation = site.load().unwrap();
    let (recorder, _) = crate::app::serve::start_recorder(&installation, &folder, clock).unwrap();
    recorder.finish().unwrap();
    let old = |name: &str| (1..=FULL_SEGMENTS).any(|nth| name == trace_segment(nth));
    let names = std::fs::read_dir(&audit).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let segments = names.filter(|name| name.ends_with(".jsonl"));
    let (before, now): (Vec<_>, Vec<_>) = segments.partition(|name| old(name));
    format!(
        "{} of the lives before, {} of this one",
        before.len(),
        now.len()
    )
}

/// Segments of a life before, each as large as one may be.
fn leave_full_segments(audit: &Path) {
    std::fs::create_dir_all(audit).unwrap();
    for nth in 1..=FULL_SEGMENTS {
        let segment = std::fs::File::create(audit.join(trace_segment(nth))).unwrap();
        segment.set_len(4 * 1024 * 1024).unwrap();
    }
}

fn trace_segment(nth: u32) -> String {
    format!("trace-{nth:06}.jsonl")
}
