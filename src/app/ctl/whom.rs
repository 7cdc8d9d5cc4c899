//! To whom a word goes when no node serves the robot that was named, or none was named.

use std::path::Path;

use super::socket_of;
use crate::app::control::Client;
use crate::app::exit::AppError;
use crate::app::state::robots_in;
use crate::terms::{RobotId, nearest};

/// Names of robots in one message; the others are counted.
const NAMES_MAX: usize = 8;

/// Returns the robots of the state folder whose nodes listen.
pub(super) fn listening(state: &Path) -> Vec<RobotId> {
    let robots = robots_in(state).into_iter();
    robots
        .filter(|robot| Client::open(&socket_of(state, robot)).is_ok())
        .collect()
}

/// Says that nobody serves `robot`, and who listens instead: the one that was most likely meant first.
pub(super) fn nobody_serves(state: &Path, robot: &RobotId) -> AppError {
    let mut live = listening(state);
    let meant = nearest(robot.as_str(), live.iter().map(RobotId::as_str)).map(str::to_owned);
    live.sort_by_key(|id| Some(id.as_str()) != meant.as_deref());
    let socket = socket_of(state, robot).display().to_string();
    match live.as_slice() {
        [] => AppError::NoNode {
            problem: format!(
                "no node answers for robot `{robot}` at {socket}, and none for another one"
            ),
            hint: "is a node running? its state folder must be the one given with --state"
                .to_owned(),
        },
        _ => AppError::NoNode {
            problem: format!("no node answers for robot `{robot}` at {socket}"),
            hint: match meant {
                Some(meant) => format!(
                    "did you mean --robot-id {meant}? nodes here: {}",
                    named(&live)
                ),
                None => format!("name one with --robot-id; nodes here: {}", named(&live)),
            },
        },
    }
}

/// Says that nobody listens anywhere below the state folder.
pub(super) fn nobody(state: &Path) -> AppError {
    AppError::NoNode {
        problem: format!("no node answers below {}", state.join("robots").display()),
        hint: "is a node running? its state folder must be the one given with --state".to_owned(),
    }
}

fn named(robots: &[RobotId]) -> String {
    let names: Vec<&str> = robots.iter().take(NAMES_MAX).map(RobotId::as_str).collect();
    match robots.len().saturating_sub(NAMES_MAX) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn robot(id: &str) -> RobotId {
        RobotId::parse(id).unwrap()
    }

    fn listens(state: &Path, id: &str) -> UnixListener {
        let socket = socket_of(state, &robot(id));
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        UnixListener::bind(socket).unwrap()
    }

    #[test]
    fn who_listens_is_named_the_near_miss_first_and_dead_folders_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let error = nobody_serves(dir.path(), &robot("rover-1"));
        assert!(error.to_string().contains("`rover-1`"), "{error}");
        assert!(
            error.hint().contains("is a node running?"),
            "{}",
            error.hint()
        );

        let live = ["arm-7", "mule-2", "rover-001"].map(|id| listens(dir.path(), id));
        drop(listens(dir.path(), "gone-9"));
        let error = nobody_serves(dir.path(), &robot("rover-01"));
        assert_eq!(
            error.hint(),
            "did you mean --robot-id rover-001? nodes here: rover-001, arm-7, mule-2"
        );
        assert_eq!(error.exit().code(), 1);
        let error = nobody_serves(dir.path(), &robot("zzz"));
        assert_eq!(
            error.hint(),
            "name one with --robot-id; nodes here: arm-7, mule-2, rover-001"
        );
        drop(live);
    }
}
