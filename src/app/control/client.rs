//! The client's end of the control socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::words::{Answer, LINE_BYTES_MAX, Word};
use crate::app::exit::AppError;

/// A node answers within milliseconds; a node that does not within this time does not answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// A connection to a running node.
#[derive(Debug)]
pub(crate) struct Client {
    socket: String,
    reader: BufReader<UnixStream>,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// [`AppError::Control`] when no node listens there.
    pub(crate) fn connect(socket: &Path) -> Result<Self, AppError> {
        let name = socket.display().to_string();
        let bad = |error: std::io::Error| AppError::Control {
            socket: name.clone(),
            problem: error.to_string(),
        };
        let stream = UnixStream::connect(socket).map_err(bad)?;
        stream.set_read_timeout(Some(ANSWER_WITHIN)).map_err(bad)?;
        stream.set_write_timeout(Some(ANSWER_WITHIN)).map_err(bad)?;
        Ok(Self {
            reader: BufReader::new(stream),
            socket: name,
        })
    }

    /// Says one word and waits for its answer.
    ///
    /// # Errors
    /// [`AppError::Control`] when the node is gone, does not answer within 5 s or answers nonsense.
    pub(crate) fn ask(&mut self, word: &Word) -> Result<Answer, AppError> {
        let name = self.socket.clone();
        let bad = |problem: String| AppError::Control {
            socket: name.clone(),
            problem,
        };
        let mut line = serde_json::to_string(word).map_err(|error| bad(error.to_string()))?;
        line.push('\n');
        self.reader
            .get_mut()
            .write_all(line.as_bytes())
            .map_err(|error| bad(error.to_string()))?;
        let mut text = String::new();
        let bound = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        (&mut self.reader)
            .take(bound)
            .read_line(&mut text)
            .map_err(|error| bad(error.to_string()))?;
        if text.is_empty() {
            return Err(bad("the node closed the connection".to_owned()));
        }
        serde_json::from_str(&text).map_err(|error| bad(format!("answer is no JSON: {error}")))
    }
}
