//! The pipeline, with the shipped rover, test tools and a robot that only keeps notes.

mod approvals;
mod arguments;
mod batches;
mod elevations;
mod ends;
mod kit;
mod random;
mod refusals;
mod stops;
