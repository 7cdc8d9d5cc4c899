//! The operator of a run on a dataflow: a thread of its own, over the node's control socket.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::operator::{Play, Played, Say, Terminal};
use crate::app::clock::SystemClock;
use crate::app::control::{Answer, Client, Word};
use crate::app::exit::AppError;
use crate::config::Scenario;
use crate::terms::Clock;

/// How often the operator looks. The state comes at 10 Hz; this is often enough to miss none.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What the operator plays.
pub(super) struct Rehearsal {
    pub(super) scenario: Scenario,
    pub(super) socket: PathBuf,
    /// Set once the dataflow has ended.
    pub(super) over: Arc<AtomicBool>,
    pub(super) progress: Box<dyn Fn(&str) + Send>,
}

impl fmt::Debug for Rehearsal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearsal")
            .field("scenario", &self.scenario.name)
            .finish_non_exhaustive()
    }
}

/// Starts the operator's thread.
pub(super) fn play(rehearsal: Rehearsal) -> Result<JoinHandle<Played>, AppError> {
    thread::Builder::new()
        .name("operator".to_owned())
        .spawn(move || run(rehearsal))
        .map_err(|error| AppError::Internal(format!("no thread for the operator: {error}")))
}

impl Say for Client {
    fn say(&mut self, word: &Word) -> Result<Answer, AppError> {
        self.ask(word)
    }

    fn say_and_hold(&mut self, word: &Word) -> Result<Result<Terminal, Answer>, AppError> {
        let mut terminal = self.beside()?;
        Ok(match terminal.ask(word)? {
            Answer::Elevation(_) => Ok(Box::new(terminal)),
            other @ (Answer::Status(_)
            | Answer::Done { .. }
            | Answer::Ending { .. }
            | Answer::Refused { .. }) => Err(other),
        })
    }
}

/// The run, as the operator's thread sees it.
struct Socket {
    path: PathBuf,
    over: Arc<AtomicBool>,
    clock: SystemClock,
}

fn run(rehearsal: Rehearsal) -> Played {
    let socket = Socket {
        path: rehearsal.socket,
        over: rehearsal.over,
        clock: SystemClock::start(),
    };
    let mut play = Play::new(rehearsal.scenario, rehearsal.progress);
    if let Some(mut client) = socket.connect(&play) {
        if let Err(error) = socket.follow(&mut play, &mut client) {
            // A node that ends while it is asked is no trouble of its own: the run's end says why.
            play.trouble(error.to_string());
        }
        // A node that is gone already has ended.
        if let Err(error) = client.ask(&play.last_word()) {
            tracing::debug!(%error, "the node ended before it was asked to");
        }
    }
    play.played()
}

impl Socket {
    /// Waits for the node's socket, as long as the run lives.
    fn connect(&self, play: &Play) -> Option<Client> {
        while self.in_time(play) {
            if let Ok(client) = Client::connect(&self.path) {
                return Some(client);
            }
            thread::park_timeout(LOOK_EVERY);
        }
        None
    }

    /// Follows the run until the goal has ended or the time is up.
    fn follow(&self, play: &mut Play, client: &mut Client) -> Result<(), AppError> {
        while self.in_time(play) {
            let status = play.look(client)?;
            if play.act(client, &status, self.clock.now())? {
                return Ok(());
            }
            thread::park_timeout(LOOK_EVERY);
        }
        if !self.over.load(Ordering::Acquire) {
            play.late();
        }
        Ok(())
    }

    fn in_time(&self, play: &Play) -> bool {
        !self.over.load(Ordering::Acquire) && play.in_time(self.clock.now())
    }
}
