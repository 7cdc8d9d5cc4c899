//! `node`: the agent, as dora starts it.

use crate::app::{AppError, Exit, NodeRequest, Settings, serve_node};
use crate::terms::{RobotId, Tier};

/// Arguments of `node`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the robot file in tiers/robots.
    #[arg(long, value_name = "NAME")]
    robot: String,
    /// Name of the board file in boards.
    #[arg(long, value_name = "NAME")]
    board: String,
    /// Id of the robot, when its file fixes none.
    #[arg(long, value_name = "ID", env = "ROBOT_ID", value_parser = robot_id)]
    robot_id: Option<RobotId>,
    /// Lowers the robot file's ceiling to this tier; never raises it.
    #[arg(long, value_name = "TIER", env = "OCTOS_EDGE_TIER", value_parser = tier)]
    tier: Option<Tier>,
    /// The model: `scripted:FILE` plays the turns of a scenario. Without it goals are refused.
    #[arg(long, value_name = "MODEL", env = "OCTOS_EDGE_MODEL")]
    model: Option<String>,
}

pub(super) fn tier(text: &str) -> Result<Tier, String> {
    text.parse()
        .map_err(|error: crate::terms::TierError| error.to_string())
}

pub(super) fn robot_id(text: &str) -> Result<RobotId, String> {
    RobotId::parse(text).map_err(|error| error.to_string())
}

pub(super) fn run(args: &Args, settings: &Settings) -> Result<Exit, AppError> {
    serve_node(
        settings,
        &NodeRequest {
            robot: args.robot.clone(),
            board: args.board.clone(),
            robot_id: args.robot_id.clone(),
            tier: args.tier,
            model: args.model.clone(),
        },
    )
}
