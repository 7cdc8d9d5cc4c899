//! The stops of a run, put together from the facts about them.

use serde::Serialize;

use crate::terms::{Fact, StopCause, StopKind};

/// One stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct StopSeen {
    /// Which of the two.
    pub kind: StopKind,
    /// Why.
    pub cause: StopCause,
    /// Who: `operator`, `model`, `fleet` or `runtime`.
    pub by: &'static str,
    /// From the stop to confirmed standstill, ms; `None` when it was not confirmed.
    pub standstill_after_ms: Option<u32>,
    /// When, on the clock of the facts, ms.
    pub t_ms: u64,
    /// Whether somebody asked or something was wrong, as against the end of a call's own time: a
    /// hold always ends so, and a call that was late is told as `timeout`.
    #[serde(skip)]
    pub asked: bool,
    /// Whether it came when the node was ending already.
    #[serde(skip)]
    pub ending: bool,
}

/// Returns the stops of a run, in order.
pub fn stops(facts: &[(u64, Fact)]) -> Vec<StopSeen> {
    let mut log = Log::default();
    for (t_ms, fact) in facts {
        if let Fact::StopAsked {
            what, cause, epoch, ..
        } = fact
        {
            // From here on the node ends; what stops then is nobody's word.
            log.ending |= *cause == StopCause::Shutdown;
            // The latch goes before the record: on a busy machine the sequence is told first.
            if log.unasked == Some((*epoch, *cause)) {
                log.unasked = None;
                continue;
            }
            let stop = log.stop((*what, *cause), *t_ms);
            log.waiting.push(stop);
        }
        if let Fact::StopBegun { what, cause, epoch } = fact {
            log.ending |= *cause == StopCause::Shutdown;
            let is_unasked = log.begin((*what, *cause), *t_ms);
            log.unasked = is_unasked.then_some((*epoch, *cause));
        }
        if let Fact::Standstill { after_ms } = fact {
            log.confirm(*after_ms);
        }
    }
    let Log {
        mut done,
        running,
        waiting,
        ..
    } = log;
    done.extend(running.into_iter().chain(waiting));
    done.sort_by_key(|stop| stop.t_ms);
    done
}

#[derive(Debug, Default)]
struct Log {
    done: Vec<StopSeen>,
    /// Stops of the sequence that runs.
    running: Vec<StopSeen>,
    /// Stops whose sequence has not begun.
    waiting: Vec<StopSeen>,
    ending: bool,
    /// The latest sequence that nobody had asked for when it began.
    unasked: Option<(u32, StopCause)>,
}

impl Log {
    fn stop(&self, (kind, cause): (StopKind, StopCause), t_ms: u64) -> StopSeen {
        StopSeen {
            kind,
            cause,
            by: by(cause),
            standstill_after_ms: None,
            t_ms,
            asked: cause != StopCause::Deadline,
            ending: self.ending,
        }
    }

    /// A sequence begins: it answers all who asked before. One that nobody asked for is the
    /// runtime's own, unless its word is told behind it. Returns whether it is such a one.
    fn begin(&mut self, what: (StopKind, StopCause), t_ms: u64) -> bool {
        self.done.append(&mut self.running);
        self.running.append(&mut self.waiting);
        let is_unasked = self.running.is_empty();
        if is_unasked {
            let stop = self.stop(what, t_ms);
            self.running.push(stop);
        }
        is_unasked
    }

    /// The robot stands still, also for those who asked while the sequence ran.
    fn confirm(&mut self, after_ms: u32) {
        self.running.append(&mut self.waiting);
        for stop in &mut self.running {
            stop.standstill_after_ms = Some(after_ms);
        }
        self.done.append(&mut self.running);
    }
}

fn by(cause: StopCause) -> &'static str {
    match cause {
        StopCause::ModelStop => "model",
        StopCause::OperatorStop => "operator",
        StopCause::FleetStop => "fleet",
        StopCause::Shutdown
        | StopCause::Deadline
        | StopCause::LeaseLost
        | StopCause::StaleState
        | StopCause::Workspace
        | StopCause::Overspeed
        | StopCause::BridgeLost
        | StopCause::HeartbeatFault
        | StopCause::Blackbox
        | StopCause::BoardFault
        | StopCause::UncleanEnd
        | StopCause::InternalFault
        | StopCause::VendorEvent
        | StopCause::EstopInput => "runtime",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(epoch: u32, cause: StopCause) -> Fact {
        Fact::StopAsked {
            what: StopKind::Stop,
            cause,
            epoch,
            by: None,
        }
    }

    fn begun(epoch: u32, cause: StopCause) -> Fact {
        Fact::StopBegun {
            what: StopKind::Stop,
            cause,
            epoch,
        }
    }

    #[test]
    fn a_stop_whose_word_is_told_behind_its_sequence_is_one_stop() {
        let (operator, model) = (StopCause::OperatorStop, StopCause::ModelStop);
        let still = || Fact::Standstill { after_ms: 120 };
        let causes = |facts: Vec<Fact>| -> Vec<StopCause> {
            let facts: Vec<(u64, Fact)> = (0..).zip(facts).collect();
            stops(&facts).iter().map(|stop| stop.cause).collect()
        };
        let late = vec![begun(1, operator), asked(1, operator), still()];
        assert_eq!(causes(late), [operator]);
        let later = vec![begun(1, operator), still(), asked(1, operator)];
        assert_eq!(causes(later), [operator]);
        let another = vec![begun(1, operator), asked(1, model), asked(2, operator)];
        assert_eq!(causes(another), [operator, model, operator]);
    }
}
