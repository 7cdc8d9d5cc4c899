//! octos-edge
pub mod agent;
pub mod arguments;
pub mod catalog;
pub mod config;
pub mod executor;
pub mod gate;
pub mod model;
pub mod spine;
pub mod terms;
