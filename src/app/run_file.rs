//! `run`: one dataflow on a daemon inside this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::exit::AppError;
use super::flow;
use super::requests::{RunNode, RunReport, RunRequest};
use super::settings::Settings;
use crate::node::{Dataflow, DataflowRun, NodeError, NodeLog, NodePatch, RunEnd, run_dataflow};

/// Runs a dataflow to its end. Nodes named `octos-edge` are this binary; they and the files that they name
/// are judged first, as `check` does.
///
/// # Errors
/// [`AppError::Node`] when the file is no runnable dataflow, its nodes do not fit or dora refuses it;
/// [`AppError::Config`] with every fault of the files that its nodes name.
pub fn run_file(
    settings: &Settings,
    request: &RunRequest,
    progress: impl Fn(&str) + Send + 'static,
) -> Result<RunReport, AppError> {
    let flow = Dataflow::read(&request.file)?;
    let working_dir = folder_of(&request.file)?;
    flow::judge(&flow, settings, &working_dir)?;
    super::start_log(settings)?;
    let agent = settings.given_to_nodes()?;
    // A simulated robot reads its robot file from the same folder; nothing else of this is its.
    let mut robot = agent.clone();
    robot.retain(|name, _| name == "OCTOS_EDGE_TIERS");
    let patch = NodePatch {
        env: BTreeMap::from([("node", agent), ("mock-robot", robot)]),
        seed: None,
    };
    let run = DataflowRun {
        flow: flow.patched(&own_binary()?, &patch),
        working_dir,
        stop_after: request.stop_after,
        exit_when_nodes_finish: false,
        record_to: settings.record_to(),
    };
    let end = block_on_daemon(run, move |log| progress(&line_of(&log)))?;
    let nodes = end
        .nodes
        .into_iter()
        .map(|n| RunNode {
            node: n.node,
            error: n.error,
        })
        .collect();
    Ok(RunReport {
        file: request.file.display().to_string(),
        nodes,
    })
}

/// Runs a dataflow on a runtime of its own.
pub(super) fn block_on_daemon(
    run: DataflowRun,
    log: impl Fn(NodeLog) + Send + 'static,
) -> Result<RunEnd, AppError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| AppError::Internal(format!("no async runtime: {error}")))?;
    Ok(runtime.block_on(run_dataflow(run, log))?)
}

/// Returns a line of a node's log for people.
pub(super) fn line_of(log: &NodeLog) -> String {
    match &log.node {
        Some(node) => format!("{node:>10} | {}", log.line),
        None => format!("{:>10} | {}", "dora", log.line),
    }
}

/// Returns the folder of a file, absolute.
pub(super) fn folder_of(file: &Path) -> Result<PathBuf, AppError> {
    let bad = |error: std::io::Error| NodeError::File {
        file: file.display().to_string(),
        problem: error.to_string(),
    };
    let file = std::fs::canonicalize(file).map_err(bad)?;
    Ok(file
        .parent()
        .map_or_else(|| PathBuf::from("/"), Path::to_owned))
}

/// Returns the path of this binary.
pub(super) fn own_binary() -> Result<PathBuf, AppError> {
    std::env::current_exe()
        .map_err(|error| AppError::Internal(format!("own path is unknown: {error}")))
}
