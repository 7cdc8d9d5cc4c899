//! The shared parts of an agent: what an operator says, and what the tier in force bounds.

mod speed;
mod words;
