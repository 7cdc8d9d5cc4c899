//! The integration tests, in one binary: linking is what costs.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read files and start processes"
)]

mod architecture;
mod audit;
mod bridges;
mod broken_files;
mod child;
mod closed_pipes;
mod dataflows;
mod elevation;
mod ends;
mod exit_codes;
mod keys;
mod latch;
mod lost_agent;
mod lost_robot;
mod main_job;
mod refusals;
mod replay;
mod rig;
mod second_robot;
mod stops;
