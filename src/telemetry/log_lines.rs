//! Log lines on their way to standard error, through a bounded queue and a thread of their own.
//!
//! Saying a line never waits: whoever reads standard error may have stopped reading, and a stop, the
//! black box and the end of a broken process must not stand behind it. What does not fit is dropped and
//! counted, and the count is told once there is room. The thread holds standard error while it waits.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use crate::terms::steers;

/// Lines that may wait; more are dropped and counted.
const LINES_MAX: usize = 1024;
/// Bytes that may wait; more are dropped and counted.
const BYTES_MAX: u64 = 1024 * 1024;
/// How often a flush looks.
const LOOK: Duration = Duration::from_millis(2);

/// Where log lines are said. Copies share one queue.
#[derive(Clone)]
pub(super) struct LogLines {
    queue: SyncSender<Vec<u8>>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    said: AtomicU64,
    written: AtomicU64,
    waiting_bytes: AtomicU64,
    dropped: AtomicU64,
}

/// Spells out what a stranger's text would do to a terminal. The formatter did so with ASCII, whose escapes
/// in a line are its own colours.
fn harmless(line: &[u8]) -> Vec<u8> {
    if line.is_ascii() {
        return line.to_vec();
    }
    let mut shown = String::with_capacity(line.len());
    for c in String::from_utf8_lossy(line).chars() {
        if !c.is_ascii() && steers(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown.into_bytes()
}

impl fmt::Debug for LogLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLines")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl LogLines {
    /// Starts the thread that writes to `out` and calls `tell` with the number of dropped lines.
    ///
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn start(
        out: impl Write + Send + 'static,
        tell: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Self> {
        let (queue, lines) = sync_channel(LINES_MAX);
        let counts = Arc::new(Counts::default());
        let held = Arc::clone(&counts);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_all(&lines, out, &held, &tell))?;
        Ok(Self { queue, counts })
    }

    /// Says a line, or drops and counts it.
    fn say(&self, line: &[u8]) {
        let counts = &self.counts;
        let line = harmless(line);
        let bytes = len(&line);
        let before = counts.waiting_bytes.fetch_add(bytes, Ordering::AcqRel);
        let fits = before.saturating_add(bytes) <= BYTES_MAX;
        counts.said.fetch_add(1, Ordering::AcqRel);
        if !fits || self.queue.try_send(line).is_err() {
            counts.said.fetch_sub(1, Ordering::AcqRel);
            counts.waiting_bytes.fetch_sub(bytes, Ordering::AcqRel);
            counts.dropped.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Waits until everything is written, at most `within`. Returns whether it is.
    pub(super) fn flush(&self, within: Duration) -> bool {
        let looks = within.as_millis().div_ceil(LOOK.as_millis());
        for _ in 0..looks {
            if self.is_written() {
                return true;
            }
            thread::park_timeout(LOOK);
        }
        self.is_written()
    }

    fn is_written(&self) -> bool {
        let counts = &self.counts;
        counts.written.load(Ordering::Acquire) >= counts.said.load(Ordering::Acquire)
    }
}

fn write_all(lines: &Receiver<Vec<u8>>, mut out: impl Write, counts: &Counts, tell: &dyn Fn(u64)) {
    for line in lines {
        // A reader that went away and a full disk have nowhere left to be reported to.
        drop(out.write_all(&line));
        counts.waiting_bytes.fetch_sub(len(&line), Ordering::AcqRel);
        let dropped = counts.dropped.swap(0, Ordering::AcqRel);
        if dropped > 0 {
            tell(dropped);
        }
        // Behind the telling, so that a flush waits for that line too.
        counts.written.fetch_add(1, Ordering::AcqRel);
    }
}

fn len(line: &[u8]) -> u64 {
    u64::try_from(line.len()).unwrap_or(u64::MAX)
}

impl Write for &LogLines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.say(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, PipeReader};

    use super::*;

    /// A pipe that nobody reads, as standard error of a process whose reader stands still.
    fn unread() -> (LogLines, PipeReader, Receiver<u64>) {
        let (reader, pipe) = io::pipe().unwrap();
        let (told, tellings) = std::sync::mpsc::channel();
        let lines = LogLines::start(pipe, move |dropped| told.send(dropped).unwrap()).unwrap();
        (lines, reader, tellings)
    }

    #[test]
    fn a_reader_that_stands_still_holds_nobody_up_and_what_was_dropped_is_told() {
        let (lines, reader, tellings) = unread();
        // Ten times what pipe and queue hold.
        let said = 20_000;
        for n in 0..said {
            (&lines)
                .write_all(format!("line {n} {}\n", "x".repeat(100)).as_bytes())
                .unwrap();
        }
        assert!(!lines.flush(Duration::from_millis(4)), "nobody reads");

        drop(lines);
        let numbers: Vec<u64> = BufReader::new(reader)
            .lines()
            .map(|line| line.unwrap().split(' ').nth(1).unwrap().parse().unwrap())
            .collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "in their order");
        assert_eq!(numbers.first(), Some(&0));
        let dropped: u64 = tellings.iter().sum();
        let kept = u64::try_from(numbers.len()).unwrap();
        assert!(dropped > 0 && kept >= 1024, "{dropped} of {said} dropped");
        assert_eq!(kept + dropped, said);
    }

    #[test]
    fn a_line_keeps_its_letters_and_colours_and_steers_no_terminal() {
        let line = "\u{1b}[32mINFO\u{1b}[0m é→ a\u{9b}31mb\u{202e}c\u{2028}d\u{200b}\n";
        let shown = String::from_utf8(harmless(line.as_bytes())).unwrap();
        assert_eq!(
            shown,
            "\u{1b}[32mINFO\u{1b}[0m é→ a\\u{9b}31mb\\u{202e}c\\u{2028}d\\u{200b}\n"
        );
        assert_eq!(harmless(shown.as_bytes()), shown.as_bytes());
    }

    #[test]
    fn the_last_line_is_out_once_a_flush_returned() {
        let (lines, reader, _tellings) = unread();
        (&lines).write_all(b"the end\n").unwrap();
        assert!(lines.flush(Duration::from_secs(10)));
        drop(lines);
        let read: Vec<_> = BufReader::new(reader).lines().map(Result::unwrap).collect();
        assert_eq!(read, ["the end"]);
    }

    #[test]
    fn bytes_that_wait_have_a_bound() {
        let (lines, _reader, _tellings) = unread();
        for _ in 0..64 {
            (&lines).write_all(&vec![b'x'; 100_000]).unwrap();
        }
        assert!(lines.counts.waiting_bytes.load(Ordering::Acquire) <= BYTES_MAX);
        assert!(lines.counts.dropped.load(Ordering::Acquire) > 0);
    }
}
