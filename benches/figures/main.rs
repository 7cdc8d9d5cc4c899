//! The figures that need no dora: one run, one table, ratios to a floor measured in the same run.
//!
//! `cargo bench --no-default-features --bench figures`, or with the name of a group at the end
//! (`-- stop`). benches/README.md says what each row is.
#![expect(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads the machine's clock, prints, and ends when something is not as it must be"
)]

#[path = "../common/mod.rs"]
mod common;
mod jitter;
mod metrics;
mod pipeline;
mod policy;
mod races;
mod rover;
#[path = "../common/scene.rs"]
mod scene;
mod stop;

use common::machine;
use common::table::{self, Row};

/// Measures a group.
type Measure = fn() -> Vec<Row>;

/// Each group, with what measures it.
const GROUPS: [(&str, Measure); 6] = [
    ("policy", policy::rows),
    ("pipeline", pipeline::rows),
    ("metrics", metrics::rows),
    ("stop", stop::rows),
    ("jitter", jitter::rows),
    ("races", races::rows),
];

fn main() {
    // `cargo bench` itself gives `--bench`.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let header = machine::header();
    let mut rows = Vec::new();
    for (name, measure) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            println!("measuring {name} …");
            rows.extend(measure());
        }
    }
    table::print(&header, &rows);
}
