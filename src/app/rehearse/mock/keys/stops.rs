//! `tiers/robots/<robot>.toml`: how the robot is stopped.

use super::row::{ROVER, Row};
use super::site::{GO, Seen};
use crate::terms::Fact;

/// The operator stops the robot on the way.
const HALT: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } },
    { when = { moved_m = 0.3 }, operator = { do = "stop", why = "a test" } } ]"#;
/// And the first verb of the sequence never arrives.
const LOST: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } },
    { when = { moved_m = 0.3 }, operator = { do = "stop", why = "a test" } } ]
    fault = [ { when = { moved_m = 0.3 }, do = "lose_requests", verb = "vendor.octos.rover.stop", count = 1000 } ]"#;
/// And from then on nobody hears how the robot is.
const BLIND: &str = r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } },
    { when = { moved_m = 0.3 }, operator = { do = "stop", why = "a test" } } ]
    fault = [ { when = { moved_m = 0.3 }, do = "lose_states", per_mille = 1000 } ]"#;

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row::of(ROVER, "stop/steps/0/verb", "\"vendor.octos.rover.brake\"").seen(
            |site| stop(&site.happens(HALT, &[GO])),
            "stop {} 0",
            "brake {} 0",
        ),
        Row::of(ROVER, "stop/steps/0/args", "{ hard = true }").seen(
            |site| stop(&site.happens(HALT, &[GO])),
            "stop {} 0",
            r#"stop {"hard":true} 0"#,
        ),
        // The built-in rover knows no such parameter.
        Row::of(ROVER, "stop/steps/0/retry_empty", "true")
            .given(ROVER, "stop/steps/0/args", "{ hard = true }")
            .seen(
                |site| stop(&site.rover(HALT, &[GO])),
                r#"robot.estop {"reason":"octos-edge"} 0"#,
                "stop {} 0",
            ),
        Row::of(ROVER, "stop/steps/0/wait_ms", "400").seen(
            |site| second_step(&site.happens(LOST, &[GO])),
            "after 200 ms",
            "after 400 ms",
        ),
        Row::of(ROVER, "stop/standstill/stream", "\"odometry\"")
            .faulty("stop.standstill.stream: found the text \"odometry\", needs `state`"),
        // The built-in rover says nothing there: a robot that nobody knows to be at rest is not armed.
        Row::of(ROVER, "stop/standstill/path", "\"mode\"").seen(
            |site| site.rover(HALT, &[GO]).operator(),
            "met: so they were",
            "not met: arm refused: robot not at rest…",
        ),
        Row::of(ROVER, "stop/standstill/any_of", "[\"parked\"]").seen(
            |site| site.rover(HALT, &[GO]).operator(),
            "met: so they were",
            "not met: arm refused: robot not at rest…",
        ),
        Row::of(ROVER, "stop/standstill/within_ms", "900").seen(
            |site| {
                let seen = site.happens(BLIND, &[GO]);
                let after = seen.first(|fact| {
                    if let Fact::StopNotConfirmed { after_ms } = fact {
                        Some(*after_ms)
                    } else {
                        None
                    }
                });
                format!("given up after {} ms", after.unwrap_or(0) / 100 * 100)
            },
            "given up after 500 ms",
            "given up after 900 ms",
        ),
    ]
}

/// The first verb of a stop that the robot did.
fn stop(seen: &Seen) -> String {
    let mut verbs = seen.verbs().into_iter();
    let stop = verbs.find(|verb| {
        let motion = verb.starts_with("go_to") || verb.starts_with("robot.release");
        !motion && !verb.ends_with("INVALID_PARAMS")
    });
    stop.unwrap_or_default()
}

/// From the first verb of the sequence to the first of its second step.
fn second_step(seen: &Seen) -> String {
    let when = |step: &str| {
        seen.when(|fact| matches!(fact, Fact::StopVerb { verb, .. } if verb.ends_with(step)))
    };
    let ms = when("robot.estop").saturating_sub(when("rover.stop"));
    format!("after {} ms", ms / 100 * 100)
}
