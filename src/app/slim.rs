//! Builds without dora, or without the embedded daemon: what they lack says so.

use super::exit::AppError;
#[cfg(not(feature = "dora"))]
use super::exit::Exit;
#[cfg(not(feature = "dora"))]
use super::requests::{MockRobotRequest, NodeRequest};
use super::requests::{RunReport, RunRequest};
use super::settings::Settings;
use crate::node::NodeError;

const DAEMON: NodeError = NodeError::NotBuilt("embedded dora daemon");
#[cfg(not(feature = "dora"))]
const DORA: NodeError = NodeError::NotBuilt("dora");

/// Refuses: this build has no daemon.
///
/// # Errors
/// Always.
pub fn run_file(
    _: &Settings,
    _: &RunRequest,
    _: impl Fn(&str) + Send + 'static,
) -> Result<RunReport, AppError> {
    Err(DAEMON.into())
}

/// Refuses: this build has no dora.
///
/// # Errors
/// Always.
#[cfg(not(feature = "dora"))]
pub fn serve_node(_: &Settings, _: &NodeRequest) -> Result<Exit, AppError> {
    Err(DORA.into())
}

/// Refuses: this build has no dora.
///
/// # Errors
/// Always.
#[cfg(not(feature = "dora"))]
pub fn serve_mock_robot(_: &Settings, _: &MockRobotRequest) -> Result<Exit, AppError> {
    Err(DORA.into())
}
