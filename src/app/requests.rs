//! What the entry points are asked for, and what they report: plain data for the command line.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::robot::codec::HeartbeatField;
use crate::sim::Loss;
use crate::terms::{RobotId, Tier};

/// Where the parts of a rehearsal live.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SimBridge {
    /// In a real dataflow, on the embedded daemon.
    #[default]
    Dora,
    /// In this process, under a virtual clock.
    Mock,
}

/// What `sim` is asked for.
#[derive(Debug, Clone)]
pub struct SimRequest {
    /// Name or path of the scenario.
    pub scenario: String,
    /// Seed of the simulated robot; `None` takes the scenario's.
    pub seed: Option<u64>,
    /// Where the parts live.
    pub bridge: SimBridge,
}

/// What `run` is asked for.
#[derive(Debug, Clone)]
pub struct RunRequest {
    /// The dataflow.
    pub file: PathBuf,
    /// Stop it after this time.
    pub stop_after: Option<Duration>,
}

/// How a dataflow ended.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// The dataflow.
    pub file: String,
    /// Each node, with the reason when it failed.
    pub nodes: Vec<RunNode>,
}

/// How one node ended.
#[derive(Debug, Clone, Serialize)]
pub struct RunNode {
    /// Its id.
    pub node: String,
    /// Why it failed; `None` when it ended with 0.
    pub error: Option<String>,
}

impl RunReport {
    /// Returns whether every node ended with 0.
    pub fn passed(&self) -> bool {
        self.nodes.iter().all(|node| node.error.is_none())
    }

    /// Returns the report for people.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for node in &self.nodes {
            let end = node.error.as_deref().unwrap_or("ended");
            text.push_str(&format!("{}: {end}\n", node.node));
        }
        text
    }
}

/// What `node` is asked for.
#[derive(Debug, Clone)]
pub struct NodeRequest {
    /// Name of the robot file.
    pub robot: String,
    /// Name of the board file.
    pub board: String,
    /// Id of the robot, when its file fixes none.
    pub robot_id: Option<RobotId>,
    /// Lowers the ceiling.
    pub tier: Option<Tier>,
    /// The model, `scripted:FILE`.
    pub model: Option<String>,
}

/// What `mock-robot` is asked for.
#[derive(Debug, Clone)]
pub struct MockRobotRequest {
    /// Name of the robot file whose language it speaks; `None` is the built-in rover's.
    pub robot: Option<String>,
    /// Id of the robot, when its file fixes none.
    pub robot_id: Option<RobotId>,
    /// Where its advert tells the dead-man time; `None` as its language has it.
    pub heartbeat_field: Option<HeartbeatField>,
    /// Seed of its noise.
    pub seed: u64,
    /// Where it writes its journal.
    pub journal: Option<PathBuf>,
    /// Where it starts, m; `None` is the home of the robot file, else the origin.
    pub home: Option<[f64; 2]>,
    /// Requests that it never hears.
    pub losses: Vec<Loss>,
}

/// What `explain` is asked for.
#[derive(Debug, Clone)]
pub struct ExplainRequest {
    /// The tool, as a model would name it.
    pub tool: String,
    /// The arguments, as JSON.
    pub args: String,
    /// Name of the robot file; `None` takes the only one.
    pub robot: Option<String>,
    /// Lowers the ceiling, as `node` does.
    pub tier: Option<Tier>,
}

/// What `tools` is asked for.
#[derive(Debug, Clone)]
pub struct ToolsRequest {
    /// Name of the robot file; `None` takes the only one.
    pub robot: Option<String>,
    /// Lowers the ceiling, as `node` does.
    pub tier: Option<Tier>,
}
