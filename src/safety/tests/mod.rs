//! The state machine against its table, its causes, random lives and races.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "tests count in small numbers"
)]

mod bench;
mod causes;
mod elevations;
mod graph;
mod motions;
mod props;
mod races;
mod records;
mod sequences;
mod table;
mod walk;
