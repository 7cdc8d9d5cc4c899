//! Broken tier files.

use super::{Edit, reports};
use crate::config::Tiers;
use crate::config::tests::{EMERGENCY_OVERRIDE, FULL_ACTUATION, OBSERVE, SAFE_MOTION};

#[test]
fn a_broken_file_of_safe_motion_says_why() {
    let edits: &[Edit] = &[
        ("another schema", "schema = 1", "schema = 2"),
        ("no schema", "schema = 1", ""),
        (
            "another tier",
            "tier = \"safe_motion\"",
            "tier = \"observe\"",
        ),
        (
            "a list of tools",
            "motion_per_min",
            "tools = [\"x\"]\nmotion_per_min",
        ),
        (
            "a slip in a key",
            "motion_per_min = 20",
            "motion_per_minute = 20",
        ),
        ("a stop among the effects", "\"hold\"]", "\"stop\"]"),
        ("an unknown effect", "\"hold\"]", "\"hoover\"]"),
        ("no effect", "[\"observe\", \"move\", \"hold\"]", "[]"),
        (
            "a rate that is a text",
            "rate_per_s = 1.0",
            "rate_per_s = \"1.0\"",
        ),
        ("a rate of zero", "rate_per_s = 1.0", "rate_per_s = 0"),
        (
            "a rate that is no number",
            "rate_per_s = 1.0",
            "rate_per_s = nan",
        ),
        ("a fraction of a burst", "burst = 2", "burst = 2.5"),
        ("a negative time", "timeout_ms = 30000", "timeout_ms = -1"),
        (
            "a time above the lease",
            "timeout_ms = 30000",
            "timeout_ms = 30001",
        ),
        (
            "motion side by side",
            "concurrency = \"exclusive\"",
            "concurrency = \"parallel\"",
        ),
        ("no freshness", ", freshness_ms = 500", ""),
        (
            "a lease lost before it is looked at",
            "lost_after_ms = 1500",
            "lost_after_ms = 400",
        ),
        (
            "a lease shorter than its loss",
            "hard_max_ms = 30000 }",
            "hard_max_ms = 1000 }",
        ),
        (
            "arming by itself",
            "by = \"operator\"",
            "by = \"auto_in_mock\"",
        ),
        ("arming by nobody", "by = \"operator\"", "by = \"nobody\""),
        (
            "a later kind of approval",
            "mode = \"never\"",
            "mode = \"per_arm\"",
        ),
        (
            "approvals of later releases",
            "mode = \"never\"",
            "mode = \"per_call\", ttl_s = 60, max_calls = 1",
        ),
        ("no ceilings", "[ceilings]", "[on_loss]"),
        (
            "an infinite ceiling",
            "distance_m = 3.0",
            "distance_m = inf",
        ),
        (
            "a ceiling of an unknown kind",
            "distance_m = 3.0",
            "distance = 3.0",
        ),
        (
            "a ceiling above the next tier",
            "linear_speed_mps = 0.25",
            "linear_speed_mps = 1.25",
        ),
        (
            "a key written twice",
            "motion_per_min = 20",
            "motion_per_min = 20\nmotion_per_min = 21",
        ),
        ("no toml", "effects = [", "effects = {"),
        (
            "a date",
            "title = \"Slow, bounded, reversible motion\"",
            "title = 2026-01-01",
        ),
    ];
    let report = reports(SAFE_MOTION, edits, |text| {
        Tiers::parse([OBSERVE, text, FULL_ACTUATION, EMERGENCY_OVERRIDE]).map(drop)
    });
    insta::assert_snapshot!(report);
}

#[test]
fn a_broken_file_of_another_tier_says_why() {
    let observe: &[Edit] = &[
        (
            "ceilings where nothing moves",
            "approval",
            "ceilings = { distance_m = 1.0 }\napproval",
        ),
        ("no approval rule", "approval = { mode = \"never\" }", ""),
    ];
    let full: &[Edit] = &[
        (
            "a ceiling less than below",
            "distance_m = 10.0",
            "distance_m = 2.0",
        ),
        ("a ceiling gone", "distance_m = 10.0", ""),
        (
            "ceilings inherited",
            "[ceilings]",
            "ceilings = \"inherit\"\n[rest]",
        ),
    ];
    let emergency: &[Edit] = &[
        (
            "ceilings of its own",
            "ceilings = \"inherit\"",
            "ceilings = { distance_m = 99.0 }",
        ),
        (
            "motion without its keys",
            "[\"config\"]",
            "[\"config\", \"move\"]",
        ),
    ];
    let [o, s, f, e] = [OBSERVE, SAFE_MOTION, FULL_ACTUATION, EMERGENCY_OVERRIDE];
    let report = [
        reports(o, observe, |text| Tiers::parse([text, s, f, e]).map(drop)),
        reports(f, full, |text| Tiers::parse([o, s, text, e]).map(drop)),
        reports(e, emergency, |text| Tiers::parse([o, s, f, text]).map(drop)),
    ];
    insta::assert_snapshot!(report.concat());
}
