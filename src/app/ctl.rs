//! `ctl`: one word to a running node.

use std::path::Path;

use super::control::{Answer, Client, Status, Word};
use super::exit::AppError;
use super::settings::Settings;
use super::state::robot_folder;
use crate::terms::RobotId;

/// Robots whose folders are looked at when no id was given.
const ROBOTS_MAX: usize = 64;

/// Says one word to the node that serves `robot`, or to the only one of the state folder.
///
/// # Errors
/// [`AppError::Usage`] when the robot is not clear, [`AppError::Control`] when no node answers.
pub fn say(settings: &Settings, robot: Option<&RobotId>, word: &Word) -> Result<Answer, AppError> {
    let state = settings.state()?;
    let robot = match robot {
        Some(robot) => robot.clone(),
        None => only_robot(&state)?,
    };
    let socket = robot_folder(&state, &robot).join("control.sock");
    Client::connect(&socket)?.ask(word)
}

fn only_robot(state: &Path) -> Result<RobotId, AppError> {
    let folder = state.join("robots");
    let mut robots: Vec<RobotId> = std::fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.path().join("control.sock").symlink_metadata().is_ok())
        .filter_map(|entry| RobotId::parse(entry.file_name().to_str()?).ok())
        .take(ROBOTS_MAX)
        .collect();
    robots.sort();
    match robots.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(AppError::Usage {
            problem: format!("no node has a control socket below {}", folder.display()),
            hint: "give the node's state folder with --state, or OCTOS_EDGE_STATE".to_owned(),
        }),
        many => Err(AppError::Usage {
            problem: format!("{} robots have a control socket", many.len()),
            hint: format!(
                "name one with --robot-id: {}",
                many.iter()
                    .map(RobotId::as_str)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
        }),
    }
}

impl Status {
    /// Returns the status for people.
    pub fn to_text(&self) -> String {
        let place = match self.position {
            Some([x, y, z]) => format!("x {x:.2} m, y {y:.2} m, z {z:.2} m"),
            None => "unknown".to_owned(),
        };
        let speed = self
            .speed
            .map_or("unknown".to_owned(), |speed| format!("{speed:.2} m/s"));
        let age = self
            .state_age_ms
            .map_or("no state yet".to_owned(), |ms| format!("{ms} ms old"));
        let goal = match (&self.goal.ended, self.goal.number) {
            (_, 0) => "none yet".to_owned(),
            (Some(why), number) if !self.goal.running => format!("{number} ended: {why}"),
            (_, number) => format!("{number} under way, {} answers", self.goal.answered),
        };
        let blocked = match self.arming_blocked_by.as_slice() {
            [] => "nothing".to_owned(),
            checks => checks.join(", "),
        };
        let cause = self
            .cause
            .map_or(String::new(), |cause| format!(" (last stop: {cause})"));
        let metrics = self.metrics.as_ref().map_or(String::new(), |at| {
            format!("\nmetrics   http://{at}/metrics")
        });
        format!(
            "robot     {} served by process {}\nstate     {}{cause}, epoch {}\ntier      {}\n\
             position  {place}, {age}\nspeed     {speed}\ngoal      {goal}\narming    blocked by {blocked}{metrics}",
            self.robot_id, self.pid, self.run, self.epoch, self.tier
        )
    }
}
