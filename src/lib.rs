//! octos-edge
pub mod arguments;
pub mod config;
pub mod gate;
pub mod sim;
pub mod telemetry;
pub mod terms;
