//! `mock-robot`: a simulated rover, as dora starts it.

use std::path::PathBuf;

use crate::app::{AppError, Exit, MockRobotRequest, Settings, serve_mock_robot};
use crate::terms::RobotId;

use super::node::robot_id;

/// Arguments of `mock-robot`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Args {
    /// Id of the robot.
    #[arg(long, value_name = "ID", env = "ROBOT_ID", value_parser = robot_id)]
    robot_id: RobotId,
    /// Seed of its noise.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Writes what reaches the robot, and what it does, to this file as JSON lines.
    #[arg(long, value_name = "FILE", env = "OCTOS_EDGE_JOURNAL")]
    journal: Option<PathBuf>,
    /// Where it starts, m.
    #[arg(long, value_name = "X,Y", env = "OCTOS_EDGE_HOME", value_parser = home,
          allow_hyphen_values = true, default_value = "0,0")]
    home: [f64; 2],
}

/// Farthest start from the origin, m: beyond it a millimetre is lost in rounding.
const HOME_M_MAX: f64 = 1e6;

fn home(text: &str) -> Result<[f64; 2], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y]) if x.abs() <= HOME_M_MAX && y.abs() <= HOME_M_MAX => Ok([x, y]),
        Ok(_) | Err(_) => Err("two finite numbers: x,y".to_owned()),
    }
}

pub(super) fn run(args: &Args, settings: &Settings) -> Result<Exit, AppError> {
    serve_mock_robot(
        settings,
        &MockRobotRequest {
            robot_id: args.robot_id.clone(),
            seed: args.seed,
            journal: args.journal.clone(),
            home: args.home,
        },
    )
}
