//! `explain`: what would become of a call, and which rule decides.

use crate::app::{AppError, Exit, ExplainRequest, Settings, explain};
use crate::terms::Tier;

use super::node::tier;
use super::print::Printer;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The tool, as a model would name it.
    tool: String,
    /// The arguments, as JSON.
    #[arg(value_name = "JSON", default_value = "{}")]
    args: String,
    /// Name of the robot file in tiers/robots [default: the only one].
    #[arg(long, value_name = "NAME")]
    robot: Option<String>,
    /// Lowers the robot file's ceiling to this tier, as for `node`.
    #[arg(long, value_name = "TIER", env = "OCTOS_EDGE_TIER", value_parser = tier)]
    tier: Option<Tier>,
}

pub(super) fn run(args: &Args, settings: &Settings, printer: &Printer) -> Result<Exit, AppError> {
    let explanation = explain(
        settings,
        &ExplainRequest {
            tool: args.tool.clone(),
            args: args.args.clone(),
            robot: args.robot.clone(),
            tier: args.tier,
        },
    )?;
    printer.foreign(&explanation.to_text(), &explanation);
    Ok(explanation.verdict.exit())
}
