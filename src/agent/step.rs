//! The steps of one goal after another.
//!
//! Budgets are judged before the model is asked, never between a reply and its calls: a reply may
//! hold a stop, and a stop always gets out. Only calls that actuate are held back when their budget
//! is spent.

use std::collections::BTreeSet;

use super::budget::{Budget, Limits};
use super::conversation::{Conversation, Full};
use super::guard::Guard;
use super::sensors::{self, SensorContext};
use crate::terms::{Call, CallReport, LaneError, LaneReply, Message, Mono, Surroundings, ToolName};

/// What happened.
#[derive(Debug)]
pub enum AgentEvent {
    /// Somebody gave a goal.
    Goal(String),
    /// The model replied.
    Reply(LaneReply),
    /// No reply came.
    LaneFailed(LaneError),
    /// The calls of the last [`AgentStep::Run`] were answered, in their order.
    Reports(Vec<CallReport>),
}

/// What to do next.
#[derive(Debug, PartialEq)]
pub enum AgentStep {
    /// Show the robot with [`Agent::show`], then ask the model with [`Agent::conversation`].
    Ask,
    /// Run these calls.
    Run(Vec<Call>),
    /// The goal has ended.
    End(End),
}

/// Why a goal ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum End {
    /// The model said that it is done.
    Done,
    /// The model was asked as often as it may be.
    StepsSpent,
    /// The time of the goal is over.
    TimeSpent,
    /// A further motion was asked for than the goal may make.
    ActuationsSpent,
    /// The same call came to the same outcome again and again.
    Repeats,
    /// The same refusal came five times in a row.
    Refusals,
    /// The model gave no reply.
    LaneFailed,
    /// The conversation does not fit its bound any more.
    ConversationFull,
    /// An event came that does not follow from the last step: a fault of the runtime.
    OutOfOrder,
}

impl End {
    /// Returns the word used in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::StepsSpent => "steps",
            Self::TimeSpent => "wall_clock",
            Self::ActuationsSpent => "actuations",
            Self::Repeats => "repeats",
            Self::Refusals => "refusals",
            Self::LaneFailed => "lane_failed",
            Self::ConversationFull => "conversation_full",
            Self::OutOfOrder => "out_of_order",
        }
    }
}

/// The loop of one goal after another. Each goal begins a new conversation.
#[derive(Debug)]
pub struct Agent {
    limits: Limits,
    system: String,
    actuating: BTreeSet<ToolName>,
    budget: Budget,
    guard: Guard,
    conversation: Conversation,
    phase: Phase,
    ending: Option<End>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    Asked,
    Running(Vec<Call>),
}

impl Agent {
    /// Makes an idle agent. `actuating` names the tools that count as motions.
    pub fn new(limits: Limits, system: String, actuating: BTreeSet<ToolName>) -> Self {
        Self {
            limits,
            system,
            actuating,
            budget: Budget::begin(limits, Mono::ZERO),
            guard: Guard::new(limits.repeats_max),
            conversation: Conversation::default(),
            phase: Phase::Idle,
            ending: None,
        }
    }

    /// Takes one event and says what to do next. Total: an event that does not fit ends the goal.
    pub fn step(&mut self, now: Mono, event: AgentEvent) -> AgentStep {
        match (std::mem::replace(&mut self.phase, Phase::Idle), event) {
            (Phase::Idle, AgentEvent::Goal(text)) => self.begin(now, text),
            (Phase::Asked, AgentEvent::Reply(reply)) => self.replied(reply),
            (Phase::Asked, AgentEvent::LaneFailed(_)) => self.lane_failed(now),
            (Phase::Running(calls), AgentEvent::Reports(reports)) => {
                self.answered(now, calls, reports)
            }
            (Phase::Idle | Phase::Asked | Phase::Running(_), _) => AgentStep::End(End::OutOfOrder),
        }
    }

    /// Makes what is known of the robot the end of the conversation, for the next reply only, and
    /// returns what was written.
    pub fn show(&mut self, seen: &Surroundings) -> SensorContext {
        let context = sensors::write(seen);
        self.conversation.show(context.text.clone());
        context
    }

    /// Returns the conversation of the current or last goal.
    pub fn conversation(&self) -> &[Message] {
        self.conversation.messages()
    }

    /// Returns when the time of the current or last goal is over.
    pub fn deadline(&self) -> Mono {
        self.budget.deadline()
    }

    /// Returns how often the model was asked for the current or last goal.
    pub fn steps_used(&self) -> u32 {
        self.budget.steps_used()
    }

    /// Returns how many calls of the current or last goal could move the robot.
    pub fn actuations_used(&self) -> u32 {
        self.budget.actuations_used()
    }

    fn begin(&mut self, now: Mono, goal: String) -> AgentStep {
        self.budget = Budget::begin(self.limits, now);
        self.guard = Guard::new(self.limits.repeats_max);
        self.conversation = Conversation::begin(&self.system, goal);
        self.ending = None;
        self.ask(now)
    }

    fn ask(&mut self, now: Mono) -> AgentStep {
        if let Err(end) = self.budget.take_step(now) {
            return AgentStep::End(end);
        }
        if let Err(Full) = self.conversation.fit() {
            return AgentStep::End(End::ConversationFull);
        }
        self.phase = Phase::Asked;
        AgentStep::Ask
    }

    fn replied(&mut self, reply: LaneReply) -> AgentStep {
        let calls = self.affordable(reply.calls.clone());
        let silent = reply.calls.is_empty();
        self.conversation.push(Message::Assistant(reply));
        if silent {
            return AgentStep::End(End::Done);
        }
        if let (Some(end), true) = (self.ending, calls.is_empty()) {
            return AgentStep::End(end);
        }
        self.phase = Phase::Running(calls.clone());
        AgentStep::Run(calls)
    }

    /// Returns the calls that may go out. When the motions asked for exceed what is left, none of
    /// them goes, the others do, and the goal ends after them.
    fn affordable(&mut self, calls: Vec<Call>) -> Vec<Call> {
        let asked = calls.iter().filter(|call| self.actuates(call)).count();
        if u32::try_from(asked).is_ok_and(|asked| asked <= self.budget.actuations_left()) {
            return calls;
        }
        self.ending = Some(End::ActuationsSpent);
        calls
            .into_iter()
            .filter(|call| !self.actuates(call))
            .collect()
    }

    fn answered(&mut self, now: Mono, calls: Vec<Call>, reports: Vec<CallReport>) -> AgentStep {
        if calls.len() != reports.len() {
            return AgentStep::End(End::OutOfOrder);
        }
        for (call, report) in calls.into_iter().zip(&reports) {
            if self.actuates(&call) && report.outcome.refusal().is_none() {
                self.budget.spend_actuation();
            }
            let circle = self.guard.see(call, report);
            self.ending = self.ending.or(circle);
        }
        self.conversation.push(Message::Tools(reports));
        match self.ending {
            Some(end) => AgentStep::End(end),
            None => self.ask(now),
        }
    }

    fn lane_failed(&self, now: Mono) -> AgentStep {
        AgentStep::End(if now >= self.budget.deadline() {
            End::TimeSpent
        } else {
            End::LaneFailed
        })
    }

    fn actuates(&self, call: &Call) -> bool {
        self.actuating.contains(call.tool.as_str())
    }
}
