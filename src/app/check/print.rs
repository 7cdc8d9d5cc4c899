//! `check --print`: every resolved setting, with where it came from.
//!
//! Options first, then the files that decide over a robot: tiers, robots, boards, policy. Scenarios and
//! dataflows are no settings: they say what happens in one run.

use std::path::PathBuf;

use serde::Serialize;

use super::Settings;
use crate::app::exit::AppError;
use crate::app::load::load_checked_robot;
use crate::app::settings::Origin;
use crate::config::{
    ConfigErrors, EffectWord, FileKind, RobotFile, Setting, Tiers, ToolDef, list_settings,
    toml_stems,
};
use crate::terms::Tier;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrintedSetting {
    /// `options`, or the file.
    pub section: String,
    /// The option, or the key, dotted from the root of its file.
    pub key: String,
    /// The value.
    pub value: String,
    /// A flag, the name of a variable, file and line, or `built-in`.
    pub from: String,
}

/// Lists the settings of an installation whose files all load.
///
/// # Errors
/// [`AppError::Config`] when a file changed since it was checked.
pub(super) fn print(settings: &Settings) -> Result<Vec<PrintedSetting>, AppError> {
    let mut rows = options(settings);
    let tiers = settings.tiers();
    for tier in Tier::ALL {
        let path = tiers.join(format!("{tier}.toml"));
        rows.extend(file(FileKind::Tier, path)?);
    }
    for name in toml_stems(&tiers.join("robots")) {
        let (profiles, robot, _) = load_checked_robot(settings, &name)?;
        let path = tiers.join("robots").join(format!("{name}.toml"));
        let own = file(FileKind::Robot, path)?;
        let inherited = inherited(&robot, &profiles, &own, &rows);
        rows.extend(own);
        rows.extend(inherited);
    }
    for name in toml_stems(&settings.boards()) {
        let path = settings.boards().join(format!("{name}.toml"));
        rows.extend(file(FileKind::Board, path)?);
    }
    if let Some(path) = settings.config() {
        rows.extend(file(FileKind::Policy, path.to_owned())?);
    }
    Ok(rows)
}

fn options(settings: &Settings) -> Vec<PrintedSetting> {
    let option = |name: &str, variable: &str, value: Option<String>, built_in: &str| {
        let from = match settings.origin(name) {
            Origin::Flag => format!("--{name}"),
            Origin::Variable => variable.to_owned(),
            Origin::BuiltIn => built_in.to_owned(),
        };
        PrintedSetting {
            section: "options".to_owned(),
            key: format!("--{name}"),
            value: value.unwrap_or_else(|| "(none)".to_owned()),
            from,
        }
    };
    let shown = |path: PathBuf| Some(path.display().to_string());
    let state = settings.state().ok().and_then(shown);
    let state_from = settings.state_variable().unwrap_or(BUILT_IN);
    let yes = |flag: bool| Some(flag.to_string());
    let log = settings.log_filter();
    vec![
        option(
            "tiers",
            "OCTOS_EDGE_TIERS",
            shown(settings.tiers().to_owned()),
            BUILT_IN,
        ),
        option(
            "boards",
            "OCTOS_EDGE_BOARDS",
            shown(settings.boards()),
            "built-in: beside the tiers",
        ),
        option(
            "config",
            "OCTOS_EDGE_CONFIG",
            settings.config().map(|path| path.display().to_string()),
            BUILT_IN,
        ),
        option("state", "OCTOS_EDGE_STATE", state, state_from),
        option(
            "metrics",
            "OCTOS_EDGE_METRICS",
            settings.metrics_written().map(str::to_owned),
            BUILT_IN,
        ),
        option(
            "log-format",
            "OCTOS_EDGE_LOG_FORMAT",
            Some(settings.log_format().as_str().to_owned()),
            BUILT_IN,
        ),
        option("quiet", "", yes(settings.quiet()), BUILT_IN),
        PrintedSetting {
            section: "options".to_owned(),
            key: "log filter".to_owned(),
            value: log.unwrap_or("(the usual)").to_owned(),
            from: log.map_or(BUILT_IN, |_| "OCTOS_EDGE_LOG").to_owned(),
        },
    ]
}

const BUILT_IN: &str = "built-in";

fn file(kind: FileKind, path: PathBuf) -> Result<Vec<PrintedSetting>, ConfigErrors> {
    let section = path.display().to_string();
    let row = |setting: Setting| PrintedSetting {
        section: section.clone(),
        key: setting.key,
        value: setting.value,
        from: setting
            .place
            .map_or(BUILT_IN.to_owned(), |place| place.to_string()),
    };
    Ok(list_settings(kind, &path)?.into_iter().map(row).collect())
}

/// Returns what tools take from the file of their tier, or from the robot's name.
fn inherited(
    robot: &RobotFile,
    tiers: &Tiers,
    own: &[PrintedSetting],
    before: &[PrintedSetting],
) -> Vec<PrintedSetting> {
    let mut rows = Vec::new();
    for tool in &robot.tools {
        let Some(tier) = tool.tier.filter(|_| tool.effect != EffectWord::Stop) else {
            continue;
        };
        let profile = &*tiers.of(tier).place.file;
        for (key, value) in of_tier(tool) {
            let from = before
                .iter()
                .find(|row| row.section == profile && row.key == format!("defaults.{key}"));
            rows.push((tool, key, value, from.map(|row| row.from.clone())));
        }
        if tool.effect != EffectWord::Observe {
            rows.push((tool, "device", format!("{:?}", tool.device), None));
        }
    }
    let section = robot.place.file.to_string();
    let rows = rows
        .into_iter()
        .map(|(tool, key, value, from)| PrintedSetting {
            section: section.clone(),
            key: format!("tool.{}.{key}", tool.name),
            value,
            from: from.unwrap_or_else(|| BUILT_IN.to_owned()),
        });
    rows.filter(|row| own.iter().all(|written| written.key != row.key))
        .collect()
}

fn of_tier(tool: &ToolDef) -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("timeout_ms", tool.timeout_ms.to_string()),
        ("rate_per_s", tool.rate_per_s.to_string()),
        ("burst", tool.burst.to_string()),
    ];
    let freshness = tool
        .freshness_ms
        .filter(|_| tool.effect != EffectWord::Observe);
    all.extend(freshness.map(|ms| ("freshness_ms", ms.to_string())));
    all
}

/// Returns the settings for people, file by file.
pub(super) fn to_text(rows: &[PrintedSetting]) -> String {
    let widest = |of: fn(&PrintedSetting) -> &str, most: usize| {
        let widths = rows.iter().map(|row| of(row).chars().count());
        widths.max().unwrap_or(0).min(most)
    };
    let key_width = widest(|row| &row.key, 44);
    let value_width = widest(|row| &row.value, 40);
    let mut text = String::new();
    let mut section = "";
    for row in rows {
        if row.section != section {
            section = &row.section;
            text.push_str(&format!("{section}\n"));
        }
        let PrintedSetting {
            key, value, from, ..
        } = row;
        text.push_str(&format!(
            "  {key:<key_width$}  {value:<value_width$}  {from}\n"
        ));
    }
    text
}
