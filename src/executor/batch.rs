//! The calls of one reply: stops first, then the others in their order.
//!
//! The others are cut into maximal runs of shared calls, which run beside each other, and single
//! exclusive calls, which run alone; runs are never reordered, so a read listed after a write sees
//! it. When an exclusive call ran and failed, later ones on its scope are not run: they were
//! thought out for its success. A call that was refused before it ran holds back nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::join_all;

use super::turn::Asked;
use super::{Executor, Turn, refuse};
use crate::terms::{Access, Call, CallReport, Outcome, ToolError};

/// Most calls of one batch, stops not counted. The rest is refused.
pub const CALLS_MAX: usize = 64;

/// One call with its place in the batch.
type Placed<'a> = (usize, Asked<'a>);

/// Calls that may run at the same time.
enum Run<'a> {
    Beside(Vec<Placed<'a>>),
    Alone(Arc<str>, Placed<'a>),
}

impl Executor {
    /// Runs the calls of one reply; gives one report for each, in their order.
    ///
    /// # Cancellation
    /// As [`Executor::call`], for every call that runs. Stops were carried out before anything else.
    pub async fn batch(&self, turn: &Turn, calls: Vec<Call>) -> Vec<CallReport> {
        let mut answered = Vec::with_capacity(calls.len());
        let mut waiting = Vec::new();
        // All were asked for before the first stop of this batch: it voids the motions among them.
        let asked: Vec<Asked<'_>> = calls.iter().map(|call| self.asked(turn, call)).collect();
        for placed in asked.into_iter().enumerate() {
            match self.stop(&placed.1) {
                Some(report) => answered.push((placed.0, report)),
                None => waiting.push(placed),
            }
        }
        let beyond = waiting.split_off(waiting.len().min(CALLS_MAX));
        self.run_all(waiting, &mut answered).await;
        for (place, asked) in beyond {
            let refusal = refuse::batch_full(&asked, CALLS_MAX);
            answered.push((place, self.refused(&asked, refusal)));
        }
        answered.sort_by_key(|(place, _)| *place);
        answered.into_iter().map(|(_, report)| report).collect()
    }

    async fn run_all(&self, waiting: Vec<Placed<'_>>, answered: &mut Vec<(usize, CallReport)>) {
        let mut failed: BTreeSet<Arc<str>> = BTreeSet::new();
        for run in runs(waiting) {
            match run {
                Run::Beside(calls) => {
                    let each = calls.iter().map(|(_, asked)| self.pass(asked));
                    let reports = join_all(each).await;
                    let places = calls.iter().map(|(place, _)| *place);
                    answered.extend(places.zip(reports));
                }
                Run::Alone(scope, (place, asked)) => {
                    let report = if failed.contains(&scope) {
                        self.not_run(&asked, "an earlier call of this reply failed")
                    } else {
                        self.pass(&asked).await
                    };
                    if ran_and_failed(&report.outcome) {
                        failed.insert(scope);
                    }
                    answered.push((place, report));
                }
            }
        }
    }
}

/// Cuts the calls into runs, in their order.
fn runs(calls: Vec<Placed<'_>>) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    for placed in calls {
        match (scope_of(&placed.1), runs.last_mut()) {
            (Some(scope), _) => runs.push(Run::Alone(scope, placed)),
            (None, Some(Run::Beside(beside))) => beside.push(placed),
            (None, Some(Run::Alone(..)) | None) => runs.push(Run::Beside(vec![placed])),
        }
    }
    runs
}

/// Returns the scope that a call needs for itself. A name without a tool needs none.
fn scope_of(asked: &Asked<'_>) -> Option<Arc<str>> {
    let judged = asked.turn.view.find(&asked.call.tool)?;
    match &judged.entry.descriptor().access {
        Access::Exclusive(scope) => Some(scope.clone()),
        Access::Shared => None,
    }
}

fn ran_and_failed(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Failed(error) => !matches!(error, ToolError::Refused(_)),
        Outcome::Done { .. } | Outcome::Refused(_) | Outcome::StopAccepted { .. } => false,
    }
}
