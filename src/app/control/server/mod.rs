//! The server's end of the control socket, on plain threads.

use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use super::peer::Peer;
use super::words::{Answer, LINE_BYTES_MAX, Word};

/// Connections at once. One more is closed at once: a flood must not starve the board.
const CONNECTIONS_MAX: u32 = 16;
/// A connection that says nothing for this long is closed.
const SILENCE_MAX: Duration = Duration::from_secs(600);
/// Longest `who`, `why` and goal, bytes.
const TEXT_BYTES_MAX: usize = 4096;

/// Who carries out the words. Called on the connection's own thread.
pub(crate) trait Control: Send + Sync + fmt::Debug {
    /// Carries one word out. Stops must not wait for anything but the latch word.
    fn carry_out(&self, word: &Word) -> Answer;

    /// Records that a word was refused because of who said it.
    fn refused(&self, word: &Word, why: &str);
}

/// The listening socket. Dropping it removes the socket file and ends the accepting thread.
#[derive(Debug)]
pub(crate) struct Server {
    path: PathBuf,
    closing: Arc<AtomicBool>,
}

impl Server {
    /// Listens at `path`, mode 0660. A stale socket there is replaced: the caller holds the lock of
    /// the robot, so nobody else listens.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub(crate) fn listen(path: &Path, control: Arc<dyn Control>) -> io::Result<Self> {
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Err(_) | Ok(()) => {}
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o660))?;
        let closing = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&closing);
        std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || accept(&listener, &control, &flag))?;
        Ok(Self {
            path: path.to_owned(),
            closing,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Wakes the accepting thread; whether it works or not, the process is ending.
        drop(UnixStream::connect(&self.path));
        drop(std::fs::remove_file(&self.path));
    }
}

fn accept(listener: &UnixListener, control: &Arc<dyn Control>, closing: &AtomicBool) {
    let live = Arc::new(AtomicU32::new(0));
    for stream in listener.incoming() {
        if closing.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if live.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
            live.fetch_sub(1, Ordering::AcqRel);
            tracing::warn!(
                max = CONNECTIONS_MAX,
                "control connection refused: too many"
            );
            continue;
        }
        let (control, counter) = (Arc::clone(control), Arc::clone(&live));
        let spawned = std::thread::Builder::new()
            .name("control-peer".to_owned())
            .spawn(move || {
                serve(&stream, control.as_ref());
                counter.fetch_sub(1, Ordering::AcqRel);
            });
        if spawned.is_err() {
            live.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Answers line by line until the peer is gone, silent or talks nonsense.
fn serve(stream: &UnixStream, control: &dyn Control) {
    let Some(peer) = Peer::of(stream) else { return };
    if stream.set_read_timeout(Some(SILENCE_MAX)).is_err() {
        return;
    }
    let mut reader = BufReader::new(stream);
    let bound = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
    loop {
        let mut line = Vec::new();
        match (&mut reader).take(bound).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let whole = line.ends_with(b"\n");
        let answer = if whole {
            answer(&line, peer, control)
        } else {
            Answer::refused(format!("a line exceeds {LINE_BYTES_MAX} bytes, or is cut"))
        };
        let Ok(mut text) = serde_json::to_string(&answer) else {
            return;
        };
        text.push('\n');
        let mut writer = stream;
        if writer.write_all(text.as_bytes()).is_err() || !whole {
            return;
        }
    }
}

fn answer(line: &[u8], peer: Peer, control: &dyn Control) -> Answer {
    let word = match serde_json::from_slice::<Word>(line) {
        Ok(word) => word,
        Err(error) => return Answer::refused(format!("not a word of this socket: {error}")),
    };
    if peer.is_child && !word.is_open_to_children() {
        let why = format!(
            "process {} (user {}) descends from the runtime: it may only ask status, stop and estop",
            peer.pid, peer.uid
        );
        control.refused(&word, &why);
        return Answer::refused(why);
    }
    if let Some(problem) = problem_of(&word) {
        control.refused(&word, &problem);
        return Answer::refused(problem);
    }
    control.carry_out(&word)
}

/// Returns what is wrong with the texts of a word. Nothing is ever wrong with a stop.
fn problem_of(word: &Word) -> Option<String> {
    let named = |who: &str, why: &str| {
        if who.trim().is_empty() {
            Some("`who` is empty: say who asks".to_owned())
        } else if why.trim().is_empty() {
            Some("`why` is empty: say why".to_owned())
        } else if who.len() > TEXT_BYTES_MAX || why.len() > TEXT_BYTES_MAX {
            Some(format!("`who` or `why` exceeds {TEXT_BYTES_MAX} bytes"))
        } else {
            None
        }
    };
    match word {
        Word::Status | Word::Stop { .. } | Word::Estop { .. } => None,
        Word::Arm { for_s, .. } if !(1..=3600).contains(for_s) => {
            Some(format!("`for_s` is {for_s}: 1 to 3600"))
        }
        Word::Arm { who, why, .. } | Word::Disarm { who, why } | Word::Reset { who, why } => {
            named(who, why)
        }
        Word::Goal { who, text } if text.len() > TEXT_BYTES_MAX => {
            Some(format!("goal of {who} exceeds {TEXT_BYTES_MAX} bytes"))
        }
        Word::Goal { who, text } => named(who, text),
        Word::End { who } => named(who, "end"),
    }
}

#[cfg(test)]
mod tests;
