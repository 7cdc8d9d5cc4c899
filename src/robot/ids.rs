//! Request ids.
//!
//! Ids of commands are random. Ids of stop verbs, heartbeats, releases and probes are made from a
//! salt that this process drew at start and from what they ask, without a heap: so their answers are
//! recognised without a table, and an answer to an earlier life of this process is a stranger's. All
//! have the shape of a UUID of version 4, which robots may insist on.

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
}

impl Ids {
    /// Makes the ids of a process on a robot.
    pub fn random() -> Self {
        let [a, b, c, d, e, f, g, h, ..] = *Uuid::new_v4().as_bytes();
        Self {
            salt: [a, b, c, d, e, f, g, h],
            counted: None,
        }
    }

    /// Makes ids that are the same in each run, for rehearsals.
    pub fn seeded(seed: u64) -> Self {
        Self {
            salt: seed.to_be_bytes(),
            counted: Some(AtomicU64::new(1)),
        }
    }

    /// Makes the id of a command or a read.
    pub fn fresh(&self) -> [u8; 16] {
        let Some(counter) = &self.counted else {
            return *Uuid::new_v4().as_bytes();
        };
        let [a, b, c, d, e, f, g, h] = self.salt;
        let [s, t, u, v, w, x, y, z] = counter.fetch_add(1, Ordering::SeqCst).to_be_bytes();
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
    fn ids_of_commands_are_none_of_our_own_verbs() {
        for ids in [Ids::seeded(7), Ids::random()] {
            let (one, two) = (ids.fresh(), ids.fresh());
            assert_ne!(one, two);
            assert_eq!(ids.recognise(one), None);
        }
    }
}
