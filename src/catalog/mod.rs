//! The tools that exist, and what one turn may see of them.
//!
//! A tool author writes a [`Tool`] (typed arguments) or a [`RawTool`] (arguments known only at run
//! time); [`CatalogBuilder::build`] checks all of them and reports every fault at once. A
//! [`ToolView`] pins the catalog together with one policy: what it advertises is what it honours.
//! The room runs nothing by itself: a call needs a grant, and only the executor gets one.

mod builder;
mod cx;
mod entry;
mod error;
#[cfg(test)]
mod tests;
mod tool;
mod view;

pub use builder::{Catalog, CatalogBuilder, TOOLS_MAX};
pub use cx::CallCx;
pub use entry::{Entry, RobotTool};
pub use error::{CatalogError, CatalogErrors, Fault};
pub use tool::{RawTool, Tool, schema_of};
pub use view::{Hidden, Judged, ToolView};
