//! app
pub mod clock;
pub mod control;
pub mod exit;
pub mod state;
