//! The integration tests, in one binary: linking is what costs.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests read files and start processes"
)]

mod architecture;
