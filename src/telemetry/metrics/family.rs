//! The list of all metrics: name, help and closed label sets of each.
//!
//! A series exists because it is in this list, never because something happened. Names and label
//! sets follow the fleet's dashboards; where a name of ours differs, the reason stands beside it.

use super::QueueName;
use crate::terms::{
    ApprovalOutcome, DropCause, ElevationEnd, FactClass, InputFault, Reason, RunState, StopCause,
    Tier,
};

/// What kind of number a metric is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Only grows.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts observations into buckets.
    Histogram,
}

/// One label and all its values.
#[derive(Debug)]
pub(super) struct LabelSet {
    pub(super) key: &'static str,
    pub(super) values: fn() -> Vec<&'static str>,
}

/// One metric.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) shape: Shape,
    pub(super) labels: &'static [LabelSet],
}

/// The value of label `tier` where no tier applies.
pub(super) const NO_TIER: &str = "none";
/// The value of label `tool` for names that no tool has.
pub(super) const UNKNOWN_TOOL: &str = "unknown";
/// The value of label `domain` for tools that belong to no robot.
pub(super) const OTHER_DOMAIN: &str = "other";
/// The value of label `bridge` for a robot that is reached through the dataflow.
pub(super) const DORA_BRIDGE: &str = "dora";
/// The values of label `source`: who can latch a robot.
pub(super) const LATCH_SOURCES: [&str; 6] =
    ["input", "operator", "fleet", "model", "robot", "runtime"];
/// The values of label `outcome` of tool calls.
pub(super) const OUTCOMES: [&str; 6] = ["ok", "error", "timeout", "cancelled", "unknown", "denied"];

/// The label value of a tier.
pub(super) fn tier_label(tier: Option<Tier>) -> &'static str {
    tier.map_or(NO_TIER, Tier::as_str)
}

/// The label value of a record class.
pub(super) fn class_label(class: FactClass) -> &'static str {
    match class {
        FactClass::Safety => "safety",
        FactClass::Audit => "audit",
        FactClass::Trace => "trace",
    }
}

/// Whether a tool can be hidden from a view for this reason. Only decisions of the policy hide.
pub(super) fn hides(reason: Reason) -> bool {
    reason.compatibility_label().is_some()
}

const REASON: LabelSet = LabelSet {
    key: "reason",
    values: || Reason::ALL.map(Reason::as_str).to_vec(),
};
const HIDING_REASON: LabelSet = LabelSet {
    key: "reason",
    values: || {
        let hiding = Reason::ALL.into_iter().filter(|reason| hides(*reason));
        hiding.map(Reason::as_str).collect()
    },
};
const OLD_REASON: LabelSet = LabelSet {
    key: "reason",
    values: || vec!["robot_tier_gate", "policy_deny"],
};
const TIER: LabelSet = LabelSet {
    key: "tier",
    values: || {
        let tiers = Tier::ALL.into_iter().map(Tier::as_str);
        tiers.chain([NO_TIER]).collect()
    },
};
const CAUSE: LabelSet = LabelSet {
    key: "cause",
    values: || StopCause::ALL.map(StopCause::as_str).to_vec(),
};
const STOP_KIND: LabelSet = LabelSet {
    key: "kind",
    values: || vec!["stop", "estop"],
};
const CLASS: LabelSet = LabelSet {
    key: "class",
    values: || {
        [FactClass::Safety, FactClass::Audit, FactClass::Trace]
            .map(class_label)
            .to_vec()
    },
};
const QUEUE: LabelSet = LabelSet {
    key: "queue",
    values: || QueueName::ALL.map(QueueName::as_str).to_vec(),
};
const OUTCOME: LabelSet = LabelSet {
    key: "outcome",
    values: || OUTCOMES.to_vec(),
};

macro_rules! families {
    ($($id:ident = $shape:ident $name:literal [$($label:expr),*] $help:literal;)*) => {
        $(pub(super) const $id: Family = Family {
            name: $name,
            help: $help,
            shape: Shape::$shape,
            labels: &[$($label),*],
        };)*
        /// All metrics whose labels do not depend on the robot.
        pub(super) const ALL: &[&Family] = &[$(&$id),*];
    };
}

families! {
    BUILD_INFO = Gauge "octos_edge_build_info"
        [LabelSet { key: "version", values: || vec![env!("CARGO_PKG_VERSION")] }]
        "Always 1; the label says which build runs.";
    RESTARTS = Gauge "octos_edge_node_restarts" []
        "How often the dataflow restarted this node.";
    UNCLEAN = Gauge "octos_edge_unclean_start" []
        "1 when the run before this one ended while armed, or was restarted.";
    TIER_IN_FORCE = Gauge "octos_edge_tier"
        [LabelSet { key: "kind", values: || vec!["ceiling", "effective"] }]
        "Robot tier as a number: 0 observe, 1 safe_motion, 2 full_actuation, 3 emergency_override.";
    POLICY_DENIAL = Counter "octos_tool_policy_denial_total" [OLD_REASON, TIER]
        "Tool calls that policy or robot tier refused, by the tier that the tool needs.";
    DENIAL = Counter "octos_edge_denial_total" [REASON, TIER]
        "Tool calls refused, by the exact reason and the tier that the tool needs.";
    HIDDEN = Gauge "octos_edge_tools_hidden" [HIDING_REASON, TIER]
        "Tools that the present view does not show to the model.";
    DURATION = Histogram "octos_edge_tool_duration_seconds" [TIER]
        "Time from the request of a granted tool call to its answer.";
    PANICS = Counter "octos_edge_tool_panics_total" []
        "Tools that panicked; each became an answer.";
    INPUT_LOOPS = Counter "octos_edge_tool_input_loop_total" []
        "Calls refused for arguments that had been refused twice before in the same turn.";
    LIMIT_HITS = Counter "octos_edge_limit_hits_total"
        [LabelSet { key: "kind", values: || vec!["clamp", "reject", "rate", "workspace"] }]
        "Numbers clamped, and calls refused by a limit.";
    APPROVALS_ASKED = Counter "octos_edge_approvals_asked_total" []
        "Questions to a person, each for one call.";
    APPROVALS = Counter "octos_edge_approvals_total"
        [LabelSet { key: "outcome", values: || ApprovalOutcome::ALL.map(ApprovalOutcome::as_str).to_vec() }]
        "Questions to a person that ended, and answers that came too late.";
    ELEVATIONS_LIVE = Gauge "octos_edge_elevations_live" []
        "Elevations that live: a higher tier for some tools, by an operator's word.";
    ELEVATION_CALLS = Counter "octos_edge_elevation_calls_total" []
        "Calls granted because an elevation permits them.";
    ELEVATIONS_ENDED = Counter "octos_edge_elevations_ended_total"
        [LabelSet { key: "cause", values: || ElevationEnd::ALL.map(ElevationEnd::as_str).to_vec() }]
        "Elevations that ended.";
    GOALS_BEGUN = Counter "octos_edge_goals_begun_total" []
        "Goals given to the agent.";
    GOALS_ENDED = Counter "octos_edge_goals_ended_total"
        [LabelSet { key: "outcome", values: || vec!["done", "cut_short"] }]
        "Goals that ended, by themselves or by a budget or guard.";
    SENSOR_TOKENS = Histogram "octos_edge_sensor_context_tokens" []
        "Length of what the model was shown of its robot before a reply, in tokens of 4 bytes.";
    // The word "safe" is left out of the name: a counter makes no such promise.
    STOPS = Counter "octos_edge_stops_total" [STOP_KIND, CAUSE]
        "Stop sequences that began.";
    STOP_REQUESTS = Counter "octos_edge_stop_requests_total" [STOP_KIND]
        "Stops asked for by the model, an operator, the fleet or a part of the runtime.";
    STOP_VERBS = Counter "octos_edge_stop_verbs_sent_total" []
        "Stop verbs handed to the dataflow, repeats included.";
    STOP_ANSWERS = Counter "octos_edge_stop_answers_total"
        [LabelSet { key: "outcome", values: || vec!["ok", "error"] }]
        "Answers of the robot to stop verbs.";
    STOP_DURATION = Histogram "octos_edge_stop_duration_seconds" []
        "Time from a stop to confirmed standstill.";
    STOPS_UNCONFIRMED = Counter "octos_edge_stops_unconfirmed_total" []
        "Stops whose standstill was not confirmed in time.";
    RUN_STATE = Gauge "octos_edge_run_state"
        [LabelSet { key: "state", values: || RunState::ALL.map(RunState::as_str).to_vec() }]
        "1 for the run state the robot is in, 0 for all others.";
    LATCHED = Gauge "octos_edge_estop_latched"
        [LabelSet { key: "source", values: || LATCH_SOURCES.to_vec() }]
        "1 for whoever latched the robot until a named person resets it, 0 for all others.";
    LATCHES = Counter "octos_edge_latches_persisted_total" []
        "Latches written to disk.";
    ORDERS = Counter "octos_edge_orders_total"
        [LabelSet { key: "order", values: || vec!["arm", "disarm", "reset", "elevate", "other"] },
         LabelSet { key: "outcome", values: || vec!["done", "refused"] }]
        "Orders of operators.";
    COMMANDS = Counter "octos_edge_commands_sent_total"
        [LabelSet { key: "kind", values: || vec!["motion", "hold_repeat", "other"] }]
        "Commands handed to the dataflow.";
    COMMANDS_DROPPED = Counter "octos_edge_commands_dropped_total"
        [LabelSet { key: "cause", values: || DropCause::ALL.map(DropCause::as_str).to_vec() }]
        "Commands that the last check kept back.";
    HEARTBEATS = Counter "octos_edge_heartbeat_sent_total" []
        "Heartbeats handed to the dataflow.";
    HEARTBEATS_DROPPED = Counter "octos_edge_heartbeat_dropped_total" []
        "Heartbeats that the last check kept back.";
    RELEASES = Counter "octos_edge_control_released_total" []
        "Releases of control after standstill.";
    SEND_FAILURES = Counter "octos_edge_send_failures_total" []
        "Frames that the dataflow refused.";
    MISSED_TICKS = Counter "octos_edge_safety_missed_ticks_total" []
        "Safety ticks that came late.";
    QUEUE_DEPTH = Gauge "octos_edge_queue_depth" [QUEUE]
        "Items that wait in a queue of the actuation path.";
    QUEUE_FULL = Counter "octos_edge_queue_full_total" [QUEUE]
        "Items that found a queue of the actuation path full.";
    BRIDGE_UP = Gauge "octos_edge_bridge_up"
        [LabelSet { key: "bridge", values: || vec![DORA_BRIDGE] }]
        "1 while the robot's node answers over this bridge.";
    GRAPH_TIMER_UP = Gauge "octos_edge_graph_timer_up" []
        "0 while no motion begins because the dataflow's timer stands still; 1 also without a timer.";
    INPUT_IGNORED = Counter "octos_edge_input_ignored_total"
        [LabelSet { key: "fault", values: || InputFault::ALL.map(InputFault::as_str).to_vec() }]
        "Messages of the dataflow that were ignored.";
    ROBOT_STATES = Counter "octos_edge_robot_states_total" []
        "States received from the robot.";
    ROBOT_SPEED = Gauge "octos_edge_robot_speed_meters_per_second" []
        "Speed in the latest state of the robot; not a number when that state has none.";
    ROBOT_SAFETY_EVENTS = Counter "octos_edge_robot_safety_events_total" []
        "Safety events received from the robot.";
    ADVERTS = Counter "octos_edge_adverts_total" []
        "Adverts received from the robot.";
    ADVERT_TIERS = Counter "octos_edge_advert_tier_differences_total" []
        "Adverted tiers that differ from the robot file; the file stands.";
    ADVERT_UNKNOWN = Gauge "octos_edge_advert_unknown_verbs" []
        "Verbs that the robot adverts and the robot file lacks; they are no tools.";
    ADVERT_MISSING = Gauge "octos_edge_advert_missing_verbs" []
        "Verbs that the robot file sends and the latest advert lacks, at most 32.";
    // Another name than the agents' `octos_edge_peer_events_total`: these peers are nodes.
    GRAPH_PEERS = Counter "octos_edge_graph_peer_events_total"
        [LabelSet { key: "event", values: || vec!["closed", "recovered", "restarted", "failed"] }]
        "What became of peers in the dataflow.";
    GRAPH_EVENTS = Counter "octos_edge_graph_events_total"
        [LabelSet { key: "event", values: || vec![
            "stop", "lost", "timer_silent", "timer_back", "ignored", "restart_required",
        ] }]
        "Words of the dataflow itself to this node, and losses of its timer.";
    PARAMS = Counter "octos_edge_runtime_params_total"
        [LabelSet { key: "outcome", values: || vec!["accepted", "refused"] }]
        "Runtime parameters that somebody tried to set or delete.";
    RECORDS = Counter "octos_edge_blackbox_records_total" [CLASS]
        "Records written to the black box.";
    RECORDS_DROPPED = Counter "octos_edge_blackbox_dropped_total" [CLASS]
        "Facts that did not get into the black box.";
    BLACKBOX_BYTES = Gauge "octos_edge_blackbox_bytes" []
        "Size of the black box; the oldest records make room at the cap of the board file.";
    DISK_FREE = Gauge "octos_edge_disk_free_bytes" []
        "Room that is left for this user on the disk of the state folder.";
    BLACKBOX_HEALTHY = Gauge "octos_edge_blackbox_healthy" []
        "1 while the black box can be written.";
}

/// How late the safety ticks come. It is counted where the tick runs, and read by a scrape.
pub(super) const TICK_LATENESS: &str = "octos_edge_safety_tick_jitter_seconds";
/// Help of [`TICK_LATENESS`].
pub(super) const TICK_LATENESS_HELP: &str = "How long after its time each safety tick came.";

/// Calls of the robot's tools and of names that no tool has; `tool` comes from the robot file.
pub(super) const TOOL_CALLS: &str = "octos_edge_tool_calls_total";
/// Help of [`TOOL_CALLS`].
pub(super) const TOOL_CALLS_HELP: &str =
    "Tool calls by outcome: robot tools by name, all others by domain.";
/// The outcomes of calls of tools that belong to no robot.
pub(super) const DOMAIN_CALLS: [LabelSet; 2] = [
    LabelSet {
        key: "domain",
        values: || vec![OTHER_DOMAIN],
    },
    OUTCOME,
];
