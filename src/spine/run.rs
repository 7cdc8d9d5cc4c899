//! The loop itself.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::handle::{GOALS_MAX, Goal, SpineHandle, SpineStatus};
use super::pulse::Pulse;
use crate::agent::{Agent, AgentEvent, AgentStep};
use crate::catalog::ToolView;
use crate::executor::{Executor, Questions, Repeats, Turn};
use crate::terms::{Call, CallOrigin, CallReport, Fact, Lane, LaneError, Mono, Senses};

/// Longest wait for one reply of the model, ms.
pub const REPLY_MS_MAX: u64 = 60_000;
/// Why a goal ended that the end of the spine cut short.
const SHUTDOWN: &str = "shutdown";
/// Why a waiting goal ended that a person's stop overtook.
const STOPPED: &str = "stopped";
/// Who asks for a stop when the model does.
const MODEL: &str = "model";
/// Hexadecimal digits of a digest that are kept.
const DIGEST_CHARS: usize = 16;
/// Longest name of who gave a goal, characters.
const BY_CHARS_MAX: usize = 80;

/// What the spine is made of.
#[derive(Debug)]
pub struct Parts {
    /// Says what comes next.
    pub agent: Agent,
    /// The way to the model.
    pub lane: Box<dyn Lane>,
    /// Runs the calls.
    pub executor: Arc<Executor>,
    /// What the model is shown of its robot.
    pub senses: Arc<dyn Senses>,
    /// What the model may see and call. It changes when an operator raises a tier and when that ends;
    /// what a reply was asked with is what its calls are judged with.
    pub views: watch::Receiver<Arc<ToolView>>,
    /// Changes with each state of the robot.
    pub states: watch::Receiver<u64>,
    /// Raised with each iteration; leases look at it.
    pub progress: Arc<AtomicU64>,
}

/// The one loop.
#[derive(Debug)]
pub struct Spine {
    agent: Agent,
    lane: Box<dyn Lane>,
    executor: Arc<Executor>,
    senses: Arc<dyn Senses>,
    views: watch::Receiver<Arc<ToolView>>,
    /// Pinned with each question to the model.
    view: Arc<ToolView>,
    pulse: Pulse,
    goals: mpsc::Receiver<Goal>,
    status: watch::Sender<SpineStatus>,
    shutdown: CancellationToken,
}

impl Spine {
    /// Makes a spine that waits for its first goal, and the handle to it.
    pub fn new(parts: Parts) -> (Self, SpineHandle) {
        let (give, goals) = mpsc::channel(GOALS_MAX);
        let (status, watched) = watch::channel(SpineStatus::default());
        let shutdown = CancellationToken::new();
        let robot = Arc::clone(&parts.executor.ports().robot);
        let view = parts.views.borrow().clone();
        let handle = SpineHandle::new(give, watched, (robot, shutdown.clone()));
        let spine = Self {
            agent: parts.agent,
            lane: parts.lane,
            executor: parts.executor,
            senses: parts.senses,
            view,
            views: parts.views,
            pulse: Pulse::new(parts.states, parts.progress),
            goals,
            status,
            shutdown,
        };
        (spine, handle)
    }

    /// Pursues goals until [`SpineHandle::shutdown`] or until every handle is gone.
    ///
    /// # Cancellation
    /// Dropping the future drops the running calls: see [`Executor::call`]. No `GoalEnded` is
    /// raised then; end it with [`SpineHandle::shutdown`] instead.
    pub async fn run(mut self) {
        self.pursue_all().await;
        // Nobody gives one any more; those that wait are told to be lost.
        self.goals.close();
        while let Ok(goal) = self.goals.try_recv() {
            self.drop_goal(&goal, SHUTDOWN);
        }
    }

    async fn pursue_all(&mut self) {
        loop {
            let goal = tokio::select! {
                biased;
                () = self.shutdown.cancelled() => return,
                goal = self.goals.recv() => goal,
                () = self.pulse.state() => {
                    self.pulse.beat();
                    continue;
                }
            };
            self.pulse.beat();
            match goal {
                Some(goal) if goal.person_stops != self.person_stops() => {
                    self.drop_goal(&goal, STOPPED);
                }
                Some(goal) => self.pursue(goal).await,
                None => return,
            }
        }
    }

    async fn pursue(&mut self, goal: Goal) {
        self.begun(&goal);
        let mut turn = Turn {
            view: self.view.clone(),
            origin: CallOrigin::Model,
            by: Some(MODEL.to_owned()),
            person_stops: goal.person_stops,
            questions: Questions::default(),
            cancel: self.shutdown.child_token(),
            repeats: Repeats::default(),
        };
        let mut event = AgentEvent::Goal(goal.text);
        let why = loop {
            let step = self.agent.step(self.now(), event);
            self.note_steps();
            event = match step {
                AgentStep::End(end) => break end.as_str(),
                AgentStep::Ask => {
                    self.view = self.views.borrow().clone();
                    turn.view = self.view.clone();
                    self.show(goal.number);
                    self.ask().await
                }
                AgentStep::Run(calls) => AgentEvent::Reports(self.run_calls(&turn, calls).await),
            };
            if self.shutdown.is_cancelled() {
                break SHUTDOWN;
            }
        };
        self.ended(goal.number, why);
    }

    /// A goal that waited and is not begun: a person stopped the robot meanwhile, so nobody wants it any
    /// more, or the spine ends.
    fn drop_goal(&self, goal: &Goal, why: &str) {
        self.executor.ports().facts.raise(Fact::GoalDropped {
            goal: goal.number,
            digest: digest(&goal.text),
            by: goal.by.chars().take(BY_CHARS_MAX).collect(),
            peer: goal.peer,
            why: why.to_owned(),
        });
        self.status.send_modify(|status| {
            *status = SpineStatus {
                goal: goal.number,
                last_end: Some(format!("{why} before it began")),
                ..SpineStatus::default()
            };
        });
    }

    /// Shows the model its robot, and records by digest what it was shown.
    fn show(&mut self, goal: u32) {
        let shown = self.agent.show(&self.senses.sense());
        self.executor.ports().facts.raise(Fact::SensorsShown {
            goal,
            step: self.agent.steps_used(),
            digest: digest(&shown.text),
            tokens: shown.tokens,
            readings: shown.shown,
            stale: shown.stale,
            absent: shown.absent,
            left_out: shown.left_out,
        });
    }

    async fn ask(&mut self) -> AgentEvent {
        let left = self.left().min(Duration::from_millis(REPLY_MS_MAX));
        let reply = self
            .lane
            .reply(self.agent.conversation(), self.view.specs());
        let reply = tokio::time::timeout(left, reply);
        let late = || LaneError::Late {
            limit_ms: u64::try_from(left.as_millis()).unwrap_or(REPLY_MS_MAX),
        };
        let reply = tokio::select! {
            biased;
            // What is told the agent no longer matters then: the goal ends.
            () = self.shutdown.cancelled() => return AgentEvent::LaneFailed(late()),
            reply = self.pulse.attend(reply) => reply,
        };
        match reply {
            Ok(Ok(reply)) => AgentEvent::Reply(reply),
            Ok(Err(error)) => {
                tracing::warn!(%error, "the model gave no reply");
                AgentEvent::LaneFailed(error)
            }
            Err(_elapsed) => AgentEvent::LaneFailed(late()),
        }
    }

    /// Runs the calls of one reply. When the time of the goal is over, the turn is cancelled and
    /// what runs is waited for: a motion ends at rest.
    async fn run_calls(&mut self, turn: &Turn, calls: Vec<Call>) -> Vec<CallReport> {
        let overdue = tokio::time::sleep(self.left());
        let work = async {
            let mut work = std::pin::pin!(self.executor.batch(turn, calls));
            tokio::select! {
                biased;
                reports = &mut work => return reports,
                () = overdue => turn.cancel.cancel(),
            }
            work.await
        };
        let reports = self.pulse.attend(work).await;
        let answered = u32::try_from(reports.len()).unwrap_or(u32::MAX);
        self.status.send_modify(|status| {
            status.answered = status.answered.saturating_add(answered);
        });
        reports
    }

    fn begun(&self, goal: &Goal) {
        let began = self.now();
        self.executor.ports().facts.raise(Fact::GoalBegun {
            goal: goal.number,
            digest: digest(&goal.text),
            by: goal.by.chars().take(BY_CHARS_MAX).collect(),
            peer: goal.peer,
        });
        self.status.send_modify(|status| {
            *status = SpineStatus {
                goal: goal.number,
                running: true,
                began,
                last_end: status.last_end.take(),
                ..SpineStatus::default()
            };
        });
    }

    fn note_steps(&self) {
        let steps = self.agent.steps_used();
        self.status.send_modify(|status| status.steps = steps);
    }

    fn ended(&self, goal: u32, why: &str) {
        self.executor.ports().facts.raise(Fact::GoalEnded {
            goal,
            why: why.to_owned(),
            steps: self.agent.steps_used(),
            actuations: self.agent.actuations_used(),
        });
        self.status.send_modify(|status| {
            status.running = false;
            status.last_end = Some(why.to_owned());
        });
    }

    fn left(&self) -> Duration {
        self.agent.deadline().since(self.now())
    }

    fn person_stops(&self) -> u32 {
        self.executor.ports().robot.posture().person_stops
    }

    fn now(&self) -> Mono {
        self.executor.ports().clock.now()
    }
}

fn digest(text: &str) -> String {
    let hex = blake3::hash(text.as_bytes()).to_hex();
    hex.chars().take(DIGEST_CHARS).collect()
}
