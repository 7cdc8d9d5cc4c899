//! The shared parts of an agent: what an operator says, and what the tier in force bounds.

mod elevations;
mod latch;
mod peers;
mod speed;
#[cfg(feature = "dora")]
mod spinning;
mod words;
