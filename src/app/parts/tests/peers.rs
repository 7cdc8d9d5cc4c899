//! Every word that a process says is recorded with the process, whatever became of the word.

use super::words::{World, world};
use crate::app::control::{Answer, Speaker, Word};
use crate::terms::{Fact, SocketPeer};

const TERMINAL: Speaker = Speaker::Process {
    pid: 4711,
    uid: 1000,
    is_child: false,
};
const PEER: SocketPeer = SocketPeer {
    pid: 4711,
    uid: 1000,
};

/// The words of people in the records, each with its process.
fn recorded(world: &World) -> Vec<(String, Option<SocketPeer>)> {
    let facts = world.facts.0.lock().unwrap();
    let word = |fact: &Fact| {
        if let Fact::OrderDone { order, peer, .. } = fact {
            Some((order.clone(), *peer))
        } else if let Fact::OrderRefused { order, peer, .. } = fact {
            Some((format!("no {order}"), *peer))
        } else if let Fact::ApprovalEnded { outcome, peer, .. } = fact {
            Some((outcome.as_str().to_owned(), *peer))
        } else {
            None
        }
    };
    facts.iter().filter_map(word).collect()
}

fn said(from: Speaker) -> Vec<(String, Option<SocketPeer>)> {
    let world = world();
    let (who, why) = (|| "ann".to_owned(), || "a test".to_owned());
    let arm = Word::Arm {
        who: who(),
        why: why(),
        for_s: 30,
    };
    world.desk.told(&arm, Ok(()), from);
    let disarm = Word::Disarm {
        who: who(),
        why: why(),
    };
    world
        .desk
        .told(&disarm, Err(vec!["moving".to_owned()]), from);
    let request = || "1-abcdef".to_owned();
    for word in [
        Word::Approve {
            who: who(),
            why: why(),
            request: request(),
        },
        Word::Deny {
            who: who(),
            why: why(),
            request: request(),
        },
        Word::Goal {
            who: who(),
            text: "go".to_owned(),
        },
        Word::Stop {
            who: who(),
            why: why(),
        },
        Word::Estop {
            who: who(),
            why: why(),
        },
        Word::End { who: who() },
    ] {
        let answer = world.desk.carry_out(&word, from);
        assert!(!matches!(answer, Answer::Status(_)), "{word:?}: {answer:?}");
    }
    recorded(&world)
}

#[test]
fn every_word_of_a_process_is_recorded_with_its_process_and_a_scenario_has_none() {
    let words = [
        "arm",
        "no disarm",
        "unknown",
        "unknown",
        "no goal",
        "stop",
        "estop",
        "end",
    ];
    for (from, peer) in [(TERMINAL, Some(PEER)), (Speaker::Scenario, None)] {
        assert_eq!(said(from), words.map(|word| (word.to_owned(), peer)));
    }
}
