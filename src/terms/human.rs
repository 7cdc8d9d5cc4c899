//! The port to a person who is asked before a call runs.
//!
//! Only a person answers, and only this one call: the words of a model, a robot or a tool never come
//! here. Without a word in time the answer is no.

use std::fmt;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Tier;

/// What a person is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRequest {
    /// The call's id, cut to 80 characters: a model may have made it up.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The final arguments, after limits and clamps: an answer holds for these and no others.
    pub args: Value,
    /// Digest of `args`, hexadecimal.
    pub digest: String,
    /// The tier that the tool needs.
    pub needed: Option<Tier>,
    /// The rule of the robot file that the call falls under.
    pub rule: Option<String>,
    /// How long the question stands, ms.
    pub ttl_ms: u64,
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// This call may run.
    Yes(Approver),
    /// It may not.
    No {
        /// Who.
        who: String,
        /// Why.
        why: String,
    },
}

/// Who said yes, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approver {
    /// Who, as they name themselves.
    pub who: String,
    /// To which question, and from where: a name is only said, a process is seen.
    pub how: String,
}

/// Why nobody could be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unasked {
    /// There is no way to a person.
    #[error("nobody can be asked")]
    Nobody,
    /// Too many questions wait.
    #[error("{max} questions wait for an answer already")]
    Full {
        /// Most that wait.
        max: usize,
    },
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalOutcome {
    /// A person said yes.
    Granted,
    /// A person said no.
    Denied,
    /// Nobody answered in time.
    Expired,
    /// The call was cancelled, or a stop came, before anybody answered.
    Withdrawn,
    /// A person answered a question that no longer stood: it changes nothing.
    Late,
    /// Somebody answered a question that never was, or of which nothing is known any more.
    Unknown,
}

impl ApprovalOutcome {
    /// All outcomes.
    pub const ALL: [Self; 6] = [
        Self::Granted,
        Self::Denied,
        Self::Expired,
        Self::Withdrawn,
        Self::Late,
        Self::Unknown,
    ];

    /// Returns the label value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Denied => "denied",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Late => "late",
            Self::Unknown => "unknown",
        }
    }
}

/// The way to a person.
pub trait Human: Send + Sync + fmt::Debug {
    /// Puts a question and waits for the answer. Whoever asks sees to it that it is not waited for
    /// longer than `ttl_ms`.
    ///
    /// # Errors
    /// [`Unasked`] at once, when there is nobody to ask.
    ///
    /// # Cancellation
    /// Dropping the future withdraws the question: an answer that comes later changes nothing.
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Result<Said, Unasked>>;
}

/// Nobody: every call that needs a person's word is refused at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Human for Nobody {
    fn ask(&self, _request: ApprovalRequest) -> BoxFuture<'_, Result<Said, Unasked>> {
        Box::pin(async { Err(Unasked::Nobody) })
    }
}
