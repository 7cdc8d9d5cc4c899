//! From the small events of the actuation path to facts.

use super::Names;
use crate::safety::Receiver;
use crate::terms::{Fact, SafetyEvent, SafetyEventKind, StopKind};

/// The queues of safety events: of the tick and of the sending thread.
#[derive(Debug)]
pub struct EventTap {
    pub(super) tick: Receiver<SafetyEvent>,
    pub(super) sender: Receiver<SafetyEvent>,
}

impl EventTap {
    /// Takes what waits, at most one queue's length of each, in the order of time.
    pub fn drain(&mut self, mut each: impl FnMut(SafetyEvent)) {
        let (mut one, mut two) = (self.tick.pop(), self.sender.pop());
        for _ in 0..crate::safety::EVENT_SLOTS.saturating_mul(2) {
            match (one, two) {
                (Some(a), Some(b)) if b.at < a.at => {
                    each(b);
                    two = self.sender.pop();
                }
                (Some(a), _) => {
                    each(a);
                    one = self.tick.pop();
                }
                (None, Some(b)) => {
                    each(b);
                    two = self.sender.pop();
                }
                (None, None) => return,
            }
        }
        // Both queues refill faster than they are read. What was taken is not lost.
        for event in [one, two].into_iter().flatten() {
            each(event);
        }
    }
}

/// Turns an event into its fact. `None` for an order: whoever gave it knows who and why.
pub fn fact_of(event: SafetyEvent, names: &Names) -> Option<Fact> {
    let what = |estop: bool| {
        if estop {
            StopKind::Estop
        } else {
            StopKind::Stop
        }
    };
    Some(match event.kind {
        SafetyEventKind::State { from, to, cause } => Fact::RunStateChanged { from, to, cause },
        SafetyEventKind::StopAsked {
            cause,
            estop,
            epoch,
        } => Fact::StopAsked {
            what: what(estop),
            cause,
            epoch,
            by: None,
        },
        SafetyEventKind::StopBegun {
            cause,
            estop,
            epoch,
        } => Fact::StopBegun {
            what: what(estop),
            cause,
            epoch,
        },
        SafetyEventKind::StopVerb { step, nth } => Fact::StopVerb {
            verb: names.step(step),
            nth,
        },
        SafetyEventKind::StopAnswered { step, ok } => Fact::StopAnswered {
            verb: names.step(step),
            ok,
        },
        SafetyEventKind::Standstill { after_ms } => Fact::Standstill { after_ms },
        SafetyEventKind::NotConfirmed { after_ms } => Fact::StopNotConfirmed { after_ms },
        SafetyEventKind::Sent { tool, call, repeat } => Fact::CommandSent {
            verb: names.tool(tool),
            call,
            moves: names.moves(tool),
            repeat,
        },
        SafetyEventKind::Dropped { tool, call, why } => Fact::CommandDropped {
            verb: names.tool(tool),
            call,
            why,
        },
        SafetyEventKind::Heartbeat => Fact::Heartbeat,
        SafetyEventKind::HeartbeatDropped => Fact::HeartbeatDropped,
        SafetyEventKind::Released => Fact::Released,
        SafetyEventKind::SendFailed => Fact::SendFailed,
        SafetyEventKind::LateTick { late_ms } => Fact::LateTick { late_ms },
        SafetyEventKind::GraphSilent { ms } => Fact::GraphSilent { ms },
        SafetyEventKind::GraphBack { after_ms } => Fact::GraphBack { after_ms },
        SafetyEventKind::Lowered {
            elevation,
            cause,
            left,
        } => Fact::ElevationEnded {
            elevation,
            cause,
            left,
        },
        SafetyEventKind::Order { .. } => return None,
    })
}
