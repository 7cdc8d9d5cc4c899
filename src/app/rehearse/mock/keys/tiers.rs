//! `tiers/<tier>.toml`.

use super::row::{FULL, OBSERVE, OVERRIDE, ROVER, Row, SAFE};
use super::site::{ARM, GO, GRIP, NEAR, Play, Seen, Site, WHERE};
use crate::sim::JournalEntry;
use crate::terms::{ApprovalOutcome, Fact};

/// The whole agent stands still for three seconds, on the way.
const FROZEN: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = { moved_m = 0.2 }, do = "frozen_agent", for_ms = 3000 } ]"#;
/// The agent stands still for a little less than a second.
const SLEEPY: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = { after_ms = 900 }, do = "frozen_agent", for_ms = 950 } ]"#;
/// Answers take two seconds.
const SLOW: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]
    fault = [ { when = "ready", do = "late_answers", by_ms = 2000 } ]"#;
/// Faster, and turning.
const FAST: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.3, angular = 0.0 } }"#;
const TURN: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.6 } }"#;

pub(super) fn rows() -> Vec<Row> {
    [what_it_is(), defaults(), motion(), approval(), ceilings()]
        .into_iter()
        .flatten()
        .collect()
}

fn what_it_is() -> Vec<Row> {
    vec![
        Row::of(SAFE, "schema", "2").faulty("schema: found `2`, needs `1`, the only schema of this release"),
        Row::of(OBSERVE, "tier", "\"safe_motion\"")
            .faulty("tier: found the text \"safe_motion\", needs `observe`"),
        Row::of(FULL, "tier", "\"emergency_override\"")
            .faulty("tier: found the text \"emergency_override\", needs `full_actuation`"),
        Row::of(SAFE, "title", "\"Slowly\"").seen(
            |site| site.check("safe_motion.toml"),
            "Slow, bounded, reversible motion",
            "Slowly",
        ),
        Row::of(OBSERVE, "effects", "[\"config\"]")
            .faulty("tool.rover_get_pose.effect: `observe` is not among the effects of observe: `config`…"),
        Row::of(SAFE, "effects", "[\"observe\", \"move\"]").faulty(
            "tool.rover_set_velocity.effect: `hold` is not among the effects of safe_motion: `observe`, `move`",
        ),
        Row::of(SAFE, "effects", "[\"observe\", \"hold\"]").faulty(
            "tool.rover_go_to_pose.effect: `move` is not among the effects of safe_motion: `observe`, `hold`",
        ),
    ]
}

fn defaults() -> Vec<Row> {
    vec![
        Row::of(SAFE, "defaults/timeout_ms", "3000").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "timeout",
        ),
        Row::of(OBSERVE, "defaults/concurrency", "\"exclusive\"").seen(
            |site| apart(&site.calls(&[&format!("{WHERE}, {WHERE}")])),
            "beside each other",
            "one after the other",
        ),
        Row::of(SAFE, "defaults/rate_per_s", "100.0").seen(
            |site| site.calls(&[NEAR, NEAR, NEAR]).outcomes(),
            "done, done, rate",
            "done, done, done",
        ),
        Row::of(SAFE, "defaults/burst", "1").seen(
            |site| site.calls(&[NEAR, NEAR]).outcomes(),
            "done, done",
            "done, rate",
        ),
        Row::of(SAFE, "defaults/freshness_ms", "1").seen(
            |site| site.calls(&[WHERE, GO]).outcomes(),
            "done, done",
            "done, stale_state",
        ),
    ]
}

/// Whether the second read went out before the first was answered.
fn apart(seen: &Seen) -> String {
    let sent = |entry: &JournalEntry| {
        if let JournalEntry::Verb { t_ms, verb, .. } = entry {
            verb.ends_with("get_pose").then_some(*t_ms)
        } else {
            None
        }
    };
    let at: Vec<u64> = seen.journal.iter().filter_map(sent).collect();
    match at.as_slice() {
        [one, two] if one == two => "beside each other".to_owned(),
        [_, _] => "one after the other".to_owned(),
        other => format!("{other:?}"),
    }
}

fn motion() -> Vec<Row> {
    vec![
        Row::of(SAFE, "motion_per_min", "1").seen(
            |site| site.calls(&[NEAR, NEAR]).outcomes(),
            "done, done",
            "done, rate",
        ),
        // Looked for often, the progress before the sleep counts; looked for in the middle of it, none.
        Row::of(SAFE, "lease/renew_ms", "900")
            .given(SAFE, "lease/renew_ms", "50")
            .given(SAFE, "lease/lost_after_ms", "1000")
            .seen(|site| site.happens(SLEEPY, &[GO]).stops(), "", "lease_lost"),
        Row::of(SAFE, "lease/lost_after_ms", "800").seen(
            |site| lost_after(&site.happens(FROZEN, &[GO])),
            "after 1910 ms",
            "after 1210 ms",
        ),
        // No call of the tier may be longer.
        Row::of(SAFE, "lease/hard_max_ms", "20000")
            .faulty("defaults.timeout_ms: found `30000`, needs at most lease.hard_max_ms, 20000"),
        Row::of(SAFE, "lease", "").faulty("lease: missing, and this tier moves"),
        Row::of(SAFE, "arming", "").faulty("arming: missing, and this tier moves"),
        Row::of(SAFE, "arming/by", "\"auto_in_mock\"")
            .faulty("arming.by: `auto_in_mock` exists only with the in-process mock bridge"),
        Row::of(SAFE, "arming/idle_disarm_s", "1").seen(
            |site| site.happens(SLOW, &[WHERE]).end_state(),
            "armed",
            "disarmed",
        ),
    ]
}

/// From the beginning of the freeze to the stop.
fn lost_after(seen: &Seen) -> String {
    let froze = seen.summary.faults.first().map_or(0, |fault| fault.t_ms);
    let stopped = seen.when(|fact| matches!(fact, Fact::StopBegun { .. }));
    format!("after {} ms", stopped.saturating_sub(froze))
}

fn approval() -> Vec<Row> {
    vec![
        Row::of(SAFE, "approval/mode", "\"per_call\"")
            .along(SAFE, "approval/ttl_s", "60")
            .seen(
                |site| site.calls(&[GO]).outcomes(),
                "done",
                "approval_unavailable",
            ),
        Row::of(FULL, "approval/ttl_s", "5")
            .given(ROVER, "max_tier", "\"full_actuation\"")
            .seen(waited, "60 s", "5 s"),
    ]
}

/// How long a question stood that nobody answered.
fn waited(site: &Site) -> String {
    let silent = Play {
        happens: ARM,
        answers: "[\"silent\"]",
        ..Play::default()
    };
    let seen = site.plays(&silent, &[GRIP]);
    let asked = seen.when(|fact| matches!(fact, Fact::ApprovalAsked { .. }));
    let ended = seen.when(|fact| {
        matches!(fact, Fact::ApprovalEnded { outcome, .. } if *outcome == ApprovalOutcome::Expired)
    });
    format!("{} s", (ended - asked) / 1000)
}

fn ceilings() -> Vec<Row> {
    let gripper = |key: &'static str, kind: &'static str, unit: &'static str| {
        Row::of(FULL, key, "20.0")
            .given(FULL, key, "40.0")
            .given(FULL, "approval", "{ mode = \"never\" }")
            .given(ROVER, "max_tier", "\"full_actuation\"")
            .given(ROVER, "tool/rover_gripper_set/args/force/kind", kind)
            .given(ROVER, "tool/rover_gripper_set/args/force/unit", unit)
            .seen(|site| site.calls(&[GRIP]).outcomes(), "done", "limit")
    };
    vec![
        Row::of(OVERRIDE, "ceilings", "").faulty("ceilings: missing"),
        Row::of(SAFE, "ceilings/linear_speed_mps", "0.4").seen(
            |site| site.calls(&[FAST]).outcomes(),
            "limit",
            "done",
        ),
        Row::of(SAFE, "ceilings/angular_speed_radps", "0.7")
            .given(
                ROVER,
                "tool/rover_set_velocity/args/angular/max_step",
                "2.0",
            )
            .seen(
                |site| site.calls(&[TURN]).verb("set_velocity"),
                r#"set_velocity {"angular":0.5,"control_source":"octos-edge","linear":0.1} 0"#,
                r#"set_velocity {"angular":0.6,"control_source":"octos-edge","linear":0.1} 0"#,
            ),
        Row::of(SAFE, "ceilings/distance_m", "1.2").seen(
            |site| site.calls(&[GO]).outcomes(),
            "done",
            "workspace",
        ),
        gripper("ceilings/joint_speed_radps", "\"joint_speed\"", "\"rad/s\""),
        gripper("ceilings/force_n", "\"force\"", "\"N\""),
        gripper("ceilings/gripper_force_n", "\"gripper_force\"", "\"N\""),
        gripper("ceilings/height_m", "\"height\"", "\"m\""),
        gripper("ceilings/duration_ms", "\"duration\"", "\"ms\"").given(
            SAFE,
            "ceilings/duration_ms",
            "20.0",
        ),
    ]
}
