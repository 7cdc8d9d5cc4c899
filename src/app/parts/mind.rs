//! The agent: tools, policy, model and the loop that joins them.

#[cfg(feature = "dora")]
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::SyncSender;

use super::End;
use super::approvals::Approvals;
use super::elevations::Elevations;
use crate::agent::{Agent, Limits, system_prompt};
use crate::app::assembly;
use crate::app::exit::AppError;
use crate::app::load::Installation;
use crate::config::{RobotFile, Scenario};
use crate::executor::{Executor, Ports};
use crate::gate::{Pace, PolicyStack, RobotRules};
use crate::model::{Cue, Scripted};
use crate::robot::{Bridge, RobotSenses};
use crate::safety::Links;
use crate::spine::{Parts, Spine, SpineHandle};
use crate::terms::{Call, Clock, FactSink, LaneReply, Tier};

/// Prefix of the one kind of model that this release has.
#[cfg(feature = "dora")]
const SCRIPTED: &str = "scripted:";

/// Loads the replies of `scripted:FILE`; `None` without a model.
///
/// # Errors
/// As for [`scenario`].
#[cfg(feature = "dora")]
pub(in crate::app) fn script(model: Option<&str>) -> Result<Option<Vec<Cue>>, AppError> {
    Ok(scenario(model)?.as_ref().map(replies))
}

/// Loads the scenario of `scripted:FILE`; `None` without a model.
///
/// # Errors
/// [`AppError::Usage`] for another kind of model, [`AppError::Config`] for a faulty script.
#[cfg(feature = "dora")]
pub(in crate::app) fn scenario(model: Option<&str>) -> Result<Option<Scenario>, AppError> {
    let Some(model) = model else { return Ok(None) };
    let Some(file) = model.strip_prefix(SCRIPTED) else {
        return Err(AppError::Usage {
            problem: format!("unknown model `{model}`"),
            hint:
                "this release plays scripts: --model scripted:dataflows/scenarios/rover-gate.toml"
                    .to_owned(),
        });
    };
    Ok(Some(Scenario::load(Path::new(file))?))
}

/// Turns the turns of a scenario into what a model waits for and replies; each call gets an id of its
/// own.
pub(in crate::app) fn replies(scenario: &Scenario) -> Vec<Cue> {
    let turns = scenario.turns.iter().zip(1_u32..);
    turns
        .map(|(turn, step)| Cue {
            sees: turn.sees.clone(),
            reply: LaneReply {
                text: turn.say.clone(),
                calls: turn
                    .calls
                    .iter()
                    .zip(1_u32..)
                    .map(|(call, nth)| Call {
                        id: format!("call-{step}-{nth}"),
                        tool: call.tool.clone(),
                        args: call.args.clone().into(),
                    })
                    .collect(),
            },
        })
        .collect()
}

/// What the agent may do, before it wakes.
#[derive(Debug)]
pub(in crate::app) struct Mind {
    robot: Arc<RobotFile>,
    rules: Arc<RobotRules>,
    policy: PolicyStack,
}

/// What the agent needs to wake.
pub(in crate::app) struct Wake {
    pub(in crate::app) bridge: Arc<Bridge>,
    pub(in crate::app) links: Links,
    pub(in crate::app) clock: Arc<dyn Clock>,
    pub(in crate::app) sink: Arc<dyn FactSink>,
    pub(in crate::app) progress: Arc<AtomicU64>,
    /// Whether a person can answer questions.
    pub(in crate::app) is_attended: bool,
    /// What the model says; `None` without a model.
    pub(in crate::app) script: Option<Vec<Cue>>,
    pub(in crate::app) runtime: tokio::runtime::Handle,
    pub(in crate::app) end: SyncSender<End>,
}

/// The agent, awake.
#[derive(Debug)]
pub(in crate::app) struct Awake {
    pub(in crate::app) handle: SpineHandle,
    pub(in crate::app) has_model: bool,
    pub(in crate::app) tier: Tier,
    pub(in crate::app) approvals: Approvals,
    pub(in crate::app) elevations: Elevations,
}

impl Mind {
    pub(in crate::app) fn of(installation: &Installation, tier: Option<Tier>) -> Self {
        Self {
            robot: Arc::new(installation.robot.clone()),
            rules: Arc::clone(&installation.rules),
            policy: installation.policy(tier),
        }
    }

    /// Returns the tier in force.
    pub(in crate::app) fn tier(&self) -> Tier {
        self.policy.effective()
    }

    /// Returns what a model is told about itself first.
    pub(in crate::app) fn system(&self) -> String {
        system_prompt(&self.robot.title, self.policy.effective())
    }

    /// Assembles the tools and starts the loop on the runtime.
    ///
    /// # Errors
    /// [`AppError::Internal`] when the tools do not fit together: the loader has let something pass.
    pub(in crate::app) fn wake(self, given: Wake) -> Result<Awake, AppError> {
        let catalog = assembly::catalog(&self.robot, &self.rules, &given.bridge)
            .map_err(|errors| AppError::Internal(format!("tools: {errors}")))?;
        let (clock, sink) = (Arc::clone(&given.clock), Arc::clone(&given.sink));
        let elevations =
            Elevations::new((catalog, self.policy.clone()), given.links, (clock, sink));
        let views = elevations.views();
        let actuating = views.borrow().actuating();
        let has_model = given.script.is_some();
        let approvals = Approvals::new(
            Arc::clone(&given.clock),
            Arc::clone(&given.sink),
            given.is_attended,
        );
        let executor = Executor::new(
            Ports {
                clock: Arc::clone(&given.clock),
                facts: given.sink,
                robot: Arc::clone(&given.bridge) as Arc<dyn crate::terms::RobotPort>,
                human: Arc::new(approvals.clone()),
                elevations: Arc::new(elevations.clone()),
            },
            Pace::new(&self.rules),
        );
        let system = self.system();
        let (spine, handle) = Spine::new(Parts {
            agent: Agent::new(Limits::default(), system, actuating),
            lane: Box::new(Scripted::new(given.script.unwrap_or_default())),
            executor: Arc::new(executor),
            senses: Arc::new(RobotSenses::new(
                Arc::clone(&given.bridge),
                self.policy.effective(),
            )),
            views,
            states: given.bridge.state_changes(),
            progress: given.progress,
        });
        let task = given.runtime.spawn(spine.run());
        let end = given.end;
        given.runtime.spawn(async move {
            if task.await.is_err_and(|error| error.is_panic()) {
                drop(end.try_send(End::Broken("the agent's loop panicked")));
            }
        });
        Ok(Awake {
            handle,
            has_model,
            tier: self.policy.effective(),
            approvals,
            elevations,
        })
    }
}
