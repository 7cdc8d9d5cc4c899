//! How a node ends: who may end it, and the order of the end.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::lifeline::is_armed;
use super::{Parked, shutdown};
use crate::app::exit::Exit;
use crate::app::parts::{End, EndSeen, EndWatch, Wait, carried_out};
use crate::robot::Bridge;
use crate::safety::{Order, OrderPort};
use crate::spine::SpineHandle;
use crate::terms::{RobotPort as _, RunState, StopCause, StopKind};

/// How long the async side may take to end.
pub(super) const RUNTIME_WITHIN: Duration = Duration::from_millis(500);
/// What is needed to end in order.
pub(super) struct Ending {
    end: Receiver<End>,
    bridge: Arc<Bridge>,
    orders: OrderPort,
    ended: EndWatch,
    wait: Arc<dyn Wait>,
}

impl Ending {
    pub(super) fn of(
        end: Receiver<End>,
        (bridge, orders): (Arc<Bridge>, OrderPort),
        ended: EndWatch,
    ) -> Self {
        Self {
            end,
            bridge,
            orders,
            ended,
            wait: Arc::new(Parked),
        }
    }

    /// Waits for the first reason to end, stops the robot, ends the agent, brings the robot to rest and
    /// disarms, and tells those who asked. Nothing stands before the stop, not even a line of the log.
    pub(super) fn wait_and_end(self, runtime: &Runtime, spine: &SpineHandle) -> (Exit, End) {
        let why = self.end.recv().unwrap_or(End::Broken("every part ended"));
        // Whoever has asked already (the inbox for the dataflow, the connection's thread for the operator)
        // is not asked again: a second word does no harm, but would be a second stop in the record.
        match &why {
            End::Graph | End::Operator(_) => {}
            End::GraphLost | End::Signal(_) => {
                self.bridge.stop(StopKind::Stop, shutdown(), None);
            }
            End::Broken(_) => {
                let kind = stop_of_a_fault(self.bridge.posture().run);
                self.bridge.stop(kind, StopCause::InternalFault, None);
            }
        }
        // Before the rest is waited for: a model that goes on would begin the next motion.
        spine.shutdown();
        tracing::info!(?why, "the node ends");
        let can_be_heard = why != End::GraphLost;
        let at_rest = can_be_heard && runtime.block_on(self.bridge.at_rest());
        self.disarm();
        if !at_rest {
            tracing::error!("rest was not confirmed: the next start begins with a stop");
        }
        let exit = exit_of(&why, at_rest);
        self.ended.tell(EndSeen {
            at_rest,
            code: exit.code(),
        });
        (exit, why)
    }

    /// Disarms, so that the next start finds a clean end. A latched robot stays latched.
    fn disarm(&self) {
        if let Err(failed) = carried_out(&self.orders, Order::Disarm, self.wait.as_ref()) {
            tracing::warn!(?failed, "not disarmed at the end");
        }
    }
}

/// Returns how a robot is stopped whose agent broke: what was armed, or was to be brought to rest, comes
/// back latched.
fn stop_of_a_fault(run: RunState) -> StopKind {
    if is_armed(run) {
        StopKind::Estop
    } else {
        StopKind::Stop
    }
}

/// Returns the code of an end. A lost dataflow is never in order, even with the robot at rest: nobody could
/// tell, and whoever supervises must start everything anew.
fn exit_of(why: &End, at_rest: bool) -> Exit {
    match why {
        // dora lets nothing in after its Stop, so a moving robot cannot confirm anything.
        End::Graph => Exit::Done,
        End::Operator(_) | End::Signal(_) if at_rest => Exit::Done,
        End::Operator(_) | End::Signal(_) | End::GraphLost => Exit::Internal,
        End::Broken(_) => Exit::Panic,
    }
}

/// Returns the code of an end that was in order but for threads that did not end in time. The robot is at
/// rest and disarmed: whoever asked for the end does not want a restart, which `on-failure` would make of
/// any other code.
pub(super) fn with_threads_left(why: &End) -> Exit {
    match why {
        End::Operator(_) | End::Signal(_) => Exit::Done,
        End::Graph | End::GraphLost | End::Broken(_) => Exit::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_38_a_lost_daemon_ends_with_70_and_an_asked_for_end_with_0_once_at_rest() {
        let code = |why, at_rest| exit_of(&why, at_rest).code();
        for at_rest in [false, true] {
            assert_eq!(code(End::GraphLost, at_rest), 70);
            assert_eq!(code(End::Graph, at_rest), 0);
            assert_eq!(code(End::Broken("the spine"), at_rest), 72);
            let expected = if at_rest { 0 } else { 70 };
            assert_eq!(code(End::Operator("ann".to_owned()), at_rest), expected);
            assert_eq!(code(End::Signal("SIGTERM"), at_rest), expected);
        }
    }

    #[test]
    fn an_end_that_was_asked_for_and_reached_rest_gives_nobody_a_reason_to_restart() {
        let code = |why| with_threads_left(&why).code();
        assert_eq!(code(End::Operator("ann".to_owned())), 0);
        assert_eq!(code(End::Signal("SIGTERM")), 0);
        assert_eq!(code(End::Graph), 70);
    }
}
