//! `mock-robot`: a simulated rover, as dora starts it.

use std::path::PathBuf;

use crate::app::{
    AppError, Exit, HeartbeatField, Loss, MockRobotRequest, Settings, serve_mock_robot,
};
use crate::terms::RobotId;

use super::node::robot_id;

/// Arguments of `mock-robot`.
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Args {
    /// Name of the robot file in tiers/robots whose language it speaks; without it that of rover-sim.
    #[arg(long, value_name = "NAME")]
    robot: Option<String>,
    /// Id of the robot, when its file fixes none.
    #[arg(long, value_name = "ID", env = "ROBOT_ID", value_parser = robot_id)]
    robot_id: Option<RobotId>,
    /// Seed of its noise.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Writes what reaches the robot, and what it does, to this file as JSON lines.
    #[arg(long, value_name = "FILE", env = "OCTOS_EDGE_JOURNAL")]
    journal: Option<PathBuf>,
    /// Where it starts, m; without it at `workspace.home` of the robot file, else at 0,0.
    #[arg(long, value_name = "X,Y", env = "OCTOS_EDGE_HOME", value_parser = home,
          allow_hyphen_values = true)]
    home: Option<[f64; 2]>,
    /// Where its advert tells the dead-man time: at the top level (the rover does), or in `safety` (with
    /// --robot).
    #[arg(long, value_name = "FIELD")]
    heartbeat_field: Option<Field>,
    /// Loses the first COUNT requests of a verb, as a dataflow may, and tells its journal; may be given
    /// more than once.
    #[arg(long, value_name = "VERB=COUNT")]
    lose: Vec<Loss>,
}

/// The two places of the dead-man time that are in use.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Field {
    /// `heartbeat_timeout_ms`.
    Top,
    /// `safety.heartbeat_timeout_ms`.
    Safety,
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
            robot: args.robot.clone(),
            robot_id: args.robot_id.clone(),
            heartbeat_field: args.heartbeat_field.map(|field| match field {
                Field::Top => HeartbeatField::TopLevel,
                Field::Safety => HeartbeatField::Safety,
            }),
            seed: args.seed,
            journal: args.journal.clone(),
            home: args.home,
            losses: args.lose.clone(),
        },
    )
}
