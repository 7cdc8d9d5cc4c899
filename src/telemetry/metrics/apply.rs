//! Which numbers one fact changes: every fact is named, so that a new one cannot be forgotten.

use super::Metrics;
use super::family::{self, OTHER_DOMAIN, UNKNOWN_TOOL, tier_label};
use crate::terms::{Fact, PeerEvent, Reason, RunState, StopCause, StopKind, Tier};

#[expect(
    clippy::too_many_lines,
    reason = "a flat list of all facts, one arm each"
)]
pub(super) fn apply(m: &Metrics, fact: &Fact) {
    match fact {
        Fact::Started {
            restarts,
            unclean,
            tier,
            ..
        } => {
            m.set(&family::RESTARTS, &[], f64::from(*restarts));
            m.set(&family::UNCLEAN, &[], f64::from(u8::from(*unclean)));
            m.set(&family::TIER_IN_FORCE, &["effective"], rank(*tier));
        }
        // Nobody scrapes a process that ended; the code is in the black box.
        Fact::Ended { .. } => {}
        Fact::ToolsHidden {
            reason,
            tier,
            count,
        } => {
            // Other reasons belong to calls: no view hides a tool for them.
            if family::hides(*reason) {
                let labels = [reason.as_str(), tier_label(*tier)];
                m.set(&family::HIDDEN, &labels, f64::from(*count));
            }
        }
        Fact::Advert { .. } => {
            m.add(&family::ADVERTS, &[], 1);
            // What it lacks is told next, when it lacks something.
            m.set(&family::ADVERT_MISSING, &[], 0.0);
        }
        Fact::AdvertTier { .. } => m.add(&family::ADVERT_TIERS, &[], 1),
        Fact::AdvertUnknown { count } => {
            m.set(&family::ADVERT_UNKNOWN, &[], f64::from(*count));
        }
        Fact::AdvertMissing { verbs } => {
            let count = u32::try_from(verbs.len()).unwrap_or(u32::MAX);
            m.set(&family::ADVERT_MISSING, &[], f64::from(count));
        }
        Fact::GoalBegun { .. } => m.add(&family::GOALS_BEGUN, &[], 1),
        Fact::GoalEnded { why, .. } => {
            let outcome = if why == "done" { "done" } else { "cut_short" };
            m.add(&family::GOALS_ENDED, &[outcome], 1);
        }
        Fact::GoalDropped { .. } => {
            // It was given, as those were that are begun.
            m.add(&family::GOALS_BEGUN, &[], 1);
            m.add(&family::GOALS_ENDED, &["cut_short"], 1);
        }
        Fact::SensorsShown { tokens, .. } => {
            m.observe(&family::SENSOR_TOKENS, &[], f64::from(*tokens));
        }
        Fact::ApprovalAsked { .. } => m.add(&family::APPROVALS_ASKED, &[], 1),
        Fact::ApprovalEnded { outcome, .. } => m.add(&family::APPROVALS, &[outcome.as_str()], 1),
        Fact::ElevationGiven { .. } => {
            m.change(&family::ELEVATIONS_LIVE, &[], 1.0);
            m.add(&family::ORDERS, &["elevate", "done"], 1);
        }
        Fact::ElevationUsed { .. } => m.add(&family::ELEVATION_CALLS, &[], 1),
        Fact::ElevationEnded { cause, .. } => {
            m.change(&family::ELEVATIONS_LIVE, &[], -1.0);
            m.add(&family::ELEVATIONS_ENDED, &[cause.as_str()], 1);
        }
        Fact::Granted { clamped, .. } => {
            let hits = u64::try_from(clamped.len()).unwrap_or(u64::MAX);
            m.add(&family::LIMIT_HITS, &["clamp"], hits);
        }
        Fact::Finished {
            tool,
            robot,
            outcome,
            took_ms,
            ..
        } => finished(m, (tool, *robot), outcome, *took_ms),
        Fact::Refused {
            tool,
            reason,
            needed,
            ..
        } => refused(m, tool, *reason, *needed),
        Fact::InputLoop { .. } => m.add(&family::INPUT_LOOPS, &[], 1),
        Fact::ToolPanicked { .. } => m.add(&family::PANICS, &[], 1),
        Fact::StopAsked { what, .. } => m.add(&family::STOP_REQUESTS, &[kind(*what)], 1),
        Fact::StopBegun { what, cause, .. } => {
            m.add(&family::STOPS, &[kind(*what), cause.as_str()], 1);
        }
        Fact::StopVerb { .. } => m.add(&family::STOP_VERBS, &[], 1),
        Fact::StopAnswered { ok, .. } => {
            m.add(
                &family::STOP_ANSWERS,
                &[if *ok { "ok" } else { "error" }],
                1,
            );
        }
        Fact::Standstill { after_ms } => {
            m.observe_ms(&family::STOP_DURATION, &[], u64::from(*after_ms));
        }
        Fact::StopNotConfirmed { .. } => m.add(&family::STOPS_UNCONFIRMED, &[], 1),
        Fact::RunStateChanged { to, cause, .. } => run_state(m, *to, *cause),
        Fact::OrderDone { order, .. } => m.add(&family::ORDERS, &[order_label(order), "done"], 1),
        Fact::OrderRefused { order, .. } => {
            m.add(&family::ORDERS, &[order_label(order), "refused"], 1);
        }
        Fact::WordsCounted { refused, stops, .. } => {
            m.add(&family::ORDERS, &["other", "refused"], *refused);
            m.add(&family::ORDERS, &["other", "done"], *stops);
        }
        Fact::LatchPersisted { .. } => m.add(&family::LATCHES, &[], 1),
        Fact::CommandSent { moves, repeat, .. } => {
            let kind = match (*moves, *repeat) {
                (true, false) => "motion",
                (true, true) => "hold_repeat",
                (false, _) => "other",
            };
            m.add(&family::COMMANDS, &[kind], 1);
        }
        Fact::CommandDropped { why, .. } => m.add(&family::COMMANDS_DROPPED, &[why.as_str()], 1),
        Fact::Heartbeat => m.add(&family::HEARTBEATS, &[], 1),
        Fact::HeartbeatDropped => m.add(&family::HEARTBEATS_DROPPED, &[], 1),
        Fact::Released => m.add(&family::RELEASES, &[], 1),
        Fact::SendFailed => m.add(&family::SEND_FAILURES, &[], 1),
        Fact::LateTick { .. } => m.add(&family::MISSED_TICKS, &[], 1),
        // On which input is in the record: as a label it would cost every robot five tools.
        Fact::InputIgnored { fault, .. } => {
            m.add(&family::INPUT_IGNORED, &[fault.as_str()], 1);
        }
        Fact::RobotState { speed, .. } => {
            m.add(&family::ROBOT_STATES, &[], 1);
            m.set(&family::ROBOT_SPEED, &[], speed.unwrap_or(f64::NAN));
        }
        Fact::RobotSafetyEvent { .. } => m.add(&family::ROBOT_SAFETY_EVENTS, &[], 1),
        Fact::Peer { event, .. } => m.add(&family::GRAPH_PEERS, &[peer(*event)], 1),
        Fact::Param { accepted, .. } => {
            let outcome = if *accepted { "accepted" } else { "refused" };
            m.add(&family::PARAMS, &[outcome], 1);
        }
        Fact::GraphIgnored { .. } => m.add(&family::GRAPH_EVENTS, &["ignored"], 1),
        Fact::RestartRequired { .. } => m.add(&family::GRAPH_EVENTS, &["restart_required"], 1),
        Fact::GraphStop => m.add(&family::GRAPH_EVENTS, &["stop"], 1),
        Fact::GraphSilent { .. } => m.add(&family::GRAPH_EVENTS, &["timer_silent"], 1),
        Fact::GraphBack { .. } => m.add(&family::GRAPH_EVENTS, &["timer_back"], 1),
        Fact::GraphLost { .. } => m.add(&family::GRAPH_EVENTS, &["lost"], 1),
    }
}

/// The number of a tier on a dashboard.
pub(super) fn rank(tier: Tier) -> f64 {
    match tier {
        Tier::Observe => 0.0,
        Tier::SafeMotion => 1.0,
        Tier::FullActuation => 2.0,
        Tier::EmergencyOverride => 3.0,
    }
}

fn finished(m: &Metrics, (tool, robot): (&str, bool), outcome: &str, took_ms: u64) {
    let tier = m.tools.get(tool).copied().flatten();
    m.observe_ms(&family::DURATION, &[tier_label(tier)], took_ms);
    let outcome = match outcome {
        "done" | "stop" => "ok",
        "timeout" => "timeout",
        "cancelled" => "cancelled",
        "unknown" => "unknown",
        // A refusal after the grant raises `Refused` as well, and is counted there.
        "refused" => return,
        _ => "error",
    };
    count_call(m, tool, robot, outcome);
}

fn refused(m: &Metrics, tool: &str, reason: Reason, needed: Option<Tier>) {
    let tier = tier_label(needed);
    m.add(&family::DENIAL, &[reason.as_str(), tier], 1);
    if let Some(label) = reason.compatibility_label() {
        m.add(&family::POLICY_DENIAL, &[label, tier], 1);
    }
    if let Some(kind) = limit_kind(reason) {
        m.add(&family::LIMIT_HITS, &[kind], 1);
    }
    count_call(m, tool, reason == Reason::UnknownTool, "denied");
}

/// Counts a call under its tool if the robot has it, else under `unknown` or its domain.
fn count_call(m: &Metrics, tool: &str, robot_or_unknown: bool, outcome: &'static str) {
    let label = if m.tools.contains_key(tool) {
        ("tool", tool)
    } else if robot_or_unknown {
        ("tool", UNKNOWN_TOOL)
    } else {
        ("domain", OTHER_DOMAIN)
    };
    m.registry
        .counter_of(family::TOOL_CALLS, &[label, ("outcome", outcome)])
        .increment(1);
}

fn limit_kind(reason: Reason) -> Option<&'static str> {
    match reason {
        Reason::Limit => Some("reject"),
        Reason::Rate => Some("rate"),
        Reason::Workspace => Some("workspace"),
        Reason::UnknownTool
        | Reason::InternalOnly
        | Reason::PolicyDeny
        | Reason::TagGate
        | Reason::ContextGate
        | Reason::RobotTierGate
        | Reason::Schema
        | Reason::ApprovalDenied
        | Reason::ApprovalUnavailable
        | Reason::EstopLatched
        | Reason::BridgeDown
        | Reason::NotArmed
        | Reason::StaleState
        | Reason::Interlock
        | Reason::Busy
        | Reason::LeaseExpired => None,
    }
}

fn run_state(m: &Metrics, now: RunState, cause: Option<StopCause>) {
    for state in RunState::ALL {
        let value = f64::from(u8::from(state == now));
        m.set(&family::RUN_STATE, &[state.as_str()], value);
    }
    let by = source(cause.unwrap_or(StopCause::InternalFault));
    for source in family::LATCH_SOURCES {
        let latched = now == RunState::Latched && source == by;
        m.set(&family::LATCHED, &[source], f64::from(u8::from(latched)));
    }
}

fn source(cause: StopCause) -> &'static str {
    match cause {
        StopCause::EstopInput => "input",
        StopCause::OperatorStop => "operator",
        StopCause::FleetStop => "fleet",
        StopCause::ModelStop => "model",
        StopCause::VendorEvent => "robot",
        StopCause::Shutdown
        | StopCause::Deadline
        | StopCause::LeaseLost
        | StopCause::StaleState
        | StopCause::Workspace
        | StopCause::Overspeed
        | StopCause::BridgeLost
        | StopCause::HeartbeatFault
        | StopCause::Blackbox
        | StopCause::BoardFault
        | StopCause::UncleanEnd
        | StopCause::InternalFault => "runtime",
    }
}

fn kind(kind: StopKind) -> &'static str {
    match kind {
        StopKind::Stop => "stop",
        StopKind::Estop => "estop",
    }
}

fn peer(event: PeerEvent) -> &'static str {
    match event {
        PeerEvent::Closed => "closed",
        PeerEvent::Recovered => "recovered",
        PeerEvent::Restarted => "restarted",
        PeerEvent::Failed => "failed",
    }
}

fn order_label(order: &str) -> &'static str {
    match order {
        "arm" => "arm",
        "disarm" => "disarm",
        "reset" => "reset",
        "elevate" => "elevate",
        _ => "other",
    }
}
