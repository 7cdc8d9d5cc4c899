//! The async side of the bridge: what tools and the executor hold of the robot.
//!
//! It puts commands into queues and waits for what comes of them; how a motion lives stands in
//! `motion`. It sends nothing itself, retries nothing, and owns no timer: it wakes on answers, on
//! states of the robot and on the pulse.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::pending::{Answer, Pending, Reply, Waiting};
use super::told::ToldCauses;
use super::view::{SafetyNote, StateView, Views};
use super::{Ids, plan};
use crate::config::{RobotFile, ToolDef, Verb};
use crate::gate::Grant;
use crate::safety::{Links, Sender};
use crate::terms::{
    ActuationCmd, Blame, Clock, DropCause, Fact, FactSink, Mono, PARAMS_BYTES_MAX, Params, Posture,
    Reason, Refusal, Retry, RobotPort, RunState, StopCause, StopKind, ToolError,
};

/// The robot, for those who hold a grant.
#[derive(Debug)]
pub struct Bridge {
    pub(super) robot: Arc<RobotFile>,
    pub(super) ids: Arc<Ids>,
    pub(super) links: Links,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) sink: Arc<dyn FactSink>,
    pub(super) pending: Arc<Pending>,
    pub(super) views: Arc<Views>,
    pub(super) commands: Mutex<Sender<ActuationCmd>>,
    pub(super) reads: Mutex<Sender<ActuationCmd>>,
    /// The words that led to the stop that stands, as far as they were told.
    pub(super) told: ToldCauses,
}

impl Bridge {
    /// Sends the verb of the granted tool, which only reads, and waits for the answer, whatever it
    /// says, until the grant's deadline.
    ///
    /// # Errors
    /// [`ToolError`] when no answer came in time, the robot's node is gone, or too many reads wait.
    ///
    /// # Cancellation
    /// The request may have left; its answer is then ignored and counted.
    pub async fn read(
        &self,
        grant: &Grant,
        params: &Map<String, Value>,
    ) -> Result<Answer, ToolError> {
        let cmd = grant.read_command(self.ids.fresh(), Params::new());
        self.ask(cmd, params).await
    }

    pub(super) async fn ask(
        &self,
        mut cmd: ActuationCmd,
        params: &Map<String, Value>,
    ) -> Result<Answer, ToolError> {
        let tool = self.tool(cmd.tool)?;
        cmd.params = params_of(tool, params)?;
        let mut waiting = self.wait_for(cmd.id, tool)?;
        let (deadline, limit_ms) = (cmd.deadline, u64::from(tool.timeout_ms));
        let full = lock(&self.reads).push(cmd).is_err();
        if full {
            return Err(self.busy(tool, "too many reads wait to be sent"));
        }
        self.links.shared.wake_sender();
        let mut pulse = self.views.pulse.subscribe();
        loop {
            tokio::select! {
                biased;
                reply = waiting.next() => return match reply {
                    Reply::Answer(answer) => Ok(answer),
                    Reply::Down => Err(bridge_down()),
                },
                beat = pulse.changed() => {
                    if beat.is_err() || self.clock.now() >= deadline {
                        return Err(ToolError::TimedOut { limit_ms });
                    }
                }
            }
        }
    }

    /// Returns the latest state, `None` before the first.
    pub fn state(&self) -> Option<StateView> {
        self.views.state.borrow().clone()
    }

    /// Returns the safety events that the robot reported above our number `since`, oldest first; at
    /// most the last 128.
    pub fn safety_events(&self, since: u64) -> Vec<SafetyNote> {
        self.views.since(since)
    }

    /// Returns the count of received states as a watch: each change drives an iteration of the
    /// spine.
    pub fn state_changes(&self) -> watch::Receiver<u64> {
        self.views.changes.subscribe()
    }

    /// Returns the monotonic time on which deadlines are judged.
    pub fn now(&self) -> Mono {
        self.clock.now()
    }

    /// Returns how many commands wait for the tick.
    pub fn commands_waiting(&self) -> usize {
        lock(&self.commands).waiting()
    }

    /// The entry of a tool that sends a verb.
    pub(super) fn tool(&self, index: u16) -> Result<&ToolDef, ToolError> {
        let tool = self.robot.tools.get(usize::from(index));
        let sends = tool.filter(|tool| matches!(tool.verb, Verb::Wire(_)));
        sends.ok_or_else(|| ToolError::Failed {
            detail: format!("tool number {index} of the robot file sends no verb"),
            blame: Blame::Tool,
            retry: Retry::Never,
        })
    }

    pub(super) fn wait_for(&self, id: [u8; 16], tool: &ToolDef) -> Result<Waiting, ToolError> {
        let mut waiting = Waiting::new(self.pending.clone());
        if waiting.open(id) {
            Ok(waiting)
        } else {
            Err(self.busy(tool, "too many requests are open"))
        }
    }

    /// Puts a command into the queue of the tick.
    pub(super) fn submit(&self, cmd: ActuationCmd) -> bool {
        let taken = lock(&self.commands).push(cmd).is_ok();
        self.links.latch.wake();
        taken
    }

    pub(super) fn busy(&self, tool: &ToolDef, detail: &str) -> ToolError {
        self.refused(tool, Reason::Busy, (detail, "wait for the calls under way"))
    }

    /// The refusal of a command that was kept back after the grant.
    pub(super) fn kept_back(&self, tool: &ToolDef, why: DropCause) -> ToolError {
        let (reason, detail, hint) = match why {
            DropCause::Epoch => (
                Reason::LeaseExpired,
                "a stop came before the command left",
                "see why it was stopped; then call again",
            ),
            DropCause::Deadline => (
                Reason::LeaseExpired,
                "the deadline passed before the command left",
                "call again",
            ),
            DropCause::Lease => (
                Reason::LeaseExpired,
                "the lease ran out before the command left",
                "call again",
            ),
            DropCause::Elevation => (
                Reason::RobotTierGate,
                "the elevation that permitted the call ended before the command left",
                "go on with tools of a lower tier; only an operator can permit more",
            ),
            DropCause::NotArmed => (
                Reason::NotArmed,
                "the run state admitted no motion when the command was to leave",
                "an operator must arm the robot, or the motion under way must end",
            ),
            DropCause::Full => (
                Reason::Busy,
                "the queue to the robot was full",
                "wait for the calls under way",
            ),
            DropCause::Send => {
                return ToolError::OutcomeUnknown {
                    detail: "the dataflow failed while it took the command".to_owned(),
                };
            }
        };
        self.refused(tool, reason, (detail, hint))
    }

    fn refused(&self, tool: &ToolDef, reason: Reason, (detail, hint): (&str, &str)) -> ToolError {
        ToolError::Refused(Box::new(Refusal {
            reason,
            needed: tool.tier,
            effective: self.robot.max_tier,
            rule: Some(tool.rule.id.to_string()),
            detail: detail.to_owned(),
            hint: hint.to_owned(),
        }))
    }

    /// Whether nothing moves, stops or waits to move.
    fn rests(&self) -> bool {
        let word = self.links.latch.word();
        let standing = self.links.shared.standing();
        let moves = matches!(standing.run, RunState::Moving | RunState::Stopping);
        !word.stop && !standing.stop_active && !moves && self.links.shared.calls.live() == 0
    }
}

impl RobotPort for Bridge {
    fn posture(&self) -> Posture {
        // The word last: a stop that comes while this is put together shows in it.
        let reading = self.views.state.borrow().as_ref().map(|view| view.reading);
        let bridge_up = self.links.observed.peer_up();
        let live = self.links.shared.calls.live() != 0;
        let run = self.links.shared.run();
        let word = self.links.latch.word();
        let now = self.clock.now();
        Posture {
            now,
            run,
            epoch: word.epoch,
            stopping: word.stop || run == RunState::Stopping,
            latched: word.estop || run == RunState::Latched,
            cause: word.cause,
            bridge_up,
            reading,
            moving: live || run == RunState::Moving,
            person_stops: self.links.latch.person_stops(),
            records: self.links.shared.records(),
            graph_timer: self.links.observed.graph_timer(now),
        }
    }

    /// A word that adds nothing to a stop which is not over joins it: neither the sequence nor the
    /// record begins anew, so that whoever repeats it, a model in a loop above all, cannot keep the
    /// robot from ever coming to its end, nor push the records of the stop out of the audit. The first
    /// word of each cause is recorded in any case.
    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32 {
        let word = self.links.latch.word();
        let joins = word.covers(kind, cause);
        let epoch = if joins {
            word.epoch
        } else {
            self.links.latch.ask(kind, cause)
        };
        if self.told.is_first(epoch, cause) || !joins {
            self.sink.raise(Fact::StopAsked {
                what: kind,
                cause,
                epoch,
                by: by.map(str::to_owned),
            });
        }
        epoch
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let until = self.clock.now().plus_ms(plan::rest_ms(&self.robot));
            let mut pulse = self.views.pulse.subscribe();
            while !self.rests() {
                if self.clock.now() >= until || pulse.changed().await.is_err() {
                    return false;
                }
            }
            true
        })
    }
}

/// The parameters of a call: its arguments, and who controls where the verb takes that.
pub(super) fn params_of(tool: &ToolDef, args: &Map<String, Value>) -> Result<Params, ToolError> {
    let mut params = args.clone();
    if let Some(source) = &tool.control_source {
        params.insert("control_source".to_owned(), source.as_str().into());
    }
    let text = Value::Object(params).to_string();
    Params::try_from(text.as_str()).map_err(|_full| ToolError::Failed {
        detail: format!(
            "parameters of {} bytes exceed {PARAMS_BYTES_MAX}",
            text.len()
        ),
        blame: Blame::Model,
        retry: Retry::Never,
    })
}

pub(super) fn bridge_down() -> ToolError {
    ToolError::Failed {
        detail: "BRIDGE_DOWN: the robot's node is gone or was restarted".to_owned(),
        blame: Blame::Link,
        retry: Retry::Later,
    }
}

fn lock(queue: &Mutex<Sender<ActuationCmd>>) -> std::sync::MutexGuard<'_, Sender<ActuationCmd>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
