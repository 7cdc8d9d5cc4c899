//! The shape of a session's file, before its values are judged. Keys that no event needs are left
//! out of account, as dora does.

use serde::Deserialize;
use serde_json::Value;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with `id` and `events`")]
pub(super) struct RawSession {
    /// The node's id: dora wants it, nothing here does.
    #[serde(rename = "id")]
    _id: String,
    pub(super) events: Vec<RawEvent>,
    #[serde(default)]
    pub(super) recording_status: Option<RawStatus>,
}

/// Whether dora could write down everything that it heard.
#[derive(Debug, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(super) enum RawStatus {
    Clean,
    Poisoned {
        first_failure_event_index: u64,
        first_failure_error: String,
    },
}

/// One event. Which keys it needs depends on its kind.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object with `time_offset_secs` and `type`")]
pub(super) struct RawEvent {
    pub(super) time_offset_secs: Option<Value>,
    #[serde(rename = "type")]
    pub(super) kind: Option<Value>,
    pub(super) id: Option<Value>,
    pub(super) data: Option<Value>,
    pub(super) data_type: Option<Value>,
    /// An Arrow file that holds the payload.
    pub(super) path: Option<Value>,
}
