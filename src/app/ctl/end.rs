//! `ctl end`: the word, then its outcome. The node stops its robot, brings it to rest and tells; then its
//! process goes, and only then is the end done.

use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::app::control::{Answer, Client, Word};
use crate::app::exit::AppError;

/// The node is heard so long: longer than it waits itself for rest to be known.
const TOLD_WITHIN: Duration = Duration::from_secs(60);
/// How long the process may take to go once it has told: 1000 looks of 10 ms. Its own waits are below that.
const LOOKS_MAX: u32 = 1000;
const LOOK: Duration = Duration::from_millis(10);

/// Says the word and waits until rest is known and the process is gone.
///
/// # Errors
/// [`AppError::JobFailed`] when rest was not confirmed or the process did not go, each with what is known.
pub(super) fn end((mut client, socket): (Client, &Path), word: &Word) -> Result<Answer, AppError> {
    let process = client.process().and_then(Process::seen);
    let answer = client
        .ask_within(word, TOLD_WITHIN)
        .map_err(|trouble| trouble.at(socket))?;
    let Answer::Ending { at_rest, code, .. } = answer else {
        return Ok(answer);
    };
    let gone = process.map(|process| process.goes());
    let code = code.map_or("a code that is not known".to_owned(), |code| {
        code.to_string()
    });
    let rest = match at_rest {
        Some(true) => "the robot was stopped and is at rest",
        Some(false) => "the stop was ordered, but rest was not confirmed",
        None => "the stop was ordered, but whether the robot rests was not known in time",
    };
    let process = match gone {
        Some(true) => format!("its process has ended with {code}"),
        Some(false) => format!(
            "its process has not ended within {} s",
            LOOK.saturating_mul(LOOKS_MAX).as_secs()
        ),
        None => format!("its process cannot be seen from here and ends with {code}"),
    };
    if at_rest == Some(true) && gone != Some(false) {
        return Ok(answer);
    }
    let next = if at_rest == Some(true) {
        "end it by hand"
    } else {
        "look at the robot: the next start begins with a stop, and `restart_policy: on-failure` makes one"
    };
    Err(AppError::JobFailed(format!("{rest}; {process}; {next}")))
}

/// A process, told from a later one with the same number by when it began.
#[derive(Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    began: String,
}

impl Process {
    fn seen(pid: i32) -> Option<Self> {
        let began = began(pid)?;
        Some(Self { pid, began })
    }

    /// Waits until it is gone; returns whether it is.
    fn goes(&self) -> bool {
        for _ in 0..LOOKS_MAX {
            if began(self.pid).as_deref() != Some(&*self.began) {
                return true;
            }
            thread::park_timeout(LOOK);
        }
        false
    }
}

/// When a process began, in ticks of the machine; `None` when it is gone, also when only its parent has not
/// heard of that yet.
#[expect(
    clippy::disallowed_methods,
    reason = "app opens the outside world; /proc tells whether a process lives"
)]
fn began(pid: i32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, so the fields are counted after the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    if ["Z", "X"].contains(&fields.next()?) {
        return None;
    }
    fields.nth(18).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen_and_one_with_its_number_that_began_later_is_another() {
        let own = i32::try_from(std::process::id()).unwrap();
        let seen = Process::seen(own).unwrap();
        assert_eq!(Process::seen(own), Some(Process { pid: own, ..seen }));
        let earlier = Process {
            pid: own,
            began: "0".to_owned(),
        };
        assert!(earlier.goes());
        assert_eq!(Process::seen(i32::MAX), None);
    }
}
