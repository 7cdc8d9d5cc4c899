//! The answer of the policy to one tool. Ordered: the strictest of several answers wins.

use crate::terms::Refusal;

/// What the policy says to a call of one tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call goes on to the next stage.
    Allow,
    /// The call needs a person's word first.
    Ask,
    /// The call ends here.
    Refuse(Refusal),
}

impl Verdict {
    /// Returns the stricter of two answers; of two refusals the first.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        if other.rank() > self.rank() {
            other
        } else {
            self
        }
    }

    /// Returns the refusal, when this is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refuse(refusal) => Some(refusal),
            Self::Allow | Self::Ask => None,
        }
    }

    /// Returns how strict this answer is, 0 to 2.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask => 1,
            Self::Refuse(_) => 2,
        }
    }
}
