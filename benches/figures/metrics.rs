//! Rendering all series of a node, as one scrape does.

use std::hint::black_box;
use std::time::Instant;

use octos_edge::telemetry::{Metrics, RobotLabels};

use crate::common::sample::{Dist, ms};
use crate::common::table::Row;
use crate::rover;

const SCRAPES: u32 = 2_000;
/// The goals.
const GOAL_MS: f64 = 2.0;
const GOAL_BYTES: usize = 64_000;

pub(crate) fn rows() -> Vec<Row> {
    let robot = rover::robot("", &rover::tiers());
    let metrics = Metrics::new(RobotLabels::from(&robot)).unwrap();
    let (mut ours, mut copies) = (Vec::new(), Vec::new());
    let text = metrics.render();
    for _ in 0..SCRAPES {
        let began = Instant::now();
        black_box(metrics.render());
        ours.push(ms(began.elapsed()));
        // The least that anything which answers a scrape must do.
        let began = Instant::now();
        black_box(black_box(&text).clone());
        copies.push(ms(began.elapsed()));
    }
    let (ours, copies) = (Dist::of(ours), Dist::of(copies));
    vec![Row {
        what: format!("metrics scrape, {} series", metrics.series()),
        figure: format!(
            "p50 {:.3} ms, p99 {:.3} ms, {} bytes",
            ours.p50(),
            ours.p99(),
            text.len()
        ),
        beside: format!("a copy of the text {:.4} ms", copies.p50()),
        ratio: Some(ours.p50() / copies.p50()),
        goal: format!("{GOAL_MS:.0} ms, {} kB", GOAL_BYTES / 1_000),
        reached: Some(ours.p99() <= GOAL_MS && text.len() <= GOAL_BYTES),
        cause: "the exporter's text is sorted so that it can be compared".to_owned(),
    }]
}
