//! Request ids.
//!
//! Ids of commands are random. Ids of stop verbs, heartbeats, releases and probes are made from a
//! salt that this process drew at start and from what they ask, without a heap: so their answers are
//! recognised without a table, and an answer to an earlier life of this process is a stranger's. All
//! have the shape of a UUID of version 4, which robots may insist on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::{Builder, Uuid};

/// What an id of ours asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// A verb of the stop sequence.
    Stop {
        /// Which stop of this process.
        serial: u32,
        /// Index in the stop sequence.
        step: u8,
        /// Counts from 1 in each step.
        nth: u16,
        /// Whether it went out without parameters.
        empty: bool,
    },
    /// A heartbeat.
    Heartbeat {
        /// Counts from 1; wraps.
        nth: u32,
    },
    /// A release of control.
    Release {
        /// Which stop of this process.
        serial: u32,
        /// Counts from 1.
        nth: u16,
    },
    /// A look for the advert.
    Probe {
        /// Counts from 1; wraps.
        nth: u32,
    },
}

const STOP: u8 = 1;
const HEARTBEAT: u8 = 2;
const RELEASE: u8 = 3;
const PROBE: u8 = 4;
/// The bit of the step's byte that says "without parameters".
const EMPTY: u8 = 0x80;

/// Makes ids, and recognises them.
#[derive(Debug)]
pub struct Ids {
    /// 60 random bits.
    salt: [u8; 8],
    /// Counts ids when they must be the same in each run; `None` for random ones.
    counted: Option<AtomicU64>,
    /// The ids that the first commands get, when they are known.
    known: Vec<[u8; 16]>,
}

impl Ids {
    /// Makes the ids of a process on a robot.
    pub fn random() -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *Uuid::new_v4().as_bytes();
        Self {
            salt: [a, b, c, d, e, f, g, h],
            counted: None,
            known: Vec::new(),
        }
    }

    /// Makes ids that are the same in each run, for rehearsals.
    pub fn seeded(seed: u64) -> Self {
        Self {
            salt: seed.to_be_bytes(),
            counted: Some(AtomicU64::new(1)),
            known: Vec::new(),
        }
    }

    /// Makes the ids of an earlier life again, as far as the answers that it got tell them: those of
    /// our own verbs from the salt that most of the answers share, those of commands in the order of
    /// their answers. Whatever nobody answered gets an id that is the same in each run.
    pub fn of_answers(ids: &[[u8; 16]]) -> Self {
        let mut salts: BTreeMap<[u8; 8], u32> = BTreeMap::new();
        for salt in ids.iter().filter_map(salt_of) {
            let count = salts.entry(salt).or_default();
            *count = count.saturating_add(1);
        }
        let most = salts.into_iter().max_by_key(|(_, count)| *count);
        let mut again = Self::seeded(0);
        again.salt = most.map_or(again.salt, |(salt, _)| salt);
        let mut told = BTreeSet::new();
        for id in ids {
            if again.recognise(*id).is_none() && told.insert(*id) {
                again.known.push(*id);
            }
        }
        again
    }

    /// Makes the id of a command or a read.
    pub fn fresh(&self) -> [u8; 16] {
        let Some(counter) = &self.counted else {
            return *Uuid::new_v4().as_bytes();
        };
        let nth = counter.fetch_add(1, Ordering::SeqCst);
        let index = usize::try_from(nth.saturating_sub(1)).unwrap_or(usize::MAX);
        if let Some(known) = self.known.get(index) {
            return *known;
        }
        let [a, b, c, d, e, f, g, h] = self.salt;
        let [s, t, u, v, w, x, y, z] = nth.to_be_bytes();
        // The first byte differs from that of the derived ids of the same seed.
        *Builder::from_random_bytes([!a, b, c, d, e, f, g, h, s, t, u, v, w, x, y, z])
            .as_uuid()
            .as_bytes()
    }

    /// Makes the id of one of our own verbs.
    pub fn derived(&self, asked: Asked) -> [u8; 16] {
        let (kind, step, number, nth) = match asked {
            Asked::Stop {
                serial,
                step,
                nth,
                empty,
            } => {
                let flag = if empty { EMPTY } else { 0 };
                (STOP, (step & !EMPTY) | flag, serial, nth)
            }
            Asked::Heartbeat { nth } => (HEARTBEAT, 0, nth, 0),
            Asked::Release { serial, nth } => (RELEASE, 0, serial, nth),
            Asked::Probe { nth } => (PROBE, 0, nth, 0),
        };
        let [a, b, c, d, e, f, g, h] = self.salt;
        let [n0, n1, n2, n3] = number.to_be_bytes();
        let [t0, t1] = nth.to_be_bytes();
        let (version, variant) = ((g & 0x0f) | 0x40, kind | 0x80);
        [
            a, b, c, d, e, f, version, h, variant, step, n0, n1, n2, n3, t0, t1,
        ]
    }

    /// Returns what the id asked, when it is one of our own verbs.
    pub fn recognise(&self, id: [u8; 16]) -> Option<Asked> {
        let [.., variant, step, n0, n1, n2, n3, t0, t1] = id;
        let number = u32::from_be_bytes([n0, n1, n2, n3]);
        let nth = u16::from_be_bytes([t0, t1]);
        let asked = match variant & 0x3f {
            STOP => Asked::Stop {
                serial: number,
                step: step & !EMPTY,
                nth,
                empty: step & EMPTY != 0,
            },
            HEARTBEAT => Asked::Heartbeat { nth: number },
            RELEASE => Asked::Release {
                serial: number,
                nth,
            },
            PROBE => Asked::Probe { nth: number },
            _ => return None,
        };
        (self.derived(asked) == id).then_some(asked)
    }
}

/// Returns the salt under which this could be the id of one of our own verbs.
fn salt_of(id: &[u8; 16]) -> Option<[u8; 8]> {
    let [a, b, c, d, e, f, g, h, ..] = *id;
    let mut ids = Ids::seeded(0);
    ids.salt = [a, b, c, d, e, f, g & 0x0f, h];
    ids.recognise(*id).map(|_| ids.salt)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn derived_ids_are_recognised_by_their_own_process_only(
            seed: u64, other: u64, serial: u32, step in 0u8..8, nth: u16, empty: bool,
        ) {
            let ids = Ids::seeded(seed);
            let all = [
                Asked::Stop { serial, step, nth, empty },
                Asked::Heartbeat { nth: serial },
                Asked::Release { serial, nth },
                Asked::Probe { nth: serial },
            ];
            for asked in all {
                let id = ids.derived(asked);
                prop_assert_eq!(ids.recognise(id), Some(asked));
                prop_assert_eq!(Uuid::from_bytes(id).get_version_num(), 4);
                let stranger = Ids::seeded(other);
                if stranger.derived(asked) != id {
                    prop_assert_eq!(stranger.recognise(id), None);
                }
            }
        }
    }

    #[test]
    fn a_life_is_made_again_from_its_answers_and_those_to_others_do_not_hide_it() {
        let life = Ids::random();
        let probe = life.derived(Asked::Probe { nth: 1 });
        let stop = |step| Asked::Stop {
            serial: 2,
            step,
            nth: 1,
            empty: false,
        };
        let stranger = Ids::seeded(9).derived(Asked::Heartbeat { nth: 1 });
        let (first, second) = (life.fresh(), life.fresh());
        let answers = [stranger, probe, first, life.derived(stop(0)), first, second];
        let again = Ids::of_answers(&answers);
        assert_eq!(again.recognise(probe), Some(Asked::Probe { nth: 1 }));
        assert_eq!(again.derived(stop(1)), life.derived(stop(1)));
        assert_eq!(again.recognise(stranger), None);
        let fresh = [again.fresh(), again.fresh(), again.fresh(), again.fresh()];
        assert_eq!(fresh[..3], [stranger, first, second]);
        assert_eq!(Ids::of_answers(&answers).fresh(), stranger);
        assert!(!answers.contains(&fresh[3]));
        assert_eq!(Ids::of_answers(&[]).fresh(), Ids::of_answers(&[]).fresh());
    }

    #[test]
    fn ids_of_commands_are_none_of_our_own_verbs() {
        for ids in [Ids::seeded(7), Ids::random()] {
            let (one, two) = (ids.fresh(), ids.fresh());
            assert_ne!(one, two);
            assert_eq!(ids.recognise(one), None);
        }
    }
}
