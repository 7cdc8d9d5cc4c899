//! Faults of a scenario: what goes wrong on the way, and when.
//!
//! Each is named by its effect. Only the rehearsal in this process can make them happen.

use super::When;
use super::when::when;
use crate::config::Place;
use crate::config::reader::{Node, Table, number, text, whole, word};

/// Longest name of a verb, bytes.
const VERB_BYTES_MAX: usize = 128;
/// Most messages that one fault touches by number.
const COUNT_MAX: u32 = 10_000;
/// Longest delay and longest freeze, ms.
const DELAY_MS_MAX: u32 = 60_000;
/// Largest coordinate, m.
const PLACE_M_MAX: f64 = 10_000.0;

/// Which messages are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The next so many.
    Count(u32),
    /// So many of a thousand, to the end of the run; which ones depends on the seed.
    PerMille(u16),
}

/// What goes wrong.
#[derive(Debug, Clone, PartialEq)]
pub enum FaultAct {
    /// Requests do not reach the robot, and nobody is told.
    LoseRequests {
        /// Only of this verb; `None` for any.
        verb: Option<String>,
        /// Which.
        loss: Loss,
    },
    /// Answers of the robot do not arrive.
    LoseAnswers {
        /// Which.
        loss: Loss,
    },
    /// States of the robot do not arrive.
    LoseStates {
        /// Which.
        loss: Loss,
    },
    /// Answers of the robot arrive later, to the end of the run.
    LateAnswers {
        /// By how much, ms, 1 to 60 000.
        by_ms: u32,
    },
    /// Answers carry the id of a request that nobody made.
    WrongIds {
        /// The next so many.
        count: u32,
    },
    /// The robot's node is gone: nothing passes either way, and the dataflow says so.
    DeadRobot,
    /// The robot's node stands still; requests wait for it.
    FrozenRobot {
        /// For how long, ms, 1 to 60 000.
        for_ms: u32,
    },
    /// The agent's loop, tools and model stand still; the safety tick goes on.
    FrozenAgent {
        /// For how long, ms, 1 to 60 000.
        for_ms: u32,
    },
    /// The whole process stands still, the safety tick as well; the robot goes on.
    FrozenProcess {
        /// For how long, ms, 1 to 60 000.
        for_ms: u32,
    },
    /// The dataflow's timer stands still; everything else goes on.
    LostGraphTicks {
        /// For how long, ms, 1 to 60 000.
        for_ms: u32,
    },
    /// Somebody else takes control of the robot.
    ForeignController,
    /// The robot is carried to another place.
    Drift {
        /// m.
        x: f64,
        /// m.
        y: f64,
    },
}

impl FaultAct {
    /// Returns the word of the scenario file.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::LoseRequests { .. } => "lose_requests",
            Self::LoseAnswers { .. } => "lose_answers",
            Self::LoseStates { .. } => "lose_states",
            Self::LateAnswers { .. } => "late_answers",
            Self::WrongIds { .. } => "wrong_ids",
            Self::DeadRobot => "dead_robot",
            Self::FrozenRobot { .. } => "frozen_robot",
            Self::FrozenAgent { .. } => "frozen_agent",
            Self::FrozenProcess { .. } => "frozen_process",
            Self::LostGraphTicks { .. } => "lost_graph_ticks",
            Self::ForeignController => "foreign_controller",
            Self::Drift { .. } => "drift",
        }
    }
}

/// One fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// Where it is written.
    pub place: Place,
    /// When it begins.
    pub when: When,
    /// What goes wrong.
    pub act: FaultAct,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Do {
    LoseRequests,
    LoseAnswers,
    LoseStates,
    LateAnswers,
    WrongIds,
    DeadRobot,
    FrozenRobot,
    FrozenAgent,
    FrozenProcess,
    LostGraphTicks,
    ForeignController,
    Drift,
}

const DOS: &[(&str, Do)] = &[
    ("lose_requests", Do::LoseRequests),
    ("lose_answers", Do::LoseAnswers),
    ("lose_states", Do::LoseStates),
    ("late_answers", Do::LateAnswers),
    ("wrong_ids", Do::WrongIds),
    ("dead_robot", Do::DeadRobot),
    ("frozen_robot", Do::FrozenRobot),
    ("frozen_agent", Do::FrozenAgent),
    ("frozen_process", Do::FrozenProcess),
    ("lost_graph_ticks", Do::LostGraphTicks),
    ("foreign_controller", Do::ForeignController),
    ("drift", Do::Drift),
];

/// The keys that say more about a fault, and the faults that have them.
const DETAILS: [(&str, &[Do], &str); 7] = [
    (
        "count",
        &[
            Do::LoseRequests,
            Do::LoseAnswers,
            Do::LoseStates,
            Do::WrongIds,
        ],
        "only `lose_requests`, `lose_answers`, `lose_states` and `wrong_ids` have it",
    ),
    (
        "per_mille",
        &[Do::LoseRequests, Do::LoseAnswers, Do::LoseStates],
        "only `lose_requests`, `lose_answers` and `lose_states` have it",
    ),
    ("verb", &[Do::LoseRequests], "only `lose_requests` has it"),
    ("by_ms", &[Do::LateAnswers], "only `late_answers` has it"),
    (
        "for_ms",
        &[
            Do::FrozenRobot,
            Do::FrozenAgent,
            Do::FrozenProcess,
            Do::LostGraphTicks,
        ],
        "only `frozen_robot`, `frozen_agent`, `frozen_process` and `lost_graph_ticks` have it",
    ),
    ("x", &[Do::Drift], "only `drift` has it"),
    ("y", &[Do::Drift], "only `drift` has it"),
];

/// Reads one `[[fault]]`.
pub(super) fn fault(node: Node<'_>) -> Option<Fault> {
    node.table(|t| {
        let when = t.must("when", when);
        let what = t.must("do", word(DOS));
        let act = match what {
            Some(what) => act(t, what),
            None => {
                // The report of the unknown word is enough: what belongs to it is not judged.
                for (key, _, _) in DETAILS {
                    t.may(key, |_| Some(()));
                }
                None
            }
        };
        Some(Fault {
            place: t.place(),
            when: when?,
            act: act?,
        })
    })
}

fn act(t: &mut Table<'_>, what: Do) -> Option<FaultAct> {
    for (key, of, whose) in DETAILS {
        if !of.contains(&what) {
            t.refuse(key, &format!("changes nothing: {whose}"), "remove it");
        }
    }
    Some(match what {
        Do::LoseRequests => {
            let loss = loss(t);
            let verb = t.may("verb", text(1..=VERB_BYTES_MAX));
            FaultAct::LoseRequests { verb, loss: loss? }
        }
        Do::LoseAnswers => FaultAct::LoseAnswers { loss: loss(t)? },
        Do::LoseStates => FaultAct::LoseStates { loss: loss(t)? },
        Do::LateAnswers => FaultAct::LateAnswers {
            by_ms: t.must("by_ms", whole(1..=DELAY_MS_MAX))?,
        },
        Do::WrongIds => FaultAct::WrongIds {
            count: t.must("count", whole(1..=COUNT_MAX))?,
        },
        Do::DeadRobot => FaultAct::DeadRobot,
        Do::FrozenRobot => FaultAct::FrozenRobot { for_ms: freeze(t)? },
        Do::FrozenAgent => FaultAct::FrozenAgent { for_ms: freeze(t)? },
        Do::FrozenProcess => FaultAct::FrozenProcess { for_ms: freeze(t)? },
        Do::LostGraphTicks => FaultAct::LostGraphTicks { for_ms: freeze(t)? },
        Do::ForeignController => FaultAct::ForeignController,
        Do::Drift => {
            let x = t.must("x", number(-PLACE_M_MAX..=PLACE_M_MAX));
            let y = t.must("y", number(-PLACE_M_MAX..=PLACE_M_MAX));
            FaultAct::Drift { x: x?, y: y? }
        }
    })
}

fn freeze(t: &mut Table<'_>) -> Option<u32> {
    t.must("for_ms", whole(1..=DELAY_MS_MAX))
}

/// Which messages are lost: exactly one of the two keys.
fn loss(t: &mut Table<'_>) -> Option<Loss> {
    if t.has("count") == t.has("per_mille") {
        t.fault_here(
            "needs exactly one of `count`, `per_mille`",
            "write how many messages are lost, or how many of a thousand",
        );
    }
    let count = t.may("count", whole(1..=COUNT_MAX)).map(Loss::Count);
    let per_mille = t.may("per_mille", whole(1..=1000)).map(Loss::PerMille);
    count.or(per_mille)
}
