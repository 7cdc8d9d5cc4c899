//! Simulated robots in dataflows: does each of them speak what its agent sends?

use crate::config::RobotFile;
use crate::node::OwnNode;
use crate::sim::Dialect;

/// Verbs that one problem names; the rest is counted.
const VERBS_NAMED: usize = 3;

/// Returns what keeps a `mock-robot` node from serving an agent that drives `robot`.
pub(super) fn problems(node: &OwnNode, robot: &RobotFile) -> Vec<String> {
    let name = &robot.robot;
    let problem = match node.flag("--robot") {
        Some(spoken) if spoken == name => return Vec::new(),
        Some(spoken) => {
            format!("it speaks --robot {spoken}, and the agent drives `{name}`")
        }
        None => match Dialect::rover().lacks(robot).as_slice() {
            [] => return Vec::new(),
            verbs => format!(
                "without --robot {name} in its args it is the built-in rover, which does not know {}",
                listed(verbs)
            ),
        },
    };
    vec![format!("node `{}`: {problem}", node.id)]
}

fn listed(verbs: &[String]) -> String {
    let named: Vec<String> = verbs
        .iter()
        .take(VERBS_NAMED)
        .map(|verb| format!("`{verb}`"))
        .collect();
    let named = named.join(", ");
    match verbs.len().saturating_sub(VERBS_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
