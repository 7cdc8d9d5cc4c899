//! Operator's orders: what they need, and what they do.

use super::Core;
use crate::safety::{FailedChecks, Order, Signs, TickInput, TickOut};
use crate::terms::{RunState, StopCause, StopKind};

impl Core {
    /// Returns the checks on which `order` fails now. A reset does not look at the latch word: the
    /// word is reset last, and only when no newer request came in between.
    pub fn check(&self, input: &TickInput, order: Order) -> FailedChecks {
        match order {
            Order::Arm { for_ms } => self
                .rest_checks(input)
                .with(FailedChecks::WRONG_STATE, self.run != RunState::Disarmed)
                .with(FailedChecks::LATCHED, input.word.estop)
                .with(
                    FailedChecks::STOPPING,
                    input.word.stop || self.stop.is_some(),
                )
                .with(FailedChecks::ADVERT_UNSEEN, input.seen.deadman_ms.is_none())
                .with(FailedChecks::DEADMAN, !self.deadman_usable(&input.seen))
                .with(
                    FailedChecks::FOREIGN_HOLDER,
                    input.seen.signs.has(Signs::FOREIGN),
                )
                .with(FailedChecks::BLIND, input.seen.signs.has(Signs::BLIND))
                .with(FailedChecks::OUTSIDE, input.seen.signs.has(Signs::OUTSIDE))
                .with(
                    FailedChecks::OVERSPEED,
                    input.seen.signs.has(Signs::OVERSPEED),
                )
                .with(FailedChecks::ENDING, input.word.ending)
                .with(
                    FailedChecks::GRAPH_TIMER,
                    !input.seen.graph.at(input.now).is_good(),
                )
                .with(FailedChecks::OVERLOADED, self.pace.overloaded(input.now))
                .with(FailedChecks::BLACKBOX, !input.records)
                .with(FailedChecks::NO_TIME, for_ms == 0),
            Order::Disarm => FailedChecks::NONE
                .with(
                    FailedChecks::WRONG_STATE,
                    matches!(self.run, RunState::Boot | RunState::Fault),
                )
                .with(FailedChecks::LATCHED, self.run == RunState::Latched),
            Order::Reset => self
                .rest_checks(input)
                .with(FailedChecks::WRONG_STATE, self.run != RunState::Latched)
                .with(
                    FailedChecks::STOPPING,
                    input.word.stop || self.stop.is_some(),
                ),
        }
    }

    /// Carries out an order whose checks have passed.
    pub fn carry_out(&mut self, order: Order, out: &mut TickOut) {
        match order {
            Order::Arm { for_ms } => {
                let now = out.at;
                self.armed_until = now.plus_ms(u64::from(for_ms));
                self.idle_since = now;
                self.disarm_after = false;
                self.set_run(RunState::Armed, None, out);
            }
            Order::Disarm => match self.run {
                RunState::Armed | RunState::Stopped | RunState::Disarmed => {
                    self.set_run(RunState::Disarmed, None, out);
                }
                RunState::Moving => {
                    self.disarm_after = true;
                    out.ask(StopKind::Stop, StopCause::OperatorStop);
                }
                RunState::Stopping => self.disarm_after = true,
                RunState::Boot | RunState::Latched | RunState::Fault => {}
            },
            Order::Reset => self.set_run(RunState::Disarmed, None, out),
        }
    }

    fn rest_checks(&self, input: &TickInput) -> FailedChecks {
        let (now, seen) = (input.now, &input.seen);
        FailedChecks::NONE
            .with(FailedChecks::PEER_DOWN, !seen.peer_up)
            .with(
                FailedChecks::STATE_STALE,
                !seen.fresh(now, self.plan.stale_after_ms),
            )
            .with(
                FailedChecks::VENDOR_ESTOP,
                seen.signs.has(Signs::VENDOR_ESTOP),
            )
            .with(FailedChecks::NOT_AT_REST, !seen.signs.has(Signs::STILL))
    }
}
