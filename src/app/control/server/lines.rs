//! Lines of a connection, with bounds on their length and on the silence between them.

use std::io::{ErrorKind, Read as _};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use crate::app::control::hear::stop_in;
use crate::app::control::words::LINE_BYTES_MAX;

/// A connection that says nothing for this long is closed.
const SILENCE_MAX: Duration = Duration::from_secs(600);
/// The rest of a line that already is a stop is waited for so long.
const REST_WITHIN: Duration = Duration::from_millis(100);
/// A connection without a seat has this long to say a stop: all others wait for it meanwhile.
const AT_ONCE_WITHIN: Duration = Duration::from_millis(5);
/// Bytes of one read.
const READ_BYTES: usize = 4096;

/// What a connection said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line with its end.
    Whole(Vec<u8>),
    /// The beginning of a line whose end did not come.
    Cut(Vec<u8>),
    /// The beginning of a line that is too long.
    Long(Vec<u8>),
}

/// What came within a time.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line.
    Line(Line),
    /// No line, and the peer is there.
    Silence,
    /// The peer is gone.
    Gone,
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    stream: &'a UnixStream,
    held: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(stream: &'a UnixStream) -> Self {
        Self {
            stream,
            held: Vec::new(),
        }
    }

    /// Returns the next line; `None` when the peer is gone or silent for too long. Behind a line that
    /// is not whole there is no other.
    pub(super) fn next(&mut self) -> Option<Line> {
        let mut chunk = [0; READ_BYTES];
        let mut silence = Duration::ZERO;
        loop {
            if let Some(line) = self.ready() {
                return Some(line);
            }
            let within = if self.held.is_empty() {
                SILENCE_MAX
            } else {
                REST_WITHIN
            };
            self.stream.set_read_timeout(Some(within)).ok()?;
            match self.stream.read(&mut chunk) {
                Ok(0) => return self.cut(),
                Ok(bytes) => {
                    silence = Duration::ZERO;
                    self.held.extend(chunk.iter().take(bytes));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if is_timeout(error.kind()) => {
                    silence = silence.saturating_add(within);
                    if silence >= SILENCE_MAX || stop_in(&self.held).is_some() {
                        return self.cut();
                    }
                }
                Err(_gone) => return self.cut(),
            }
        }
    }

    /// Waits for the next line, but not longer than `within`, of whole milliseconds. A line that is
    /// begun is waited for in the next round.
    pub(super) fn within(&mut self, within: Duration) -> Heard {
        let mut chunk = [0; READ_BYTES];
        if let Some(line) = self.ready() {
            return Heard::Line(line);
        }
        if self.stream.set_read_timeout(Some(within)).is_err() {
            return Heard::Gone;
        }
        let gone = |line: Option<Line>| line.map_or(Heard::Gone, Heard::Line);
        match self.stream.read(&mut chunk) {
            Ok(0) => gone(self.cut()),
            Ok(bytes) => {
                self.held.extend(chunk.iter().take(bytes));
                self.ready().map_or(Heard::Silence, Heard::Line)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Heard::Silence,
            Err(error) if is_timeout(error.kind()) => {
                if stop_in(&self.held).is_some() {
                    gone(self.cut())
                } else {
                    Heard::Silence
                }
            }
            Err(_gone) => gone(self.cut()),
        }
    }

    /// Takes a line that is here already.
    fn ready(&mut self) -> Option<Line> {
        if let Some(end) = self.held.iter().position(|byte| *byte == b'\n')
            && end < LINE_BYTES_MAX
        {
            let rest = self.held.split_off(end.saturating_add(1));
            return Some(Line::Whole(std::mem::replace(&mut self.held, rest)));
        }
        let is_long = self.held.len() >= LINE_BYTES_MAX;
        is_long.then(|| Line::Long(std::mem::take(&mut self.held)))
    }

    fn cut(&mut self) -> Option<Line> {
        let held = std::mem::take(&mut self.held);
        (!held.is_empty()).then_some(Line::Cut(held))
    }
}

/// Returns what a connection has said already, or says within a moment.
pub(super) fn at_once(mut stream: &UnixStream) -> Option<Vec<u8>> {
    let mut chunk = vec![0; READ_BYTES];
    stream.set_read_timeout(Some(AT_ONCE_WITHIN)).ok()?;
    let bytes = stream.read(&mut chunk).ok()?;
    chunk.truncate(bytes);
    Some(chunk)
}

fn is_timeout(kind: ErrorKind) -> bool {
    kind == ErrorKind::WouldBlock || kind == ErrorKind::TimedOut
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_come_whole_cut_or_too_long() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let mut lines = Lines::of(&near);
        far.write_all(b"one\n\ntwo\nthr").unwrap();
        assert_eq!(lines.next(), Some(Line::Whole(b"one\n".to_vec())));
        assert_eq!(lines.next(), Some(Line::Whole(b"\n".to_vec())));
        assert_eq!(lines.next(), Some(Line::Whole(b"two\n".to_vec())));
        drop(far);
        assert_eq!(lines.next(), Some(Line::Cut(b"thr".to_vec())));
        assert_eq!(lines.next(), None);

        let (near, mut far) = UnixStream::pair().unwrap();
        let mut long = vec![b'x'; LINE_BYTES_MAX];
        far.write_all(&long).unwrap();
        long.truncate(LINE_BYTES_MAX);
        assert_eq!(Lines::of(&near).next(), Some(Line::Long(long)));
    }

    #[test]
    fn a_stop_whose_end_does_not_come_is_heard_while_the_connection_stays_open() {
        let (near, mut far) = UnixStream::pair().unwrap();
        far.write_all(br#"{"do":"stop","who":"an"#).unwrap();
        let line = Lines::of(&near).next();
        assert_eq!(line, Some(Line::Cut(br#"{"do":"stop","who":"an"#.to_vec())));
        drop(far);
    }
}
