//! From alleged arguments to proven ones: size and depth bound, schema check, report of all problems.
//!
//! [`Schema`] is compiled once per tool; [`Schema::check`] is the only way from JSON of a model to
//! [`Arguments`]. What does not fit is reported in one [`Report`] that names every place and never
//! repeats a value. Nothing is repaired: a text that looks like a number is a problem, not a number.

mod lint;
mod problem;
mod proof;
mod report;
mod schema;
mod size;
#[cfg(test)]
mod tests;

pub use lint::lint;
pub use proof::Arguments;
pub use report::{Issue, Report};
pub use schema::Schema;
pub use size::{DEPTH_MAX, serialized_len, too_deep};
