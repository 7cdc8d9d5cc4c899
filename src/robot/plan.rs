//! From the robot file, the tiers and the board to what tick, sending and receiving threads need.

use serde_json::Value;

use super::codec::JsonWord;
use crate::config::{Board, DeadmanSource, EffectWord, RobotFile, Tiers, ToolDef, Verb, VerbCall};
use crate::safety::{Boot, STEPS_MAX, SafetyPlan, StepPlan};
use crate::terms::{Kind, StopCause, Tier};

/// Age above which a state is stale for a robot whose file names no other, ms. Chosen: half of the
/// usual dead-man time.
const STALE_MS: u32 = 500;
/// Idle time for robots whose tiers name none, s. Source: the table of run states.
const IDLE_S: u32 = 300;

/// Makes the plan of the tick.
pub fn safety_plan(robot: &RobotFile, tiers: &Tiers, board: &Board, boot: Boot) -> SafetyPlan {
    SafetyPlan {
        tick_ms: board.safety_tick_ms,
        jitter_ms: board.jitter_ms,
        lockup_ms: board.lockup_ms,
        steps: steps(robot),
        within_ms: robot.stop.standstill.within_ms,
        has_release: robot.release.is_some(),
        idle_disarm_s: idle_disarm_s(robot, tiers),
        waive_deadman: robot.deadman.waive,
        stale_after_ms: stale_after_ms(robot),
        boot,
    }
}

/// Returns the ceiling of linear speed that the monitor watches, m/s: that of the tier in force, which
/// is never above the robot's highest. `None` when that tier names none.
pub fn speed_ceiling_mps(robot: &RobotFile, tiers: &Tiers, effective: Tier) -> Option<f64> {
    speed_ceiling_of(tiers, effective.min(robot.max_tier))
}

/// Returns the ceiling of linear speed of each tier, m/s: what the monitor watches while a call runs that
/// an Elevation raises to it.
pub fn raised_ceilings_mps(tiers: &Tiers) -> [Option<f64>; Tier::ALL.len()] {
    Tier::ALL.map(|tier| speed_ceiling_of(tiers, tier))
}

fn speed_ceiling_of(tiers: &Tiers, tier: Tier) -> Option<f64> {
    tiers.of(tier).ceilings.get(&Kind::LinearSpeed).copied()
}

/// Returns how long a call may have to wait for rest after its end, ms: the steps of the stop
/// sequence, the time to confirm rest, and the release.
pub(super) fn rest_ms(robot: &RobotFile) -> u64 {
    let steps = robot.stop.steps.iter().map(|step| u64::from(step.wait_ms));
    steps
        .sum::<u64>()
        .saturating_add(u64::from(robot.stop.standstill.within_ms))
        .saturating_add(crate::safety::RELEASE_WAIT_MS)
        .saturating_add(200) // some ticks and a state on the way
}

fn steps(robot: &RobotFile) -> heapless::Vec<StepPlan, STEPS_MAX> {
    let steps = robot.stop.steps.iter().map(|step| StepPlan {
        wait_ms: step.wait_ms,
        retry_empty: step.retry_empty,
    });
    steps.take(STEPS_MAX).collect()
}

fn idle_disarm_s(robot: &RobotFile, tiers: &Tiers) -> u32 {
    let up_to = Tier::ALL.into_iter().filter(|tier| *tier <= robot.max_tier);
    let idle = up_to.filter_map(|tier| tiers.of(tier).idle_disarm_s);
    idle.min().unwrap_or(IDLE_S)
}

fn stale_after_ms(robot: &RobotFile) -> u32 {
    let position = robot.workspace.as_ref().map(|space| space.max_age_ms);
    let moving = robot.tools.iter().filter(|tool| moves(tool));
    let freshness = moving.filter_map(|tool| tool.freshness_ms).max();
    position.or(freshness).unwrap_or(STALE_MS)
}

fn moves(tool: &ToolDef) -> bool {
    matches!(tool.effect, EffectWord::Move | EffectWord::Hold)
}

/// The dead-man time in force, ms; 0 for none.
pub(super) fn deadman_ms(robot: &RobotFile, advertised: Option<u32>) -> u32 {
    match robot.deadman.source {
        DeadmanSource::Advert => advertised.map_or(0, |ms| ms.min(robot.deadman.fixed_ms)),
        DeadmanSource::Fixed => robot.deadman.fixed_ms,
        DeadmanSource::None => 0,
    }
}

/// The names under which we hold control.
pub(super) fn own_names(robot: &RobotFile) -> Vec<String> {
    let released = robot.release.iter().filter_map(|call| {
        let source = call.args.get("control_source")?;
        source.as_str().map(str::to_owned)
    });
    let tools = robot
        .tools
        .iter()
        .filter_map(|tool| tool.control_source.clone());
    let mut names: Vec<String> = released.chain(tools).collect();
    names.sort();
    names.dedup();
    names
}

/// A verb with its parameters, rendered once.
#[derive(Debug, Clone)]
pub(super) struct Rendered {
    pub(super) verb: JsonWord,
    pub(super) params: String,
}

impl Rendered {
    pub(super) fn of(call: &VerbCall) -> Self {
        Self {
            verb: JsonWord::of(&call.verb),
            params: Value::Object(call.args.clone()).to_string(),
        }
    }

    pub(super) fn bare(verb: &str) -> Self {
        Self {
            verb: JsonWord::of(verb),
            params: "{}".to_owned(),
        }
    }
}

/// Names of verbs for records.
#[derive(Debug, Clone)]
pub struct Names {
    /// Each with whether it moves the robot.
    tools: Vec<(String, bool)>,
    steps: Vec<String>,
}

impl Names {
    /// Takes the names out of the robot file.
    pub fn of(robot: &RobotFile) -> Self {
        let tools = robot.tools.iter().map(|tool| {
            let name = match &tool.verb {
                Verb::Wire(verb) => verb.to_string(),
                Verb::Stop | Verb::Estop | Verb::State | Verb::SafetyEvents => {
                    tool.name.as_str().to_owned()
                }
            };
            (name, moves(tool))
        });
        let steps = robot.stop.steps.iter().map(|s| s.call.verb.to_string());
        Self {
            tools: tools.collect(),
            steps: steps.collect(),
        }
    }

    pub(super) fn tool(&self, index: u16) -> String {
        let tool = self.tools.get(usize::from(index));
        tool.map_or_else(|| format!("tool {index}"), |(name, _)| name.clone())
    }

    /// Whether the tool moves the robot; one that is not in the file counts as if it did.
    pub(super) fn moves(&self, index: u16) -> bool {
        self.tools.get(usize::from(index)).is_none_or(|(_, m)| *m)
    }

    pub(super) fn step(&self, index: u8) -> String {
        let name = self.steps.get(usize::from(index));
        name.cloned().unwrap_or_else(|| format!("step {index}"))
    }
}

/// The cause with which a robot starts latched whose latch on disk cannot be read.
pub const UNREADABLE_LATCH: StopCause = StopCause::InternalFault;
