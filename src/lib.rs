//! octos-edge
pub mod agent;
pub mod arguments;
pub mod config;
pub mod gate;
pub mod model;
pub mod terms;
