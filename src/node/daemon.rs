//! A dora daemon inside this process: runs one dataflow to its end, without coordinator or port.
//!
//! The daemon installs its own handlers for SIGINT and SIGTERM, so a process that runs it holds no
//! bridge and no robot: only `run` and `sim` use it, and their nodes are children.

use std::time::Duration;

use dora_daemon::{Daemon, LogDestination, flume};
use dora_message::SessionId;
use dora_message::common::LogMessage;

use super::{Dataflow, NodeError};

/// Lines of node logs that wait to be printed. The daemon waits when it is full; nodes do not.
const LOG_LINES_MAX: usize = 1024;

/// How long the last lines may take to be printed: 100 steps of 10 ms.
const DRAIN_TRIES_MAX: u32 = 100;
const DRAIN_STEP: Duration = Duration::from_millis(10);

/// One line that a node, or the daemon, logged.
#[derive(Debug, Clone)]
pub struct NodeLog {
    /// The node; `None` for the daemon.
    pub node: Option<String>,
    /// The line, as it was written.
    pub line: String,
}

/// How one node ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeEnd {
    /// The node.
    pub node: String,
    /// Why it failed; `None` when it ended with 0.
    pub error: Option<String>,
}

/// How a dataflow ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Each node.
    pub nodes: Vec<NodeEnd>,
}

/// A dataflow to run.
#[derive(Debug)]
pub struct DataflowRun {
    /// The dataflow.
    pub flow: Dataflow,
    /// Where relative paths of the dataflow begin, and where dora writes its own log files.
    pub working_dir: std::path::PathBuf,
    /// Stop it after this time.
    pub stop_after: Option<Duration>,
    /// End it once every node that is not a timer has ended.
    pub exit_when_nodes_finish: bool,
    /// The folder into which each node writes what it heard, as `inputs-<node>.json`.
    pub record_to: Option<std::path::PathBuf>,
}

/// Runs a dataflow to its end. `log` is called on a thread of its own for each line.
///
/// # Errors
/// [`NodeError::Dora`] when dora refuses the dataflow or the daemon breaks.
pub async fn run_dataflow(
    run: DataflowRun,
    log: impl Fn(NodeLog) + Send + 'static,
) -> Result<RunEnd, NodeError> {
    let (sender, lines) = flume::bounded::<LogMessage>(LOG_LINES_MAX);
    let printer = std::thread::Builder::new()
        .name("node-logs".to_owned())
        .spawn(move || {
            for message in lines {
                log(NodeLog {
                    node: message.node_id.as_ref().map(ToString::to_string),
                    line: line_of(message),
                });
            }
        })
        .map_err(|error| NodeError::Dora(format!("no thread for node logs: {error}")))?;
    let path = run.flow.path().to_owned();
    let mut options = dora_daemon::RunDataflowOptions::default();
    options.exit_when_nodes_finish = run.exit_when_nodes_finish.then_some(true);
    let result = Daemon::run_dataflow_with(
        /* machine_id */ None,
        &path,
        /* build_id */ None,
        /* local_build */ None,
        SessionId::generate(),
        /* uv */ false,
        LogDestination::Channel { sender },
        run.record_to,
        run.stop_after,
        /* debug */ false,
        Some(run.working_dir),
        Some(run.flow.into_descriptor()),
        options,
    )
    .await
    .map_err(|error| NodeError::Dora(format!("{error:#}")));
    drain(printer).await;
    Ok(RunEnd {
        nodes: result?
            .node_results
            .into_iter()
            .map(|(node, outcome)| NodeEnd {
                node: node.to_string(),
                error: outcome.err().map(|error| error.to_string()),
            })
            .collect(),
    })
}

/// Returns a line as it was written. dora takes a line of JSON apart; what stands in its `fields`
/// besides the message, such as a fact, would be lost with the message alone.
fn line_of(message: LogMessage) -> String {
    match message.fields {
        None => message.message,
        Some(fields) => serde_json::json!({
            "timestamp": message.timestamp.to_rfc3339(),
            "level": message.level,
            "fields": fields,
        })
        .to_string(),
    }
}

/// Waits until the last lines are printed: the daemon drops its sender when it ends, but a task of
/// its own may hold a copy for a moment longer, so the wait is bounded.
async fn drain(printer: std::thread::JoinHandle<()>) {
    for _ in 0..DRAIN_TRIES_MAX {
        if printer.is_finished() {
            return;
        }
        tokio::time::sleep(DRAIN_STEP).await;
    }
}

#[cfg(test)]
mod tests {
    use dora_message::common::LogMessageHelper;

    use super::*;

    #[test]
    fn a_line_of_json_keeps_its_fields_and_a_plain_one_its_text() {
        let written = r#"{"timestamp":"2026-01-02T03:04:05.678Z","level":"INFO",
            "fields":{"message":"started","fact":"{\"kind\":\"started\"}"}}"#;
        let parsed: LogMessageHelper = serde_json::from_str(written).unwrap();
        let mut message = LogMessage::from(parsed);
        let line: serde_json::Value = serde_json::from_str(&line_of(message.clone())).unwrap();
        assert_eq!(line["level"], "INFO");
        assert_eq!(line["fields"]["message"], "started");
        assert_eq!(line["fields"]["fact"], r#"{"kind":"started"}"#);
        message.fields = None;
        message.message = "spawning node".to_owned();
        assert_eq!(line_of(message), "spawning node");
    }
}
