//! `tools`: what a model would see of a robot.

use crate::app::{AppError, Exit, Settings, ToolsRequest, list_tools};
use crate::terms::Tier;

use super::node::tier;
use super::print::Printer;

/// Arguments of `tools`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Name of the robot file in tiers/robots [default: the only one].
    #[arg(long, value_name = "NAME")]
    robot: Option<String>,
    /// Lowers the robot file's ceiling to this tier, as for `node`.
    #[arg(long, value_name = "TIER", env = "OCTOS_EDGE_TIER", value_parser = tier)]
    tier: Option<Tier>,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let list = list_tools(
        settings,
        &ToolsRequest {
            robot: args.robot.clone(),
            tier: args.tier,
        },
    )?;
    printer.result(&list.to_text(), &list);
    Ok(Exit::Done)
}
