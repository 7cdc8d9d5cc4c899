//! Composition: the one place that opens the outside world.
//!
//! Every entry point (`node`, `mock-robot`, `run`, `sim`, `check`, `ctl`) begins here, and all of
//! them assemble tools through one ordered assembly. Files, sockets, threads, signals and clocks are
//! opened in this room and handed to the others; every thread and task has its owner here, who joins
//! it at the end.

mod assembly;
mod audit;
mod check;
mod clock;
mod control;
mod ctl;
mod elevate;
mod exit;
mod explain;
mod fingerprint;
#[cfg(feature = "dora")]
mod flow;
mod load;
mod log;
#[cfg(feature = "dora")]
mod mock_robot;
mod paper;
mod parts;
mod rehearse;
#[cfg(feature = "dora")]
mod replay;
mod requests;
#[cfg(feature = "embedded-daemon")]
mod run_file;
#[cfg(feature = "dora")]
mod serve;
mod settings;
#[cfg(feature = "dora")]
mod simulated;
#[cfg(not(feature = "embedded-daemon"))]
mod slim;
mod stage;
mod state;
mod tools;

pub use audit::{
    ExportReport, ShowReport, ShowRequest, Since, VerifyReport, export_audit, plain, show_audit,
    verify_audit,
};
pub use check::{
    CheckReport, CheckedFile, PrintedSetting, check_all, check_and_print, file_schema,
};
pub use control::{
    Answer, ElevationNews, ElevationStatus, GoalStatus, PendingApproval, Status, Word,
};
pub use ctl::say;
pub use elevate::elevate;
pub use exit::{AppError, Exit};
pub use explain::{ExplainNumber, ExplainRule, ExplainVerdict, Explanation, explain};
pub use log::end_log;
#[cfg(feature = "dora")]
pub use mock_robot::serve_mock_robot;
pub use rehearse::rehearse;
pub use requests::{
    ExplainRequest, MockRobotRequest, NodeRequest, RunNode, RunReport, RunRequest, SimBridge,
    SimRequest, ToolsRequest,
};
#[cfg(feature = "embedded-daemon")]
pub use run_file::run_file;
#[cfg(feature = "dora")]
pub use serve::serve_node;
pub use settings::{Origin, Settings, SettingsRequest};
#[cfg(not(feature = "embedded-daemon"))]
pub use slim::run_file;
#[cfg(not(feature = "dora"))]
pub use slim::{serve_mock_robot, serve_node};
pub use tools::{ListedTool, ToolList, list_tools};

pub use crate::robot::codec::HeartbeatField;
pub use crate::sim::Loss;
pub use crate::telemetry::{LogFormat, RecordHash};
use log::start_log;
