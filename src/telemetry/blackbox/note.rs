//! Notes: what the recorder says about the box itself, as records of the same chain.

use serde::{Deserialize, Serialize};

use super::chain::Tip;

/// Form of the records. A change of what is hashed, or of what a field means, raises it.
pub(super) const SCHEMA: u32 = 1;

/// What the recorder says about the box itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Note {
    /// A life begins: the first record of each class in it.
    Begun {
        /// Form of the records.
        schema: u32,
        /// What it joins.
        #[serde(flatten)]
        joint: Joint,
    },
    /// A class goes on after the disk had refused it.
    Mended {
        /// What it joins.
        #[serde(flatten)]
        joint: Joint,
    },
    /// Safety records go to the reserve from here on: the disk refused them.
    Reserve {
        /// The segment in which a line was begun and not finished.
        torn: Option<String>,
    },
    /// Facts were dropped before they came here, because their queue was full.
    Gap {
        /// How many.
        lost: u64,
    },
    /// The oldest segment of the class makes room.
    Pruned {
        /// Its name.
        file: String,
        /// Its last record; `None` when it had none that could be read.
        through: Option<Tip>,
    },
}

/// How a new segment joins what lies on disk before it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Joint {
    /// Segments that end in an unfinished line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) torn: Vec<String>,
    /// The last record that was known to be on disk and is not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) missing: Option<Tip>,
    /// The segment whose last line is no record: a new chain begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unreadable: Option<String>,
    /// There was no head that could be read: whether records are missing, nobody knows.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) headless: bool,
    /// Facts that the disk refused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) lost: u64,
    /// A sync failed: records from this number up to here may be missing after a loss of power.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unsure_from: Option<u64>,
}

/// The `kind` of every note, in the order of the enum.
pub(super) const NOTE_KINDS: [&str; 5] = ["begun", "mended", "reserve", "gap", "pruned"];

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Note {
    /// Returns how a segment joins what lies before it, for those notes that begin one.
    pub(super) fn joint(&self) -> Option<&Joint> {
        match self {
            Self::Begun { joint, .. } | Self::Mended { joint } => Some(joint),
            Self::Reserve { .. } | Self::Gap { .. } | Self::Pruned { .. } => None,
        }
    }

    /// Returns the segments of which it says that they end in an unfinished line.
    pub(super) fn torn(&self) -> &[String] {
        match self {
            Self::Begun { joint, .. } | Self::Mended { joint } => &joint.torn,
            Self::Reserve { torn } => torn.as_slice(),
            Self::Gap { .. } | Self::Pruned { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_of_notes_are_listed() {
        let none = serde_json::from_str::<Note>("{\"kind\":\"?\"}").unwrap_err();
        let listed = NOTE_KINDS.map(|kind| format!("`{kind}`")).join(", ");
        let expected = format!("unknown variant `?`, expected one of {listed}");
        // Where in the text it was is no matter.
        assert_eq!(
            none.to_string().split(" at line").next(),
            Some(expected.as_str())
        );
    }
}
