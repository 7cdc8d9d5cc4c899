//! Floods are counted, nobody else's records are taken, and no word is lost.

use super::*;
use crate::sim::VirtualClock;

#[derive(Debug, Default)]
struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

impl Facts {
    /// Words that are told, one by one and as numbers: refused, then stops.
    fn told(&self) -> (usize, u64, u64) {
        let facts = self.0.lock().unwrap();
        let mut sums = (0, 0, 0);
        for fact in facts.iter() {
            if let Fact::WordsCounted { refused, stops, .. } = fact {
                sums = (sums.0, sums.1 + refused, sums.2 + stops);
            } else {
                sums.0 += 1;
            }
        }
        sums
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

fn scribe() -> (Scribe, Arc<Facts>, VirtualClock) {
    let (facts, clock) = (Arc::new(Facts::default()), VirtualClock::default());
    let scribe = Scribe::new(Arc::new(clock.clone()), facts.clone());
    (scribe, facts, clock)
}

fn process(pid: i32, is_child: bool) -> Speaker {
    Speaker::Process {
        pid,
        uid: 1000,
        is_child,
    }
}

fn refused(who: &str) -> Fact {
    Fact::OrderRefused {
        order: "arm".to_owned(),
        who: who.to_owned(),
        failed: Vec::new(),
        peer: None,
    }
}

fn stopped() -> Fact {
    Fact::OrderDone {
        order: "stop".to_owned(),
        who: "x".to_owned(),
        why: "x".to_owned(),
        for_s: None,
        peer: None,
    }
}

#[test]
fn case_66_thousands_of_refused_words_are_a_few_records_and_one_number() {
    let (scribe, facts, clock) = scribe();
    for ms in 0..5_000 {
        clock.go_to(Mono::from_ms(ms));
        scribe.note(process(7, true), refused("x"));
        if ms % 1000 == 0 {
            scribe.look();
        }
    }
    assert_eq!(facts.told(), (12, 0, 0), "eight, and one for each second");
    clock.go_to(Mono::from_ms(10_000));
    scribe.look();
    assert_eq!(facts.told(), (12, 4_988, 0));
    assert_eq!(facts.len(), 13);
    scribe.look();
    scribe.close();
    assert_eq!(facts.len(), 13, "it is told once");
}

#[test]
fn a_crowd_of_new_processes_takes_no_record_of_anybody_else_and_no_word_is_lost() {
    let (scribe, facts, _) = scribe();
    for pid in 1..=3_000 {
        scribe.note(process(pid, true), refused("x"));
        scribe.note(process(pid, true), stopped());
    }
    assert_eq!(facts.len(), 32);
    scribe.note(process(9_999, false), refused("ann"));
    assert_eq!(facts.len(), 33);
    assert_eq!(facts.0.lock().unwrap().last(), Some(&refused("ann")));
    scribe.look();
    assert_eq!(facts.len(), 33, "not due yet");
    scribe.close();
    let (records, refused, stops) = facts.told();
    assert_eq!((records, refused + stops), (33, 6_001 - 33));
    assert!(facts.len() < 33 + SPEAKERS_MAX + 1, "{}", facts.len());
}

#[test]
fn one_look_tells_a_few_counts_and_the_next_looks_tell_the_others() {
    let (scribe, facts, clock) = scribe();
    for pid in 0..20 {
        for _ in 0..40 {
            scribe.note(process(pid, true), refused("x"));
        }
    }
    let before = facts.len();
    clock.go_to(Mono::from_ms(TELL_MS));
    let told: Vec<usize> = (0..6)
        .map(|_| {
            scribe.look();
            facts.len() - before
        })
        .collect();
    assert_eq!(told, [4, 8, 12, 16, 20, 20]);
}

#[test]
fn a_scenario_is_recorded_word_for_word() {
    let (scribe, facts, _) = scribe();
    for _ in 0..100 {
        scribe.note(Speaker::Scenario, refused("sim"));
    }
    assert_eq!(facts.told(), (100, 0, 0));
}
