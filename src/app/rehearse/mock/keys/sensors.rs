//! `tiers/robots/<robot>.toml`: what the model is shown of its robot before each reply.
//!
//! A record of it holds no text, so the model of these runs waits to see one: it says nothing unless it
//! is shown what it waits for.

use super::row::{PLAY, ROVER, Row};
use super::site::{GO, Site};
use crate::terms::Fact;

/// A run in which the model waits to see `TEXT`.
const WAITS: &str = r#"
    schema = 1
    name = "play"
    robot = "rover-sim"
    board = "sim"
    dataflow = "rover-sim.yml"
    seed = 7
    limit_s = 30
    goal = "Look around."
    turn = [ { sees = ['TEXT'], say = "I see it.", call = [] } ]
    [operator]
    name = "ann"
    [expect]
"#;

pub(super) fn rows() -> Vec<Row> {
    let row = |path: &'static str, to: &'static str| Row::of(ROVER, path, to);
    vec![
        row("sensors", "").seen(counted, "5 shown, 0 left out", "0 shown, 0 left out"),
        row("sensors/tokens_max", "96")
            .given(ROVER, "sensors/readings/5", MORE[0])
            .given(ROVER, "sensors/readings/6", MORE[1])
            .seen(counted, "7 shown, 0 left out", "5 shown, 2 left out"),
        row("sensors/readings/speed/name", "\"pace\"").seen(
            |site| first_shown(site, &["- speed: 0 m/s,", "- pace: 0 m/s,"]),
            "- speed: 0 m/s,",
            "- pace: 0 m/s,",
        ),
        row("sensors/readings/speed/path", "\"pace\"").seen(
            |site| first_shown(site, &["- speed: 0 m/s,", "- speed: ABSENT,"]),
            "- speed: 0 m/s,",
            "- speed: ABSENT,",
        ),
        row("sensors/readings/speed/unit", "\"km/h\"").seen(
            |site| first_shown(site, &["- speed: 0 m/s,", "- speed: 0 km/h,"]),
            "- speed: 0 m/s,",
            "- speed: 0 km/h,",
        ),
        row("sensors/readings/speed/stream", "\"odometry\"")
            .faulty("sensors.readings[1].stream: found the text \"odometry\", needs `state`"),
        row("sensors/readings/battery/max_age_ms", "1").seen(oldest, "0 stale", "1 stale"),
    ]
}

/// Two readings more, so that not all have room in the smallest bound.
const MORE: [&str; 2] = [
    r#"{ name = "position_in_a_line_of_length", stream = "state", path = "pose.position", unit = "m" }"#,
    r#"{ name = "position_in_another_line_of_it", stream = "state", path = "pose.position", unit = "m" }"#,
];

/// Returns the first of these texts that the model is shown.
fn first_shown(site: &Site, texts: &[&str]) -> String {
    let is_shown = |text: &&&str| {
        site.write(PLAY, &WAITS.replace("TEXT", text));
        site.rehearse().verdict("sees") == "met: it said 1"
    };
    let found = texts.iter().find(is_shown);
    found.map_or("neither".to_owned(), |text| (*text).to_owned())
}

/// How many readings the model was shown before its first reply, and how many found no room.
fn counted(site: &Site) -> String {
    let counted = |fact: &Fact| {
        if let Fact::SensorsShown {
            readings, left_out, ..
        } = fact
        {
            Some(format!("{readings} shown, {left_out} left out"))
        } else {
            None
        }
    };
    site.calls(&[]).first(counted).unwrap()
}

/// How many readings were stale when most were, on the way of a drive.
fn oldest(site: &Site) -> String {
    let seen = site.calls(&[GO]);
    let stale = seen.facts.iter().filter_map(|(_, fact)| {
        if let Fact::SensorsShown { stale, .. } = fact {
            Some(*stale)
        } else {
            None
        }
    });
    format!("{} stale", stale.max().unwrap())
}
