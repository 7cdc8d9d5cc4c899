//! The words by which facts are told apart in records.

/// The `kind` of every fact, in the order of the enum.
pub const FACT_KINDS: [&str; 50] = [
    "started",
    "ended",
    "tools_hidden",
    "advert",
    "advert_tier",
    "advert_unknown",
    "advert_missing",
    "goal_begun",
    "goal_ended",
    "goal_dropped",
    "sensors_shown",
    "approval_asked",
    "approval_ended",
    "elevation_given",
    "elevation_used",
    "elevation_ended",
    "granted",
    "finished",
    "refused",
    "input_loop",
    "stop_asked",
    "stop_begun",
    "stop_verb",
    "stop_answered",
    "standstill",
    "stop_not_confirmed",
    "run_state_changed",
    "order_done",
    "order_refused",
    "words_counted",
    "latch_persisted",
    "command_sent",
    "command_dropped",
    "heartbeat",
    "heartbeat_dropped",
    "released",
    "send_failed",
    "late_tick",
    "input_ignored",
    "robot_state",
    "robot_safety_event",
    "peer",
    "param",
    "graph_ignored",
    "restart_required",
    "graph_stop",
    "graph_silent",
    "graph_back",
    "graph_lost",
    "tool_panicked",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Fact;

    /// Whoever reads facts knows all their kinds, and tells them when one is asked for that is none.
    #[test]
    fn they_are_those_that_a_record_may_have() {
        let none = serde_json::from_str::<Fact>("{\"kind\":\"?\"}").unwrap_err();
        let listed = FACT_KINDS.map(|kind| format!("`{kind}`")).join(", ");
        let expected = format!("unknown variant `?`, expected one of {listed}");
        // Where in the text it was is no matter.
        assert_eq!(
            none.to_string().split(" at line").next(),
            Some(expected.as_str())
        );
    }
}
