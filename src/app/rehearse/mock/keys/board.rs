//! `boards/<board>.toml`.

use super::row::{BOARD, Row};
use super::site::{GO, Site};
use crate::terms::Fact;

/// The whole process stands still for a moment.
const STALL: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = { moved_m = 0.2 }, do = "frozen_process", for_ms = 700 } ]"#;

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
