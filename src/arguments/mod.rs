//! From alleged arguments to proven ones: size and depth bound, schema check, report of all problems.
//!
//! [`Schema`] is compiled once per tool. [`Schema::check`] takes arguments as they are, and is the only
//! way for a call that moves a robot; [`Schema::mend`] repairs what is meant beyond doubt, tells what it
//! did, and checks again. Nothing else leads from JSON of a model to [`Arguments`]. What does not fit is
//! reported in one [`Report`] that names every place and never repeats a value.

mod example;
mod lint;
mod problem;
mod proof;
mod repair;
mod report;
mod schema;
mod size;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use lint::{SchemaFault, SchemaFlaw, lint};
pub use proof::{Arguments, digest_of};
pub use report::{Flaw, Issue, Report};
pub use schema::{Alias, Mended, Schema};
pub use size::{DEPTH_MAX, Excess, MEMBERS_MAX, TEXT_BYTES_MAX, measure, serialized_len, too_deep};
