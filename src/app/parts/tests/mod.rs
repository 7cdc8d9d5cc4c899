//! The parts, put together and spoken to without threads and without a dataflow.

mod operator;
mod tier;
