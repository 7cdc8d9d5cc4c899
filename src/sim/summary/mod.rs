//! The summary of a rehearsal: for programs as JSON, for people as text.

mod map;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;

use super::faults::FaultSeen;
use super::journal::JournalEntry;
use super::judge::{Evidence, Verdict};
use super::stops::{StopSeen, stops};
use crate::config::Scenario;
use crate::terms::{Fact, Reason, Tier};

/// Most calls that are listed one by one.
const CALLS_MAX: usize = 100;
/// Most points of the path.
const POINTS_MAX: usize = 200;
/// Most lines of metrics.
const METRIC_LINES_MAX: usize = 100;

/// What a run was, besides its evidence.
#[derive(Debug, Clone, Copy)]
pub struct RunFacts<'a> {
    /// `dora` or `mock`.
    pub bridge: &'a str,
    /// The seed that was used.
    pub seed: u64,
    /// From the start to the end, on the clock of the run, ms.
    pub total_ms: u64,
    /// The time that it took, ms. The same on a real clock.
    pub wall_ms: u64,
    /// The hash of the trace; only a run under a virtual clock has one.
    pub trace: Option<&'a str>,
    /// The faults that happened.
    pub faults: &'a [FaultSeen],
    /// The metrics at the end, in the text format.
    pub metrics: &'a str,
}

/// A call and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CallSeen {
    /// The name asked for.
    pub tool: String,
    /// `done`, `refused`, `failed`, `timeout`, `cancelled`, `unknown` or `panicked`.
    pub outcome: String,
    /// Why it was refused.
    pub reason: Option<Reason>,
    /// The tier it needs, when it was refused.
    pub tier: Option<Tier>,
    /// What was wrong; empty when nothing.
    pub detail: String,
    /// Time to the answer, ms; `None` when it was refused.
    pub took_ms: Option<u64>,
}

/// All calls of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Calls {
    /// Calls that were granted.
    pub accepted: u32,
    /// Calls that were refused, by reason.
    pub refused: BTreeMap<Reason, u32>,
    /// What came of the granted ones.
    pub outcomes: BTreeMap<String, u32>,
    /// The first hundred answers, in order.
    pub list: Vec<CallSeen>,
}

/// Refusals of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Denial {
    /// Why.
    pub reason: Reason,
    /// The tier that the tool needs.
    pub tier: Option<Tier>,
    /// How many.
    pub count: u32,
}

/// The way of the robot.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Path {
    /// Where it began, m.
    pub start: Option<[f64; 2]>,
    /// Where it ended, m.
    pub end: Option<[f64; 2]>,
    /// Its length, m.
    pub length_m: f64,
    /// At most 200 points of it, m.
    pub points: Vec<[f64; 2]>,
}

/// What came of a rehearsal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The scenario.
    pub scenario: String,
    /// Whether every expectation was met.
    pub ok: bool,
    /// `dora` or `mock`.
    pub bridge: String,
    /// The seed of the simulated robot.
    pub seed: u64,
    /// Process id of the agent.
    pub agent_pid: Option<u32>,
    /// Process id of the robot.
    pub robot_pid: Option<u32>,
    /// The calls.
    pub calls: Calls,
    /// The refusals.
    pub denials: Vec<Denial>,
    /// The stops, the ordinary ends of holds included.
    pub stops: Vec<StopSeen>,
    /// Motion commands that reached the robot.
    pub motions_at_robot: u32,
    /// The way of the robot, from its own journal.
    pub path: Path,
    /// The expectations.
    pub expectations: Vec<Verdict>,
    /// The faults that happened, with the number of messages that each hit.
    pub faults: Vec<FaultSeen>,
    /// From the start to the end, on the clock of the run, ms.
    pub total_ms: u64,
    /// The time that it took, ms. The same on a real clock.
    pub wall_ms: u64,
    /// The hash of every fact with its time, 64 hexadecimal digits; `None` on a real clock.
    pub trace: Option<String>,
    /// The metrics of calls, refusals and stops that are not 0.
    pub metrics: Vec<String>,
}

impl Summary {
    /// Puts a summary together.
    pub fn of(
        scenario: &Scenario,
        evidence: &Evidence<'_>,
        expectations: Vec<Verdict>,
        run: RunFacts<'_>,
    ) -> Self {
        let (calls, denials) = calls(evidence.facts);
        Self {
            scenario: scenario.name.clone(),
            ok: expectations.iter().all(|verdict| verdict.ok),
            bridge: run.bridge.to_owned(),
            seed: run.seed,
            agent_pid: agent_pid(evidence.facts),
            robot_pid: robot_pid(evidence.journal),
            calls,
            denials,
            stops: stops(evidence.facts),
            motions_at_robot: motions(evidence.journal),
            path: path(evidence.journal),
            expectations,
            faults: run.faults.to_vec(),
            total_ms: run.total_ms,
            wall_ms: run.wall_ms,
            trace: run.trace.map(str::to_owned),
            metrics: metric_lines(run.metrics),
        }
    }

    /// Returns the summary for people, at most 100 columns wide.
    pub fn to_text(&self) -> String {
        text::render(self)
    }
}

fn agent_pid(facts: &[(u64, Fact)]) -> Option<u32> {
    facts.iter().find_map(|(_, fact)| {
        if let Fact::Started { pid, .. } = fact {
            Some(*pid)
        } else {
            None
        }
    })
}

fn robot_pid(journal: &[JournalEntry]) -> Option<u32> {
    journal.iter().find_map(|entry| {
        if let JournalEntry::Start { pid, .. } = entry {
            Some(*pid)
        } else {
            None
        }
    })
}

fn motions(journal: &[JournalEntry]) -> u32 {
    let moves = |entry: &&JournalEntry| {
        matches!(
            entry,
            JournalEntry::Verb {
                class: super::VerbClass::Motion,
                ..
            }
        )
    };
    u32::try_from(journal.iter().filter(moves).count()).unwrap_or(u32::MAX)
}

fn calls(facts: &[(u64, Fact)]) -> (Calls, Vec<Denial>) {
    let mut calls = Calls::default();
    let mut denials: BTreeMap<(Reason, Option<Tier>), u32> = BTreeMap::new();
    for (_, fact) in facts {
        if let Fact::Granted { .. } = fact {
            bump(&mut calls.accepted);
        }
        if let Fact::Finished {
            tool,
            outcome,
            detail,
            took_ms,
            ..
        } = fact
        {
            bump(calls.outcomes.entry(outcome.clone()).or_default());
            // A refusal after the grant raises `Refused` as well, and is listed there.
            if outcome != "refused" {
                calls.list.push(CallSeen {
                    tool: tool.clone(),
                    outcome: outcome.clone(),
                    reason: None,
                    tier: None,
                    detail: detail.clone(),
                    took_ms: Some(*took_ms),
                });
            }
        }
        if let Fact::Refused {
            tool,
            reason,
            needed,
            detail,
            ..
        } = fact
        {
            bump(calls.refused.entry(*reason).or_default());
            bump(denials.entry((*reason, *needed)).or_default());
            calls.list.push(CallSeen {
                tool: tool.clone(),
                outcome: "refused".to_owned(),
                reason: Some(*reason),
                tier: *needed,
                detail: detail.clone(),
                took_ms: None,
            });
        }
        calls.list.truncate(CALLS_MAX);
    }
    let denials = denials.into_iter().map(|((reason, tier), count)| Denial {
        reason,
        tier,
        count,
    });
    (calls, denials.collect())
}

fn bump(count: &mut u32) {
    *count = count.saturating_add(1);
}

fn path(journal: &[JournalEntry]) -> Path {
    let places: Vec<[f64; 2]> = journal.iter().filter_map(JournalEntry::place).collect();
    let length_m = places
        .iter()
        .zip(places.iter().skip(1))
        .map(|([ax, ay], [bx, by])| (bx - ax).hypot(by - ay))
        // Not `sum`, which begins with -0 and prints it.
        .fold(0.0, |way, step| way + step);
    Path {
        start: places.first().copied(),
        end: places.last().copied(),
        length_m,
        points: thinned(&places),
    }
}

/// Every n-th place, and the last one.
fn thinned(places: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let every = places.len().div_ceil(POINTS_MAX.saturating_sub(1)).max(1);
    let mut points: Vec<[f64; 2]> = places.iter().step_by(every).copied().collect();
    if points.last() != places.last() {
        points.extend(places.last());
    }
    points
}

fn metric_lines(text: &str) -> Vec<String> {
    const SHOWN: [&str; 5] = [
        "octos_tool_policy_denial_total",
        "octos_edge_denial_total",
        "octos_edge_tool_calls_total",
        "octos_edge_stops_total",
        "octos_edge_commands_",
    ];
    text.lines()
        .filter(|line| SHOWN.iter().any(|name| line.starts_with(name)))
        .filter(|line| !line.ends_with(" 0"))
        .take(METRIC_LINES_MAX)
        .map(str::to_owned)
        .collect()
}
