//! One connection: line in, answer out.
//!
//! A connection that holds an Elevation goes on talking: besides its answers it gets news, and when it is
//! gone, whatever ended it, what it held is dropped. A word on it is answered as on any other.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use super::lines::{Heard, Line, Lines, at_once};
use super::pace::{Pace, WORDS_AT_ONCE, WORDS_PER_S};
use super::seats::Seat;
use super::{Control, Holding};
use crate::app::control::hear::{stop_in, word_of};
use crate::app::control::peer::Peer;
use crate::app::control::words::{
    Answer, ElevationNews, LINE_BYTES_MAX, TEXT_BYTES_MAX, Word, name_problem,
};
use crate::terms::Clock;

/// A peer that does not take its answer within this time is closed.
const WRITE_WITHIN: Duration = Duration::from_secs(1);
/// Pause after a word above the pace that was not carried out: a stop behind it waits so long.
const PAUSE: Duration = Duration::from_millis(1);
/// Pause after a stop above the pace, which was carried out.
const PAUSE_STOPPED: Duration = Duration::from_millis(20);

/// How often a connection that holds an Elevation is looked at: for news, and whether it is gone.
const NEWS_EVERY: Duration = Duration::from_millis(50);

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
    let mut held: Option<Box<dyn Holding>> = None;
    while let Some(line) = next(stream, &mut lines, (&mut held, seat)) {
        let now = clock.now();
        seat.heard(now);
        let in_pace = pace.take(now);
        let (whole, word) = heard(line);
        let is_stop = word.as_ref().is_ok_and(is_stop);
        let answer = match word {
            Ok(word) if in_pace || is_stop => said(&word, (peer, control), &mut held),
            Ok(word) => {
                let why = too_many();
                control.refused(&word, &why, peer.speaker());
                Answer::refused(why)
            }
            Err(problem) if in_pace => Answer::refused(problem),
            Err(_) => Answer::refused(too_many()),
        };
        if held.is_none() {
            seat.answered();
        }
        if write(stream, &answer).is_none() || !whole {
            return;
        }
        if !in_pace {
            thread::park_timeout(if is_stop { PAUSE_STOPPED } else { PAUSE });
        }
    }
}

/// Returns the next line; `None` when the peer is gone, or does not take what it is told. While an
/// Elevation is held its news are told; once it is over the connection is like any other.
fn next(
    stream: &UnixStream,
    lines: &mut Lines<'_>,
    (held, seat): (&mut Option<Box<dyn Holding>>, &Seat),
) -> Option<Line> {
    while let Some(holding) = held {
        let mut is_over = false;
        for news in holding.news() {
            is_over |= matches!(news, ElevationNews::Ended { .. });
            write(stream, &Answer::Elevation(news))?;
        }
        if is_over {
            *held = None;
            seat.answered();
            break;
        }
        match lines.within(NEWS_EVERY) {
            Heard::Line(line) => return Some(line),
            Heard::Silence => {}
            Heard::Gone => return None,
        }
    }
    lines.next()
}

/// Carries out a word of a connection; the one that raises a tier is held by it.
fn said(
    word: &Word,
    (peer, control): (Peer, &dyn Control),
    held: &mut Option<Box<dyn Holding>>,
) -> Answer {
    let Word::Elevate { .. } = word else {
        return answer(word, peer, control);
    };
    let barred = barred(word, peer).or_else(|| {
        let why = "this connection holds an elevation already";
        held.is_some().then(|| why.to_owned())
    });
    if let Some(why) = barred {
        control.refused(word, &why, peer.speaker());
        return Answer::refused(why);
    }
    match control.elevate(word, peer.speaker()) {
        Ok((holding, begun)) => {
            *held = Some(holding);
            Answer::Elevation(begun)
        }
        Err(answer) => answer,
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
    match barred(word, peer).or_else(|| problem_of(word)) {
        Some(why) => {
            control.refused(word, &why, peer.speaker());
            Answer::refused(why)
        }
        None => control.carry_out(word, peer.speaker()),
    }
}

/// Returns why this peer may not say this word.
fn barred(word: &Word, peer: Peer) -> Option<String> {
    (peer.is_child && !word.is_open_to_children()).then(|| {
        format!(
            "{peer} descends from the runtime, or cannot be told from its children: \
             it may only ask status, stop and estop"
        )
    })
}

/// Returns what is wrong with the texts of a word. Nothing is ever wrong with a stop.
fn problem_of(word: &Word) -> Option<String> {
    let named = name_problem;
    match word {
        // All that is wrong with a wish for a higher tier is told by whoever would give it.
        Word::Status | Word::Stop { .. } | Word::Estop { .. } | Word::Elevate { .. } => None,
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
