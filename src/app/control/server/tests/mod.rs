//! The control socket judges words and peers, and survives nonsense.

mod held;

use std::io::{Read as _, Write as _};
use std::sync::Mutex;

use super::super::client::Client;
use super::super::hear::word_of;
use super::super::words::{LINE_BYTES_MAX, TEXT_BYTES_MAX};
use super::*;
use crate::app::clock::SystemClock;
use crate::terms::Tier;

#[derive(Debug, Default)]
struct Recording {
    done: Mutex<Vec<Word>>,
    refused: Mutex<Vec<String>>,
}

impl Control for Recording {
    fn carry_out(&self, word: &Word, _from: Speaker) -> Answer {
        self.done.lock().unwrap().push(word.clone());
        Answer::Done {
            text: word.as_str().to_owned(),
        }
    }

    fn stop_at_once(&self, word: &Word, from: Speaker) -> Answer {
        self.carry_out(word, from)
    }

    fn elevate(
        &self,
        word: &Word,
        from: Speaker,
    ) -> Result<(Box<dyn Holding>, ElevationNews), Answer> {
        Err(self.carry_out(word, from))
    }

    fn refused(&self, word: &Word, _why: &str, _from: Speaker) {
        self.refused.lock().unwrap().push(word.as_str().to_owned());
    }
}

pub(super) fn peer(is_child: bool) -> Peer {
    Peer {
        uid: 1000,
        pid: 4711,
        is_child,
    }
}

fn line(word: &Word) -> Vec<u8> {
    serde_json::to_vec(word).unwrap()
}

fn answer(line: &[u8], peer: Peer, control: &dyn Control) -> Answer {
    word_of(line).map_or_else(Answer::refused, |word| talk::answer(&word, peer, control))
}

fn all_words() -> Vec<Word> {
    let (who, why) = (String::from("ann"), String::from("test"));
    vec![
        Word::Status,
        Word::Arm {
            who: who.clone(),
            why: why.clone(),
            for_s: 30,
        },
        Word::Disarm {
            who: who.clone(),
            why: why.clone(),
        },
        Word::Stop {
            who: who.clone(),
            why: why.clone(),
        },
        Word::Estop {
            who: who.clone(),
            why: why.clone(),
        },
        Word::Reset {
            who: who.clone(),
            why: why.clone(),
        },
        Word::Approve {
            who: who.clone(),
            why: why.clone(),
            request: "q1-abcdef".to_owned(),
        },
        Word::Deny {
            who: who.clone(),
            why: why.clone(),
            request: "q1-abcdef".to_owned(),
        },
        Word::Elevate {
            who: who.clone(),
            why: why.clone(),
            tier: Tier::FullActuation,
            tools: vec!["rover_gripper_set".to_owned()],
            calls: 1,
            for_s: 30,
        },
        Word::Goal {
            who: who.clone(),
            text: why,
        },
        Word::End { who },
    ]
}

/// The place of a word in the list above: one that is added must be said there as well.
fn place(word: &Word) -> usize {
    match word {
        Word::Status => 0,
        Word::Arm { .. } => 1,
        Word::Disarm { .. } => 2,
        Word::Stop { .. } => 3,
        Word::Estop { .. } => 4,
        Word::Reset { .. } => 5,
        Word::Approve { .. } => 6,
        Word::Deny { .. } => 7,
        Word::Elevate { .. } => 8,
        Word::Goal { .. } => 9,
        Word::End { .. } => 10,
    }
}

#[test]
fn case_66_a_child_of_the_runtime_may_only_ask_status_stop_and_estop() {
    let control = Recording::default();
    let places: Vec<usize> = all_words().iter().map(place).collect();
    assert_eq!(places, (0..11).collect::<Vec<_>>());
    for word in all_words() {
        answer(&line(&word), peer(true), &control);
    }
    let done: Vec<_> = control
        .done
        .lock()
        .unwrap()
        .iter()
        .map(Word::as_str)
        .collect();
    assert_eq!(done, ["status", "stop", "estop"]);
    assert_eq!(
        *control.refused.lock().unwrap(),
        [
            "arm", "disarm", "reset", "approve", "deny", "elevate", "goal", "end"
        ]
    );
}

#[test]
fn anybody_else_may_say_every_word() {
    let control = Recording::default();
    for word in all_words() {
        assert!(matches!(
            answer(&line(&word), peer(false), &control),
            Answer::Done { .. }
        ));
    }
    assert_eq!(*control.done.lock().unwrap(), all_words());
}

#[test]
fn words_without_name_or_reason_are_refused_but_stops_are_not() {
    let control = Recording::default();
    let blank = String::new;
    for word in [
        Word::Arm {
            who: blank(),
            why: "x".into(),
            for_s: 30,
        },
        Word::Arm {
            who: "ann".into(),
            why: " ".into(),
            for_s: 30,
        },
        Word::Arm {
            who: "ann".into(),
            why: "x".into(),
            for_s: 0,
        },
        Word::Arm {
            who: "ann".into(),
            why: "x".into(),
            for_s: 3601,
        },
        Word::Reset {
            who: "ann".into(),
            why: "x".repeat(TEXT_BYTES_MAX + 1),
        },
        Word::Goal {
            who: "ann".into(),
            text: blank(),
        },
    ] {
        assert!(matches!(
            answer(&line(&word), peer(false), &control),
            Answer::Refused { .. }
        ));
    }
    assert!(control.done.lock().unwrap().is_empty());
    assert_eq!(control.refused.lock().unwrap().len(), 6);
    let stop = Word::Stop {
        who: blank(),
        why: blank(),
    };
    assert!(matches!(
        answer(&line(&stop), peer(true), &control),
        Answer::Done { .. }
    ));
}

#[test]
fn nonsense_is_answered_and_harms_nothing() {
    let control = Recording::default();
    for nonsense in [
        &b"{}"[..],
        b"[]",
        b"{\"do\":\"fly\"}",
        b"\xff\xfe",
        b"",
        b"{\"do\":\"end\",\"who\":\"a\",\"x\":1}",
    ] {
        assert!(matches!(
            answer(nonsense, peer(false), &control),
            Answer::Refused { .. }
        ));
    }
    assert!(control.done.lock().unwrap().is_empty());
}

/// A socket whose peers are all children, or all others.
pub(super) fn listen(
    path: &Path,
    control: Arc<dyn Control>,
    judge: fn(&UnixStream) -> Peer,
) -> Server {
    let door = Door {
        listener: bind(path).unwrap(),
        control,
        clock: Arc::new(SystemClock::start()),
        closing: Arc::default(),
        seats: Seats::default(),
        judge,
    };
    door.open(path).unwrap()
}

/// Sends a line as it is and returns the answer.
fn send(path: &Path, line: &[u8]) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    stream.write_all(line).unwrap();
    let mut reader = std::io::BufReader::new(stream);
    let mut text = String::new();
    std::io::BufRead::read_line(&mut reader, &mut text).unwrap();
    text
}

fn stop() -> Word {
    Word::Stop {
        who: "ann".to_owned(),
        why: "smoke".to_owned(),
    }
}

#[test]
fn a_client_is_served_over_the_socket_and_a_long_line_ends_only_its_own_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let control = Arc::new(Recording::default());
    let clock = Arc::new(SystemClock::start());
    let server = Server::listen(&path, control, clock).unwrap();

    let mut flood = UnixStream::connect(&path).unwrap();
    flood.write_all(&vec![b'x'; LINE_BYTES_MAX]).unwrap();
    let mut text = String::new();
    flood.read_to_string(&mut text).unwrap();
    assert!(text.contains("exceeds"), "{text}");

    let mut client = Client::connect(&path).unwrap();
    for _ in 0..2 {
        let text = "status".to_owned();
        assert_eq!(client.ask(&Word::Status).unwrap(), Answer::Done { text });
    }
    drop(server);
    assert!(Client::connect(&path).is_err());
}

#[test]
fn a_stop_gets_through_a_crowd_that_sits_in_silence_or_floods() {
    for judge in [|_: &UnixStream| peer(true), |_: &UnixStream| peer(false)] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("control.sock");
        let control = Arc::new(Recording::default());
        let _server = listen(&path, control.clone(), judge);
        let crowd: Vec<_> = (0..64)
            .map(|n| {
                let mut stream = UnixStream::connect(&path).unwrap();
                if n % 2 == 0 {
                    // Words without end, and nobody who takes the answers. Closed ones refuse.
                    stream.set_nonblocking(true).unwrap();
                    drop(stream.write_all(&b"{\"do\":\"status\"}\n".repeat(20_000)));
                }
                stream
            })
            .collect();
        let told = Client::stop(&path, &stop()).unwrap();
        assert!(matches!(told, Answer::Done { .. }), "{told:?}");
        assert!(control.done.lock().unwrap().contains(&stop()));
        drop(crowd);
    }
}

/// Carries nothing out but stops at the door: all others wait until the test is over.
#[derive(Debug)]
struct Stuck {
    gate: Mutex<()>,
    stopped: Mutex<Vec<Word>>,
    began: std::sync::mpsc::Sender<()>,
}

impl Control for Stuck {
    fn carry_out(&self, word: &Word, _from: Speaker) -> Answer {
        self.began.send(()).unwrap();
        drop(self.gate.lock().unwrap());
        Answer::refused(word.as_str())
    }

    fn stop_at_once(&self, word: &Word, _from: Speaker) -> Answer {
        self.stopped.lock().unwrap().push(word.clone());
        Answer::Done {
            text: "at once".to_owned(),
        }
    }

    fn elevate(
        &self,
        word: &Word,
        from: Speaker,
    ) -> Result<(Box<dyn Holding>, ElevationNews), Answer> {
        Err(self.carry_out(word, from))
    }

    fn refused(&self, _word: &Word, _why: &str, _from: Speaker) {}
}

#[test]
fn a_stop_gets_through_when_every_seat_is_having_a_word_carried_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let (began, begun) = std::sync::mpsc::channel();
    let control = Arc::new(Stuck {
        gate: Mutex::new(()),
        stopped: Mutex::default(),
        began,
    });
    let closed = control.gate.lock().unwrap();
    let _server = listen(&path, control.clone(), |_| peer(false));
    let waiting: Vec<_> = (0..seats::SEATS_MAX)
        .map(|_| {
            let mut stream = UnixStream::connect(&path).unwrap();
            stream.write_all(b"{\"do\":\"status\"}\n").unwrap();
            begun.recv().unwrap();
            stream
        })
        .collect();
    // The door gives each a moment only: a busy machine may need a second try.
    let mut tries = (0..1000).map(|_| Client::stop(&path, &stop()));
    assert!(tries.any(|told| matches!(told, Ok(Answer::Done { .. }))));
    assert_eq!(control.stopped.lock().unwrap().first(), Some(&stop()));
    drop(closed);
    drop(waiting);
}

#[test]
fn a_stop_is_heard_over_the_socket_whatever_its_form() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let control = Arc::new(Recording::default());
    let _server = listen(&path, control.clone(), |_| peer(true));
    let long = format!("{{\"do\":\"stop\",\"why\":\"{}\"}}\n", "x".repeat(40_000));
    for line in [
        &b"{\"do\":\"stop\"}\n"[..],
        b"{\"do\":\"estop\",\"who\":null,\"force\":true}\n",
        b"{\"do\":\"stop\",\"who\":\"\xff\xfe\"}\n",
        b"{\"do\":\"stop\",\"who\":\"an",
        long.as_bytes(),
    ] {
        let told = send(&path, line);
        assert!(told.contains("\"done\""), "{told}");
    }
    let done = control.done.lock().unwrap();
    let words: Vec<_> = done.iter().map(Word::as_str).collect();
    assert_eq!(words, ["stop", "estop", "stop", "stop", "stop"]);
}

#[test]
fn a_stop_behind_a_flood_on_the_same_connection_is_carried_out_and_the_flood_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let control = Arc::new(Recording::default());
    let _server = listen(&path, control.clone(), |_| peer(false));
    let mut stream = UnixStream::connect(&path).unwrap();
    let mut lines = b"{\"do\":\"status\"}\n".repeat(300);
    lines.extend(line(&stop()));
    lines.push(b'\n');
    stream.write_all(&lines).unwrap();
    let answers: Vec<String> = std::io::BufRead::lines(std::io::BufReader::new(stream))
        .take(301)
        .map(Result::unwrap)
        .collect();
    assert!(answers.last().unwrap().contains("\"done\""));
    let many = answers.iter().filter(|a| a.contains("too many words"));
    assert!(many.count() > 0);
    assert_eq!(control.done.lock().unwrap().last(), Some(&stop()));
}

#[test]
fn a_peer_that_the_kernel_does_not_name_may_stop_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let control = Arc::new(Recording::default());
    let unnamed = |_: &UnixStream| Peer {
        uid: u32::MAX,
        pid: 0,
        is_child: true,
    };
    let _server = listen(&path, control.clone(), unnamed);
    for word in all_words() {
        let told = send(&path, &[line(&word), b"\n".to_vec()].concat());
        assert_eq!(
            told.contains("\"done\""),
            word.is_open_to_children(),
            "{told}"
        );
    }
}

#[test]
fn an_empty_goal_is_said_to_be_empty() {
    let goal = Word::Goal {
        who: "ann".to_owned(),
        text: " ".to_owned(),
    };
    let told = answer(&line(&goal), peer(false), &Recording::default());
    assert_eq!(told, Answer::refused("the goal is empty: say what to do"));
}

#[test]
fn the_socket_is_made_with_its_mode_and_replaces_a_stale_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    drop(bind(&path).unwrap());
    // What a life that was killed in between leaves.
    std::fs::create_dir(dir.path().join(NURSERY)).unwrap();
    drop(UnixListener::bind(dir.path().join(NURSERY).join("s")).unwrap());

    let listener = bind(&path).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    assert!(!dir.path().join(NURSERY).exists());
    assert!(UnixStream::connect(&path).is_ok());
    drop(listener);
}
