//! `ctl`: one word to a running node.

use std::path::{Path, PathBuf};

use super::control::{Answer, Client, Status, Word};
use super::exit::AppError;
use super::settings::Settings;
use super::state::robot_folder;
use crate::terms::{RobotId, RunState};

/// Robots whose folders are looked at when no id was given.
const ROBOTS_MAX: usize = 64;

/// Says one word to the node that serves `robot`. Without an id, a stop or estop goes to every node of
/// the state folder that lives; any other word goes to the only one.
///
/// # Errors
/// [`AppError::Usage`] when it is not clear which robot is meant, [`AppError::Control`] when no node
/// answers. A stop that some nodes took and one did not is an error that names the one.
pub fn say(settings: &Settings, robot: Option<&RobotId>, word: &Word) -> Result<Answer, AppError> {
    let state = settings.state()?;
    if let Some(robot) = robot {
        return Client::connect(&socket_of(&state, robot))?.ask(word);
    }
    let mut live = live_nodes(&state);
    match (live.as_mut_slice(), word) {
        ([], _) => Err(AppError::Control {
            socket: state.join("robots").display().to_string(),
            problem: "no node answers there".to_owned(),
        }),
        ([(_, only)], _) => only.ask(word),
        (many, Word::Stop { .. } | Word::Estop { .. }) => say_to_all(many, word),
        (many, _) => Err(AppError::Usage {
            problem: format!("{} nodes answer", many.len()),
            hint: format!("name one with --robot-id: {}", names(many)),
        }),
    }
}

fn say_to_all(nodes: &mut [(RobotId, Client)], word: &Word) -> Result<Answer, AppError> {
    // Every node is told before any failure is.
    let answers: Vec<_> = nodes
        .iter_mut()
        .map(|(_, client)| client.ask(word))
        .collect();
    for answer in answers {
        answer?;
    }
    let text = format!("{} said to {}", word.as_str(), names(nodes));
    Ok(Answer::Done { text })
}

fn names(nodes: &[(RobotId, Client)]) -> String {
    nodes
        .iter()
        .map(|(robot, _)| robot.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn socket_of(state: &Path, robot: &RobotId) -> PathBuf {
    robot_folder(state, robot).join("control.sock")
}

/// Connects to every node of the state folder. The socket of a node that died refuses, and is passed.
fn live_nodes(state: &Path) -> Vec<(RobotId, Client)> {
    let mut robots: Vec<RobotId> = std::fs::read_dir(state.join("robots"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| RobotId::parse(entry.file_name().to_str()?).ok())
        .take(ROBOTS_MAX)
        .collect();
    robots.sort();
    robots
        .into_iter()
        .filter_map(|robot| {
            let client = Client::connect(&socket_of(state, &robot)).ok()?;
            Some((robot, client))
        })
        .collect()
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
        let arming = match (self.run, self.arming_blocked_by.as_slice()) {
            (RunState::Armed | RunState::Moving, _) => "done already".to_owned(),
            (_, []) => "possible".to_owned(),
            (_, checks) => format!("blocked by {}", checks.join(", ")),
        };
        let cause = self
            .cause
            .map_or(String::new(), |cause| format!(" (last stop: {cause})"));
        let metrics = self.metrics.as_ref().map_or(String::new(), |at| {
            format!("\nmetrics   http://{at}/metrics")
        });
        format!(
            "robot     {} served by process {}\nstate     {}{cause}, epoch {}\ntier      {}\n\
             position  {place}, {age}\nspeed     {speed}\ngoal      {goal}\narming    {arming}{metrics}",
            self.robot_id, self.pid, self.run, self.epoch, self.tier
        )
    }
}
