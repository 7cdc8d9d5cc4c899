//! `dataflows/scenarios/<name>.toml`: what the operator does, and when.

use super::row::{PLAY, Row};
use super::site::{Seen, Site};
use crate::terms::Fact;

pub(super) fn rows() -> Vec<Row> {
    let row = |path: &'static str, to: &'static str| Row::of(PLAY, path, to);
    let second = |to: &'static str| row("event/1/operator/do", to);
    vec![
        row("event", "").seen(|site| site.rehearse().outcomes(), "cancelled", "not_armed"),
        row("event/0/when", "{ answered = 1 }").seen(
            |site| site.rehearse().outcomes(),
            "cancelled",
            "not_armed",
        ),
        row("event/1/when/moved_m", "0.2").seen(
            |site| site.rehearse().end(),
            "0.5, 0.0",
            "0.2, 0.0",
        ),
        row("event/1/when/after_ms", "1000")
            .given(PLAY, "event/1/when", "{ after_ms = 2000 }")
            .seen(stopped_at, "2000 ms", "1000 ms"),
        row("event/1/when/answered", "2")
            .given(PLAY, "event/1/when", "{ answered = 1 }")
            .given(
                PLAY,
                "turn/1/call",
                "[ { tool = \"rover_get_pose\", args = {} } ]",
            )
            .given(PLAY, "turn/2", "{ say = \"\", call = [] }")
            .seen(stopped_at, "6520 ms", "6540 ms"),
        second("\"estop\"").seen(|site| site.rehearse().end_state(), "armed", "latched"),
        second("\"disarm\"").seen(|site| site.rehearse().end_state(), "armed", "disarmed"),
        second("\"reset\"").seen(
            |site| site.rehearse().operator(),
            "met: so they were",
            "not met: reset refused: wrong run state; robot not at rest",
        ),
        second("\"arm\"")
            .along(PLAY, "event/1/operator/for_s", "9")
            .seen(
                |site| site.rehearse().operator(),
                "met: so they were",
                "not met: arm refused: wrong run state; robot not at rest",
            ),
        row("event/1/operator/why", "\"enough\"").seen(why, "far enough", "enough"),
        row("event/0/operator/for_s", "1").seen(
            |site| site.rehearse().stops(),
            "operator_stop",
            "deadline",
        ),
    ]
}

/// When the operator's stop was asked for.
fn stopped_at(site: &Site) -> String {
    let seen = site.rehearse();
    let goal = seen.when(|fact| matches!(fact, Fact::GoalBegun { .. }));
    let stop = seen.when(|fact| matches!(fact, Fact::StopAsked { .. }));
    format!("{} ms", stop - goal)
}

fn why(site: &Site) -> String {
    let seen: Seen = site.rehearse();
    let mut whys = seen.facts.iter().filter_map(|(_, fact)| {
        if let Fact::OrderDone { why, order, .. } = fact {
            (order == "stop").then(|| why.clone())
        } else {
            None
        }
    });
    whys.next().unwrap()
}
