//! The printed settings name where each value came from.

use std::collections::BTreeMap;

use super::*;
use crate::app::settings::Origin;
use crate::app::{LogFormat, SettingsRequest};

fn printed(metrics: Option<&str>, origins: &[(&'static str, Origin)]) -> Vec<PrintedSetting> {
    let settings = Settings::resolve(SettingsRequest {
        tiers: None,
        boards: None,
        config: None,
        state: Some(PathBuf::from("state")),
        metrics: metrics.map(str::to_owned),
        log_format: LogFormat::Text,
        quiet: false,
        origins: BTreeMap::from_iter(origins.iter().copied()),
    });
    print::print(&settings.unwrap()).unwrap()
}

#[track_caller]
fn has(rows: &[PrintedSetting], key: &str, value: &str, from: &str) {
    let found: Vec<_> = rows.iter().filter(|row| row.key == key).collect();
    let fits = found
        .iter()
        .any(|row| row.value == value && row.from == from);
    assert!(fits, "{key} = {value} from {from}: {found:?}");
}

#[test]
fn options_name_their_flag_their_variable_or_nobody() {
    let rows = printed(
        Some("127.0.0.1:9464"),
        &[("metrics", Origin::Variable), ("state", Origin::Flag)],
    );
    has(&rows, "--metrics", "127.0.0.1:9464", "OCTOS_EDGE_METRICS");
    has(&rows, "--state", "state", "--state");
    has(&rows, "--tiers", "tiers", "built-in");
    has(&rows, "--boards", "boards", "built-in: beside the tiers");
}

#[test]
fn keys_name_their_line_their_tier_or_nobody() {
    let rows = printed(None, &[]);
    has(
        &rows,
        "max_tier",
        "\"safe_motion\"",
        "tiers/robots/rover-sim.toml:5",
    );
    has(
        &rows,
        "tool.rover_set_velocity.hold_ms",
        "400",
        "tiers/robots/rover-sim.toml:42",
    );
    // Of the tier file, on the line of its defaults.
    has(
        &rows,
        "tool.rover_set_velocity.timeout_ms",
        "30000",
        "tiers/safe_motion.toml:6",
    );
    has(
        &rows,
        "tool.rover_set_velocity.device",
        "\"rover-sim\"",
        "built-in",
    );
    has(
        &rows,
        "tool.rover_set_velocity.args.linear.on_limit",
        "\"reject\"",
        "built-in",
    );
    has(&rows, "system.ram_min_mb", "0", "built-in");
    let mut keys: Vec<_> = rows.iter().map(|row| (&row.section, &row.key)).collect();
    keys.sort();
    let all = keys.len();
    keys.dedup();
    assert_eq!(keys.len(), all, "no setting is printed twice");
}
