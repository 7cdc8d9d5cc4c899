//! What tests look for among the facts.

use octos_edge::terms::{Fact, RunState, StopCause};

/// Fits the change into a run state.
pub(crate) fn enters(state: RunState) -> impl Fn(&Fact) -> bool {
    move |fact| matches!(fact, Fact::RunStateChanged { to, .. } if *to == state)
}

/// Whether a change leads to a state in which the robot may move.
pub(crate) fn is_armed(fact: &Fact) -> bool {
    enters(RunState::Armed)(fact) || enters(RunState::Moving)(fact)
}

/// Whether a command that moves the robot left.
pub(crate) fn is_motion(fact: &Fact) -> bool {
    matches!(fact, Fact::CommandSent { moves: true, .. })
}

/// Fits the beginning of a stop sequence of this cause.
pub(crate) fn stop_for(why: StopCause) -> impl Fn(&Fact) -> bool {
    move |fact| matches!(fact, Fact::StopBegun { cause, .. } if *cause == why)
}

/// Whether the first verb of a step of the stop sequence was handed over.
pub(crate) fn is_first_verb(fact: &Fact) -> bool {
    matches!(fact, Fact::StopVerb { nth: 1, .. })
}

/// Whether standstill was confirmed.
pub(crate) fn is_standstill(fact: &Fact) -> bool {
    matches!(fact, Fact::Standstill { .. })
}

/// Whether a process began to serve the robot.
pub(crate) fn is_start(fact: &Fact) -> bool {
    matches!(fact, Fact::Started { .. })
}

/// Whether the agent ended in order.
pub(crate) fn is_clean_end(fact: &Fact) -> bool {
    matches!(fact, Fact::Ended { code: 0 })
}
