//! The four safety tiers, in their order.
//!
//! Polarity is the whole point: *allowing* a tier permits every need at or below it, *denying* a
//! tier refuses every need at or above it. Both questions are asked through [`Tier::permits`] and
//! [`Tier::refuses`], never with a bare comparison elsewhere.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The safety tier that a tool needs, or up to which calls are permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Reads only: nothing moves and nothing changes.
    Observe,
    /// Slow, bounded, reversible motion.
    SafeMotion,
    /// Full speed and force of this installation, grippers included.
    FullActuation,
    /// Bypass and maintenance. Stops are not here: a stop needs no tier.
    EmergencyOverride,
}

impl Tier {
    /// All tiers, lowest first.
    pub const ALL: [Self; 4] = [
        Self::Observe,
        Self::SafeMotion,
        Self::FullActuation,
        Self::EmergencyOverride,
    ];

    /// Returns the name used in files, labels and messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::SafeMotion => "safe_motion",
            Self::FullActuation => "full_actuation",
            Self::EmergencyOverride => "emergency_override",
        }
    }

    /// Returns whether a ceiling (or an allow entry) at this tier permits a tool that needs `need`.
    pub fn permits(self, need: Self) -> bool {
        need <= self
    }

    /// Returns whether a deny entry at this tier refuses a tool that needs `need`.
    pub fn refuses(self, need: Self) -> bool {
        need >= self
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that is none of the four tiers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown tier `{found}`: one of `observe`, `safe_motion`, `full_actuation`, `emergency_override`"
)]
pub struct TierError {
    /// The word as it was written.
    pub found: String,
}

impl FromStr for Tier {
    type Err = TierError;

    /// Parses a tier name. Case and surrounding white space do not matter; anything else does.
    fn from_str(text: &str) -> Result<Self, TierError> {
        let word = text.trim();
        Self::ALL
            .into_iter()
            .find(|tier| word.eq_ignore_ascii_case(tier.as_str()))
            .ok_or_else(|| TierError {
                found: text.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_01_tier_strings_parse_and_others_name_the_four() {
        assert_eq!("Observe".parse(), Ok(Tier::Observe));
        assert_eq!(" safe_motion ".parse(), Ok(Tier::SafeMotion));
        for bad in ["safe-motion", "", "root"] {
            let error = bad.parse::<Tier>().unwrap_err().to_string();
            for tier in Tier::ALL {
                assert!(
                    error.contains(tier.as_str()),
                    "{error} does not name {tier}"
                );
            }
        }
    }

    #[test]
    fn allow_is_downward_closed_and_deny_upward_closed() {
        for rule in Tier::ALL {
            for need in Tier::ALL {
                for other in Tier::ALL {
                    if other <= need && rule.permits(need) {
                        assert!(rule.permits(other));
                    }
                    if other >= need && rule.refuses(need) {
                        assert!(rule.refuses(other));
                    }
                }
            }
        }
    }
}
