//! From what a run left behind to its summary.

use super::operator::Played;
use crate::app::exit::AppError;
use crate::app::load::Installation;
use crate::config::Scenario;
use crate::sim::{Evidence, FaultSeen, JournalEntry, RunFacts, Summary, Verdict, judge};
use crate::telemetry::{Metrics, RobotLabels};
use crate::terms::Fact;

/// What a run left behind.
#[derive(Debug)]
pub(super) struct Run<'a> {
    /// `dora` or `mock`.
    pub(super) bridge: &'static str,
    pub(super) seed: u64,
    /// Time of the run on its own clock, ms.
    pub(super) total_ms: u64,
    /// Time that it took, ms.
    pub(super) wall_ms: u64,
    /// In the order in which they were raised, each with its time, ms.
    pub(super) facts: &'a [(u64, Fact)],
    pub(super) journal: &'a [JournalEntry],
    /// From the clock of the facts to that of the journal, ms.
    pub(super) offset_ms: i64,
    /// What the bridge judges beyond the scenario.
    pub(super) verdicts: Vec<Verdict>,
    pub(super) faults: &'a [FaultSeen],
    /// The hash of the trace, when the run has one.
    pub(super) trace: Option<String>,
}

/// Judges a run and puts its summary together.
///
/// # Errors
/// [`AppError::Internal`] when the robot has too many tools for its metrics.
pub(super) fn judged(
    (scenario, installation): (&Scenario, &Installation),
    run: Run<'_>,
    played: &Played,
) -> Result<Summary, AppError> {
    let evidence = Evidence {
        facts: run.facts,
        journal: run.journal,
        offset_ms: run.offset_ms,
        unfired: &played.unfired,
    };
    let mut verdicts = judge(scenario, &evidence);
    verdicts.extend(run.verdicts);
    verdicts.push(operator_verdict(played));
    let metrics = Metrics::new(RobotLabels::from(&installation.robot))
        .map_err(|error| AppError::Internal(error.to_string()))?;
    for (_, fact) in run.facts {
        metrics.apply(fact);
    }
    let facts = RunFacts {
        bridge: run.bridge,
        seed: run.seed,
        total_ms: run.total_ms,
        wall_ms: run.wall_ms,
        trace: run.trace.as_deref(),
        faults: run.faults,
        metrics: &metrics.render(),
    };
    Ok(Summary::of(scenario, &evidence, verdicts, facts))
}

fn operator_verdict(played: &Played) -> Verdict {
    Verdict {
        name: "operator",
        ok: played.troubles.is_empty(),
        expected: "every word is carried out, in time".to_owned(),
        found: match played.troubles.as_slice() {
            [] => "so they were".to_owned(),
            troubles => troubles.join("; "),
        },
    }
}
