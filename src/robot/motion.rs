//! The life of one call that moves the robot or changes its set-up.
//!
//! The future of a motion is its proof of life: each state of the robot that wakes it counts as one
//! poll, and a lease renews on such polls only. The pulse wakes it too, to look at the clock and at
//! the latch, but counts for nothing. When the call is over the future stays until the robot rests,
//! so that heartbeats can go on until then; when it is dropped instead, the robot is stopped.

use serde_json::{Map, Value};
use tokio::sync::watch;

use super::bridge::{Bridge, bridge_down, params_of};
use super::completion::{Progress, Watch};
use super::pending::{Answer, Reply, Waiting};
use super::plan;
use crate::config::{Completion, EffectWord, ToolDef};
use crate::gate::Permit;
use crate::safety::{CallEnd, Links};
use crate::terms::{ActuationCmd, Blame, Mono, Params, Retry, RunState, StopCause, ToolError};

/// How a motion ended that did not fail.
#[derive(Debug, Clone, PartialEq)]
pub enum MotionEnd {
    /// The robot's state says that it arrived.
    Arrived {
        /// That state.
        state: Value,
    },
    /// A hold ran its time.
    Expired,
    /// The robot answered, and that is all the robot file asks for. A motion that the robot only
    /// accepted ends here too: it is stopped, because nothing may move without a live call.
    Answered {
        /// The answer.
        answer: Answer,
    },
}

/// Why a motion is over.
enum Over {
    Good(MotionEnd),
    /// The robot accepted the motion, and the robot file asks for no more.
    Accepted(Answer),
    /// The robot answered that it will not.
    Refused(Answer),
    /// The state says that it failed, with this word.
    Failed(String),
    Stopped(Option<StopCause>),
    Late,
    Bad(ToolError),
    Down,
}

/// The live slot of a call; dropping it says that the future is gone.
struct Guard<'a> {
    links: &'a Links,
    call: u64,
}

impl<'a> Guard<'a> {
    fn open(links: &'a Links, call: u64) -> Option<Self> {
        links
            .shared
            .calls
            .open(call)
            .then_some(Self { links, call })
    }

    fn sent(&self) -> bool {
        self.links.shared.calls.sent_count(self.call) != 0
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.links.shared.calls.close(self.call);
        self.links.latch.wake();
    }
}

impl Bridge {
    /// Sends the verb of a tool that changes the robot's set-up, once, and waits for the answer,
    /// whatever it says.
    ///
    /// # Errors
    /// [`ToolError::Refused`] when a check after the grant kept the command back,
    /// [`ToolError::OutcomeUnknown`] when it left and nobody answered, and the failures of the link.
    ///
    /// # Cancellation
    /// A command that has not left yet never leaves.
    pub async fn configure(
        &self,
        permit: Permit,
        params: &Map<String, Value>,
    ) -> Result<Answer, ToolError> {
        let mut cmd = permit.into_command(self.ids.fresh(), Params::new());
        let tool = self.tool(cmd.tool)?;
        cmd.params = params_of(tool, params)?;
        configure(self, tool, cmd).await
    }

    /// Lives the whole life of a move or a hold: sends it, repeats a hold, proves progress, waits
    /// for its end and then for rest.
    ///
    /// # Errors
    /// As [`Bridge::configure`]; also when the robot refused or failed, when it was stopped, and
    /// when rest was not confirmed.
    ///
    /// # Cancellation
    /// Dropping the future ends the lease: the tick stops the robot, without heartbeats. Whoever
    /// drops it waits for [`at_rest`](crate::terms::RobotPort::at_rest) before it reports anything.
    pub async fn motion(
        &self,
        permit: Permit,
        params: &Map<String, Value>,
    ) -> Result<MotionEnd, ToolError> {
        let mut cmd = permit.into_command(self.ids.fresh(), Params::new());
        let tool = self.tool(cmd.tool)?;
        cmd.params = params_of(tool, params)?;
        drive(self, tool, cmd).await
    }
}

/// Runs a move or a hold.
pub(super) async fn drive(
    bridge: &Bridge,
    tool: &ToolDef,
    cmd: ActuationCmd,
) -> Result<MotionEnd, ToolError> {
    let guard = Guard::open(&bridge.links, cmd.lease.call)
        .ok_or_else(|| bridge.busy(tool, "another motion is under way"))?;
    // Both subscribed before the command leaves, so that no state after it is missed.
    let states = bridge.views.changes.subscribe();
    let pulse = bridge.views.pulse.subscribe();
    let waiting = bridge.wait_for(cmd.id, tool)?;
    if !bridge.submit(cmd.clone()) {
        return Err(bridge.busy(tool, "the queue of commands is full"));
    }
    let mut drive = Drive {
        bridge,
        tool,
        began: bridge.clock.now(),
        losses: bridge.links.observed.seen().losses,
        hold: Hold::of(tool, bridge.clock.now()),
        watch: Watch::of(tool),
        cmd,
        guard,
        states,
        pulse,
        waiting,
        answered: false,
        done: None,
    };
    let over = drive.until_over().await;
    drive.finish(over).await
}

/// Sends a command that changes the set-up.
pub(super) async fn configure(
    bridge: &Bridge,
    tool: &ToolDef,
    cmd: ActuationCmd,
) -> Result<Answer, ToolError> {
    let guard = Guard::open(&bridge.links, cmd.lease.call)
        .ok_or_else(|| bridge.busy(tool, "another motion is under way"))?;
    let mut pulse = bridge.views.pulse.subscribe();
    let mut waiting = bridge.wait_for(cmd.id, tool)?;
    let deadline = cmd.deadline;
    if !bridge.submit(cmd) {
        return Err(bridge.busy(tool, "the queue of commands is full"));
    }
    loop {
        tokio::select! {
            biased;
            reply = waiting.next() => return match reply {
                Reply::Answer(answer) => Ok(answer),
                Reply::Down => Err(bridge_down()),
            },
            beat = pulse.changed() => {
                if let Some(why) = bridge.links.shared.calls.drop_cause(guard.call) {
                    return Err(bridge.kept_back(tool, why));
                }
                if beat.is_err() || bridge.clock.now() >= deadline {
                    return Err(unanswered(tool, guard.sent()));
                }
            }
        }
    }
}

/// The rhythm of a hold.
struct Hold {
    next: Mono,
    every_ms: u64,
    ends: Mono,
}

impl Hold {
    fn of(tool: &ToolDef, now: Mono) -> Option<Self> {
        let every_ms = u64::from(tool.hold_ms / 2).max(1);
        (tool.effect == EffectWord::Hold).then(|| Self {
            next: now.plus_ms(every_ms),
            every_ms,
            ends: now.plus_ms(u64::from(tool.max_call_ms)),
        })
    }
}

struct Drive<'a> {
    bridge: &'a Bridge,
    tool: &'a ToolDef,
    cmd: ActuationCmd,
    guard: Guard<'a>,
    states: watch::Receiver<u64>,
    pulse: watch::Receiver<Mono>,
    waiting: Waiting,
    watch: Watch<'a>,
    hold: Option<Hold>,
    began: Mono,
    /// How often the robot's node had been lost when the call began.
    losses: u32,
    /// Whether the robot answered any command of this call with `ok`.
    answered: bool,
    /// The answer that says that it is done; the next state ends the call.
    done: Option<Answer>,
}

impl Drive<'_> {
    async fn until_over(&mut self) -> Over {
        loop {
            let over = tokio::select! {
                biased;
                reply = self.waiting.next() => self.hear(reply),
                change = self.states.changed() => match change {
                    Ok(()) => self.see(),
                    Err(_) => Some(Over::Down),
                },
                beat = self.pulse.changed() => match beat {
                    Ok(()) => None,
                    Err(_) => Some(Over::Down),
                },
            };
            let over = match over {
                // A robot that was stopped says that it gave up: the stop is the reason.
                Some(Over::Failed(word)) => Some(self.stopped().unwrap_or(Over::Failed(word))),
                over => over.or_else(|| self.look_around()),
            };
            if let Some(over) = over {
                return over;
            }
        }
    }

    fn hear(&mut self, reply: Reply) -> Option<Over> {
        match reply {
            Reply::Down => Some(Over::Down),
            Reply::Answer(answer) if !answer.ok => Some(Over::Refused(answer)),
            Reply::Answer(answer) => {
                self.answered = true;
                match (&self.hold, &self.tool.completion) {
                    (None, Completion::Accepted) => Some(Over::Accepted(answer)),
                    (None, Completion::Done) => {
                        self.done = Some(answer);
                        None
                    }
                    (None, Completion::State { .. }) | (Some(_), _) => None,
                }
            }
        }
    }

    /// A state of the robot: progress of this call, and perhaps its end.
    fn see(&mut self) -> Option<Over> {
        self.bridge.links.shared.calls.polled(self.guard.call);
        // States count for the end only once the command has left.
        if self.hold.is_some() || !self.guard.sent() {
            return None;
        }
        // Rest is judged on a state that came after the answer.
        if let Some(answer) = self.done.take() {
            return Some(Over::Good(MotionEnd::Answered { answer }));
        }
        let view = self.bridge.state()?;
        match self.watch.see(&view.state) {
            Progress::Going => None,
            Progress::Arrived => Some(Over::Good(MotionEnd::Arrived {
                state: view.state.as_ref().clone(),
            })),
            Progress::Failed(word) => Some(Over::Failed(word)),
        }
    }

    /// Looks at the latch, the queues and the clock.
    fn look_around(&mut self) -> Option<Over> {
        if let Some(why) = self.bridge.links.shared.calls.drop_cause(self.guard.call) {
            // A repetition that was kept back says that the motion is being ended already.
            if !self.guard.sent() {
                return Some(Over::Bad(self.bridge.kept_back(self.tool, why)));
            }
        }
        // A motion that was answered has no open request that the loss of the robot would fail.
        if self.bridge.links.observed.seen().losses != self.losses {
            return Some(Over::Down);
        }
        if let Some(stopped) = self.stopped() {
            return Some(stopped);
        }
        let now = self.bridge.clock.now();
        if now >= self.cmd.deadline {
            return Some(Over::Late);
        }
        let hold = self.hold.as_mut()?;
        if now >= hold.ends {
            return Some(Over::Good(MotionEnd::Expired));
        }
        if now >= hold.next {
            hold.next = now.plus_ms(hold.every_ms);
            self.repeat();
        }
        None
    }

    /// Whether a stop came since the call was admitted.
    fn stopped(&self) -> Option<Over> {
        let word = self.bridge.links.latch.word();
        (word.epoch != self.cmd.epoch).then_some(Over::Stopped(word.cause))
    }

    /// One more command of a hold. A full queue is tried again with the next one: the robot ends the
    /// motion by itself meanwhile.
    fn repeat(&mut self) {
        let mut cmd = self.cmd.clone();
        cmd.id = self.bridge.ids.fresh();
        if self.waiting.open(cmd.id) {
            self.bridge.submit(cmd);
        }
    }

    async fn finish(mut self, over: Over) -> Result<MotionEnd, ToolError> {
        let arrived = match &over {
            Over::Good(MotionEnd::Arrived { .. } | MotionEnd::Answered { .. }) => true,
            Over::Good(MotionEnd::Expired)
            | Over::Accepted(_)
            | Over::Refused(_)
            | Over::Failed(_)
            | Over::Stopped(_)
            | Over::Late
            | Over::Bad(_)
            | Over::Down => false,
        };
        let end = if arrived {
            CallEnd::Arrived
        } else {
            CallEnd::Over
        };
        self.bridge.links.shared.calls.end(self.guard.call, end);
        self.bridge.links.latch.wake();
        let sent = self.guard.sent();
        // A robot that is gone is not waited for: the caller must know at once. Nor is one that was
        // never told to move.
        let gone = matches!(over, Over::Down) || (matches!(over, Over::Bad(_)) && !sent);
        let rests = gone || self.rest().await;
        let took_ms = self.bridge.clock.now().ms_since(self.began);
        match over {
            Over::Good(MotionEnd::Expired) if !self.answered => Err(unanswered(self.tool, sent)),
            Over::Good(_) | Over::Accepted(_) if !rests => Err(no_rest(took_ms)),
            Over::Good(end) => Ok(end),
            Over::Accepted(answer) => Ok(MotionEnd::Answered { answer }),
            Over::Refused(answer) => Err(refused(&answer)),
            Over::Failed(word) => Err(ToolError::Failed {
                detail: format!("the robot gave up: its state says `{word}`"),
                blame: Blame::Tool,
                retry: Retry::Same,
            }),
            Over::Late | Over::Stopped(Some(StopCause::Deadline)) if !self.answered => {
                Err(unanswered(self.tool, sent))
            }
            Over::Stopped(Some(StopCause::Deadline)) if self.outlasted_arming() => Err(cancelled(
                "the time for which the robot was armed ran out",
                rests,
            )),
            Over::Late | Over::Stopped(Some(StopCause::Deadline)) if self.lowered() => Err(
                cancelled("the elevation that permitted the call is over", rests),
            ),
            Over::Late | Over::Stopped(Some(StopCause::Deadline)) => Err(ToolError::TimedOut {
                limit_ms: u64::from(self.tool.timeout_ms),
            }),
            Over::Stopped(cause) => {
                let cause = cause.map_or("unknown cause", StopCause::as_str);
                Err(cancelled(&format!("stopped ({cause})"), rests))
            }
            Over::Bad(error) => Err(error),
            Over::Down => Err(bridge_down()),
        }
    }

    /// Whether the tick ended this call because the time of arming ran out. Known at the latest when
    /// the stop that followed is over.
    fn outlasted_arming(&self) -> bool {
        self.bridge.links.shared.standing().outlasted == self.guard.call
    }

    /// Whether the tick ended this call because its Elevation did.
    fn lowered(&self) -> bool {
        self.bridge.links.shared.standing().lowered == self.guard.call
    }

    /// Waits until the stop or release after this call is over. Polls go on being counted, so that
    /// heartbeats can go on.
    async fn rest(&mut self) -> bool {
        let mut waited_for = self.bridge.clock.now();
        let until = waited_for.plus_ms(plan::rest_ms(&self.bridge.robot));
        while waited_for < until {
            let alive = tokio::select! {
                biased;
                change = self.states.changed() => {
                    self.bridge.links.shared.calls.polled(self.guard.call);
                    change.is_ok()
                }
                beat = self.pulse.changed() => beat.is_ok(),
            };
            let standing = self.bridge.links.shared.standing();
            let ours = standing.lease_call == self.guard.call;
            let moves = matches!(standing.run, RunState::Moving | RunState::Stopping);
            let stop = self.bridge.links.latch.word().stop || standing.stop_active;
            if !ours && !moves && !stop {
                return true;
            }
            if !alive {
                return false;
            }
            waited_for = self.bridge.clock.now();
        }
        false
    }
}

fn unanswered(tool: &ToolDef, sent: bool) -> ToolError {
    let verb = tool.name.as_str();
    if sent {
        ToolError::OutcomeUnknown {
            detail: format!("`{verb}` was sent and the robot never answered"),
        }
    } else {
        ToolError::TimedOut {
            limit_ms: u64::from(tool.timeout_ms),
        }
    }
}

fn cancelled(why: &str, rests: bool) -> ToolError {
    let rest = if rests {
        "at rest"
    } else {
        "rest not confirmed"
    };
    ToolError::Cancelled {
        why: format!("{why}; {rest}"),
    }
}

fn refused(answer: &Answer) -> ToolError {
    ToolError::Failed {
        detail: format!("the robot answered {}: {}", answer.code, answer.msg),
        blame: Blame::Tool,
        retry: Retry::Later,
    }
}

fn no_rest(took_ms: u64) -> ToolError {
    ToolError::Failed {
        detail: format!("rest of the robot not confirmed {took_ms} ms after the call began"),
        blame: Blame::Link,
        retry: Retry::Never,
    }
}
