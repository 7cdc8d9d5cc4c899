//! Runs a granted call: until it ends, breaks, is cancelled or its deadline comes.
//!
//! A tool's panic ends here: its text goes to the log under an id, and only the id goes on.
//!
//! A call that can move the robot is not torn down at its deadline: the tick stops the robot by then,
//! and the call may live on until the robot rests, so that its lease carries the stop. A call that did
//! not end by itself is reported only after the robot was seen at rest, or after that was waited
//! for in vain.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures::FutureExt;

use super::Executor;
use super::admission::Admitted;
use super::cut::cut_text;
use super::turn::Asked;
use crate::catalog::{CallCx, Entry};
use crate::terms::{Descriptor, Effect, Fact, ToolError};

/// Longest wait for rest, whatever the robot's port promises: the longest stop sequence of a robot
/// file (8 steps of 5 s) with its longest standstill (10 s), and some air.
const REST_WAIT: Duration = Duration::from_secs(60);
/// Longest panic text in the log, bytes.
const PANIC_BYTES_MAX: usize = 512;

/// How the tool's future ended.
enum Ended {
    ByItself(Result<String, ToolError>),
    Panicked(Box<dyn Any + Send>),
    TimedOut,
    Cancelled,
}

impl Executor {
    pub(super) async fn run(
        &self,
        asked: &Asked<'_>,
        entry: &Entry,
        admitted: Admitted<'_>,
    ) -> Result<String, ToolError> {
        let Admitted {
            grant,
            limited,
            number,
            lifted: _,
            approver: _,
        } = admitted;
        let tool = entry.descriptor();
        let left = grant.deadline().since(self.ports.clock.now());
        let cancel = &asked.turn.cancel;
        let cx = CallCx::new(&asked.call.id, asked.turn.origin, cancel, grant);
        let args = limited.args().as_map().clone();
        // The block makes the call of `run` itself part of what is guarded.
        let work = AssertUnwindSafe(async move { entry.run(cx, args).await });
        let mut work = Box::pin(work.catch_unwind());
        let expiry = async {
            tokio::time::sleep(left).await;
            if moves(tool) {
                self.rest().await;
            }
        };
        let ended = tokio::select! {
            // A turn that is cancelled already must not begin anything.
            biased;
            () = cancel.cancelled() => Ended::Cancelled,
            result = &mut work => match result {
                Ok(result) => Ended::ByItself(result),
                Err(payload) => Ended::Panicked(payload),
            },
            () = expiry => Ended::TimedOut,
        };
        drop_guarded(work);
        let error = match ended {
            Ended::ByItself(result) => return result,
            Ended::Panicked(payload) => self.panicked(tool, payload, number),
            Ended::TimedOut => ToolError::TimedOut {
                limit_ms: tool.budget.timeout_ms,
            },
            Ended::Cancelled => ToolError::Cancelled {
                why: "the turn was cancelled".to_owned(),
            },
        };
        Err(self.at_rest_after(error, tool).await)
    }

    /// Returns the error once the robot is at rest; what is not known is said.
    async fn at_rest_after(&self, error: ToolError, tool: &Descriptor) -> ToolError {
        if !moves(tool) || self.rest().await {
            return error;
        }
        ToolError::OutcomeUnknown {
            detail: format!("{error}; the robot was not seen at rest"),
        }
    }

    /// Waits for rest; returns whether it was seen.
    async fn rest(&self) -> bool {
        let rest = tokio::time::timeout(REST_WAIT, self.ports.robot.at_rest()).await;
        rest.unwrap_or(false)
    }

    fn panicked(&self, tool: &Descriptor, payload: Box<dyn Any + Send>, number: u64) -> ToolError {
        let id = format!("panic-{number}");
        let text = cut_text(panic_text(&*payload).to_owned(), PANIC_BYTES_MAX);
        tracing::error!(error_id = %id, tool = %tool.name, panic = %text, "a tool panicked");
        drop_guarded(payload);
        self.ports.facts.raise(Fact::ToolPanicked {
            tool: tool.name.as_str().to_owned(),
            id: id.clone(),
        });
        ToolError::Panicked { id }
    }
}

fn moves(tool: &Descriptor) -> bool {
    matches!(tool.effect, Effect::Actuate { .. })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("not a text")
}

/// Drops what belongs to a tool: even that may panic.
fn drop_guarded<T>(value: T) {
    if catch_unwind(AssertUnwindSafe(|| drop(value))).is_err() {
        tracing::error!("a tool panicked while its call was dropped");
    }
}
