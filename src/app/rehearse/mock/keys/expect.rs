//! `dataflows/scenarios/<name>.toml`: what must come of it.
//!
//! Words of closed sets are judged one by one: the look asks the judge which of all words would have met
//! the expectation.

use super::row::{PLAY, Row};
use super::site::Site;
use crate::sim::{Evidence, judge};
use crate::terms::{Fact, Reason, RunState, StopCause, StopKind, Tier};

/// A call above the ceiling, and a read.
const ABOVE: &str = "[ { tool = \"rover_gripper_set\", args = { opening = 0.05, force = 10.0 } } ]";
const TIER_GATE: &str = "[ { tool = \"rover_gripper_set\", reason = \"robot_tier_gate\" } ]";

pub(super) fn rows() -> Vec<Row> {
    [
        refusals(),
        reasons(),
        tiers(),
        stops(),
        causes(),
        end(),
        states(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn row(path: &'static str, to: &'static str) -> Row {
    Row::of(PLAY, path, to)
}

/// A word in quotes. Rows live as long as the tests.
fn quoted(word: &'static str) -> &'static str {
    Box::leak(format!("{word:?}").into_boxed_str())
}

fn refusals() -> Vec<Row> {
    let refused = |path: &'static str, to: &'static str| {
        row(path, to)
            .given(PLAY, "turn/0/call", ABOVE)
            .given(PLAY, "event/1", "")
            .given(PLAY, "expect/refused", TIER_GATE)
            .seen(
                |site| site.rehearse().verdict("refused"),
                "met: 1 x rover_gripper_set (robot_tier_gate, full_actuation)",
                "not met: 1 x rover_gripper_set (robot_tier_gate, full_actuation)",
            )
    };
    vec![
        row("expect/refused", "").seen(
            |site| site.rehearse().verdict("refused"),
            "met: none",
            "not judged",
        ),
        refused("expect/refused/0/tool", "\"rover_walk\""),
        refused("expect/refused/0/times", "2"),
    ]
}

/// Every reason, changed for another: the expectation is met by the new one, and by no other.
fn reasons() -> Vec<Row> {
    let all = Reason::ALL.into_iter();
    let others = all.filter(|reason| *reason != Reason::Limit);
    others
        .map(|reason| {
            row("expect/refused/0/reason", quoted(reason.as_str()))
                .given(
                    PLAY,
                    "expect",
                    "{ refused = [ { tool = \"t\", reason = \"limit\" } ] }",
                )
                .seen(
                    |site| {
                        met_by(
                            site,
                            "refused",
                            &Reason::ALL.map(|reason| (reason.as_str(), refused(reason, None))),
                        )
                    },
                    "limit",
                    reason.as_str(),
                )
        })
        .collect()
}

fn refused(reason: Reason, needed: Option<Tier>) -> Vec<Fact> {
    vec![Fact::Refused {
        call: "call-1".to_owned(),
        tool: "t".to_owned(),
        reason,
        needed,
        effective: Tier::Observe,
        rule: None,
        detail: String::new(),
    }]
}

fn tiers() -> Vec<Row> {
    let others = Tier::ALL.into_iter().filter(|tier| *tier != Tier::Observe);
    others
        .map(|tier| {
            row("expect/refused/0/tier", quoted(tier.as_str()))
                .given(
                    PLAY,
                    "expect",
                    "{ refused = [ { tool = \"t\", reason = \"limit\", tier = \"observe\" } ] }",
                )
                .seen(
                    |site| {
                        let of = |tier: Tier| (tier.as_str(), refused(Reason::Limit, Some(tier)));
                        met_by(site, "refused", &Tier::ALL.map(of))
                    },
                    "observe",
                    tier.as_str(),
                )
        })
        .collect()
}

/// The words whose facts meet the expectation.
fn met_by(site: &Site, expectation: &str, words: &[(&'static str, Vec<Fact>)]) -> String {
    let scenario = site.scenario();
    let met = words.iter().filter(|(_, facts)| {
        let facts: Vec<(u64, Fact)> = facts.iter().map(|fact| (1, fact.clone())).collect();
        let evidence = Evidence {
            facts: &facts,
            journal: &[],
            offset_ms: 0,
            unfired: &[],
        };
        let verdicts = judge(&scenario, &evidence);
        verdicts
            .iter()
            .any(|verdict| verdict.name == expectation && verdict.ok)
    });
    met.map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
}

fn stopped(what: StopKind, cause: StopCause) -> Vec<Fact> {
    vec![
        Fact::StopAsked {
            what,
            cause,
            epoch: 1,
            by: None,
        },
        Fact::StopBegun {
            what,
            cause,
            epoch: 1,
        },
        Fact::Standstill { after_ms: 9 },
    ]
}

const STOP: &str = "{ stops = [ { kind = \"stop\", by = \"operator\", standstill = true } ] }";

fn stops() -> Vec<Row> {
    let by = |to: &'static str, word: &'static str| {
        row("expect/stops/0/by", to)
            .given(PLAY, "expect", STOP)
            .seen(
                |site| {
                    let of = |word, cause| (word, stopped(StopKind::Stop, cause));
                    let all = [
                        of("operator", StopCause::OperatorStop),
                        of("model", StopCause::ModelStop),
                        of("runtime", StopCause::LeaseLost),
                    ];
                    met_by(site, "stops", &all)
                },
                "operator",
                word,
            )
    };
    vec![
        row("expect/stops", "").seen(
            |site| site.rehearse().verdict("stops"),
            "met: stop by operator, came to rest",
            "not judged",
        ),
        row("expect/stops/0/kind", "\"estop\"")
            .given(PLAY, "expect", STOP)
            .seen(
                |site| {
                    let of = |(word, kind)| (word, stopped(kind, StopCause::OperatorStop));
                    let kinds = [("stop", StopKind::Stop), ("estop", StopKind::Estop)];
                    met_by(site, "stops", &kinds.map(of))
                },
                "stop",
                "estop",
            ),
        by("\"model\"", "model"),
        by("\"runtime\"", "runtime"),
        row("expect/stops/0/standstill", "false").seen(
            |site| site.rehearse().verdict("stops"),
            "met: stop by operator, came to rest",
            "not met: stop by operator, came to rest",
        ),
        row("expect/commands_after_stop", "2").seen(
            |site| site.rehearse().verdict("commands_after_stop"),
            "not judged",
            "not met: 0",
        ),
    ]
}

/// Every cause of a stop that can be expected, each with who stands behind it.
fn causes() -> Vec<Row> {
    let all = StopCause::ALL.into_iter().filter(|cause| {
        let never = [
            StopCause::Deadline,
            StopCause::Shutdown,
            StopCause::FleetStop,
        ];
        *cause != StopCause::LeaseLost && !never.contains(cause)
    });
    let expected = |cause: StopCause| {
        let by = if cause == StopCause::ModelStop {
            "\"model\""
        } else if cause == StopCause::OperatorStop {
            "\"operator\""
        } else {
            "\"runtime\""
        };
        row("expect/stops/0/cause", quoted(cause.as_str()))
            .given(
                PLAY,
                "expect",
                "{ stops = [ { kind = \"stop\", by = \"runtime\", standstill = true, cause = \"lease_lost\" } ] }",
            )
            .along(PLAY, "expect/stops/0/by", by)
            .seen(
                |site| {
                    let of = |cause: StopCause| (cause.as_str(), stopped(StopKind::Stop, cause));
                    met_by(site, "stops", &StopCause::ALL.map(of))
                },
                "lease_lost",
                cause.as_str(),
            )
    };
    all.map(expected).collect()
}

fn end() -> Vec<Row> {
    vec![
        row("expect/end_pose", "{ x = [5.0, 6.0] }").seen(
            |site| site.rehearse().verdict("end_pose.x"),
            "not judged",
            "not met…",
        ),
        row("expect/end_pose/x", "[5.0, 6.0]")
            .given(PLAY, "expect/end_pose", "{ x = [0.0, 1.5] }")
            .seen(
                |site| site.rehearse().verdict("end_pose.x"),
                "met…",
                "not met…",
            ),
        row("expect/end_pose/y", "[5.0, 6.0]")
            .given(PLAY, "expect/end_pose", "{ y = [-0.5, 0.5] }")
            .seen(
                |site| site.rehearse().verdict("end_pose.y"),
                "met…",
                "not met…",
            ),
        row("expect/at_rest", "false").seen(
            |site| site.rehearse().verdict("at_rest"),
            "not judged",
            "not met: at rest",
        ),
    ]
}

fn states() -> Vec<Row> {
    let others = RunState::ALL
        .into_iter()
        .filter(|state| *state != RunState::Armed);
    others
        .map(|state| {
            row("expect/end_state", quoted(state.as_str()))
                .given(PLAY, "expect", "{ end_state = \"armed\" }")
                .seen(
                    |site| {
                        let of = |from: RunState| {
                            let ends = Fact::RunStateChanged {
                                from,
                                to: RunState::Stopping,
                                cause: Some(StopCause::Shutdown),
                            };
                            (from.as_str(), vec![ends])
                        };
                        met_by(site, "end_state", &RunState::ALL.map(of))
                    },
                    "armed",
                    state.as_str(),
                )
        })
        .collect()
}
