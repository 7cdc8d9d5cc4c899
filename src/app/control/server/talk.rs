//! One connection: line in, answer out.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::Control;
use super::lines::{Line, Lines, at_once};
use super::pace::{Pace, WORDS_AT_ONCE, WORDS_PER_S};
use super::seats::Seat;
use crate::app::control::hear::{TEXT_BYTES_MAX, stop_in, word_of};
use crate::app::control::peer::Peer;
use crate::app::control::words::{Answer, LINE_BYTES_MAX, Word};
use crate::terms::Clock;

/// A peer that does not take its answer within this time is closed.
const WRITE_WITHIN: Duration = Duration::from_secs(1);
/// Pause after a word above the pace that was not carried out: a stop behind it waits so long.
const PAUSE: Duration = Duration::from_millis(1);
/// Pause after a stop above the pace, which was carried out.
const PAUSE_STOPPED: Duration = Duration::from_millis(20);

/// Answers line by line until the peer is gone, silent or sends a line that is not whole.
pub(super) fn talk(
    (stream, peer): (&UnixStream, Peer),
    seat: &Seat,
    control: &dyn Control,
    clock: &dyn Clock,
) {
    if stream.set_write_timeout(Some(WRITE_WITHIN)).is_err() {
        return;
    }
    let mut lines = Lines::of(stream);
    let mut pace = Pace::new(clock.now());
    while let Some(line) = lines.next() {
        let now = clock.now();
        seat.heard(now);
        let in_pace = pace.take(now);
        let (whole, word) = heard(line);
        let is_stop = word.as_ref().is_ok_and(is_stop);
        let answer = match word {
            Ok(word) if in_pace || is_stop => answer(&word, peer, control),
            Ok(word) => {
                let why = too_many();
                control.refused(&word, &why, peer.speaker());
                Answer::refused(why)
            }
            Err(problem) if in_pace => Answer::refused(problem),
            Err(_) => Answer::refused(too_many()),
        };
        seat.answered();
        if write(stream, &answer).is_none() || !whole {
            return;
        }
        if !in_pace {
            thread::park_timeout(if is_stop { PAUSE_STOPPED } else { PAUSE });
        }
    }
}

/// Hears one stop without a seat and without waiting, when there is no room for a connection.
pub(super) fn stop_at_the_door((stream, peer): (&UnixStream, Peer), control: &dyn Control) {
    let answer = match at_once(stream).as_deref().and_then(stop_in) {
        Some(stop) => control.stop_at_once(&stop, peer.speaker()),
        None => Answer::refused("too many connections: each is having a word carried out"),
    };
    if stream.set_nonblocking(true).is_ok() {
        // Whoever has gone needs no answer.
        let _told = write(stream, &answer);
    }
}

fn write(mut stream: &UnixStream, answer: &Answer) -> Option<()> {
    let mut text = serde_json::to_string(answer).ok()?;
    text.push('\n');
    stream.write_all(text.as_bytes()).ok()
}

fn too_many() -> String {
    format!("too many words: {WORDS_AT_ONCE} at once, then {WORDS_PER_S} a second")
}

fn is_stop(word: &Word) -> bool {
    matches!(word, Word::Stop { .. } | Word::Estop { .. })
}

/// Returns whether the line is whole, and its word.
fn heard(line: Line) -> (bool, Result<Word, String>) {
    let (line, problem) = match line {
        Line::Whole(line) => return (true, word_of(&line)),
        Line::Cut(line) => (line, "a line is cut".to_owned()),
        Line::Long(line) => (line, format!("a line exceeds {LINE_BYTES_MAX} bytes")),
    };
    (false, stop_in(&line).ok_or(problem))
}

/// Judges who says a word and how, and carries it out.
pub(super) fn answer(word: &Word, peer: Peer, control: &dyn Control) -> Answer {
    if peer.is_child && !word.is_open_to_children() {
        let why = format!(
            "{peer} descends from the runtime, or cannot be told from its children: \
             it may only ask status, stop and estop"
        );
        control.refused(word, &why, peer.speaker());
        return Answer::refused(why);
    }
    if let Some(problem) = problem_of(word) {
        control.refused(word, &problem, peer.speaker());
        return Answer::refused(problem);
    }
    control.carry_out(word, peer.speaker())
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
        Word::Approve { request, .. } | Word::Deny { request, .. } if request.trim().is_empty() => {
            Some("`request` is empty: say which question".to_owned())
        }
        Word::Approve { who, why, .. } | Word::Deny { who, why, .. } => named(who, why),
        Word::Goal { text, .. } if text.trim().is_empty() => {
            Some("the goal is empty: say what to do".to_owned())
        }
        Word::Goal { who, text } if text.len() > TEXT_BYTES_MAX => {
            Some(format!("goal of {who} exceeds {TEXT_BYTES_MAX} bytes"))
        }
        Word::Goal { who, .. } => named(who, "goal"),
        Word::End { who } => named(who, "end"),
    }
}
