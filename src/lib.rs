//! octos-edge
pub mod arguments;
pub mod config;
pub mod gate;
pub mod robot;
pub mod safety;
pub mod terms;
