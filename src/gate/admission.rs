//! Admission: what stands against a call now, on a new snapshot of the robot; or a [`Grant`].
//!
//! Everything that stands against it is told at once; the reason is the first of: latched, bridge
//! down, not armed, stale state, steps, workspace, interlock, rate, busy. A call above the ceiling needs
//! an Elevation that lives: that it is over is told before all others. Only a granted call spends, a rate
//! and one call of its Elevation; that one last, since another call may take it in the same moment. A
//! granted call allocates nothing here.
#![deny(clippy::arithmetic_side_effects)]

use super::goal::age_ms;
use super::grant::NO_TOOL;
use super::{Grant, Limited, Pace, Permit, StepBase, ToolRules};
use crate::config::{EffectWord, LeaseProfile};
use crate::terms::{
    CommandKind, Descriptor, Effect, ElevationEnd, ElevationId, ElevationPort, GraphTimer,
    LeaseTerms, Mono, Posture, Raised, Reason, Refusal, RunState, Tier,
};

/// A tool whose calls can be admitted.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    tool: &'a Descriptor,
    rules: Option<&'a ToolRules>,
}

/// A tool whose calls can never be admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SubjectError {
    /// Stops act where their name is resolved: nothing may stand between a stop and its effect.
    #[error("a stop is never admitted, it acts at once")]
    Stop,
    /// Nothing says what the tool may do to the robot.
    #[error("a tool that changes a robot has no rules of a robot file")]
    NoRules,
    /// The rules are those of another tool.
    #[error("the rules are those of another tool")]
    OtherRules,
}

impl<'a> Subject<'a> {
    /// Pairs a tool with its rules; `rules` is `None` for tools that belong to no robot.
    ///
    /// # Errors
    /// [`SubjectError`] for a stop, for an actuating tool without rules, and for rules of another
    /// tool or effect.
    pub fn of(tool: &'a Descriptor, rules: Option<&'a ToolRules>) -> Result<Self, SubjectError> {
        let of_robot = match &tool.effect {
            Effect::Stop { .. } => return Err(SubjectError::Stop),
            Effect::Actuate { .. } => true,
            Effect::Observe { .. } | Effect::Mutate => false,
        };
        match rules {
            None if of_robot => Err(SubjectError::NoRules),
            Some(rules) if !same(tool, rules) => Err(SubjectError::OtherRules),
            Some(_) | None => Ok(Self { tool, rules }),
        }
    }

    fn needed(&self) -> Option<Tier> {
        self.tool.effect.needed_tier()
    }
}

/// Returns whether descriptor and rules tell of the same tool. (A stop was refused before.)
fn same(tool: &Descriptor, rules: &ToolRules) -> bool {
    tool.name == rules.name
        && tool.effect.as_str() == rules.effect.as_str()
        && tool.effect.needed_tier() == rules.tier
}

/// One call that asks to be admitted.
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    /// The tool.
    pub subject: Subject<'a>,
    /// Its arguments, within their limits.
    pub args: &'a Limited,
    /// The number of the call, above 0: its lease carries it.
    pub call: u64,
    /// The tier in force, for the refusal.
    pub effective: Tier,
    /// The Elevation that the policy counted on; `None` for a call that needs none.
    pub elevation: Option<Lift<'a>>,
}

/// The Elevation under which one call asks to be admitted.
#[derive(Debug, Clone, Copy)]
pub struct Lift<'a> {
    /// Which.
    pub id: ElevationId,
    /// The live ones.
    pub port: &'a dyn ElevationPort,
}

/// One thing that stands against a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Objection {
    pub reason: Reason,
    pub detail: String,
    pub hint: String,
}

fn objection(reason: Reason, detail: impl Into<String>, hint: impl Into<String>) -> Objection {
    Objection {
        reason,
        detail: detail.into(),
        hint: hint.into(),
    }
}

/// Admits a call on a new snapshot of the robot.
///
/// # Errors
/// A [`Refusal`] with everything that stands against the call; nothing was spent then.
pub fn admit(ask: Admission<'_>, now: &Posture, pace: &mut Pace) -> Result<Grant, Refusal> {
    let Some(rules) = ask.subject.rules else {
        return Ok(grant(&ask, now, (None, None)));
    };
    let mut stands = standing(rules, ask.args, now);
    stands.extend(above(&ask));
    let lift = ask.elevation;
    stands.extend(
        lift.and_then(|lift| lift.port.look(lift.id).err())
            .map(over),
    );
    stands.extend(in_step(rules, ask.args, &pace.base(rules, now.epoch)));
    if let Some(wait) = pace.wait_ms(rules.index, rules.tempo, now.now) {
        stands.push(objection(
            Reason::Rate,
            format!("too many calls in too little time; the next one may come in {wait} ms"),
            format!("wait {wait} ms; do something else meanwhile"),
        ));
    }
    if !stands.is_empty() {
        return Err(refusal(&ask, rules, stands));
    }
    let raised = match lift.map(|lift| lift.port.take(lift.id)).transpose() {
        Ok(raised) => raised,
        Err(end) => return Err(refusal(&ask, rules, vec![over(end)])),
    };
    pace.spend(rules.index, rules.tempo, now.now);
    pace.accept(rules.index, now.epoch, &ask.args.steps);
    Ok(grant(&ask, now, (Some(rules), raised)))
}

/// Whoever decided before: nothing above the tier in force gets a grant.
fn above(ask: &Admission<'_>) -> Option<Objection> {
    let need = ask.subject.needed();
    let need = need.filter(|need| !ask.effective.permits(*need))?;
    Some(objection(
        Reason::RobotTierGate,
        format!(
            "the call needs the tier {need}; {} is in force",
            ask.effective
        ),
        "use a tool of a lower tier; only an operator can permit more",
    ))
}

/// What the end of its Elevation has against a call.
fn over(end: ElevationEnd) -> Objection {
    objection(
        Reason::RobotTierGate,
        format!(
            "the elevation that permitted this call is over: {}",
            end.told()
        ),
        "go on with tools of a lower tier; only an operator can permit more",
    )
}

/// Returns what stands against a call besides rates and steps, in no particular order.
pub(super) fn standing(rules: &ToolRules, args: &Limited, now: &Posture) -> Vec<Objection> {
    let mut stands = Vec::new();
    if args.tool != Some(rules.index) {
        let detail = "these arguments were not judged by the limits of this tool";
        stands.push(objection(Reason::Limit, detail, "call again"));
    }
    if !rules.sends {
        return stands;
    }
    if !now.bridge_up {
        let hint = "wait until the robot answers again; only reading works meanwhile";
        stands.push(objection(Reason::BridgeDown, "no robot answers", hint));
    }
    if rules.effect != EffectWord::Observe {
        stands.extend(stale(rules, now));
        run_state(&mut stands, now);
    }
    if matches!(rules.effect, EffectWord::Move | EffectWord::Hold) {
        stands.extend(graph_timer(now.graph_timer));
    }
    if let Some(place) = &rules.place {
        for detail in place.objections(args.target, now) {
            let hint = "choose a target inside the workspace, within reach of where the robot is";
            stands.push(objection(Reason::Workspace, detail, hint));
        }
    }
    stands
}

/// Adds what the run state has against a command that changes the robot.
fn run_state(stands: &mut Vec<Objection>, now: &Posture) {
    if now.latched || now.run == RunState::Latched {
        let cause = now.cause.map_or("unknown", |cause| cause.as_str());
        let detail = format!("the robot is locked after an emergency stop (cause: {cause})");
        let hint = "only a named person can reset it; reading works meanwhile";
        stands.push(objection(Reason::EstopLatched, detail, hint));
    }
    if !now.records {
        let detail = "the black box cannot be written, so nothing may move";
        let hint = "the disk of the state folder must have room again; reading works meanwhile";
        stands.push(objection(Reason::Interlock, detail, hint));
    }
    let rest = "wait until the motion under way has ended, or stop it";
    match now.run {
        RunState::Boot | RunState::Disarmed | RunState::Stopped => {
            let detail = format!("no operator armed the robot (it is {})", now.run);
            let hint = "an operator must arm it; reading works meanwhile";
            stands.push(objection(Reason::NotArmed, detail, hint));
        }
        RunState::Fault => {
            let detail = "the runtime is broken inside and ends";
            stands.push(objection(
                Reason::Interlock,
                detail,
                "nothing can move any more",
            ));
        }
        RunState::Moving | RunState::Stopping => {
            let detail = format!("the robot is {}", now.run);
            stands.push(objection(Reason::Busy, detail, rest));
        }
        RunState::Armed if now.stopping => {
            stands.push(objection(Reason::Busy, "a stop is under way", rest));
        }
        RunState::Armed if now.moving => {
            stands.push(objection(
                Reason::Busy,
                "another motion holds the robot",
                rest,
            ));
        }
        RunState::Armed | RunState::Latched => {}
    }
}

/// Returns what the timer of the dataflow has against a new motion.
fn graph_timer(timer: GraphTimer) -> Option<Objection> {
    let detail = match timer {
        GraphTimer::Ticks => return None,
        GraphTimer::Silent { ms } => format!(
            "the graph's timer has stood still for {} s: its coordinator may be gone, and nobody \
             would tell that a node failed",
            ms / 1_000
        ),
        GraphTimer::Back { ms, of_ms } => format!(
            "the graph's timer stood still and has ticked again for {} s, {} s are needed",
            ms / 1_000,
            of_ms / 1_000
        ),
    };
    let hint = "an operator must look after the coordinator of the dataflow; stopping and reading work meanwhile";
    Some(objection(Reason::Interlock, detail, hint))
}

fn stale(rules: &ToolRules, now: &Posture) -> Option<Objection> {
    let max = rules.freshness_ms?;
    let age = now.reading.map(|reading| age_ms(reading.at, now));
    let detail = match age {
        Some(age) if age <= u64::from(max) => return None,
        Some(age) => format!("the state of the robot is {age} ms old, {max} ms at most are needed"),
        None => "the robot has not reported its state yet".to_owned(),
    };
    Some(objection(
        Reason::StaleState,
        detail,
        "call again when the robot reports its state",
    ))
}

/// Returns the numbers that were within a step when they were judged and are not now: a stop, or
/// another call, came between.
fn in_step(rules: &ToolRules, args: &Limited, base: &StepBase) -> Option<Objection> {
    let out = rules.ranges.iter().find(|range| {
        range.step.is_some_and(|step| {
            let number = args.steps.get(step.slot);
            number.is_some_and(|number| !range.in_step(number, base.last(step.slot)))
        })
    })?;
    let detail = format!(
        "`{}` is more than one step from where the robot is now",
        out.name
    );
    Some(objection(
        Reason::Limit,
        detail,
        "call again: the step counts anew",
    ))
}

/// Returns the place of a reason in the order in which admission tells them.
fn order(reason: Reason) -> usize {
    const ORDER: [Reason; 10] = [
        Reason::RobotTierGate,
        Reason::EstopLatched,
        Reason::BridgeDown,
        Reason::NotArmed,
        Reason::StaleState,
        Reason::Limit,
        Reason::Workspace,
        Reason::Interlock,
        Reason::Rate,
        Reason::Busy,
    ];
    ORDER
        .into_iter()
        .position(|one| one == reason)
        .unwrap_or(ORDER.len())
}

fn refusal(ask: &Admission<'_>, rules: &ToolRules, mut stands: Vec<Objection>) -> Refusal {
    stands.sort_by_key(|one| order(one.reason));
    let details: Vec<&str> = stands.iter().map(|one| one.detail.as_str()).collect();
    Refusal {
        reason: stands
            .first()
            .map_or(Reason::Interlock, |first| first.reason),
        needed: ask.subject.needed(),
        effective: ask.effective,
        rule: Some(rules.rule.id.as_ref().to_owned()),
        detail: details.join("\n"),
        hint: stands
            .first()
            .map_or(String::new(), |first| first.hint.clone()),
    }
}

fn grant(
    ask: &Admission<'_>,
    now: &Posture,
    (rules, raised): (Option<&ToolRules>, Option<Raised>),
) -> Grant {
    let budget = ask.subject.tool.budget;
    let lease_ms = rules
        .and_then(|rules| rules.lease)
        .map(|lease| u64::from(lease.hard_max_ms));
    let timeout_ms = budget.timeout_ms.min(lease_ms.unwrap_or(u64::MAX));
    let until = raised.map_or(Mono::from_ns(u64::MAX), |raised| raised.until);
    let deadline = now.now.plus_ms(timeout_ms).min(until);
    let elevation = raised.map(|raised| raised.id);
    let call = (ask.call, now.epoch, elevation);
    Grant {
        epoch: now.epoch,
        deadline,
        output_bytes_max: budget.output_bytes_max,
        tier: ask.subject.needed(),
        tool: rules.map_or(NO_TOOL, |rules| rules.index),
        permit: rules.and_then(|rules| permit(rules, call, deadline)),
        raised,
    }
}

/// Returns the permit of a tool that changes the robot; none moves without a lease.
fn permit(
    rules: &ToolRules,
    (call, epoch, elevation): (u64, u32, Option<ElevationId>),
    deadline: Mono,
) -> Option<Permit> {
    let kind = match rules.effect {
        EffectWord::Move => CommandKind::Move,
        EffectWord::Hold => CommandKind::Hold,
        EffectWord::Config => CommandKind::Config,
        EffectWord::Observe | EffectWord::Stop => return None,
    };
    let lease = match rules.lease {
        Some(lease) => lease,
        None if kind.moves() => return None,
        None => NO_LEASE,
    };
    Some(Permit {
        tool: rules.index,
        kind,
        epoch,
        deadline,
        lease: LeaseTerms {
            call,
            renew_ms: lease.renew_ms,
            lost_after_ms: lease.lost_after_ms,
            hard_max_ms: lease.hard_max_ms,
            hold_ms: if kind == CommandKind::Hold {
                rules.hold_ms
            } else {
                0
            },
            elevation,
        },
    })
}

/// The lease of a command that changes the set-up: it moves nothing that could be lost.
const NO_LEASE: LeaseProfile = LeaseProfile {
    renew_ms: 0,
    lost_after_ms: 0,
    hard_max_ms: 0,
};
