//! A tool call over dora beside a bare round trip of the same payload, in one run.
//!
//! This binary is the daemon's process and, started again by it, every node. It runs two dataflows in
//! turns: `bare-caller` and `bare-echo` exchange the text of a request and of its answer and do nothing
//! else; `agent` calls a reading tool of the rover through executor, bridge and sending thread, and
//! `robot` is the simulated rover.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench reads the machine's clock, prints, and ends when something is not as it must be"
)]

mod agent;
mod bare;
#[expect(dead_code, reason = "shared with benches that use all of it")]
#[path = "../common/mod.rs"]
mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use octos_edge::node::{Dataflow, DataflowRun, run_dataflow};

use common::machine;
use common::sample::Dist;
use common::table::{self, Row};

/// Round trips of each side in one turn.
const TRIPS: u32 = 1_000;
/// Round trips before them, not kept.
const WARM: u32 = 100;
/// Turns of each side.
const TURNS: u32 = 3;
/// Longest time of one dataflow.
const WITHIN: Duration = Duration::from_secs(60);
/// The goal: times a bare round trip.
const GOAL: f64 = 1.3;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .as_slice()
    {
        ["bare-caller", out] => bare::call(Path::new(out)),
        ["bare-echo"] => bare::echo(),
        ["agent", out] => agent::call(Path::new(out)),
        ["robot"] => agent::robot(),
        _ => compare(),
    }
}

fn compare() {
    let header = machine::header();
    let dir = tempfile::tempdir().unwrap();
    let (mut tool, mut bare) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        println!("measuring turn {} of {TURNS} …", turn + 1);
        bare.extend(run(dir.path(), &bare_flow));
        tool.extend(run(dir.path(), &tool_flow));
    }
    let (tool, bare) = (Dist::of(tool), Dist::of(bare));
    let text = |times: &Dist| format!("p50 {:.0}, p99 {:.0} µs", times.p50(), times.p99());
    let ratio = tool.p50() / bare.p50();
    let row = Row {
        what: format!(
            "tool call over dora, both ends Rust ({} calls)",
            tool.count()
        ),
        figure: text(&tool),
        beside: format!("a bare round trip {}", text(&bare)),
        ratio: Some(ratio),
        goal: format!("{GOAL}x at p50"),
        reached: Some(ratio <= GOAL),
        cause:
            "two more thread changes on our side (to the sending thread, and from the receiving \
                one to the call) and the JSON of the envelope on both; in the dev profile our own \
                code is not optimised"
                .to_owned(),
    };
    table::print(&header, &[row]);
}

/// Runs a dataflow to its end and returns the times that its caller wrote, µs.
fn run(dir: &Path, flow: &dyn Fn(&str, &str) -> String) -> Vec<f64> {
    let (file, out) = (dir.join("flow.yml"), dir.join("times"));
    let own = std::env::current_exe().unwrap();
    let text = flow(&own.display().to_string(), &out.display().to_string());
    fs::write(&file, text).unwrap();
    let run = DataflowRun {
        flow: Dataflow::read(&file).unwrap(),
        working_dir: dir.to_owned(),
        stop_after: Some(WITHIN),
        exit_when_nodes_finish: true,
        record_to: None,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let end = runtime
        .block_on(run_dataflow(run, |log| println!("  {}", log.line)))
        .unwrap();
    let failed: Vec<_> = end
        .nodes
        .iter()
        .filter(|node| node.error.is_some())
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    let times = fs::read_to_string(&out).unwrap();
    fs::remove_file(&out).unwrap();
    times.lines().map(|line| line.parse().unwrap()).collect()
}

/// Writes the times of a caller, µs, without those of the first round trips.
fn keep(times: &[f64], out: &Path) {
    let kept = times.iter().skip(usize::try_from(WARM).unwrap());
    let lines: Vec<String> = kept.map(f64::to_string).collect();
    fs::write(out, lines.join("\n")).unwrap();
}

fn bare_flow(own: &str, out: &str) -> String {
    format!(
        "nodes:\n\
         \x20 - id: caller\n    path: {own}\n    args: bare-caller {out}\n\
         \x20   inputs:\n      cmd_response: {{ source: echo/cmd_response, queue_size: 64 }}\n\
         \x20   outputs: [cmd_request]\n\
         \x20 - id: echo\n    path: {own}\n    args: bare-echo\n\
         \x20   inputs:\n      cmd_request: {{ source: caller/cmd_request, queue_size: 64 }}\n\
         \x20   outputs: [cmd_response]\n"
    )
}

fn tool_flow(own: &str, out: &str) -> String {
    format!(
        "nodes:\n\
         \x20 - id: agent\n    path: {own}\n    args: agent {out}\n\
         \x20   inputs:\n\
         \x20     cmd_response: {{ source: robot/cmd_response, queue_size: 64 }}\n\
         \x20     capabilities: {{ source: robot/capabilities, queue_size: 4 }}\n\
         \x20     state: {{ source: robot/state, queue_size: 2 }}\n\
         \x20     safety_event: {{ source: robot/safety_event, queue_size: 64 }}\n\
         \x20   outputs: [cmd_request]\n\
         \x20 - id: robot\n    path: {own}\n    args: robot\n\
         \x20   inputs:\n\
         \x20     tick: dora/timer/millis/50\n\
         \x20     cmd_request: {{ source: agent/cmd_request, queue_size: 64 }}\n\
         \x20   outputs: [cmd_response, capabilities, state, safety_event]\n"
    )
}
