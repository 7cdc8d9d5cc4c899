//! The judge of a rehearsal: compares what came of a scenario with what must come of it.
//!
//! What the robot did is read from the robot's own journal, never from the runtime's word for it.
//! What a scenario does not expect is not judged, with two exceptions: the goal must have ended, and
//! each event of the operator must have happened.

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde::Serialize;

use super::journal::{JournalEntry, VerbClass};
use super::stops::{StopSeen, stops};
use crate::config::{Event, Expect, ExpectedRefusal, ExpectedStop, Scenario};
use crate::terms::{Fact, Reason, RunState, StopCause, StopKind, Tier};

/// Two processes read the wall clock a moment apart; a stop verb this much before its fact is
/// still of that stop, ms.
const CLOCK_SLACK_MS: i64 = 250;

/// What a run left behind.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The facts in the order in which they were raised, each with its time, ms.
    pub facts: &'a [(u64, Fact)],
    /// The robot's journal.
    pub journal: &'a [JournalEntry],
    /// A fact's time plus this is the time on the robot's clock, ms; 0 when both share a clock.
    pub offset_ms: i64,
    /// The events of the operator that did not happen.
    pub unfired: &'a [Event],
}

/// Why a goal ended whose model gave no reply.
const LANE_FAILED: &str = "lane_failed";

/// One expectation and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Its name: the key of the scenario file, `goal` or `events`.
    pub name: &'static str,
    /// Whether it was met.
    pub ok: bool,
    /// What must have come of it.
    pub expected: String,
    /// What came of it.
    pub found: String,
}

/// Returns what to add to the time of a fact to get the time on the robot's clock, ms.
///
/// `wall_at_zero` is the wall time at the origin of the clock of the facts.
pub fn clock_offset_ms(wall_at_zero: SystemTime, journal: &[JournalEntry]) -> i64 {
    let ours = wall_at_zero.duration_since(SystemTime::UNIX_EPOCH);
    let ours = i64::try_from(ours.unwrap_or_default().as_millis()).unwrap_or(i64::MAX);
    let theirs = journal.iter().find_map(|entry| match entry {
        JournalEntry::Start {
            wall_at_zero_ms, ..
        } => i64::try_from(*wall_at_zero_ms).ok(),
        JournalEntry::Verb { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. }
        | JournalEntry::Rest { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::DeadMan { .. } => None,
    });
    theirs.map_or(0, |theirs| ours.saturating_sub(theirs))
}

/// Judges a run.
pub fn judge(scenario: &Scenario, evidence: &Evidence<'_>) -> Vec<Verdict> {
    let Expect {
        refused,
        stops: expected_stops,
        commands_after_stop,
        end_x,
        end_y,
        end_state,
        at_rest,
    } = &scenario.expect;
    let seen: Vec<StopSeen> = stops(evidence.facts)
        .into_iter()
        .filter(|stop| stop.asked && !stop.ending)
        .collect();
    let mut verdicts = vec![goal(scenario, evidence)];
    if !scenario.events.is_empty() {
        verdicts.push(events(scenario, evidence));
    }
    verdicts.extend(sees(scenario, evidence));
    verdicts.extend(refused.as_ref().map(|list| refusals(list, evidence)));
    verdicts.extend(expected_stops.as_ref().map(|list| stop_list(list, &seen)));
    verdicts.extend(commands_after_stop.map(|count| after_stop(count, &seen, evidence)));
    verdicts
        .extend(end_x.map(|range| end_pose("end_pose.x", range, end(evidence).map(|[x, _]| x))));
    verdicts
        .extend(end_y.map(|range| end_pose("end_pose.y", range, end(evidence).map(|[_, y]| y))));
    verdicts.extend(end_state.map(|state| end_run_state(state, evidence)));
    verdicts.extend(at_rest.map(|expected| end_rest(expected, evidence)));
    verdicts
}

/// The facts up to the end of the goal.
fn until_goal_end<'a>(evidence: &Evidence<'a>) -> &'a [(u64, Fact)] {
    let mut facts = evidence.facts.iter();
    let end = facts.position(|(_, fact)| matches!(fact, Fact::GoalEnded { .. }));
    end.and_then(|end| evidence.facts.get(..end))
        .unwrap_or(evidence.facts)
}

fn goal(scenario: &Scenario, evidence: &Evidence<'_>) -> Verdict {
    let why = evidence.facts.iter().find_map(|(_, fact)| {
        if let Fact::GoalEnded { why, .. } = fact {
            Some(format!("ended: {why}"))
        } else {
            None
        }
    });
    Verdict {
        name: "goal",
        ok: why.is_some(),
        expected: format!("ended within {} s", scenario.limit_s),
        found: why.unwrap_or_else(|| "it did not end".to_owned()),
    }
}

fn events(scenario: &Scenario, evidence: &Evidence<'_>) -> Verdict {
    let missing = evidence.unfired.iter();
    let missing: Vec<String> = missing.map(|event| event.place.to_string()).collect();
    Verdict {
        name: "events",
        ok: missing.is_empty(),
        expected: format!("all {} happened", scenario.events.len()),
        found: if missing.is_empty() {
            "all happened".to_owned()
        } else {
            format!("never happened: {}", missing.join(", "))
        },
    }
}

/// Whether each turn that waits to see something was said; `None` when none waits.
fn sees(scenario: &Scenario, evidence: &Evidence<'_>) -> Option<Verdict> {
    let waits = scenario
        .turns
        .iter()
        .rposition(|turn| !turn.sees.is_empty())?;
    let needed = u32::try_from(waits).unwrap_or(u32::MAX).saturating_add(1);
    let said = evidence.facts.iter().find_map(|(_, fact)| {
        let Fact::GoalEnded { why, steps, .. } = fact else {
            return None;
        };
        // A reply that did not come was asked for all the same.
        Some(steps.saturating_sub(u32::from(why == LANE_FAILED)))
    });
    let said = said.unwrap_or(0);
    Some(Verdict {
        name: "sees",
        ok: said >= needed,
        expected: format!("the model sees what its first {needed} turns wait for"),
        found: format!("it said {said}"),
    })
}

type RefusalKey<'a> = (&'a str, Reason, Option<Tier>);

fn refusals(expected: &[ExpectedRefusal], evidence: &Evidence<'_>) -> Verdict {
    let mut seen: BTreeMap<RefusalKey<'_>, u32> = BTreeMap::new();
    for (_, fact) in until_goal_end(evidence) {
        if let Fact::Refused {
            tool,
            reason,
            needed,
            ..
        } = fact
        {
            let count = seen.entry((tool, *reason, *needed)).or_default();
            *count = count.saturating_add(1);
        }
    }
    let fits = |want: &ExpectedRefusal, (tool, reason, tier): &RefusalKey<'_>| {
        want.tool == *tool && want.reason == *reason && (want.tier.is_none() || want.tier == *tier)
    };
    let counts_fit = expected.iter().all(|want| {
        let counts = seen.iter().filter(|(key, _)| fits(want, key));
        counts.map(|(_, count)| *count).sum::<u32>() == want.times
    });
    let no_others = seen
        .keys()
        .all(|key| expected.iter().any(|want| fits(want, key)));
    let show = |tool: &str, (reason, tier): (Reason, Option<Tier>), times: u32| {
        let tier = tier.map(|tier| format!(", {tier}")).unwrap_or_default();
        format!("{times} x {tool} ({reason}{tier})")
    };
    let wanted = expected.iter();
    let wanted = wanted.map(|want| show(&want.tool, (want.reason, want.tier), want.times));
    let found = seen.iter();
    let found = found.map(|((tool, reason, tier), count)| show(tool, (*reason, *tier), *count));
    Verdict {
        name: "refused",
        ok: counts_fit && no_others,
        expected: listed(wanted),
        found: listed(found),
    }
}

fn stop_list(expected: &[ExpectedStop], seen: &[StopSeen]) -> Verdict {
    let show = |kind: StopKind, by: &str, (still, cause): (bool, Option<StopCause>)| {
        let still = if still {
            "came to rest"
        } else {
            "not confirmed"
        };
        let cause = cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
        format!("{kind} by {by}{cause}, {still}")
    };
    let wanted: Vec<String> = expected
        .iter()
        .map(|stop| show(stop.kind, &stop.by, (stop.standstill, stop.cause)))
        .collect();
    // A cause is shown where one is expected, and where nothing is.
    let asked = |nth: usize| expected.get(nth).is_none_or(|stop| stop.cause.is_some());
    let found: Vec<String> = seen
        .iter()
        .enumerate()
        .map(|(nth, stop)| {
            let cause = asked(nth).then_some(stop.cause);
            show(
                stop.kind,
                stop.by,
                (stop.standstill_after_ms.is_some(), cause),
            )
        })
        .collect();
    Verdict {
        name: "stops",
        ok: wanted == found,
        expected: listed(wanted.into_iter()),
        found: listed(found.into_iter()),
    }
}

fn after_stop(expected: u32, seen: &[StopSeen], evidence: &Evidence<'_>) -> Verdict {
    let count = seen.first().ok_or("nothing was stopped").and_then(|stop| {
        motions_after(stop.t_ms, evidence).ok_or("no stop verb reached the robot")
    });
    Verdict {
        name: "commands_after_stop",
        ok: count == Ok(expected),
        expected: expected.to_string(),
        found: count.map_or_else(str::to_owned, |count| count.to_string()),
    }
}

/// Motion commands that reached the robot behind the verb of the stop at `stop_ms`, up to the next
/// arming; `None` when no such verb reached it.
fn motions_after(stop_ms: u64, evidence: &Evidence<'_>) -> Option<u32> {
    let on_robot = |t_ms: u64| {
        let t_ms = i64::try_from(t_ms).unwrap_or(i64::MAX);
        t_ms.saturating_add(evidence.offset_ms)
    };
    let from = on_robot(stop_ms).saturating_sub(CLOCK_SLACK_MS);
    let armed_again = evidence
        .facts
        .iter()
        .filter(|(t_ms, fact)| *t_ms > stop_ms && is_arming(fact))
        .map(|(t_ms, _)| on_robot(*t_ms))
        .next();
    let until = armed_again.unwrap_or(i64::MAX);
    let verbs = evidence.journal.iter().filter_map(|entry| {
        if let JournalEntry::Verb { t_ms, class, .. } = entry {
            Some((i64::try_from(*t_ms).unwrap_or(i64::MAX), *class))
        } else {
            None
        }
    });
    let mut behind = verbs.skip_while(|(t_ms, class)| *t_ms < from || *class != VerbClass::Stop);
    behind.next()?;
    let motions = behind
        .take_while(|(t_ms, _)| *t_ms < until)
        .filter(|(_, class)| *class == VerbClass::Motion);
    Some(u32::try_from(motions.count()).unwrap_or(u32::MAX))
}

fn is_arming(fact: &Fact) -> bool {
    matches!(fact, Fact::OrderDone { order, .. } if order == "arm")
}

/// Where the robot last was, m.
fn end(evidence: &Evidence<'_>) -> Option<[f64; 2]> {
    evidence.journal.iter().rev().find_map(JournalEntry::place)
}

fn end_pose(name: &'static str, [min, max]: [f64; 2], found: Option<f64>) -> Verdict {
    Verdict {
        name,
        ok: found.is_some_and(|found| (min..=max).contains(&found)),
        expected: format!("{min} to {max} m"),
        found: found.map_or_else(|| "unknown".to_owned(), |found| format!("{found:.2} m")),
    }
}

/// The state in which the end of the node found the robot. Changes of the run state reach the record
/// a moment after the facts of the agent, so the end of the goal is no cut; the shutdown is, because
/// its own change comes the same way.
fn end_run_state(expected: RunState, evidence: &Evidence<'_>) -> Verdict {
    let mut last = None;
    for (_, fact) in evidence.facts {
        if let Fact::RunStateChanged { from, to, cause } = fact {
            if *cause == Some(StopCause::Shutdown) {
                last = Some(*from);
                break;
            }
            last = Some(*to);
        }
    }
    Verdict {
        name: "end_state",
        ok: last == Some(expected),
        expected: expected.to_string(),
        found: last.map_or_else(|| "unknown".to_owned(), |state| state.to_string()),
    }
}

/// Whether the robot stands still at the end, by its own journal: its last word is its rest, or a
/// pose without speed.
fn end_rest(expected: bool, evidence: &Evidence<'_>) -> Verdict {
    let last = evidence.journal.iter().rev().find_map(|entry| match entry {
        JournalEntry::Rest { .. } => Some(true),
        JournalEntry::Pose { speed, .. } => Some(speed.abs() < 1e-9),
        JournalEntry::Start { .. }
        | JournalEntry::Verb { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::DeadMan { .. } => None,
    });
    // A robot that never moved has no entry of its own.
    let found = last.unwrap_or(true);
    let show = |rest: bool| if rest { "at rest" } else { "in motion" }.to_owned();
    Verdict {
        name: "at_rest",
        ok: found == expected,
        expected: show(expected),
        found: show(found),
    }
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    let list: Vec<String> = parts.collect();
    if list.is_empty() {
        "none".to_owned()
    } else {
        list.join("; ")
    }
}
