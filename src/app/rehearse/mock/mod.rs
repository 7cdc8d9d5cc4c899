//! `sim --bridge mock`: the same scenario in this process, under a virtual clock.
//!
//! The agent is that of a node, driven by one loop (`app/stage`). The order of things depends on the
//! scenario and the seed alone, and an hour takes seconds.

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod elevations;
#[cfg(test)]
mod hand;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod powers;
#[cfg(test)]
mod shown;
mod stage;
#[cfg(test)]
mod tests;

use crate::app::clock::SystemClock;
use crate::app::exit::AppError;
use crate::app::load::Installation;
use crate::app::settings::Settings;
use crate::app::stage::{refuse_metrics, runtime};
use crate::app::start_log;
use crate::config::Scenario;
use crate::sim::{Dialect, FaultSeen, JournalEntry, Summary, Verdict};
use crate::terms::{Clock as _, Fact};

use super::RunFolder;
use super::evidence::{Run, judged};
use super::operator::Played;
use stage::Stage;

/// What a run in this process left behind.
#[derive(Debug)]
struct Ran {
    facts: Vec<(u64, Fact)>,
    journal: Vec<JournalEntry>,
    played: Played,
    faults: Vec<FaultSeen>,
    /// The faults that did not happen, by their place in the file.
    unfired: Vec<String>,
    trace: String,
    total_ms: u64,
}

/// Rehearses a scenario in this process.
///
/// # Errors
/// [`AppError::Config`] for bad files and for a robot that is no planar base, [`AppError::State`] when
/// the state folder cannot be used.
pub(super) fn rehearse(
    settings: &Settings,
    (scenario, seed): (Scenario, u64),
    progress: impl Fn(&str) + Send + 'static,
) -> Result<Summary, AppError> {
    let wall = SystemClock::start();
    let hint = "the summary holds them; or --bridge dora";
    refuse_metrics(settings, "a rehearsal in process", hint)?;
    let installation = Installation::load(settings, &scenario.robot, &scenario.board)?;
    let dialect = Dialect::of(&installation.robot)?;
    start_log(settings)?;
    let folder = RunFolder::open(settings)?;
    let given = Given {
        installation: &installation,
        dialect,
        scenario: &scenario,
        seed,
        folder: &folder,
    };
    let ran = run(&given, Box::new(progress))?;
    summarize(&given, &ran, wall.now().as_ms())
}

/// What a run is made of.
#[derive(Debug)]
struct Given<'a> {
    installation: &'a Installation,
    /// The language of the robot file.
    dialect: Dialect,
    scenario: &'a Scenario,
    seed: u64,
    folder: &'a RunFolder,
}

/// Runs a scenario to its end.
fn run(given: &Given<'_>, progress: Box<dyn Fn(&str) + Send>) -> Result<Ran, AppError> {
    runtime()?.block_on(async { Stage::new(given, progress)?.run().await })
}

fn summarize(given: &Given<'_>, ran: &Ran, wall_ms: u64) -> Result<Summary, AppError> {
    let verdicts = if given.scenario.faults.is_empty() {
        Vec::new()
    } else {
        vec![faults_verdict(given.scenario, ran)]
    };
    let run = Run {
        bridge: "mock",
        seed: given.seed,
        total_ms: ran.total_ms,
        wall_ms,
        facts: &ran.facts,
        journal: &ran.journal,
        // Agent and robot share a clock.
        offset_ms: 0,
        verdicts,
        faults: &ran.faults,
        trace: Some(ran.trace.clone()),
    };
    judged((given.scenario, given.installation), run, &ran.played)
}

fn faults_verdict(scenario: &Scenario, ran: &Ran) -> Verdict {
    Verdict {
        name: "faults",
        ok: ran.unfired.is_empty(),
        expected: format!("all {} happened", scenario.faults.len()),
        found: if ran.unfired.is_empty() {
            "all happened".to_owned()
        } else {
            format!("never happened: {}", ran.unfired.join(", "))
        },
    }
}
