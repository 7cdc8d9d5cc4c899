//! Rules of a policy file that name no tool: an error in a deny list, a warning in an allow list.
//!
//! A misspelt deny denies nothing, so it must not load. A misspelt allow permits nothing, which is
//! the safe side; and a tool may be absent on purpose, since one policy serves several robots.

use crate::config::{ConfigError, EffectWord, Place, PolicyFile, PolicyRule, RobotFile};
use crate::terms::{ToolName, nearest};

/// Returns an error for each denied name that is not among `names`, the tools of the catalog.
pub fn check_policy(file: &PolicyFile, names: &[&str]) -> Vec<ConfigError> {
    unknown(&file.layer.deny, names)
        .map(|(name, place)| ConfigError {
            place: place.clone(),
            key: format!("{}.deny", file.layer.name),
            problem: format!("denies `{name}`, and no tool has this name"),
            hint: meant(name, names)
                .unwrap_or_else(|| "remove the rule or correct the name".into()),
        })
        .collect()
}

/// Returns an error for each entry that denies a stop of the robot: it would change nothing, because no
/// policy stands before a stop, and whoever wrote it believes otherwise.
pub fn denied_stops(file: &PolicyFile, robot: &RobotFile) -> Vec<ConfigError> {
    let is_stop = |name: &ToolName| {
        let mut tools = robot.tools.iter();
        tools.any(|tool| tool.name == *name && tool.effect == EffectWord::Stop)
    };
    let denied = file
        .layer
        .deny
        .iter()
        .filter_map(|(rule, place)| match rule {
            PolicyRule::Exact(name) if is_stop(name) => Some((name, place)),
            PolicyRule::Exact(_) | PolicyRule::RobotTier(_) => None,
        });
    denied
        .map(|(name, place)| ConfigError {
            place: place.clone(),
            key: format!("{}.deny", file.layer.name),
            problem: format!("denies `{name}`, which is a stop of {}", robot.robot),
            hint: "remove the entry: a stop is always permitted".to_owned(),
        })
        .collect()
}

/// Returns one sentence for each allowed name that is not among `names`, the tools of the catalog.
pub fn policy_warnings(file: &PolicyFile, names: &[&str]) -> Vec<String> {
    let allow = file.layer.allow.as_deref().unwrap_or_default();
    unknown(allow, names)
        .map(|(name, place)| {
            let meant = meant(name, names).map_or(String::new(), |hint| format!(": {hint}"));
            format!(
                "{place}: {}.allow names `{name}`, which no tool has{meant}",
                file.layer.name
            )
        })
        .collect()
}

fn unknown<'f>(
    rules: &'f [(PolicyRule, Place)],
    names: &'f [&str],
) -> impl Iterator<Item = (&'f str, &'f Place)> {
    rules.iter().filter_map(|(rule, place)| match rule {
        PolicyRule::Exact(name) if !names.contains(&name.as_str()) => Some((name.as_str(), place)),
        PolicyRule::Exact(_) | PolicyRule::RobotTier(_) => None,
    })
}

fn meant(name: &str, names: &[&str]) -> Option<String> {
    let near = nearest(name, names.iter().copied())?;
    Some(format!("did you mean `{near}`?"))
}
