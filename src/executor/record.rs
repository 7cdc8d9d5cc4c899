//! The facts and the report of one call.
//!
//! A granted call is [`Open`] until it is closed: if its future is dropped, closing happens by
//! itself, so that every `Granted` has its `Finished`.

use super::admission::Admitted;
use super::refuse::short;
use super::turn::Asked;
use crate::terms::{
    CallReport, Clock, Descriptor, Fact, FactSink, Mono, Outcome, Refusal, ToolError,
};

/// Longest text of a failure in a fact, characters.
const DETAIL_CHARS_MAX: usize = 400;

/// Where facts go and what time it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) clock: &'a dyn Clock,
    pub(super) facts: &'a dyn FactSink,
}

impl Record<'_> {
    pub(super) fn report(&self, asked: &Asked<'_>, outcome: Outcome) -> CallReport {
        CallReport {
            id: asked.call.id.clone(),
            tool: short(&asked.call.tool),
            outcome,
            took: self.clock.now().since(asked.at),
        }
    }

    pub(super) fn refused(&self, asked: &Asked<'_>, refusal: &Refusal) {
        self.facts.raise(Fact::Refused {
            call: short(&asked.call.id),
            tool: short(&asked.call.tool),
            reason: refusal.reason,
            needed: refusal.needed,
            effective: refusal.effective,
            rule: refusal.rule.clone(),
            detail: refusal.detail.clone(),
        });
    }

    pub(super) fn finished(&self, asked: &Asked<'_>, outcome: &Outcome) {
        let judged = asked.turn.view.find(&asked.call.tool);
        let robot = judged.is_some_and(|judged| judged.entry.descriptor().rule.is_some());
        self.facts.raise(Fact::Finished {
            call: short(&asked.call.id),
            tool: short(&asked.call.tool),
            robot,
            outcome: outcome.label().to_owned(),
            detail: detail(outcome),
            took_ms: self.took_ms(asked.at),
        });
        if let Outcome::Failed(ToolError::Refused(refusal)) = outcome {
            self.refused(asked, refusal);
        }
    }

    fn took_ms(&self, since: Mono) -> u64 {
        self.clock.now().ms_since(since)
    }
}

/// A granted call that has not ended.
#[derive(Debug)]
pub(super) struct Open<'a> {
    record: Record<'a>,
    asked: Asked<'a>,
    closed: bool,
}

impl<'a> Open<'a> {
    /// Records the grant.
    pub(super) fn granted(
        record: Record<'a>,
        asked: Asked<'a>,
        (tool, admitted, repaired): (&Descriptor, &Admitted<'_>, &[String]),
    ) -> Self {
        record.facts.raise(Fact::Granted {
            call: short(&asked.call.id),
            tool: short(&asked.call.tool),
            tier: tool.effect.needed_tier(),
            args: admitted.limited.args().digest(),
            clamped: admitted.limited.clamped().to_vec(),
            repaired: repaired.to_vec(),
            approver: admitted.approver.clone(),
        });
        Self {
            record,
            asked,
            closed: false,
        }
    }

    /// Records the end.
    pub(super) fn close(mut self, outcome: &Outcome) {
        self.closed = true;
        self.record.finished(&self.asked, outcome);
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.closed {
            let why = "dropped before it was done".to_owned();
            let outcome = Outcome::Failed(ToolError::Cancelled { why });
            self.record.finished(&self.asked, &outcome);
        }
    }
}

fn detail(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { .. } | Outcome::StopAccepted { .. } => String::new(),
        Outcome::Refused(refusal) => cut(&refusal.to_string()),
        Outcome::Failed(error) => cut(&error.to_string()),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(DETAIL_CHARS_MAX).collect()
}
