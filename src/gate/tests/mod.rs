//! The gate as a whole, on the shipped rover.

mod admission;
mod limits;
mod loading;
mod policy;
mod properties;
