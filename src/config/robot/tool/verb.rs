//! What a tool does to the world and on the wire.

use std::fmt;
use std::sync::Arc;

use crate::config::reader::{Node, word};
use crate::config::robot::stop::wire_verb;

/// The word after `effect =`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectWord {
    /// Reads.
    Observe,
    /// Goes to a goal and ends by itself.
    Move,
    /// Velocity-like: expires unless repeated.
    Hold,
    /// Changes the set-up.
    Config,
    /// Ends motion.
    Stop,
}

impl EffectWord {
    /// All effects.
    pub const ALL: [Self; 5] = [
        Self::Observe,
        Self::Move,
        Self::Hold,
        Self::Config,
        Self::Stop,
    ];

    /// The effects that a tier permits: all but the stop, which needs no tier.
    pub const TIERED: [Self; 4] = [Self::Observe, Self::Move, Self::Hold, Self::Config];

    /// Returns the word of the files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Move => "move",
            Self::Hold => "hold",
            Self::Config => "config",
            Self::Stop => "stop",
        }
    }

    /// Returns whether a tool of this effect moves its device.
    pub fn moves(self) -> bool {
        match self {
            Self::Move | Self::Hold => true,
            Self::Observe | Self::Config | Self::Stop => false,
        }
    }
}

impl fmt::Display for EffectWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a call of a tool does on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// Sends this dotted verb.
    Wire(Arc<str>),
    /// `@stop`: runs the stop sequence.
    Stop,
    /// `@estop`: the same, and latches.
    Estop,
    /// `@state`: answers from the latest state; sends nothing.
    State,
    /// `@safety_events`: answers from the received safety events; sends nothing.
    SafetyEvents,
}

/// The verbs that the runtime answers itself.
#[derive(Debug, Clone, Copy)]
enum Own {
    Stop,
    Estop,
    State,
    SafetyEvents,
}

const OWN: &[(&str, Own)] = &[
    ("@stop", Own::Stop),
    ("@estop", Own::Estop),
    ("@state", Own::State),
    ("@safety_events", Own::SafetyEvents),
];

/// The shape of `verb`.
pub(super) fn verb(node: Node<'_>) -> Option<Verb> {
    if !node
        .as_str()
        .is_some_and(|written| written.starts_with('@'))
    {
        return wire_verb(node).map(Verb::Wire);
    }
    Some(match word(OWN)(node)? {
        Own::Stop => Verb::Stop,
        Own::Estop => Verb::Estop,
        Own::State => Verb::State,
        Own::SafetyEvents => Verb::SafetyEvents,
    })
}
