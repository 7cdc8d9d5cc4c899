//! Lanes to models.
//!
//! This release has one: a script. It opens no connection and knows no robot; `app` makes it from
//! the turns of a scenario.

mod scripted;

pub use scripted::{Cue, Scripted};
