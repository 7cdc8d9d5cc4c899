//! `dataflows/scenarios/<name>.toml`: what is played.

use super::row::{PLAY, Row};
use super::site::{Seen, Site};
use crate::app::parts::replies;
use crate::terms::Fact;

/// What becomes of a call that needs a person where there is none.
const NOBODY: &str = "approval_unavailable: each call of `rover_go_to_pose` needs a person's word…";

pub(super) fn rows() -> Vec<Row> {
    let mut rows = what_it_is();
    rows.extend(turns());
    rows
}

fn row(path: &'static str, to: &'static str) -> Row {
    Row::of(PLAY, path, to)
}

fn what_it_is() -> Vec<Row> {
    vec![
        row("schema", "2").faulty("schema: found `2`, needs `1`, the only schema of this release"),
        row("name", "\"other\"")
            .faulty("name: found the text \"other\", needs the name of its file, `play`"),
        row("robot", "\"rover-two\"").seen(
            |site| {
                site.copy(
                    "tiers/robots/rover-sim.toml",
                    "tiers/robots/rover-two.toml",
                    ("\"rover-sim\"", "\"rover-two\""),
                );
                started(&site.rehearse()).0
            },
            "rover-sim",
            "rover-two",
        ),
        row("board", "\"bench\"").seen(
            |site| {
                site.copy(
                    "boards/sim.toml",
                    "boards/bench.toml",
                    ("\"sim\"", "\"bench\""),
                );
                started(&site.rehearse()).1
            },
            "sim",
            "bench",
        ),
        row("dataflow", "\"other.yml\"").faulty("dataflow: no file `other.yml` in …"),
        row("seed", "8").seen(
            |site| {
                let of_7 = Site::new(&[]).rehearse().summary.trace;
                let same = site.rehearse().summary.trace == of_7;
                if same {
                    "the run of seed 7"
                } else {
                    "another run"
                }
                .to_owned()
            },
            "the run of seed 7",
            "another run",
        ),
        row("limit_s", "2").seen(
            |site| site.rehearse().operator(),
            "met: so they were",
            "not met: not over within limit_s = 2",
        ),
        row("goal", "\"Turn round.\"").seen(goal, "to the mark", "round"),
        row("operator/name", "\"bob\"").seen(
            |site| {
                let who = |fact: &Fact| {
                    if let Fact::OrderDone { who, .. } = fact {
                        Some(who.clone())
                    } else {
                        None
                    }
                };
                site.rehearse().first(who).unwrap()
            },
            "ann",
            "bob",
        ),
    ]
}

fn turns() -> Vec<Row> {
    vec![
        row("turn/0/say", "\"Here I go.\"").seen(
            |site| replies(&site.scenario())[0].reply.text.clone(),
            "I drive.",
            "Here I go.",
        ),
        row("turn/0/sees", "[\"run_state=moving\"]").seen(
            |site| site.rehearse().verdict("sees"),
            "not judged",
            "not met: it said 0",
        ),
        row("turn/0/call/0/tool", "\"rover_fly\"").seen(
            |site| site.rehearse().outcomes(),
            "cancelled",
            "unknown_tool",
        ),
        row("turn/0/call/0/args", "{ x = 1.5 }").seen(
            |site| site.rehearse().outcomes(),
            "cancelled",
            "schema",
        ),
        row("operator/answers", "[\"approve\"]").seen(answered, NOBODY, "done: "),
        row("operator/answers", "[\"deny\"]").seen(
            answered,
            NOBODY,
            "approval_denied: ann said no to this call of `rover_go_to_pose`…",
        ),
        row("operator/answers", "[\"silent\"]").seen(
            answered,
            NOBODY,
            "approval_denied: nobody said yes to this call of `rover_go_to_pose` within 5000 ms",
        ),
    ]
    .into_iter()
    .map(asking)
    .collect()
}

/// Only rows about answers need a call that asks.
fn asking(row: Row) -> Row {
    if !row.name().contains("answers") {
        return row;
    }
    row.given(
        super::row::SAFE,
        "approval",
        "{ mode = \"per_call\", ttl_s = 5 }",
    )
    .given(PLAY, "event/1", "")
}

fn answered(site: &Site) -> String {
    let seen = site.rehearse();
    format!("{}: {}", seen.outcomes(), seen.refusal())
}

/// The robot and the board that a life began with.
fn started(seen: &Seen) -> (String, String) {
    let names = |fact: &Fact| {
        if let Fact::Started { robot, board, .. } = fact {
            Some((robot.clone(), board.clone()))
        } else {
            None
        }
    };
    seen.first(names).unwrap()
}

/// Which goal the agent was given: only its digest is recorded.
fn goal(site: &Site) -> String {
    let digest = |fact: &Fact| {
        if let Fact::GoalBegun { digest, .. } = fact {
            Some(digest.clone())
        } else {
            None
        }
    };
    let digest = site.rehearse().first(digest).unwrap();
    let goals = [
        ("to the mark", "Drive to the mark."),
        ("round", "Turn round."),
    ];
    let is =
        |(_, text): &&(&str, &str)| blake3::hash(text.as_bytes()).to_hex().starts_with(&digest);
    let found = goals.iter().find(is);
    found.map_or(digest.clone(), |(word, _)| (*word).to_owned())
}
