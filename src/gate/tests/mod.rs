//! The gate as a whole, on the shipped rover.

mod admission;
mod elevation;
mod limits;
mod loading;
mod policy;
mod properties;
