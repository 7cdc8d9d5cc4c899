//! The way of one call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::admission::{Admitted, Approved, admit};
use super::cut::Changed;
use super::questions::Minute;
use super::record::{Open, Record};
use super::scopes::{Scope, Scopes};
use super::stages::{Checked, examine};
use super::turn::Asked;
use super::{Turn, cut, refuse};
use crate::gate::Pace;
use crate::terms::{
    Call, CallOrigin, CallReport, Clock, Effect, ElevationPort, FactSink, Human, Outcome, Refusal,
    RobotPort, StopCause, ToolError,
};

/// So many calls run at once; others wait for a slot in the order they came.
pub const SLOTS: usize = 8;

/// What the executor needs from outside.
#[derive(Debug, Clone)]
pub struct Ports {
    /// The clocks. Its monotonic time must run as fast as tokio's.
    pub clock: Arc<dyn Clock>,
    /// Where facts go.
    pub facts: Arc<dyn FactSink>,
    /// The robot; [`super::NoRobot`] when there is none.
    pub robot: Arc<dyn RobotPort>,
    /// Who is asked before a call of a tier that needs a person's word;
    /// [`Nobody`](crate::terms::Nobody) when there is no way to one.
    pub human: Arc<dyn Human>,
    /// The live Elevations; [`NoElevations`](crate::terms::NoElevations) where nobody gives any.
    pub elevations: Arc<dyn ElevationPort>,
}

/// Runs calls. One for the whole process: rates, slots and exclusive scopes are shared by all turns.
#[derive(Debug)]
pub struct Executor {
    pub(super) ports: Ports,
    pace: Mutex<Pace>,
    slots: Semaphore,
    scopes: Scopes,
    pub(super) minute: Minute,
    calls: AtomicU64,
}

/// What a granted call holds while it runs.
#[derive(Debug)]
struct Room<'a> {
    _slot: SemaphorePermit<'a>,
    _scope: Option<Scope<'a>>,
}

impl Executor {
    /// Makes an executor of which nothing was called yet.
    pub fn new(ports: Ports, pace: Pace) -> Self {
        Self {
            ports,
            pace: Mutex::new(pace),
            slots: Semaphore::new(SLOTS),
            scopes: Scopes::default(),
            minute: Minute::default(),
            calls: AtomicU64::new(0),
        }
    }

    /// Runs one call and reports what came of it.
    ///
    /// # Cancellation
    /// Dropping the future drops the tool's future: a motion loses its lease, so the robot stops by
    /// itself. The slot and the scope are free again, and a `Finished` fact with the outcome
    /// `cancelled` was raised if the call had been granted.
    pub async fn call(&self, turn: &Turn, call: Call) -> CallReport {
        let asked = self.asked(turn, &call);
        match self.stop(&asked) {
            Some(report) => report,
            None => self.pass(&asked).await,
        }
    }

    /// Returns what the executor was given from outside.
    pub fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Notes the moment at which a call is asked for.
    pub(super) fn asked<'a>(&self, turn: &'a Turn, call: &'a Call) -> Asked<'a> {
        Asked {
            turn,
            call,
            at: self.ports.clock.now(),
            epoch: self.ports.robot.posture().epoch,
        }
    }

    /// Carries out a stop; `None` when the call is none. Nothing stands before it: surplus
    /// arguments are not even looked at.
    pub(super) fn stop(&self, asked: &Asked<'_>) -> Option<CallReport> {
        let judged = asked.turn.view.find(&asked.call.tool)?;
        let Effect::Stop { kind, .. } = judged.entry.descriptor().effect else {
            return None;
        };
        let cause = match asked.turn.origin {
            CallOrigin::Model => StopCause::ModelStop,
            CallOrigin::Operator => StopCause::OperatorStop,
        };
        let by = asked.turn.by.as_deref();
        let epoch = self.ports.robot.stop(kind, cause, by);
        Some(
            self.record()
                .report(asked, Outcome::StopAccepted { kind, epoch }),
        )
    }

    /// Takes a call that is no stop through all stages.
    pub(super) async fn pass(&self, asked: &Asked<'_>) -> CallReport {
        let checked = match examine(asked) {
            Ok(checked) => checked,
            Err(refusal) => return self.refused(asked, self.again(asked, refusal)),
        };
        let _room = match self.room(asked, &checked).await {
            Ok(room) => room,
            Err(Held::Refused(refusal)) => return self.refused(asked, *refusal),
            Err(Held::Cancelled) => return self.not_run(asked, CANCELLED),
        };
        let approved = match self.approve(asked, &checked).await {
            Ok(approved) => approved,
            Err(Held::Refused(refusal)) => return self.refused(asked, *refusal),
            Err(Held::Cancelled) => return self.not_run(asked, CANCELLED),
        };
        match self.admit(asked, &checked, approved) {
            Ok(admitted) => self.granted(asked, &checked, admitted).await,
            Err(refusal) => self.refused(asked, refusal),
        }
    }

    /// Answers a call that was refused before its grant.
    pub(super) fn refused(&self, asked: &Asked<'_>, refusal: Refusal) -> CallReport {
        self.record().refused(asked, &refusal);
        self.record().report(asked, Outcome::Refused(refusal))
    }

    /// Answers a call that ended before its grant, though nothing refused it.
    pub(super) fn not_run(&self, asked: &Asked<'_>, why: &str) -> CallReport {
        let why = why.to_owned();
        let outcome = Outcome::Failed(ToolError::Cancelled { why });
        self.record().finished(asked, &outcome);
        self.record().report(asked, outcome)
    }

    pub(super) fn record(&self) -> Record<'_> {
        Record {
            clock: &*self.ports.clock,
            facts: &*self.ports.facts,
        }
    }

    /// Waits for a slot and takes the scope. A taken scope is not waited for: whoever holds it may
    /// move the robot, and the call was thought out before that.
    async fn room(&self, asked: &Asked<'_>, checked: &Checked<'_>) -> Result<Room<'_>, Held> {
        let slot = tokio::select! {
            biased;
            () = asked.turn.cancel.cancelled() => return Err(Held::Cancelled),
            slot = self.slots.acquire() => slot,
        };
        let tool = checked.entry.descriptor();
        let busy = || Held::Refused(Box::new(refuse::scope_taken(asked, tool)));
        // Nobody closes the semaphore; if somebody did, nothing would run.
        let slot = slot.map_err(|_closed| busy())?;
        let scope = self.scopes.take(&tool.access).map_err(|_taken| busy())?;
        Ok(Room {
            _slot: slot,
            _scope: scope,
        })
    }

    fn admit(
        &self,
        asked: &Asked<'_>,
        checked: &Checked<'_>,
        approved: Approved,
    ) -> Result<Admitted<'_>, Refusal> {
        let number = self.calls.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        admit(
            (asked, checked, number),
            (&self.ports, approved),
            &mut self.pace(),
        )
    }

    /// Returns rates and steps of all tools. Never held across an await.
    pub(super) fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn granted(
        &self,
        asked: &Asked<'_>,
        checked: &Checked<'_>,
        mut admitted: Admitted<'_>,
    ) -> CallReport {
        let tool = checked.entry.descriptor();
        // Given back when the call has ended, also when this future is dropped.
        let lifted = admitted.lifted.take();
        if let Some(lifted) = &lifted {
            lifted.tell(self.record(), asked);
        }
        let granted = (tool, &admitted, &*checked.repaired);
        let open = Open::granted(self.record(), *asked, granted);
        let changed = Changed {
            clamped: admitted.limited.clamped().to_vec(),
            repaired: checked.repaired.clone(),
        };
        let bytes_max = admitted.grant.output_bytes_max();
        let result = self.run(asked, checked.entry, admitted).await;
        let outcome = cut::outcome(result, changed, bytes_max);
        open.close(&outcome);
        self.record().report(asked, outcome)
    }
}

/// What a call is told that was not run because its turn ended.
const CANCELLED: &str = "the turn was cancelled";

/// Why a call does not go on, though nothing of it was wrong.
#[derive(Debug)]
pub(super) enum Held {
    Refused(Box<Refusal>),
    Cancelled,
}
