//! The one ordered assembly of tools, for every entry point.

use std::sync::Arc;

use crate::catalog::{Catalog, CatalogBuilder, CatalogErrors};
use crate::config::RobotFile;
use crate::gate::RobotRules;
use crate::robot::{Bridge, describe};
use crate::tools::robot::robot_tools;

/// Assembles every tool of a node.
///
/// # Errors
/// [`CatalogErrors`] with every problem of every tool.
pub(super) fn catalog(
    robot: &Arc<RobotFile>,
    rules: &Arc<RobotRules>,
    bridge: &Arc<Bridge>,
) -> Result<Arc<Catalog>, CatalogErrors> {
    let tools = describe(robot, rules);
    robot_tools(CatalogBuilder::new(), &tools, rules, bridge).build()
}
