//! `ctl`: one word to a running node.

mod end;
mod whom;

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::audit::plain;
use super::control::{ANSWER_WITHIN, Answer, Client, PendingApproval, Status, Trouble, Word};
use super::exit::AppError;
use super::settings::Settings;
use super::state::{robot_folder, robots_in};
use crate::terms::{RobotId, RunState};
use whom::{nobody, nobody_serves};

/// A node whose answer to a stop has not come within this time is named; longer than a client waits.
const STOPPED_WITHIN: Duration = ANSWER_WITHIN.saturating_add(Duration::from_secs(1));

/// Says one word to the node that serves `robot`. Without an id, a stop or estop goes to every node of
/// the state folder that lives, to all at once; any other word goes to the only one. An end is answered
/// once the process is gone.
///
/// # Errors
/// [`AppError::Usage`] when it is not clear which robot is meant, [`AppError::NoNode`] when no node
/// answers for it, with those that do, [`AppError::Control`] when one gives no answer. A stop that some
/// nodes took and others did not is an error that names both; an end that is not seen to be one is
/// [`AppError::JobFailed`].
pub fn say(settings: &Settings, robot: Option<&RobotId>, word: &Word) -> Result<Answer, AppError> {
    let state = settings.state()?;
    if let Word::Stop { .. } | Word::Estop { .. } = word {
        return match robot {
            Some(named) => match stop(&state, std::slice::from_ref(named), word) {
                Err(AppError::NoNode { .. }) => Err(nobody_serves(&state, named)),
                said => said,
            },
            None => stop(&state, &robots_in(&state), word),
        };
    }
    let (robot, mut client) = one_node(&state, robot)?;
    let socket = socket_of(&state, &robot);
    match word {
        Word::End { .. } => end::end((client, &socket), word),
        Word::Status
        | Word::Arm { .. }
        | Word::Disarm { .. }
        | Word::Stop { .. }
        | Word::Estop { .. }
        | Word::Reset { .. }
        | Word::Approve { .. }
        | Word::Deny { .. }
        | Word::Elevate { .. }
        | Word::Goal { .. } => client.ask(word),
    }
}

/// Connects to the node that serves `robot`; without an id to the only one of the state folder.
///
/// # Errors
/// As for [`say`].
pub(super) fn only_node(settings: &Settings, robot: Option<&RobotId>) -> Result<Client, AppError> {
    let (_, client) = one_node(&settings.state()?, robot)?;
    Ok(client)
}

fn one_node(state: &Path, robot: Option<&RobotId>) -> Result<(RobotId, Client), AppError> {
    match robot {
        Some(named) => Ok((named.clone(), reach(state, named)?)),
        None => the_only_one(state),
    }
}

fn reach(state: &Path, robot: &RobotId) -> Result<Client, AppError> {
    let socket = socket_of(state, robot);
    Client::open(&socket).map_err(|trouble| match trouble {
        Trouble::Absent(_) => nobody_serves(state, robot),
        Trouble::Closed | Trouble::Silent | Trouble::Other(_) => trouble.at(&socket),
    })
}

fn the_only_one(state: &Path) -> Result<(RobotId, Client), AppError> {
    let robots = robots_in(state).into_iter();
    let mut live: Vec<(RobotId, Client)> = robots
        .filter_map(|robot| {
            let client = Client::open(&socket_of(state, &robot)).ok()?;
            Some((robot, client))
        })
        .collect();
    match (live.pop(), live.as_slice()) {
        (None, _) => Err(nobody(state)),
        (Some(only), []) => Ok(only),
        (Some((last, _)), others) => {
            let names = names(others.iter().map(|(robot, _)| robot).chain([&last]));
            Err(AppError::Usage {
                problem: format!("{} nodes answer", others.len().saturating_add(1)),
                hint: format!("name one with --robot-id: {names}"),
            })
        }
    }
}

/// Says a stop to all of these robots at once, each on a thread of its own: one that does not answer,
/// or not even takes the connection, delays no other.
fn stop(state: &Path, robots: &[RobotId], word: &Word) -> Result<Answer, AppError> {
    let (sender, heard) = mpsc::channel();
    let mut without_thread = Vec::new();
    for robot in robots {
        let (socket, word) = (socket_of(state, robot), word.clone());
        let (sender, name) = (sender.clone(), robot.clone());
        let said = move || drop(sender.send((name, Client::stop(&socket, &word))));
        let thread = thread::Builder::new().name("stop".to_owned()).spawn(said);
        if thread.is_err() {
            without_thread.push(robot);
        }
    }
    drop(sender);
    let mut round = Round::of(robots);
    for robot in without_thread {
        round.hear(robot, Client::stop(&socket_of(state, robot), word));
    }
    while let Ok((robot, answer)) = heard.recv_timeout(STOPPED_WITHIN) {
        round.hear(&robot, answer);
    }
    round.answer(state, word)
}

/// What came of a stop that was said to several nodes.
#[derive(Debug)]
struct Round {
    waiting: Vec<RobotId>,
    took: Vec<(RobotId, Answer)>,
    failed: Vec<(RobotId, String)>,
}

impl Round {
    fn of(robots: &[RobotId]) -> Self {
        Self {
            waiting: robots.to_vec(),
            took: Vec::new(),
            failed: Vec::new(),
        }
    }

    fn hear(&mut self, robot: &RobotId, answer: Result<Answer, Trouble>) {
        self.waiting.retain(|waiting| waiting != robot);
        match answer {
            // The folder of a node that ended: there is nothing to stop.
            Err(Trouble::Absent(_)) => {}
            Err(trouble) => self.failed.push((robot.clone(), trouble.to_string())),
            Ok(Answer::Refused { failed }) => self.failed.push((robot.clone(), failed.join("; "))),
            Ok(answer) => self.took.push((robot.clone(), answer)),
        }
    }

    fn answer(mut self, state: &Path, word: &Word) -> Result<Answer, AppError> {
        for robot in self.waiting {
            self.failed.push((robot, "no answer".to_owned()));
        }
        self.failed.sort();
        self.took.sort_by(|(a, _), (b, _)| a.cmp(b));
        let took = names(self.took.iter().map(|(robot, _)| robot));
        if let Some((robot, _)) = self.failed.first() {
            let failed = self
                .failed
                .iter()
                .map(|(robot, why)| format!("{robot}: {why}"));
            let failed: Vec<String> = failed.collect();
            let mut problem = format!("{} did not reach {}", word.as_str(), failed.join("; "));
            if !took.is_empty() {
                problem.push_str(&format!("; it reached {took}"));
            }
            return Err(AppError::Control {
                socket: socket_of(state, robot).display().to_string(),
                problem,
            });
        }
        match self.took.len() {
            0 => Err(nobody(state)),
            1 => self
                .took
                .pop()
                .map(|(_, answer)| answer)
                .ok_or_else(|| nobody(state)),
            _ => Ok(Answer::Done {
                text: format!("{} said to {took}", word.as_str()),
            }),
        }
    }
}

fn names<'a>(robots: impl Iterator<Item = &'a RobotId>) -> String {
    robots.map(RobotId::as_str).collect::<Vec<_>>().join(", ")
}

fn socket_of(state: &Path, robot: &RobotId) -> PathBuf {
    robot_folder(state, robot).join("control.sock")
}

/// A call that waits for a person's word. Its arguments are what a model wrote: what could play with
/// the terminal, or turn the order of its numbers, is spelled out.
fn question(one: &PendingApproval) -> String {
    let args = plain(&one.args);
    let tier = one.needed.map_or(String::new(), |tier| format!(", {tier}"));
    let rule = one
        .rule
        .as_ref()
        .map_or(String::new(), |rule| format!(", {rule}"));
    format!(
        "\nasks      {}: {} {}{tier}{rule}; {} s left\n          \
         octos-edge ctl approve {} --why \"REASON\"  |  octos-edge ctl deny {} --why \"REASON\"",
        one.request,
        one.tool,
        args,
        one.left_ms / 1000,
        one.request,
        one.request,
    )
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
            (_, number) => {
                let for_s = self
                    .goal
                    .age_s
                    .map_or(String::new(), |s| format!(" for {s} s"));
                format!("{number} under way{for_s}, {} answers", self.goal.answered)
            }
        };
        let waiting = match self.goal.waiting {
            0 => String::new(),
            many => format!("; {many} more given, not begun"),
        };
        let arming = match (self.run, self.arming_blocked_by.as_slice()) {
            (RunState::Armed | RunState::Moving, _) => "done already".to_owned(),
            (_, []) => "possible".to_owned(),
            (_, checks) => format!("blocked by {}", checks.join(", ")),
        };
        let cause = match (self.last_stop, self.cause) {
            (Some(kind), Some(cause)) => format!(" (last stop: {kind}, {cause})"),
            (None, Some(cause)) => format!(" (last stop: {cause})"),
            (_, None) => String::new(),
        };
        let metrics = self.metrics.as_ref().map_or(String::new(), |at| {
            format!("\nmetrics   http://{at}/metrics")
        });
        let asked: String = self.approvals.iter().map(question).collect();
        let raised = self.elevations.iter();
        let raised = raised.map(|one| format!("\nraised    {}", one.to_text()));
        let raised: String = raised.collect();
        let files = self.restart_required.iter();
        let restart: String = files
            .map(|file| {
                format!(
                    "\nrestart   required: {} has changed, the old one counts",
                    plain(file)
                )
            })
            .collect();
        format!(
            "robot     {} served by process {}\nstate     {}{cause}, epoch {}\ntier      {}\n\
             position  {place}, {age}\nspeed     {speed}\ngoal      {goal}{waiting}\narming    {arming}{metrics}{restart}{raised}{asked}",
            self.robot_id, self.pid, self.run, self.epoch, self.tier
        )
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::net::UnixListener;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    fn stop_word() -> Word {
        Word::Stop {
            who: "ann".to_owned(),
            why: "smoke".to_owned(),
        }
    }

    fn folder(state: &Path, robot: &str) -> (RobotId, PathBuf) {
        let robot = RobotId::parse(robot).unwrap();
        let socket = socket_of(state, &robot);
        std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
        (robot, socket)
    }

    /// A node that answers each of its connections once, with `answers`, and tells what it heard.
    fn node(socket: &Path, answers: &'static [&'static str]) -> Receiver<String> {
        let listener = UnixListener::bind(socket).unwrap();
        let (heard, hearing) = channel();
        thread::spawn(move || {
            for answer in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut line = String::new();
                BufReader::new(&stream).read_line(&mut line).unwrap();
                heard.send(line).unwrap();
                (&stream).write_all(answer.as_bytes()).unwrap();
            }
        });
        hearing
    }

    const DONE: &str = "{\"answer\":\"done\",\"text\":\"stopped\"}\n";

    #[test]
    fn a_frozen_node_keeps_a_stop_from_no_other_and_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let (mute, socket) = folder(dir.path(), "a-mute");
        // It listens, and nobody accepts: a frozen process.
        let frozen = UnixListener::bind(socket).unwrap();
        let (well, socket) = folder(dir.path(), "b-well");
        let hearing = node(&socket, &[DONE]);
        let (gone, _) = folder(dir.path(), "c-gone");
        let robots = [mute, well, gone];
        let state = dir.path().to_owned();
        let asked = thread::spawn(move || stop(&state, &robots, &stop_word()));
        let line = hearing.recv().unwrap();
        assert!(line.contains("\"do\":\"stop\""), "{line}");
        assert!(!asked.is_finished(), "the mute one is still waited for");
        // It wakes and talks nonsense.
        (&frozen.accept().unwrap().0).write_all(b"zzz\n").unwrap();
        let error = asked.join().unwrap().unwrap_err().to_string();
        for part in ["a-mute: answer is no JSON", "it reached b-well"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains("c-gone"), "{error}");
    }

    #[test]
    fn a_stop_is_said_again_when_the_node_makes_room() {
        let dir = tempfile::tempdir().unwrap();
        let (robot, socket) = folder(dir.path(), "rover-1");
        let hearing = node(&socket, &["", "", DONE]);
        let told = stop(dir.path(), &[robot], &stop_word()).unwrap();
        assert!(matches!(told, Answer::Done { text } if text == "stopped"));
        assert_eq!(hearing.iter().count(), 3);
    }

    #[test]
    fn a_stop_that_nobody_can_hear_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let (robot, _) = folder(dir.path(), "rover-1");
        for robots in [&[][..], &[robot]] {
            let error = stop(dir.path(), robots, &stop_word()).unwrap_err();
            assert!(error.to_string().contains("no node answers"), "{error}");
        }
    }

    #[test]
    fn a_question_shows_commands_that_are_whole() {
        let one = PendingApproval {
            request: "3-9f2c61".to_owned(),
            tool: "rover_gripper_set".to_owned(),
            args: "{}".to_owned(),
            needed: None,
            rule: None,
            left_ms: 1000,
        };
        let text = question(&one);
        for word in ["approve", "deny"] {
            let whole = format!("octos-edge ctl {word} 3-9f2c61 --why \"REASON\"");
            assert!(text.contains(&whole), "{text}");
        }
    }
}
