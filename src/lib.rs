//! octos-edge
pub mod app;
pub mod arguments;
pub mod config;
pub mod gate;
pub mod node;
pub mod terms;
