//! The control socket judges words and peers, and survives nonsense.

use std::sync::Mutex;

use super::super::client::Client;
use super::*;

#[derive(Debug, Default)]
struct Recording {
    done: Mutex<Vec<Word>>,
    refused: Mutex<Vec<String>>,
}

impl Control for Recording {
    fn carry_out(&self, word: &Word) -> Answer {
        self.done.lock().unwrap().push(word.clone());
        Answer::Done {
            text: word.as_str().to_owned(),
        }
    }

    fn refused(&self, word: &Word, _why: &str) {
        self.refused.lock().unwrap().push(word.as_str().to_owned());
    }
}

fn peer(is_child: bool) -> Peer {
    Peer {
        uid: 1000,
        pid: 4711,
        is_child,
    }
}

fn line(word: &Word) -> Vec<u8> {
    serde_json::to_vec(word).unwrap()
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
        Word::Goal {
            who: who.clone(),
            text: why,
        },
        Word::End { who },
    ]
}

#[test]
fn case_66_a_child_of_the_runtime_may_only_ask_status_stop_and_estop() {
    let control = Recording::default();
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
        ["arm", "disarm", "reset", "goal", "end"]
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

#[test]
fn a_client_is_served_over_the_socket_and_a_long_line_ends_only_its_own_connection() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("control.sock");
    let control = Arc::new(Recording::default());
    let server = Server::listen(&path, control).unwrap();

    let mut flood = UnixStream::connect(&path).unwrap();
    flood.write_all(&vec![b'x'; LINE_BYTES_MAX]).unwrap();
    let mut text = String::new();
    flood.read_to_string(&mut text).unwrap();
    assert!(text.contains("exceeds"), "{text}");

    let mut client = Client::connect(&path).unwrap();
    assert_eq!(
        client.ask(&Word::Status).unwrap(),
        Answer::Done {
            text: "status".into()
        }
    );
    assert_eq!(
        client.ask(&Word::Status).unwrap(),
        Answer::Done {
            text: "status".into()
        }
    );
    drop(server);
    assert!(Client::connect(&path).is_err());
}
