//! The list is that of the view which a node pins.

use std::path::Path;

use super::*;
use crate::app::{LogFormat, SettingsRequest};
use crate::config::toml_stems;

fn list(tier: Option<Tier>) -> ToolList {
    list_of("rover-sim", tier)
}

fn list_of(robot: &str, tier: Option<Tier>) -> ToolList {
    let settings = Settings::resolve(SettingsRequest {
        tiers: None,
        boards: None,
        config: None,
        state: None,
        metrics: None,
        log_format: LogFormat::Text,
        quiet: true,
        origins: std::collections::BTreeMap::new(),
    });
    let request = ToolsRequest {
        robot: Some(robot.to_owned()),
        tier,
    };
    list_tools(&settings.unwrap(), &request).unwrap()
}

#[test]
fn the_shipped_rover_lists_what_is_visible_and_what_is_hidden_and_why() {
    let text = list(None).to_text();
    // The hash changes with each word of a card; the test is of the table.
    let last = text.trim_end().rsplit(' ').next().unwrap();
    insta::assert_snapshot!("rover", text.replace(last, "(hash)"));
}

#[test]
fn case_03_at_observe_exactly_the_reads_and_the_stops_are_visible() {
    let list = list(Some(Tier::Observe));
    let visible: Vec<&ListedTool> = list.tools.iter().filter(|tool| tool.visible).collect();
    assert!(
        visible
            .iter()
            .all(|tool| tool.needed.is_none_or(|need| need == Tier::Observe))
    );
    assert_eq!(visible.len(), list.visible);
    assert_eq!(
        list.tools
            .iter()
            .filter(|tool| tool.effect == "stop")
            .count(),
        2
    );
    let hidden = list.tools.iter().filter(|tool| !tool.visible);
    assert!(
        hidden
            .into_iter()
            .all(|tool| tool.hidden_by == Some(Reason::RobotTierGate))
    );
}

#[test]
fn json_has_each_card_as_the_model_gets_it() {
    let list = list(None);
    let json = serde_json::to_value(&list).unwrap();
    for (tool, told) in list.tools.iter().zip(json["tools"].as_array().unwrap()) {
        assert_eq!(told["name"], tool.spec.name.as_str());
        assert_eq!(told["parameters"], *tool.spec.parameters);
    }
}

/// The same value with its keys in order: which order a map keeps differs from build to build.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let inner = members.into_iter();
            inner
                .map(|(name, member)| (name.clone(), sorted(member)))
                .collect()
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The arguments that models are told to send: a change of this contract shows in review. A new robot
/// file needs its snapshot here.
#[test]
fn the_schema_of_each_shipped_tool_is_written_down() {
    let robots = toml_stems(Path::new("tiers/robots"));
    assert!(!robots.is_empty());
    for robot in robots {
        let mut schemas = serde_json::Map::new();
        for tool in list_of(&robot, None).tools {
            let name = tool.spec.name.as_str().to_owned();
            schemas.insert(name, sorted(&tool.spec.parameters));
        }
        let text = serde_json::to_string_pretty(&schemas).unwrap();
        insta::assert_snapshot!(format!("schemas-{robot}"), text);
    }
}
