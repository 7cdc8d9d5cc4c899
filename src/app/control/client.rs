//! The client's end of the control socket.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::words::{Answer, LINE_BYTES_MAX, Word};
use crate::app::exit::AppError;

/// A node answers within milliseconds; a node that does not within this time does not answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How often a stop is said again when the node closed the connection: it makes room by that.
const TRIES: u32 = 5;

/// Why there was no answer.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// No node listens there.
    Absent(io::Error),
    /// The node closed the connection before it answered.
    Closed,
    /// The node said nothing in time.
    Silent,
    /// Everything else.
    Other(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(error) => error.fmt(f),
            Self::Closed => f.write_str("the node closed the connection"),
            Self::Silent => write!(f, "no answer within {} s", ANSWER_WITHIN.as_secs()),
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        let kind = error.kind();
        if matches!(kind, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) {
            Self::Closed
        } else if matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut) {
            Self::Silent
        } else {
            Self::Other(error.to_string())
        }
    }
}

impl Trouble {
    /// Returns the error of the command that asked at `socket`.
    pub(crate) fn at(&self, socket: &Path) -> AppError {
        AppError::Control {
            socket: socket.display().to_string(),
            problem: self.to_string(),
        }
    }

    /// Says of a silent node how long it was waited for, when that is not the usual time.
    fn after(self, what: &str, within: Duration) -> Self {
        match self {
            Self::Silent => Self::Other(format!("{what} {} s", within.as_secs())),
            other @ (Self::Absent(_) | Self::Closed | Self::Other(_)) => other,
        }
    }
}

/// A connection to a running node.
#[derive(Debug)]
pub(crate) struct Client {
    socket: PathBuf,
    reader: BufReader<UnixStream>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// [`AppError::Control`] when no node listens there.
    #[cfg(any(feature = "embedded-daemon", test))]
    pub(crate) fn connect(socket: &Path) -> Result<Self, AppError> {
        Self::open(socket).map_err(|trouble| trouble.at(socket))
    }

    /// Says one word and waits for its answer.
    ///
    /// # Errors
    /// [`AppError::Control`] when the node is gone, does not answer within 5 s or answers nonsense.
    pub(crate) fn ask(&mut self, word: &Word) -> Result<Answer, AppError> {
        self.exchange(word)
            .map_err(|trouble| trouble.at(&self.socket))
    }

    /// As [`Client::ask`], for a word whose answer takes longer.
    ///
    /// # Errors
    /// [`Trouble`].
    pub(crate) fn ask_within(&mut self, word: &Word, within: Duration) -> Result<Answer, Trouble> {
        let heard = self.wait(within).and_then(|()| self.exchange(word));
        heard.map_err(|trouble| trouble.after("no answer within", within))
    }

    /// Returns the process that listens, as the kernel names it here; `None` when it cannot be seen.
    pub(crate) fn process(&self) -> Option<i32> {
        let told = rustix::net::sockopt::socket_peercred(self.reader.get_ref()).ok()?;
        let pid = told.pid.as_raw_nonzero().get();
        (pid > 0).then_some(pid)
    }

    /// Waits for one more line, but not longer than `within`.
    ///
    /// # Errors
    /// [`AppError::Control`] when the node is gone, says nothing for so long, or nonsense.
    pub(crate) fn hear(&mut self, within: Duration) -> Result<Answer, AppError> {
        let heard = self.wait(within).and_then(|()| self.read());
        let heard = heard.map_err(|trouble| trouble.after("nothing heard for", within));
        heard.map_err(|trouble| trouble.at(&self.socket))
    }

    /// Opens a further connection to the same node.
    ///
    /// # Errors
    /// As [`Client::connect`].
    #[cfg(feature = "embedded-daemon")]
    pub(crate) fn beside(&self) -> Result<Self, AppError> {
        Self::connect(&self.socket)
    }

    /// Says a stop on a connection of its own, and again when the node closed it.
    ///
    /// # Errors
    /// [`Trouble`] of the last try.
    pub(crate) fn stop(socket: &Path, word: &Word) -> Result<Answer, Trouble> {
        let mut last = Trouble::Closed;
        for _ in 0..TRIES {
            match Self::open(socket).and_then(|mut client| client.exchange(word)) {
                Err(Trouble::Closed) => last = Trouble::Closed,
                done => return done,
            }
        }
        Err(last)
    }

    /// As [`Client::connect`], for those who tell an absent node from other troubles.
    ///
    /// # Errors
    /// [`Trouble`].
    pub(crate) fn open(socket: &Path) -> Result<Self, Trouble> {
        let stream = UnixStream::connect(socket).map_err(|error| {
            let absent = [ErrorKind::NotFound, ErrorKind::ConnectionRefused];
            if absent.contains(&error.kind()) {
                Trouble::Absent(error)
            } else {
                Trouble::Other(error.to_string())
            }
        })?;
        stream.set_read_timeout(Some(ANSWER_WITHIN))?;
        stream.set_write_timeout(Some(ANSWER_WITHIN))?;
        Ok(Self {
            socket: socket.to_owned(),
            reader: BufReader::new(stream),
        })
    }

    fn exchange(&mut self, word: &Word) -> Result<Answer, Trouble> {
        let mut line =
            serde_json::to_string(word).map_err(|error| Trouble::Other(error.to_string()))?;
        line.push('\n');
        self.reader.get_mut().write_all(line.as_bytes())?;
        self.read()
    }

    fn wait(&mut self, within: Duration) -> Result<(), Trouble> {
        Ok(self.reader.get_ref().set_read_timeout(Some(within))?)
    }

    fn read(&mut self) -> Result<Answer, Trouble> {
        let mut text = String::new();
        let bound = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        (&mut self.reader).take(bound).read_line(&mut text)?;
        if text.is_empty() {
            return Err(Trouble::Closed);
        }
        serde_json::from_str(&text)
            .map_err(|error| Trouble::Other(format!("answer is no JSON: {error}")))
    }
}
