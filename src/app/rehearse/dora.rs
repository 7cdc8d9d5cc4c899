//! `sim --bridge dora`: a scenario in a real dataflow, from start to judgement.
//!
//! Three processes: this one runs the daemon and plays the operator over the control socket; the
//! agent and the rover are its nodes. What came of it is read from what both left behind: the
//! agent's facts and the rover's own journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::RunFolder;
use super::socket::{Rehearsal, play};
use super::traces::{Traces, summarize};
use crate::app::clock::SystemClock;
use crate::app::exit::AppError;
use crate::app::load::Installation;
use crate::app::run_file::{block_on_daemon, folder_of, line_of, own_binary};
use crate::app::settings::Settings;
use crate::app::simulated;
use crate::app::start_log;
use crate::app::state::{StateFolder, robot_folder};
use crate::config::Scenario;
use crate::node::{Dataflow, DataflowRun, NodeError, NodePatch};
use crate::sim::{Dialect, Summary};
use crate::terms::{Clock, RobotId, counted};

/// After the scenario's limit the dataflow gets this long to end in order, s.
const GRACE_S: u64 = 15;
/// The variable that says where the simulated robot begins.
const HOME: &str = "OCTOS_EDGE_HOME";

/// Rehearses a scenario on the embedded daemon.
///
/// # Errors
/// [`AppError::Config`] and [`AppError::Node`] for bad files, also for a simulated robot that cannot
/// speak as the robot file does, [`AppError::Internal`] when the run
/// left nothing to judge.
pub(super) fn rehearse(
    settings: &Settings,
    (scenario, seed): (Scenario, u64),
    progress: impl Fn(&str) + Send + Clone + 'static,
) -> Result<Summary, AppError> {
    let clock = SystemClock::start();
    refuse_faults(&scenario)?;
    let installation = Installation::load(settings, &scenario.robot, &scenario.board)?;
    let path = scenario_dataflow(&scenario)?;
    let flow = Dataflow::read(&path)?;
    let robot_id = agent_robot_id(&flow, &scenario, &installation)?;
    let robot = simulated_robot(&flow, &installation)?;
    start_log(settings)?;

    let state = RunFolder::open(settings)?;
    // A node that serves this robot from this folder is somebody's: it must not be played with.
    drop(StateFolder::open(&state.path, &robot_id)?);
    let traces = Traces::of(
        robot_folder(&state.path, &robot_id),
        state.path.join("rover.jsonl"),
    )?;
    let mut patch = patch(settings, &scenario, (&state.path, &traces), seed)?;
    patch.env.entry("mock-robot").or_default().extend(robot);
    let run = DataflowRun {
        flow: flow.patched(&own_binary()?, &patch),
        working_dir: state.path.clone(),
        stop_after: Some(Duration::from_secs(u64::from(scenario.limit_s) + GRACE_S)),
        exit_when_nodes_finish: true,
        record_to: settings.record_to(),
    };
    let over = Arc::new(AtomicBool::new(false));
    let operator = play(Rehearsal {
        scenario: scenario.clone(),
        socket: traces.socket(),
        over: Arc::clone(&over),
        progress: Box::new(progress.clone()),
    })?;
    let end = block_on_daemon(run, move |log| progress(&line_of(&log)));
    over.store(true, Ordering::Release);
    let played = operator
        .join()
        .map_err(|_panic| AppError::Internal("the operator's thread broke".to_owned()))?;
    let end = end?;
    summarize(
        &traces,
        (&scenario, &installation, seed),
        (played, end, clock.now().as_ms()),
    )
}

/// Nobody can lose a message of a real dataflow on purpose.
fn refuse_faults(scenario: &Scenario) -> Result<(), AppError> {
    if scenario.faults.is_empty() {
        return Ok(());
    }
    Err(AppError::Usage {
        problem: format!(
            "scenario `{}` has {}, which cannot be made to happen on dora",
            scenario.name,
            counted(scenario.faults.len(), "fault")
        ),
        hint: format!(
            "rehearse it in process: sim {} --bridge mock",
            scenario.name
        ),
    })
}

/// Returns the dataflow of a scenario: in the folder above the scenario's.
fn scenario_dataflow(scenario: &Scenario) -> Result<PathBuf, AppError> {
    let folder = folder_of(Path::new(&*scenario.place.file))?;
    Ok(folder.parent().unwrap_or(&folder).join(&scenario.dataflow))
}

/// Returns the id of the robot that the dataflow's agent drives.
fn agent_robot_id(
    flow: &Dataflow,
    scenario: &Scenario,
    installation: &Installation,
) -> Result<RobotId, AppError> {
    let file = flow.path().display().to_string();
    let bad = |problem: String| {
        AppError::Node(NodeError::File {
            file: file.clone(),
            problem,
        })
    };
    let nodes = flow.own_nodes();
    let agents: Vec<_> = nodes
        .iter()
        .filter(|node| node.subcommand() == "node")
        .collect();
    let [agent] = agents.as_slice() else {
        return Err(bad(format!(
            "{} nodes run `node`: a rehearsal needs exactly one",
            agents.len()
        )));
    };
    for (flag, wanted) in [("--robot", &scenario.robot), ("--board", &scenario.board)] {
        if agent.flag(flag) != Some(wanted) {
            return Err(bad(format!(
                "node `{}` runs {flag} {}, the scenario wants `{wanted}`",
                agent.id,
                agent
                    .flag(flag)
                    .map_or("(none)".to_owned(), |found| format!("`{found}`"))
            )));
        }
    }
    if let Some(id) = &installation.robot.id {
        return Ok(id.clone());
    }
    let id = agent.env.get("ROBOT_ID").ok_or_else(|| {
        bad(format!(
            "node `{}` has no ROBOT_ID in its env, and the robot file has no id",
            agent.id
        ))
    })?;
    RobotId::parse(id).map_err(|error| bad(error.to_string()))
}

/// Judges the simulated robot of the dataflow, and returns where it begins. What its node says itself
/// goes first; a dataflow may also have a simulator of its own.
fn simulated_robot(
    flow: &Dataflow,
    installation: &Installation,
) -> Result<BTreeMap<String, String>, AppError> {
    let robot = &installation.robot;
    let nodes = flow.own_nodes();
    let simulated = || {
        nodes
            .iter()
            .filter(|node| node.subcommand() == "mock-robot")
    };
    let problems: Vec<String> = simulated()
        .flat_map(|node| simulated::problems(node, robot))
        .collect();
    if !problems.is_empty() {
        return Err(AppError::Node(NodeError::Misfit {
            file: flow.path().display().to_string(),
            problems,
        }));
    }
    if simulated().any(|node| node.flag("--robot").is_some()) {
        // Its node would say so too, but only once everything is up.
        drop(Dialect::of(robot)?);
    }
    if simulated().any(|node| node.env.contains_key(HOME)) {
        return Ok(BTreeMap::new());
    }
    let [x, y] = robot.home();
    Ok(BTreeMap::from([(HOME.to_owned(), format!("{x},{y}"))]))
}

/// Returns what the nodes of this run are told beyond the dataflow.
fn patch(
    settings: &Settings,
    scenario: &Scenario,
    (state, traces): (&Path, &Traces),
    seed: u64,
) -> Result<NodePatch, AppError> {
    let absolute = |path: &Path| -> Result<String, AppError> {
        let path = std::fs::canonicalize(path).map_err(|error| {
            AppError::Internal(format!("{} has no absolute path: {error}", path.display()))
        })?;
        Ok(path.display().to_string())
    };
    let mut agent = BTreeMap::from([
        ("OCTOS_EDGE_STATE".to_owned(), state.display().to_string()),
        ("OCTOS_EDGE_TIERS".to_owned(), absolute(settings.tiers())?),
        (
            "OCTOS_EDGE_BOARDS".to_owned(),
            absolute(&settings.boards())?,
        ),
        (
            "OCTOS_EDGE_MODEL".to_owned(),
            format!("scripted:{}", absolute(Path::new(&*scenario.place.file))?),
        ),
    ]);
    agent.extend(settings.metrics_variable()?);
    if let Some(config) = settings.config() {
        agent.insert("OCTOS_EDGE_CONFIG".to_owned(), absolute(config)?);
    }
    let robot = BTreeMap::from([
        ("OCTOS_EDGE_TIERS".to_owned(), absolute(settings.tiers())?),
        (
            "OCTOS_EDGE_JOURNAL".to_owned(),
            traces.journal.display().to_string(),
        ),
    ]);
    let mut env = BTreeMap::from([("node", agent), ("mock-robot", robot)]);
    for node in env.values_mut() {
        node.insert(
            "OCTOS_EDGE_LOG_FORMAT".to_owned(),
            settings.log_format().as_str().to_owned(),
        );
    }
    Ok(NodePatch {
        env,
        seed: Some(seed),
    })
}
