//! `dataflows/scenarios/<name>.toml`: what goes wrong.

use super::row::{PLAY, Row};
use super::site::{Seen, Site};
use crate::sim::JournalEntry;
use crate::terms::Fact;

pub(super) fn rows() -> Vec<Row> {
    [kinds(), moments(), details()]
        .into_iter()
        .flatten()
        .collect()
}

/// A drive to its end, with this fault on the way.
fn row(path: &'static str, to: &'static str, fault: &'static str) -> Row {
    Row::of(PLAY, path, to)
        .given(PLAY, "event/1", "")
        .given(PLAY, "fault", fault)
}

/// Another fault in place of the first.
fn other(fault: &'static str, to: &'static str) -> Row {
    row("fault/0/do", to, fault)
}

fn kinds() -> Vec<Row> {
    vec![
        Row::of(
            PLAY,
            "fault",
            "[ { when = { moved_m = 0.2 }, do = \"dead_robot\" } ]",
        )
        .seen(
            |site| site.rehearse().stops(),
            "operator_stop",
            "bridge_lost…",
        ),
        other(
            "[ { when = { moved_m = 0.2 }, do = \"lose_requests\", count = 1000 } ]",
            "\"lose_answers\"",
        )
        .seen(|site| site.rehearse().stops(), "vendor_event", ""),
        other(
            "[ { when = { moved_m = 0.2 }, do = \"lose_states\", count = 1000 } ]",
            "\"wrong_ids\"",
        )
        .seen(
            |site| {
                let seen = site.rehearse();
                let strange = seen.count(|fact| matches!(fact, Fact::InputIgnored { .. })) > 0;
                format!("{} {strange}", seen.stops())
            },
            "stale_state, vendor_event false",
            " true",
        ),
        other(
            "[ { when = \"ready\", do = \"late_answers\", by_ms = 5000 } ]",
            "\"drift\"",
        )
        .given(
            PLAY,
            "turn/0/call",
            "[ { tool = \"rover_get_pose\", args = {} } ]",
        )
        .along(PLAY, "fault/0/by_ms", "")
        .along(PLAY, "fault/0/x", "1.0")
        .along(PLAY, "fault/0/y", "1.0")
        .seen(|site| site.rehearse().outcomes(), "timeout", "done"),
        other(
            "[ { when = { moved_m = 0.2 }, do = \"dead_robot\" } ]",
            "\"foreign_controller\"",
        )
        .seen(
            |site| site.rehearse().stops(),
            "bridge_lost…",
            "vendor_event",
        ),
        other(
            "[ { when = { moved_m = 0.2 }, do = \"frozen_robot\", for_ms = 3000 } ]",
            "\"frozen_agent\"",
        )
        .seen(|site| site.rehearse().stops(), "stale_state…", "lease_lost"),
        other(
            "[ { when = { moved_m = 0.2 }, do = \"frozen_process\", for_ms = 5000 } ]",
            "\"lost_graph_ticks\"",
        )
        .seen(
            |site| {
                let seen = site.rehearse();
                let silent = seen.count(|fact| matches!(fact, Fact::GraphSilent { .. }));
                format!("{} silent {}", silent, seen.stops())
            },
            "1 silent board_fault…",
            "1 silent ",
        ),
    ]
}

fn moments() -> Vec<Row> {
    let ticks = |path, to, fault, was, becomes| row(path, to, fault).seen(began, was, becomes);
    vec![
        ticks(
            "fault/0/when",
            "\"ready\"",
            "[ { when = { after_ms = 500 }, do = \"lost_graph_ticks\", for_ms = 10 } ]",
            "500 ms",
            "0 ms",
        ),
        ticks(
            "fault/0/when/moved_m",
            "0.4",
            "[ { when = { moved_m = 0.2 }, do = \"lost_graph_ticks\", for_ms = 10 } ]",
            "1100 ms",
            "1900 ms",
        ),
        ticks(
            "fault/0/when/after_ms",
            "1500",
            "[ { when = { after_ms = 500 }, do = \"lost_graph_ticks\", for_ms = 10 } ]",
            "500 ms",
            "1500 ms",
        ),
        ticks(
            "fault/0/when/answered",
            "2",
            "[ { when = { answered = 1 }, do = \"lost_graph_ticks\", for_ms = 10 } ]",
            "6520 ms",
            "11820 ms",
        )
        .given(PLAY, "turn/1/call", "[ { tool = \"rover_go_to_pose\", args = { x = 1.0, y = 0.0 } } ]")
        .given(PLAY, "turn/2", "{ say = \"\", call = [ { tool = \"rover_go_to_pose\", args = { x = 0.5, y = 0.0 } } ] }")
        .given(PLAY, "turn/3", "{ say = \"\", call = [] }"),
    ]
}

/// When the fault began, counted from the goal.
fn began(site: &Site) -> String {
    let seen = site.rehearse();
    let goal = seen.when(|fact| matches!(fact, Fact::GoalBegun { .. }));
    match seen.summary.faults.first() {
        Some(fault) => format!("{} ms", fault.t_ms - goal),
        None => "never".to_owned(),
    }
}

fn details() -> Vec<Row> {
    vec![
        row(
            "fault/0/count",
            "1",
            "[ { when = { moved_m = 0.2 }, do = \"lose_states\", count = 2 } ]",
        )
        .seen(
            |site| format!("{} lost", site.rehearse().summary.faults[0].messages),
            "2 lost",
            "1 lost",
        ),
        row(
            "fault/0/per_mille",
            "1000",
            "[ { when = { moved_m = 0.2 }, do = \"lose_states\", per_mille = 1 } ]",
        )
        .seen(|site| site.rehearse().stops(), "", "stale_state…"),
        row(
            "fault/0/verb",
            "\"vendor.octos.rover.go_to_pose\"",
            "[ { when = \"ready\", do = \"lose_requests\", verb = \"robot.heartbeat\", count = 1 } ]",
        )
        .seen(|site| site.rehearse().end(), "1.5, 0.0", "0.0, 0.0"),
        row(
            "fault/0/by_ms",
            "1500",
            "[ { when = \"ready\", do = \"late_answers\", by_ms = 500 } ]",
        )
        .given(PLAY, "turn/0/call", "[ { tool = \"rover_get_pose\", args = {} } ]")
        .seen(
            |site| format!("{:?}", site.rehearse().summary.calls.list[0].took_ms),
            "Some(520)",
            "Some(1520)",
        ),
        row(
            "fault/0/for_ms",
            "3000",
            "[ { when = { moved_m = 0.2 }, do = \"frozen_robot\", for_ms = 100 } ]",
        )
        .seen(|site| site.rehearse().stops(), "", "stale_state…"),
        row(
            "fault/0/x",
            "-1.0",
            "[ { when = { moved_m = 0.2 }, do = \"drift\", x = 1.0, y = 1.0 } ]",
        )
        .seen(carried, "to 1.0, 1.0", "to -1.0, 1.0"),
        row(
            "fault/0/y",
            "-1.0",
            "[ { when = { moved_m = 0.2 }, do = \"drift\", x = 1.0, y = 1.0 } ]",
        )
        .seen(carried, "to 1.0, 1.0", "to 1.0, -1.0"),
    ]
}

/// Where the robot was set down: the first place that no drive leads to.
fn carried(site: &Site) -> String {
    let seen: Seen = site.rehearse();
    let places: Vec<[f64; 2]> = seen
        .journal
        .iter()
        .filter_map(JournalEntry::place)
        .collect();
    let jump = places
        .windows(2)
        .find(|two| (two[1][0] - two[0][0]).hypot(two[1][1] - two[0][1]) > 0.3);
    jump.map_or("nowhere".to_owned(), |two| {
        format!("to {:.1}, {:.1}", two[1][0], two[1][1])
    })
}
