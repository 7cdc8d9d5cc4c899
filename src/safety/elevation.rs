//! The live Elevations: one atomic word each, which the gate, the tick and the last check read.
//!
//! An operator's thread opens a slot and holds it; a call takes one of its count as one step, so that of
//! two calls which race for the last one gets it; the tick ends what no longer stands and tells it once.
//! The end counts at once, wherever it comes from: a word that is not live any more permits nothing. A
//! slot is free again when the tick told its end, its last call is over and nobody holds it.
//!
//! Nothing here knows tools, names or reasons, and nothing allocates, locks or waits.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::LatchWord;
use crate::terms::{
    ELEVATED_CALLS_MAX, ELEVATIONS_MAX, ElevationEnd, ElevationId, Mono, Raised, RunState,
    StopCause, Tier,
};

const LIVE: u8 = 0b0001;
/// The tick has told its end.
const TOLD: u8 = 0b0010;
/// Somebody's connection holds it, or waits to hear of its end.
const HELD: u8 = 0b0100;
/// It is taken and not yet open.
const OPENING: u8 = 0b1000;

/// What one slot says at one moment. All zero: it is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Word {
    id: u32,
    /// Calls that are left.
    left: u8,
    /// Calls that were taken and have not ended.
    running: u8,
    flags: u8,
    /// Number of an [`ElevationEnd`]; 0 while it lives.
    end: u8,
}

impl Word {
    fn from_bits(bits: u64) -> Self {
        let [left, running, flags, end, a, b, c, d] = bits.to_le_bytes();
        Self {
            id: u32::from_le_bytes([a, b, c, d]),
            left,
            running,
            flags,
            end,
        }
    }

    fn to_bits(self) -> u64 {
        let [a, b, c, d] = self.id.to_le_bytes();
        u64::from_le_bytes([self.left, self.running, self.flags, self.end, a, b, c, d])
    }

    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn ended(self, cause: ElevationEnd) -> Self {
        Self {
            flags: self.flags & !LIVE,
            end: cause.as_u8(),
            ..self
        }
    }

    /// The word that follows when nobody needs the slot any more.
    fn or_free(self) -> Self {
        if self.has(TOLD) && !self.has(HELD) && self.running == 0 {
            Self::default()
        } else {
            self
        }
    }

    fn cause(self) -> Option<ElevationEnd> {
        ElevationEnd::from_u8(self.end)
    }
}

#[derive(Debug, Default)]
struct Slot {
    word: AtomicU64,
    /// When its time is over, ns.
    until: AtomicU64,
    /// [`Latch::falls`](super::Latch::falls) when it was opened.
    falls: AtomicU32,
    /// Index of its tier.
    tier: AtomicU8,
}

impl Slot {
    fn word(&self) -> Word {
        Word::from_bits(self.word.load(Ordering::SeqCst))
    }

    /// Changes the word as one step. Returns the word before, `None` when `change` leaves it.
    fn change(&self, change: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        let change = |bits| Some(change(Word::from_bits(bits))?.to_bits());
        let word = &self.word;
        let before = word.fetch_update(Ordering::SeqCst, Ordering::SeqCst, change);
        before.ok().map(Word::from_bits)
    }

    fn until(&self) -> Mono {
        Mono::from_ns(self.until.load(Ordering::SeqCst))
    }

    /// Why `word`, which was read before, permits nothing more.
    fn over(&self, word: Word, (now, falls): (Mono, u32)) -> Result<Raised, ElevationEnd> {
        // Time and stops may belong to a later Elevation: then the word does not fit any more, and
        // whoever takes a call by it fails.
        if !word.has(LIVE) {
            Err(word.cause().unwrap_or(ElevationEnd::OperatorLost))
        } else if self.falls.load(Ordering::SeqCst) != falls {
            Err(ElevationEnd::Stop)
        } else if now >= self.until() {
            Err(ElevationEnd::Time)
        } else if word.left == 0 {
            Err(ElevationEnd::UsedUp)
        } else {
            Ok(Raised {
                id: ElevationId::new(word.id).ok_or(ElevationEnd::OperatorLost)?,
                until: self.until(),
                left: u32::from(word.left),
            })
        }
    }
}

/// What an Elevation is opened with.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// Up to which tier.
    pub tier: Tier,
    /// For how many calls, 1 to [`ELEVATED_CALLS_MAX`].
    pub calls: u32,
    /// Until when.
    pub until: Mono,
    /// [`Latch::falls`](super::Latch::falls), read before anything was checked.
    pub falls: u32,
}

/// How an Elevation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stands {
    /// The calls that are left.
    pub left: u32,
    /// Calls that run.
    pub running: u32,
    /// When its time is over.
    pub until: Mono,
    /// Why it ended; `None` while it lives.
    pub ended: Option<ElevationEnd>,
}

/// What the tick judges Elevations on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground {
    pub(super) now: Mono,
    pub(super) word: LatchWord,
    pub(super) falls: u32,
    pub(super) run: RunState,
    /// Whether the robot was not heard for too long, or is gone.
    pub(super) link_lost: bool,
}

/// All Elevations of one robot.
#[derive(Debug, Default)]
pub struct Elevations {
    given: AtomicU32,
    slots: [Slot; ELEVATIONS_MAX],
}

impl Elevations {
    /// Opens one, held by the caller. `None` when all slots are taken, or for no or too many calls.
    pub fn open(&self, opening: Opening) -> Option<ElevationId> {
        let left = u8::try_from(opening.calls).ok()?;
        if left == 0 || opening.calls > ELEVATED_CALLS_MAX {
            return None;
        }
        let number = self.given.fetch_add(1, Ordering::SeqCst).wrapping_add(1);
        let id = ElevationId::new(number)?;
        let taken = Word {
            id: number,
            flags: OPENING,
            ..Word::default()
        };
        let take = |word: Word| (word == Word::default()).then_some(taken);
        let slot = self.slots.iter().find(|slot| slot.change(take).is_some())?;
        slot.until.store(opening.until.as_ns(), Ordering::SeqCst);
        slot.falls.store(opening.falls, Ordering::SeqCst);
        slot.tier.store(index_of(opening.tier), Ordering::SeqCst);
        let open = Word {
            left,
            flags: LIVE | HELD,
            ..taken
        };
        slot.word.store(open.to_bits(), Ordering::SeqCst);
        Some(id)
    }

    /// Says what [`Elevations::take`] would, and takes nothing. `falls` is that of the latch now.
    ///
    /// # Errors
    /// Why it is over.
    pub fn look(&self, id: ElevationId, at: (Mono, u32)) -> Result<Raised, ElevationEnd> {
        let slot = self.slot(id).ok_or(ElevationEnd::OperatorLost)?;
        let raised = slot.over(slot.word(), at)?;
        (raised.id == id)
            .then_some(raised)
            .ok_or(ElevationEnd::OperatorLost)
    }

    /// Takes one call, as one step. `falls` is that of the latch now.
    ///
    /// # Errors
    /// Why it is over; nothing was taken.
    pub fn take(&self, id: ElevationId, at: (Mono, u32)) -> Result<Raised, ElevationEnd> {
        let slot = self.slot(id).ok_or(ElevationEnd::OperatorLost)?;
        let taken = slot.change(|word| {
            let fits = word.id == id.number() && slot.over(word, at).is_ok();
            fits.then_some(Word {
                left: word.left.checked_sub(1)?,
                running: word.running.checked_add(1)?,
                ..word
            })
        });
        let Some(before) = taken else {
            // What the change saw may be gone already; that it was over stays true.
            return Err(self.look(id, at).err().unwrap_or(ElevationEnd::UsedUp));
        };
        Ok(Raised {
            id,
            until: slot.until(),
            left: u32::from(before.left).saturating_sub(1),
        })
    }

    /// Notes that a call which was taken has ended: with the last one the Elevation ends.
    pub fn give_back(&self, id: ElevationId) {
        let ended = |word: Word| {
            let running = word.running.checked_sub(1)?;
            let word = Word { running, ..word };
            let used_up = word.has(LIVE) && running == 0 && word.left == 0;
            Some(if used_up {
                word.ended(ElevationEnd::UsedUp)
            } else {
                word.or_free()
            })
        };
        self.change(id, ended);
    }

    /// Ends one. Returns whether it lived. Whoever calls this wakes the tick, which stops a call that
    /// runs under it.
    pub fn end(&self, id: ElevationId, cause: ElevationEnd) -> bool {
        self.change(id, |word| word.has(LIVE).then(|| word.ended(cause)))
            .is_some()
    }

    /// Lets go of one: ends it if it lives, and frees its slot once that was told.
    pub fn let_go(&self, id: ElevationId) {
        self.end(id, ElevationEnd::OperatorLost);
        let free = |word: Word| {
            let flags = word.flags & !HELD;
            Some(Word { flags, ..word }.or_free())
        };
        self.change(id, free);
    }

    /// Returns whether it lives: what the last check asks directly before a send. A call of it that
    /// was admitted may leave even when no further one is left.
    pub fn lives(&self, id: ElevationId) -> bool {
        self.slot(id).is_some_and(|slot| {
            let word = slot.word();
            word.id == id.number() && word.has(LIVE)
        })
    }

    /// Returns how it stands, `None` once nobody holds it.
    pub fn stands(&self, id: ElevationId) -> Option<Stands> {
        let slot = self.slot(id)?;
        let (until, word) = (slot.until(), slot.word());
        (word.id == id.number()).then(|| Stands {
            left: u32::from(word.left),
            running: u32::from(word.running),
            until,
            ended: word.cause(),
        })
    }

    /// Returns the highest tier of the Elevations under which a call runs, or comes to rest.
    pub fn tier_running(&self) -> Option<Tier> {
        let running = self.slots.iter().filter(|slot| slot.word().running != 0);
        let tiers = running.filter_map(|slot| {
            let index = usize::from(slot.tier.load(Ordering::SeqCst));
            Tier::ALL.get(index).copied()
        });
        tiers.max()
    }

    /// Returns whether a call under this Elevation must end now.
    pub(super) fn is_over(&self, id: ElevationId, now: Mono) -> bool {
        !self.lives(id) || self.slot(id).is_none_or(|slot| now >= slot.until())
    }

    /// Ends what no longer stands, and tells each end once.
    pub(super) fn lower(
        &self,
        ground: &Ground,
        mut tell: impl FnMut(ElevationId, ElevationEnd, u32),
    ) {
        for slot in &self.slots {
            let seen = slot.word();
            let fallen = slot.falls.load(Ordering::SeqCst) != ground.falls;
            if let Some(cause) = end_of(ground, (fallen, slot.until())) {
                let is_it = |word: Word| word.id == seen.id && word.has(LIVE);
                slot.change(|word| is_it(word).then(|| word.ended(cause)));
            }
            let told = slot.change(|word| {
                let untold = word.cause().is_some() && !word.has(TOLD);
                let flags = word.flags | TOLD;
                untold.then(|| Word { flags, ..word }.or_free())
            });
            if let Some(word) = told
                && let (Some(id), Some(cause)) = (ElevationId::new(word.id), word.cause())
            {
                tell(id, cause, u32::from(word.left));
            }
        }
    }

    fn slot(&self, id: ElevationId) -> Option<&Slot> {
        let number = id.number();
        self.slots.iter().find(|slot| slot.word().id == number)
    }

    fn change(&self, id: ElevationId, change: impl Fn(Word) -> Option<Word>) -> Option<Word> {
        let of_id = |word: Word| (word.id == id.number()).then_some(word);
        self.slot(id)?.change(|word| change(of_id(word)?))
    }
}

/// Why a live Elevation ends now; `fallen`: the robot was stopped since it was opened. Pure.
fn end_of(ground: &Ground, (fallen, until): (bool, Mono)) -> Option<ElevationEnd> {
    let by_run = match ground.run {
        RunState::Armed | RunState::Moving | RunState::Stopping => None,
        RunState::Boot | RunState::Disarmed => Some(ElevationEnd::Disarm),
        RunState::Stopped | RunState::Fault => Some(ElevationEnd::Fault),
        RunState::Latched => Some(ElevationEnd::Estop),
    };
    let stopped = fallen.then(|| by_stop(ground.word));
    let late = (ground.now >= until).then_some(ElevationEnd::Time);
    let lost = ground.link_lost.then_some(ElevationEnd::LinkLost);
    stopped.or(by_run).or(late).or(lost)
}

/// What the latest stop is to an Elevation. One that a later, ordinary end has overtaken was one too.
fn by_stop(word: LatchWord) -> ElevationEnd {
    if word.estop {
        return ElevationEnd::Estop;
    }
    if word.ending {
        return ElevationEnd::Shutdown;
    }
    match word.cause {
        None
        | Some(
            StopCause::Deadline
            | StopCause::ModelStop
            | StopCause::OperatorStop
            | StopCause::FleetStop,
        ) => ElevationEnd::Stop,
        Some(StopCause::Shutdown) => ElevationEnd::Shutdown,
        Some(StopCause::StaleState | StopCause::BridgeLost) => ElevationEnd::LinkLost,
        Some(
            StopCause::LeaseLost
            | StopCause::Workspace
            | StopCause::Overspeed
            | StopCause::HeartbeatFault
            | StopCause::Blackbox
            | StopCause::BoardFault
            | StopCause::UncleanEnd
            | StopCause::InternalFault
            | StopCause::VendorEvent
            | StopCause::EstopInput,
        ) => ElevationEnd::Fault,
    }
}

fn index_of(tier: Tier) -> u8 {
    let index = Tier::ALL.iter().position(|one| *one == tier);
    index.and_then(|at| u8::try_from(at).ok()).unwrap_or(0)
}

#[cfg(test)]
impl Elevations {
    /// Makes these the first slot's, and the only one: its word and when its time is over.
    pub(super) fn restore(&self, (word, until): (u64, u64), falls: u32) {
        for slot in &self.slots {
            slot.word.store(0, Ordering::SeqCst);
        }
        if let Some(slot) = self.slots.first() {
            slot.until.store(until, Ordering::SeqCst);
            slot.falls.store(falls, Ordering::SeqCst);
            slot.word.store(word, Ordering::SeqCst);
        }
    }

    /// The first slot, to put it back later.
    pub(super) fn kept(&self) -> (u64, u64) {
        let first = self.slots.first();
        first.map_or((0, 0), |slot| {
            let word = slot.word.load(Ordering::SeqCst);
            (word, slot.until.load(Ordering::SeqCst))
        })
    }

    /// So many slots that are not free.
    pub(super) fn taken(&self) -> usize {
        let taken = |slot: &&Slot| slot.word() != Word::default();
        self.slots.iter().filter(taken).count()
    }
}
