//! What a run on a dataflow left behind.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::evidence::{Run, judged};
use super::operator::Played;
use crate::app::exit::AppError;
use crate::app::load::Installation;
use crate::app::state::audit_folder;
use crate::config::Scenario;
use crate::node::RunEnd;
use crate::sim::{JournalEntry, Summary, Verdict, clock_offset_ms, read_journal};
use crate::telemetry::{Record, read_records};
use crate::terms::Fact;

/// Where a run leaves its traces.
#[derive(Debug)]
pub(super) struct Traces {
    /// The state folder of the robot's agent.
    pub(super) robot: PathBuf,
    /// The rover's journal.
    pub(super) journal: PathBuf,
    /// Process lives that left records here before this run.
    earlier: BTreeSet<String>,
}

impl Traces {
    /// Returns the agent's control socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.robot.join("control.sock")
    }

    /// Prepares a folder in which earlier lives may have left records: those stay and are not judged.
    /// The journal of an earlier rehearsal makes room.
    ///
    /// # Errors
    /// [`AppError::Internal`] when the folder cannot be read or the journal not removed.
    pub(super) fn of(robot: PathBuf, journal: PathBuf) -> Result<Self, AppError> {
        match std::fs::remove_file(&journal) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let problem = format!("journal of an earlier rehearsal: {error}");
                return Err(AppError::Internal(problem));
            }
            Err(_) | Ok(()) => {}
        }
        let audit = audit_folder(&robot);
        let earlier = if audit.is_dir() {
            records_in(&audit)?
                .into_iter()
                .map(|record| record.boot)
                .collect()
        } else {
            BTreeSet::new()
        };
        Ok(Self {
            robot,
            journal,
            earlier,
        })
    }

    fn facts(&self) -> Result<Vec<Record>, AppError> {
        let mut records = records_in(&audit_folder(&self.robot))?;
        records.retain(|record| !self.earlier.contains(&record.boot));
        if records.is_empty() {
            return Err(AppError::Internal(
                "the agent left no facts to judge".to_owned(),
            ));
        }
        Ok(records)
    }

    fn journal(&self) -> Result<Vec<JournalEntry>, AppError> {
        let file = OpenOptions::new()
            .read(true)
            .open(&self.journal)
            .map_err(|error| {
                AppError::Internal(format!("the rover left no journal to judge: {error}"))
            })?;
        read_journal(BufReader::new(file))
            .map_err(|error| AppError::Internal(format!("the rover's journal: {error}")))
    }
}

fn records_in(audit: &Path) -> Result<Vec<Record>, AppError> {
    read_records(audit)
        .map_err(|error| AppError::Internal(format!("the agent left no facts to judge: {error}")))
}

/// Judges a run and puts its summary together.
pub(super) fn summarize(
    traces: &Traces,
    (scenario, installation, seed): (&Scenario, &Installation, u64),
    (played, end, total_ms): (Played, RunEnd, u64),
) -> Result<Summary, AppError> {
    let (records, journal) = match (traces.facts(), traces.journal()) {
        (Ok(records), Ok(journal)) => (records, journal),
        (Err(error), _) | (_, Err(error)) => return Err(with_reasons(&error, &played, &end)),
    };
    let facts: Vec<(u64, Fact)> = records
        .iter()
        .map(|record| (record.t_mono_ms, record.fact.clone()))
        .collect();
    let run = Run {
        bridge: "dora",
        seed,
        total_ms,
        wall_ms: total_ms,
        facts: &facts,
        journal: &journal,
        offset_ms: wall_at_zero(&records).map_or(0, |zero| clock_offset_ms(zero, &journal)),
        verdicts: vec![nodes_verdict(&end)],
        faults: &[],
        trace: None,
    };
    judged((scenario, installation), run, &played)
}

/// Returns the wall time at the origin of the agent's clock.
fn wall_at_zero(records: &[Record]) -> Option<SystemTime> {
    let first = records.first()?;
    let wall = humantime::parse_rfc3339(&first.t_wall).ok()?;
    wall.checked_sub(Duration::from_millis(first.t_mono_ms))
}

fn nodes_verdict(end: &RunEnd) -> Verdict {
    let failed: Vec<String> = end
        .nodes
        .iter()
        .filter_map(|node| Some(format!("{}: {}", node.node, node.error.as_deref()?)))
        .collect();
    Verdict {
        name: "nodes",
        ok: failed.is_empty(),
        expected: "every node ends with 0".to_owned(),
        found: if failed.is_empty() {
            "so they did".to_owned()
        } else {
            failed.join("; ")
        },
    }
}

fn with_reasons(error: &AppError, played: &Played, end: &RunEnd) -> AppError {
    let mut text = error.to_string();
    for node in &end.nodes {
        if let Some(why) = &node.error {
            text.push_str(&format!("; node {} failed: {why}", node.node));
        }
    }
    for trouble in &played.troubles {
        text.push_str(&format!("; {trouble}"));
    }
    AppError::Internal(text)
}
