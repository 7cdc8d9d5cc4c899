//! `node` under `DORA_TEST_WITH_INPUTS`: what this build says to a recorded session.
//!
//! The agent is that of a node, driven by one loop under a virtual clock (`app/stage`): each event is
//! heard at its own time offset, ids and wall time are the same in every run, so the outputs are the
//! same byte for byte, and ten minutes take seconds. Own verbs and commands go out under the ids whose
//! answers the session holds, as far as it tells them. The session does not react: its robot goes on
//! as it did, whatever is said to it now.
//!
//! Nothing of a robot that lives is touched. Latch and marker lie in a folder of the run's own; how the
//! last life ended is read from a state folder that was given, and nothing is written there. There is
//! no control socket, no audit and no scrape. The operator is that of the scenario under `--model`;
//! without one nobody arms and nobody gives a goal.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::OFlags;

use super::exit::{AppError, Exit};
use super::load::Installation;
use super::parts::{End, replies, scenario};
use super::rehearse::{Play, RunFolder};
use super::requests::NodeRequest;
use super::settings::Settings;
use super::stage::{Cast, LOOK_MS, Ledger, Stage, World, refuse_metrics, runtime};
use super::state::{StateFiles, StateFolder, robot_folder};
use crate::config::{ReplayFiles, Scenario};
use crate::node::{NodeError, SESSION_BYTES_MAX, Session, SessionOutputs, TimedEvent};
use crate::robot::codec::decode_response;
use crate::robot::{Heard, Ids, Parts};
use crate::sim::{Body, Rhythm};
use crate::telemetry::tell_fact;
use crate::terms::{Clock, Input, Mono, RobotId, WireEvent};

/// Replays a session to its end.
///
/// # Errors
/// [`AppError::Node`] for a session that cannot be read and outputs that cannot be written,
/// [`AppError::Config`] for bad files, [`AppError::Usage`] for a model that is none or metrics that
/// nobody could scrape, [`AppError::State`] when no folder can be made for the run.
pub(super) fn replay(
    settings: &Settings,
    request: &NodeRequest,
    files: &ReplayFiles,
) -> Result<Exit, AppError> {
    refuse_metrics(settings, "a replay", "the outputs tell what was said")?;
    let installation = Installation::load(settings, &request.robot, &request.board)?;
    let scenario = scenario(request.model.as_deref())?;
    super::start_log(settings)?;
    let robot_id = installation.robot_id(request.robot_id.as_ref())?;
    let session = read(&files.inputs)?;
    let out = create(files)?;
    let folder = RunFolder::fresh()?;
    let last = LastLife::of(settings.given_state(), &robot_id);
    let given = Given {
        installation: &installation,
        request,
        folder: last.told_to(StateFolder::open(folder.path(), &robot_id)?)?,
        robot_id,
        session,
        scenario,
    };
    let ran = run(given, out, files.with_times)?;
    ran.tell(files)?;
    Ok(Exit::Done)
}

/// Reads the session.
fn read(path: &Path) -> Result<Session, AppError> {
    let file = path.display().to_string();
    let mut bytes = Vec::new();
    let read = OpenOptions::new().read(true).open(path).and_then(|file| {
        // One byte more than is permitted: so it is seen that there is more.
        file.take(SESSION_BYTES_MAX.saturating_add(1))
            .read_to_end(&mut bytes)
    });
    read.map_err(|error| session_error(path, error.to_string()))?;
    Ok(Session::read(&file, &bytes)?)
}

/// Makes the file of the outputs; one that is there makes room, unless it is the session itself, under
/// whatever name, or no regular file.
fn create(files: &ReplayFiles) -> Result<File, AppError> {
    let bad = |problem: String| session_error(&files.outputs, problem);
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        // A pipe of that name is not waited for.
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(&files.outputs)
        .map_err(|error| bad(error.to_string()))?;
    let read = |error: std::io::Error| bad(error.to_string());
    let (out, session) = (
        file.metadata().map_err(read)?,
        std::fs::metadata(&files.inputs).map_err(read)?,
    );
    if !out.is_file() {
        return Err(bad(
            "the outputs need a regular file: name another".to_owned()
        ));
    }
    if (out.dev(), out.ino()) == (session.dev(), session.ino()) {
        let problem = "the outputs would replace the session: name another file";
        return Err(bad(problem.to_owned()));
    }
    file.set_len(0).map_err(read)?;
    Ok(file)
}

fn session_error(path: &Path, problem: String) -> AppError {
    AppError::Node(NodeError::Session {
        file: path.display().to_string(),
        problem,
    })
}

/// How the last life of the robot's agent ended.
#[derive(Debug)]
struct LastLife(Option<StateFiles>);

impl LastLife {
    /// Looks into a state folder, without its lock: nothing is written there.
    fn of(state: Option<&Path>, robot_id: &RobotId) -> Self {
        Self(state.map(|state| StateFiles::seen(robot_folder(state, robot_id))))
    }

    /// Brings latch and marker into the folder of the run.
    fn told_to(&self, folder: StateFolder) -> Result<StateFolder, AppError> {
        let Some(last) = &self.0 else {
            return Ok(folder);
        };
        let marked = if last.unclean() {
            folder.files().mark_armed("the last life")
        } else {
            Ok(())
        };
        let latched = last
            .latched()
            .map_or(Ok(()), |cause| folder.files().persist_latch(cause, 0, 0));
        marked.and(latched).map_err(|error| {
            AppError::Internal(format!("latch and marker of the last life: {error}"))
        })?;
        Ok(folder)
    }
}

/// What a replay is made of.
struct Given<'a> {
    installation: &'a Installation,
    request: &'a NodeRequest,
    robot_id: RobotId,
    folder: StateFolder,
    session: Session,
    scenario: Option<Scenario>,
}

/// What came of it.
#[derive(Debug)]
struct Ran {
    events: usize,
    outputs: std::io::Result<u64>,
    total_ms: u64,
    /// What the operator of the scenario could not do, and why.
    troubles: Vec<String>,
    ledger: Arc<Ledger>,
}

impl Ran {
    fn tell(self, files: &ReplayFiles) -> Result<(), AppError> {
        for trouble in &self.troubles {
            tracing::warn!("{trouble}");
        }
        let outputs = self.outputs;
        let outputs = outputs.map_err(|error| session_error(&files.outputs, error.to_string()))?;
        tracing::info!(
            events = self.events,
            outputs,
            session_ms = self.total_ms,
            trace = self.ledger.trace(),
            file = %files.outputs.display(),
            "replayed"
        );
        Ok(())
    }
}

/// Replays a session; what is said goes to `out`.
fn run(given: Given<'_>, out: File, with_times: bool) -> Result<Ran, AppError> {
    runtime()?.block_on(async { Replay::new(given, out, with_times)?.run().await })
}

/// A replay on its way.
struct Replay {
    stage: Stage<Record>,
    play: Option<Play>,
    /// When the operator looks next.
    look_at: Mono,
    /// Facts that were told.
    told: usize,
    events: usize,
}

impl Replay {
    fn new(given: Given<'_>, out: File, with_times: bool) -> Result<Self, AppError> {
        let events = given.session.events().len();
        let cast = Cast {
            installation: given.installation,
            robot_id: given.robot_id,
            folder: given.folder,
            ids: Ids::of_answers(&answered(&given.session)),
            tier: given.request.tier,
            script: given.scenario.as_ref().map(replies),
            is_attended: given.scenario.as_ref().is_some_and(Scenario::is_attended),
        };
        let stage = Stage::new(cast, |parts, rhythm| {
            let clock = with_times.then(|| Arc::new(rhythm.clock.clone()) as Arc<dyn Clock>);
            let wire = SessionOutputs::new(Box::new(BufWriter::new(out)), clock);
            Record::new(&given.session, wire, (parts, rhythm))
        })?;
        Ok(Self {
            stage,
            play: given
                .scenario
                .map(|scenario| Play::new(scenario, Box::new(|line| tracing::info!("{line}")))),
            look_at: Mono::ZERO,
            told: 0,
            events,
        })
    }

    async fn run(mut self) -> Result<Ran, AppError> {
        // The tick of a node runs before its receiver hears anything.
        self.stage.world().wake();
        while !self.stage.graph_ended {
            self.stage.step().await;
            self.tell();
            if let Some(End::Broken(why)) = self.stage.ended() {
                return Err(AppError::Internal(why.to_owned()));
            }
            self.act()?;
        }
        let at_rest = self.stage.end(None).await;
        if !at_rest {
            tracing::info!("rest was not confirmed: no robot is heard after the dataflow's Stop");
        }
        self.stage.conclude(Exit::Done);
        self.tell();
        self.ran()
    }

    fn act(&mut self) -> Result<(), AppError> {
        let now = self.stage.clock.now();
        let Some(play) = &mut self.play else {
            return Ok(());
        };
        if now >= self.look_at {
            self.look_at = now.plus_ms(LOOK_MS);
            let status = play.look(&mut self.stage.control)?;
            play.act(&mut self.stage.control, &status, now)?;
        }
        Ok(())
    }

    /// Says the facts of the last step, as a node does.
    fn tell(&mut self) {
        let facts = self.stage.ledger.facts_since(self.told);
        self.told = self.told.saturating_add(facts.len());
        for (t_ms, fact) in facts {
            tell_fact(t_ms, &fact);
        }
    }

    fn ran(self) -> Result<Ran, AppError> {
        let played = self.play.map(Play::played).unwrap_or_default();
        let unfired = played.unfired.iter();
        let mut troubles = played.troubles;
        troubles.extend(
            unfired
                .map(|event| format!("the operator's event at {} never came about", event.place)),
        );
        Ok(Ran {
            events: self.events,
            outputs: self.stage.world().wire.finish(),
            total_ms: self.stage.clock.now().as_ms(),
            troubles,
            ledger: self.stage.ledger.clone(),
        })
    }
}

/// Returns the ids of the answers in a session, in their order.
fn answered(session: &Session) -> Vec<[u8; 16]> {
    let ids = session.texts(Input::CmdResponse).filter_map(|text| {
        let id = decode_response(text).ok()?.request_id;
        uuid::Uuid::try_parse(&id).ok()
    });
    ids.map(uuid::Uuid::into_bytes).collect()
}

/// The session at the other end of the wire, which hears nothing.
#[derive(Debug)]
struct Record {
    body: Body,
    events: VecDeque<TimedEvent>,
    wire: SessionOutputs,
}

impl Record {
    fn new(session: &Session, wire: SessionOutputs, (parts, rhythm): (Parts, Rhythm)) -> Self {
        let mut events: VecDeque<TimedEvent> = session.events().iter().cloned().collect();
        let last = events.back();
        if last.is_none_or(|last| last.event != WireEvent::Stop) {
            // A session without an end ends with the last that was heard.
            events.push_back(TimedEvent {
                at: last.map_or(Mono::ZERO, |last| last.at),
                event: WireEvent::Stop,
            });
        }
        if let Some(every) = tick_period(session) {
            parts.links.observed.watch_graph(every, Mono::ZERO);
        }
        Self {
            body: Body::new(parts, rhythm),
            events,
            wire,
        }
    }
}

/// Returns the period of the timer in a session, as its first two ticks tell it; `None` when there are
/// none. A session holds no dataflow that would say it.
fn tick_period(session: &Session) -> Option<Duration> {
    let ticks = session.events().iter().filter(|timed| {
        matches!(
            timed.event,
            WireEvent::Data {
                input: Input::Tick,
                ..
            }
        )
    });
    let mut times = ticks.map(|timed| timed.at);
    let (first, second) = (times.next()?, times.next()?);
    Some(second.since(first))
}

impl World for Record {
    fn advance_to(&mut self, now: Mono) {
        while self.events.front().is_some_and(|next| next.at <= now) {
            if let Some(next) = self.events.pop_front() {
                self.body.go_to(next.at);
                self.body.hear(next.event);
            }
        }
        self.body.go_to(now);
        self.body.step(&mut self.wire);
    }

    fn wake(&mut self) {
        self.body.step(&mut self.wire);
    }

    fn take_heard(&mut self) -> Vec<Heard> {
        self.body.take_heard()
    }
}
