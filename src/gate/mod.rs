//! gate
mod grant;
pub use grant::{Grant, Permit};
