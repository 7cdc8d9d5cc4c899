//! octos-edge
pub mod arguments;
pub mod config;
pub mod gate;
pub mod terms;
