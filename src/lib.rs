//! octos-edge: an LLM agent runtime for the robot's own board.
//!
//! A language model proposes, the gate disposes: nothing a model says reaches a file, a process, a
//! socket or a motor without a [`gate::Grant`], and only the gate can make one. The library holds the
//! rooms; the binary is a thin door to [`cli`]. ARCHITECTURE.md is the map.

pub mod agent;
pub mod app;
pub mod arguments;
pub mod board;
pub mod catalog;
pub mod cli;
pub mod config;
pub mod executor;
pub mod gate;
pub mod model;
pub mod node;
pub mod robot;
pub mod safety;
pub mod sim;
pub mod spine;
pub mod telemetry;
pub mod terms;
pub mod tools;
