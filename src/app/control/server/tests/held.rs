//! A connection that holds an Elevation: news come on it, stops get through it, and its end is the end.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::{listen, peer};
use crate::app::control::server::*;
use crate::terms::{ElevationEnd, ElevationId, Tier};

/// A test that waits longer has failed.
const GUARD: Duration = Duration::from_secs(60);

/// What a desk of these tests shares with its test.
#[derive(Debug, Default)]
struct Shared {
    done: Mutex<Vec<&'static str>>,
    refused: Mutex<Vec<String>>,
    news: Mutex<VecDeque<ElevationNews>>,
}

#[derive(Debug)]
struct Desk {
    shared: Arc<Shared>,
    gone: Mutex<Sender<()>>,
    breaks: bool,
}

#[derive(Debug)]
struct Held {
    shared: Arc<Shared>,
    gone: Sender<()>,
    breaks: bool,
}

impl Holding for Held {
    fn news(&mut self) -> Vec<ElevationNews> {
        assert!(!self.breaks, "a test");
        self.shared.news.lock().unwrap().drain(..).collect()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gone.send(()).unwrap();
    }
}

impl Control for Desk {
    fn carry_out(&self, word: &Word, _from: Speaker) -> Answer {
        self.shared.done.lock().unwrap().push(word.as_str());
        Answer::Done {
            text: word.as_str().to_owned(),
        }
    }

    fn stop_at_once(&self, word: &Word, from: Speaker) -> Answer {
        self.carry_out(word, from)
    }

    fn elevate(
        &self,
        _: &Word,
        _from: Speaker,
    ) -> Result<(Box<dyn Holding>, ElevationNews), Answer> {
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        let held = Held {
            shared: self.shared.clone(),
            gone: gone.clone(),
            breaks: self.breaks,
        };
        Ok((Box::new(held), used(9)))
    }

    fn refused(&self, word: &Word, why: &str, from: Speaker) {
        let line = format!("{from}: {}: {why}", word.as_str());
        self.shared.refused.lock().unwrap().push(line);
    }
}

fn used(left: u32) -> ElevationNews {
    ElevationNews::Used {
        elevation: ElevationId::new(1).unwrap(),
        call: "call-1".to_owned(),
        tool: "rover_gripper_set".to_owned(),
        left,
    }
}

fn elevate() -> Word {
    Word::Elevate {
        who: "ann".to_owned(),
        why: "test".to_owned(),
        tier: Tier::FullActuation,
        tools: vec!["rover_gripper_set".to_owned()],
        calls: 3,
        for_s: 60,
    }
}

/// A node whose peers are all children, or all others, and when a held connection is let go of.
struct Node {
    shared: Arc<Shared>,
    gone: Receiver<()>,
    path: PathBuf,
    _server: Server,
    _dir: tempfile::TempDir,
}

fn node(judge: fn(&UnixStream) -> Peer, breaks: bool) -> Node {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let (gone, going) = channel();
    let shared = Arc::new(Shared::default());
    let desk = Desk {
        shared: shared.clone(),
        gone: Mutex::new(gone),
        breaks,
    };
    Node {
        shared,
        gone: going,
        _server: listen(&path, Arc::new(desk), judge),
        path,
        _dir: dir,
    }
}

fn open_to_all() -> Node {
    node(|_| peer(false), /* breaks */ false)
}

/// A peer: says words and reads lines.
struct Terminal(BufReader<UnixStream>);

impl Terminal {
    fn at(node: &Node) -> Self {
        let stream = UnixStream::connect(&node.path).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        Self(BufReader::new(stream))
    }

    fn say(&mut self, word: &Word) -> Answer {
        let mut line = serde_json::to_vec(word).unwrap();
        line.push(b'\n');
        self.0.get_mut().write_all(&line).unwrap();
        self.read()
    }

    fn read(&mut self) -> Answer {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn done(word: &str) -> Answer {
    Answer::Done {
        text: word.to_owned(),
    }
}

#[test]
fn case_70_a_terminal_that_is_closed_lets_go_of_what_it_holds() {
    let node = open_to_all();
    let mut terminal = Terminal::at(&node);
    assert_eq!(terminal.say(&elevate()), Answer::Elevation(used(9)));
    assert!(node.gone.try_recv().is_err(), "it is held");
    drop(terminal);
    node.gone.recv_timeout(GUARD).unwrap();
}

#[test]
fn news_come_on_the_connection_and_words_on_it_are_answered_as_ever() {
    let node = open_to_all();
    let mut terminal = Terminal::at(&node);
    terminal.say(&elevate());
    node.shared.news.lock().unwrap().push_back(used(2));
    assert_eq!(terminal.read(), Answer::Elevation(used(2)));
    let stop = Word::Stop {
        who: "ann".to_owned(),
        why: "smoke".to_owned(),
    };
    assert_eq!(terminal.say(&stop), done("stop"));
    assert_eq!(terminal.say(&Word::Status), done("status"));
    assert!(node.gone.try_recv().is_err(), "it is still held");
    let Answer::Refused { failed } = terminal.say(&elevate()) else {
        panic!("a second one");
    };
    assert_eq!(failed, ["this connection holds an elevation already"]);
    let refused = node.shared.refused.lock().unwrap().join("");
    assert_eq!(
        refused,
        format!("process 4711 (user 1000): elevate: {}", failed[0])
    );

    let ended = ElevationNews::Ended {
        elevation: ElevationId::new(1).unwrap(),
        cause: ElevationEnd::Time,
        left: 2,
    };
    node.shared.news.lock().unwrap().push_back(ended.clone());
    assert_eq!(terminal.read(), Answer::Elevation(ended));
    node.gone.recv_timeout(GUARD).unwrap();
    assert_eq!(terminal.say(&elevate()), Answer::Elevation(used(9)), "anew");
}

#[test]
fn a_panic_of_the_thread_that_serves_it_lets_go_of_it_too() {
    let node = node(|_| peer(false), /* breaks */ true);
    let mut terminal = Terminal::at(&node);
    terminal.say(&elevate());
    node.gone.recv_timeout(GUARD).unwrap();
}

#[test]
fn case_66_a_child_of_the_runtime_raises_nothing_and_that_is_recorded() {
    let node = node(|_| peer(true), /* breaks */ false);
    let mut terminal = Terminal::at(&node);
    let Answer::Refused { failed } = terminal.say(&elevate()) else {
        panic!("a child raised a tier");
    };
    assert!(
        failed[0].contains("descends from the runtime"),
        "{failed:?}"
    );
    let refused = node.shared.refused.lock().unwrap();
    assert!(
        refused[0].starts_with("process 4711 (user 1000): elevate: "),
        "{refused:?}"
    );
    drop(terminal);
    assert!(node.gone.try_recv().is_err(), "nothing was held");
}

#[test]
fn a_crowd_of_newer_connections_does_not_close_the_one_that_holds() {
    let node = open_to_all();
    let mut terminal = Terminal::at(&node);
    terminal.say(&elevate());
    let mut crowd: Vec<Terminal> = (0..16).map(|_| Terminal::at(&node)).collect();
    // Twice the seats, and fewer than the threads, so that the last one has its seat.
    assert_eq!(crowd[15].say(&Word::Status), done("status"));
    node.shared.news.lock().unwrap().push_back(used(1));
    assert_eq!(terminal.read(), Answer::Elevation(used(1)));
    assert!(node.gone.try_recv().is_err());
}
