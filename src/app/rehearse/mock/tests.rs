//! Runs of whole scenarios in this process.
