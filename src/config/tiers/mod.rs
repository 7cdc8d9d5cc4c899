//! The four tier files: what each tier permits. They list no tools.
//!
//! Whether a tier moves something follows from its effects, and with it whether the file has a lease,
//! an arming rule, a motion rate and ceilings: neither one without the others.

mod read;

use std::collections::BTreeMap;

use super::{EffectWord, Place};
use crate::terms::{Kind, Tier};

/// Defaults that a tool takes from the file of its tier.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CallDefaults {
    /// Time from the grant to the deadline, ms, 1 to 3 600 000.
    pub timeout_ms: u32,
    /// Whether calls run alone (`concurrency = "exclusive"`) or beside others (`"parallel"`).
    pub exclusive: bool,
    /// Calls per second in the long run, above 0 and at most 100.
    pub rate_per_s: f64,
    /// Calls at once, 1 to 1000.
    pub burst: u32,
    /// Largest age of the robot's state at admission, ms; `None` for tiers that need no state.
    pub freshness_ms: Option<u32>,
}

/// The lease of a motion call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseProfile {
    /// Progress is looked for this often, ms.
    pub renew_ms: u32,
    /// Without progress for this long the lease is lost, ms; above `renew_ms`.
    pub lost_after_ms: u32,
    /// The lease ends at this age, ms; at least `lost_after_ms`.
    pub hard_max_ms: u32,
}

/// Whether a call needs a person's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// No.
    Never,
    /// Each call does.
    PerCall {
        /// How long a person may take, s, 1 to 600: after it the answer is no.
        ttl_s: u32,
    },
}

impl Approval {
    /// Returns how long a person may take, ms; `None` where nobody is asked.
    pub fn ttl_ms(self) -> Option<u64> {
        match self {
            Self::Never => None,
            Self::PerCall { ttl_s } => Some(u64::from(ttl_s).saturating_mul(1000)),
        }
    }
}

/// What one tier permits.
#[derive(Debug, Clone, PartialEq)]
pub struct TierProfile {
    /// The file.
    pub place: Place,
    /// The tier.
    pub tier: Tier,
    /// One line for people.
    pub title: String,
    /// The effects that tools of this tier may have.
    pub effects: Vec<EffectWord>,
    /// Defaults of its tools.
    pub defaults: CallDefaults,
    /// Motion calls per minute, all tools of the robot together; `None` where nothing moves.
    pub motion_per_min: Option<u32>,
    /// The lease of its motion calls; present when `move` or `hold` is among the effects.
    pub lease: Option<LeaseProfile>,
    /// Idle time after which an armed robot is disarmed, s; present when something moves.
    pub idle_disarm_s: Option<u32>,
    /// Whether calls need a person's word.
    pub approval: Approval,
    /// Ceilings by quantity kind, in the unit of the kind. `ceilings = "inherit"` was resolved.
    pub ceilings: BTreeMap<Kind, f64>,
}

/// All four tiers, lowest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Tiers([TierProfile; 4]);

impl Tiers {
    /// Returns the profile of a tier.
    pub fn of(&self, tier: Tier) -> &TierProfile {
        let [observe, safe, full, emergency] = &self.0;
        match tier {
            Tier::Observe => observe,
            Tier::SafeMotion => safe,
            Tier::FullActuation => full,
            Tier::EmergencyOverride => emergency,
        }
    }
}
