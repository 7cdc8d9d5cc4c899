//! Notices a model that goes in a circle.
//!
//! Two rules over the reports in their order: the same call with the same outcome too often in a
//! row, and the same tool refused for the same reason five times in a row. The numbers inside a
//! refusal's text do not matter for the second rule: they differ from call to call without meaning
//! anything new.

use super::End;
use crate::terms::{Call, CallReport, Outcome, Reason};

/// So many equal refusals in a row end the goal.
pub(super) const EQUAL_REFUSALS_MAX: u32 = 5;

#[derive(Debug)]
pub(super) struct Guard {
    repeats_max: u32,
    last: Option<(Call, Outcome)>,
    repeats: u32,
    refused: Option<(String, Reason)>,
    refusals: u32,
}

impl Guard {
    pub(super) fn new(repeats_max: u32) -> Self {
        Self {
            repeats_max,
            last: None,
            repeats: 0,
            refused: None,
            refusals: 0,
        }
    }

    /// Takes one answered call; returns why the goal must end, when it must.
    pub(super) fn see(&mut self, call: Call, report: &CallReport) -> Option<End> {
        self.count_refusal(report);
        self.count_repeat(call, report);
        if self.refusals >= EQUAL_REFUSALS_MAX {
            Some(End::Refusals)
        } else if self.repeats >= self.repeats_max {
            Some(End::Repeats)
        } else {
            None
        }
    }

    fn count_refusal(&mut self, report: &CallReport) {
        let now = report
            .outcome
            .refusal()
            .map(|refusal| (report.tool.clone(), refusal.reason));
        self.refusals = match (&self.refused, &now) {
            (_, None) => 0,
            (Some(last), Some(now)) if last == now => self.refusals.saturating_add(1),
            (_, Some(_)) => 1,
        };
        self.refused = now;
    }

    fn count_repeat(&mut self, call: Call, report: &CallReport) {
        let same = self.last.as_ref().is_some_and(|(last, outcome)| {
            last.tool == call.tool && last.args == call.args && *outcome == report.outcome
        });
        self.repeats = if same {
            self.repeats.saturating_add(1)
        } else {
            1
        };
        self.last = Some((call, report.outcome.clone()));
    }
}
