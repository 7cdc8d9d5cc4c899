//! `node`: the agent as a node of a dataflow, from its files to its orderly end.
//!
//! Order of a start: files (64) → metrics socket (64) → dataflow (66) → lock of the robot (75) → audit
//! → parts → threads → agent → metrics → control socket. Order of an end: stop → rest → disarm → agent
//! → threads → metrics → audit, so a scrape is answered during a stop. Each wait of the end is bounded;
//! what does not end in order is left marked, and the next start begins with the stop sequence.

mod ending;
mod keeper;
mod lifeline;
mod scrape;
mod threads;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::clock::SystemClock;
use super::control::{Answer, Control, ElevationNews, Holding, Server, Speaker, Word};
use super::exit::{AppError, Exit};
use super::load::Installation;
use super::parts::{
    Desk, ENDS_MAX, End, EndSeen, EndWatch, Held, Life, Mind, OperatorDesk, Scribe, Wait, Wake,
    begin, script,
};
use super::requests::NodeRequest;
use super::settings::Settings;
use super::state::StateFolder;
use crate::node::{Attached, Needs, attach};
use crate::robot::{Ids, Parts};
use crate::safety::Boot;
use crate::spine::SpineHandle;
use crate::telemetry::{Exporter, LogHandle, Metrics, Recorder, RecorderPlan, RobotLabels};
use crate::terms::{Clock, Fact, FactSink, RobotId, StopCause};

use ending::Ending;
use lifeline::Lifeline;
use scrape::{DiskLook, Gauges};
use threads::{Spawn, Threads};

/// How long a word waits between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// How long whoever asks for the end is kept waiting for what comes of it. Longer than any stop sequence of a
/// robot file that anybody would wait for.
const END_TOLD_WITHIN: Duration = Duration::from_secs(50);

/// Serves a robot until the dataflow, the operator or a signal ends it; with `DORA_TEST_WITH_INPUTS`
/// it replays a recorded session instead.
///
/// # Errors
/// [`AppError::Config`], [`AppError::Node`], [`AppError::SecondInstance`] and [`AppError::State`]
/// before anything was sent to the robot; [`AppError::Internal`] when the machine refuses a thread.
pub fn serve_node(settings: &Settings, request: &NodeRequest) -> Result<Exit, AppError> {
    if let Some(files) = settings.replay() {
        return super::replay::replay(settings, request, files);
    }
    let installation = Installation::load(settings, &request.robot, &request.board)?;
    installation.check_machine()?;
    let script = script(request.model.as_deref())?;
    let address = settings.metrics()?;
    let log = super::start_log(settings)?;
    let listener = scrape::bind(address)?;
    let robot_id = installation.robot_id(request.robot_id.as_ref())?;
    let attached = attach(Needs::AGENT, settings.dora_node_config())?;
    let folder = StateFolder::open(&settings.state()?, &robot_id)?;
    let node = Node::start(NodeParts {
        installation,
        request,
        robot_id,
        folder,
        restarts: attached.restarts,
        tick_every: attached.tick_every,
        clock: Arc::new(SystemClock::start()),
    })?;
    let serving = node.begin(Entry {
        attached,
        script,
        log,
        listener,
    })?;
    Ok(serving.until_the_end())
}

/// What a node is made of, once its files and its lock are in hand.
struct NodeParts<'a> {
    installation: Installation,
    request: &'a NodeRequest,
    robot_id: RobotId,
    folder: StateFolder,
    restarts: u32,
    tick_every: Option<Duration>,
    clock: Arc<dyn Clock>,
}

/// How the outside comes in.
struct Entry {
    attached: Attached,
    script: Option<Vec<crate::model::Cue>>,
    log: LogHandle,
    listener: Option<scrape::Bound>,
}

/// A node whose parts are together and whose threads do not run yet.
struct Node {
    installation: Installation,
    robot_id: RobotId,
    folder: StateFolder,
    recorder: Recorder,
    metrics: Arc<Metrics>,
    sink: Arc<dyn FactSink>,
    clock: Arc<dyn Clock>,
    parts: Parts,
    mind: Mind,
    spine_progress: Arc<AtomicU64>,
}

impl Node {
    fn start(given: NodeParts<'_>) -> Result<Self, AppError> {
        let NodeParts {
            installation,
            request,
            robot_id,
            folder,
            restarts,
            tick_every,
            clock,
        } = given;
        let (recorder, metrics) = start_recorder(&installation, &folder, Arc::clone(&clock))?;
        let sink: Arc<dyn FactSink> = Arc::new(recorder.sink());
        if let Some(fault) = folder.files().latch_fault() {
            tracing::error!("{fault}");
        }
        let boot = Boot {
            unclean: folder.files().unclean() || restarts > 0,
            latched: folder.files().latched(),
        };
        let mind = Mind::of(&installation, request.tier);
        let spine_progress = Arc::new(AtomicU64::new(0));
        let life = Life {
            robot_id: robot_id.clone(),
            ids: Ids::random(),
            boot,
            restarts,
            tier: mind.tier(),
            clock: Arc::clone(&clock),
            sink: Arc::clone(&sink),
            spine: Arc::clone(&spine_progress),
        };
        let parts = begin(&installation, life);
        if let Some(every) = tick_every {
            parts.links.observed.watch_graph(every, clock.now());
        }
        Ok(Self {
            installation,
            robot_id,
            folder,
            recorder,
            metrics,
            sink,
            clock,
            parts,
            mind,
            spine_progress,
        })
    }

    /// Starts everything: agent, exporter, control socket, and the threads last, because with them the
    /// first frame leaves.
    fn begin(self, entry: Entry) -> Result<Serving, AppError> {
        let (end_sender, end) = mpsc::sync_channel::<End>(ENDS_MAX);
        let (links, files) = (self.parts.links.clone(), self.folder.files().clone());
        let lifeline = Lifeline::new(links.shared.clone(), links.latch.clone(), files.clone());
        lifeline.guard_panics();
        let desk = Desk::new(files.clone(), links.clone(), Arc::clone(&self.sink));
        let (bridge, orders) = (Arc::clone(&self.parts.bridge), self.parts.orders.clone());
        let disk = DiskLook::new(files.audit(), Arc::clone(&self.clock));
        let gauges = Gauges::of(&self.parts, disk);
        let runtime = async_runtime(self.installation.board.tokio_workers)?;
        let spine = self.mind.wake(Wake {
            bridge: Arc::clone(&bridge),
            links: links.clone(),
            clock: Arc::clone(&self.clock),
            sink: Arc::clone(&self.sink),
            progress: self.spine_progress,
            // By whoever can reach the control socket.
            is_attended: true,
            script: entry.script,
            runtime: runtime.handle().clone(),
            end: end_sender.clone(),
        })?;
        let serve = |socket| gauges.serve(socket, self.metrics, Arc::clone(&self.clock));
        let exporter = entry.listener.map(serve).transpose()?;
        let scribe = Scribe::new(Arc::clone(&self.clock), Arc::clone(&self.sink));
        let ended = EndWatch::default();
        let operator = OperatorDesk {
            bridge: Arc::clone(&bridge),
            orders: orders.clone(),
            desk: desk.clone(),
            links,
            spine: spine.handle.clone(),
            has_model: spine.has_model,
            sink: Arc::clone(&self.sink),
            scribe: scribe.clone(),
            robot_id: self.robot_id.to_string(),
            tier: spine.tier,
            approvals: spine.approvals,
            elevations: spine.elevations,
            metrics: exporter.as_ref().map(|at| at.address().to_string()),
            loaded: self.installation.files.clone(),
            end: end_sender.clone(),
            ended: ended.clone(),
            wait: Arc::new(Parked),
        };
        // Before anything is sent to the robot: a node that nobody can stop must not begin.
        let server = listen(&files.socket(), operator, Arc::clone(&self.clock))?;
        let threads = Threads::spawn(Spawn {
            parts: self.parts,
            attached: entry.attached,
            board: self.installation.board,
            clock: self.clock,
            desk,
            lifeline,
            recorder: self.recorder.sink(),
            scribe: scribe.clone(),
            log: entry.log,
            files: self.installation.files,
            end: end_sender,
        })?;
        Ok(Serving {
            _folder: self.folder,
            recorder: self.recorder,
            sink: self.sink,
            runtime,
            spine: spine.handle,
            exporter,
            server,
            threads,
            scribe,
            ending: Ending::of(end, (bridge, orders), ended),
        })
    }
}

/// A node that serves its robot.
struct Serving {
    /// Holds the lock of the robot until the end.
    _folder: StateFolder,
    recorder: Recorder,
    sink: Arc<dyn FactSink>,
    runtime: Runtime,
    spine: SpineHandle,
    exporter: Option<Exporter>,
    server: Server,
    threads: Threads,
    scribe: Scribe,
    ending: Ending,
}

impl Serving {
    /// Serves until something ends the node, and ends it in order.
    fn until_the_end(self) -> Exit {
        let (mut exit, why) = self.ending.wait_and_end(&self.runtime, &self.spine);
        drop(self.server);
        self.runtime.shutdown_timeout(ending::RUNTIME_WITHIN);
        if !self.threads.join() && exit == Exit::Done {
            exit = ending::with_threads_left(&why);
        }
        self.scribe.close();
        if let Some(exporter) = self.exporter {
            exporter.finish();
        }
        self.sink.raise(Fact::Ended { code: exit.code() });
        if let Err(error) = self.recorder.finish() {
            tracing::error!(%error, "the last records may be lost");
        }
        exit
    }
}

fn listen(
    socket: &Path,
    operator: OperatorDesk,
    clock: Arc<dyn Clock>,
) -> Result<Server, AppError> {
    Server::listen(socket, Arc::new(operator), clock).map_err(|error| AppError::State {
        folder: socket.display().to_string(),
        problem: format!("no control socket: {error}"),
        hint: "a socket's path has at most 107 bytes: give a shorter --state".to_owned(),
    })
}

/// Makes the async runtime of a node.
pub(in crate::app) fn async_runtime(workers: u32) -> Result<Runtime, AppError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(usize::try_from(workers).unwrap_or(1).max(1))
        .thread_name("agent")
        .enable_all()
        .build()
        .map_err(|error| AppError::Internal(format!("no async runtime: {error}")))
}

/// On a robot the others have threads of their own.
#[derive(Debug)]
struct Parked;

impl Wait for Parked {
    fn for_tick(&self) {
        thread::park_timeout(LOOK);
    }

    fn for_disk(&self) {
        thread::park_timeout(LOOK);
    }
}

impl Control for OperatorDesk {
    fn carry_out(&self, word: &Word, from: Speaker) -> Answer {
        let answer = Self::carry_out(self, word, from);
        match word {
            Word::End { .. } => ending_told(self.ended.wait(END_TOLD_WITHIN)),
            Word::Status
            | Word::Arm { .. }
            | Word::Disarm { .. }
            | Word::Stop { .. }
            | Word::Estop { .. }
            | Word::Reset { .. }
            | Word::Approve { .. }
            | Word::Deny { .. }
            | Word::Elevate { .. }
            | Word::Goal { .. } => answer,
        }
    }

    fn stop_at_once(&self, word: &Word, from: Speaker) -> Answer {
        Self::stop_at_once(self, word, from)
    }

    fn elevate(
        &self,
        word: &Word,
        from: Speaker,
    ) -> Result<(Box<dyn Holding>, ElevationNews), Answer> {
        let held = Self::elevate(self, word, from)?;
        let begun = held.begun().clone();
        Ok((Box::new(held), begun))
    }

    fn refused(&self, word: &Word, why: &str, from: Speaker) {
        self.refuse(word, vec![why.to_owned()], from);
    }
}

impl Holding for Held {
    fn news(&mut self) -> Vec<ElevationNews> {
        Self::news(self)
    }
}

/// Says what came of an end that was asked for: the process still lives, and goes next.
fn ending_told(seen: Option<EndSeen>) -> Answer {
    let pid = std::process::id();
    Answer::Ending {
        pid,
        at_rest: seen.map(|seen| seen.at_rest),
        code: seen.map(|seen| seen.code),
    }
}

/// Begins the black box of a node, as large as its board says.
pub(in crate::app) fn start_recorder(
    installation: &Installation,
    folder: &StateFolder,
    clock: Arc<dyn Clock>,
) -> Result<(Recorder, Arc<Metrics>), AppError> {
    let audit = folder.files().audit();
    let bad = |problem: String| {
        AppError::State {
        folder: audit.display().to_string(),
        problem,
        hint: "give a folder that this user can write with --state, or move the file that is in the way"
            .to_owned(),
    }
    };
    std::fs::create_dir_all(&audit).map_err(|error| bad(error.to_string()))?;
    let metrics = Metrics::new(RobotLabels::from(&installation.robot))
        .map_err(|error| installation.id_fault(error.to_string(), error.hint()))?;
    let metrics = Arc::new(metrics);
    let recorder = Recorder::start(RecorderPlan {
        dir: audit.clone(),
        bytes_max: u64::from(installation.board.blackbox_max_mb).saturating_mul(1024 * 1024),
        clock,
        metrics: Arc::clone(&metrics),
    })
    .map_err(|error| {
        let why = std::error::Error::source(&error).map(ToString::to_string);
        bad(why.map_or_else(|| error.to_string(), |why| format!("{error}: {why}")))
    })?;
    Ok((recorder, metrics))
}

/// Returns the cause under which a node that ends stops its robot.
const fn shutdown() -> StopCause {
    StopCause::Shutdown
}

#[cfg(test)]
mod tests;
