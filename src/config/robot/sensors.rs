//! What the model is shown of the robot's state before each reply.
//!
//! A reading that says nothing of its own age is as fresh as the tool that needs the freshest state:
//! what the gate would refuse as too old is told as stale.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::json_path::{JsonPath, json_path};
use super::tool::{EffectWord, ToolDef};
use crate::config::reader::{Node, Table, exactly, list, parsed, quote, text, whole};
use crate::terms::{SENSOR_TOKENS, SENSOR_TOKENS_MAX, SENSOR_TOKENS_MIN, SENSORS_MAX};

/// Longest name, bytes.
const NAME_BYTES_MAX: usize = 32;
/// Longest unit, bytes: as for arguments.
const UNIT_BYTES_MAX: usize = 16;
/// Longest age that may count as fresh, ms.
const AGE_MS_MAX: u32 = 60_000;

/// One reading.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorDef {
    /// What the model is told it is.
    pub name: Arc<str>,
    /// Where in the state.
    pub path: JsonPath,
    /// Its unit; `none` where there is none.
    pub unit: Arc<str>,
    /// Older than this it is stale, ms. Own, or of the tool that needs the freshest state.
    pub max_age_ms: u32,
}

/// What the model is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensors {
    /// How much of the prompt it may take, tokens of 4 bytes.
    pub tokens_max: u32,
    /// The readings, most important first, at most 32.
    pub readings: Vec<SensorDef>,
}

impl Default for Sensors {
    /// No reading: the run state alone is shown.
    fn default() -> Self {
        Self {
            tokens_max: SENSOR_TOKENS,
            readings: Vec::new(),
        }
    }
}

/// The shape of `[sensors]`. Without `tools` (they are at fault) no age can be taken from them.
pub(super) fn sensors(node: Node<'_>, tools: Option<&[ToolDef]>) -> Option<Sensors> {
    node.table(|t| {
        let tokens_max = t.may("tokens_max", whole(SENSOR_TOKENS_MIN..=SENSOR_TOKENS_MAX));
        let readings = t.must("readings", |node| {
            let places = node.clone();
            let readings = list(1..=SENSORS_MAX, |node| reading(node, tools))(node)?;
            judge_names(&places, &readings).then_some(readings)
        });
        Some(Sensors {
            tokens_max: tokens_max.unwrap_or(SENSOR_TOKENS),
            readings: readings?,
        })
    })
}

fn reading(node: Node<'_>, tools: Option<&[ToolDef]>) -> Option<SensorDef> {
    node.table(|t| {
        let name = t.must("name", parsed(name));
        t.must("stream", exactly("state"));
        let path = t.must("path", json_path);
        let unit = t.must("unit", text(1..=UNIT_BYTES_MAX));
        let max_age_ms = t
            .may("max_age_ms", whole(1..=AGE_MS_MAX))
            .or_else(|| age_of(t, tools));
        Some(SensorDef {
            name: name?.into(),
            path: path?,
            unit: unit?.into(),
            max_age_ms: max_age_ms?,
        })
    })
}

/// The age that a reading without one takes over.
fn age_of(t: &Table<'_>, tools: Option<&[ToolDef]>) -> Option<u32> {
    if t.has("max_age_ms") {
        return None; // reported already
    }
    let judged = tools?
        .iter()
        .filter(|tool| needs_a_fresh_state(tool.effect));
    let freshest = judged.filter_map(|tool| tool.freshness_ms).min();
    if freshest.is_none() {
        t.fault(
            "max_age_ms",
            "missing, and no tool needs a fresh state",
            "write how old the reading may be, in ms",
        );
    }
    freshest
}

fn needs_a_fresh_state(effect: EffectWord) -> bool {
    match effect {
        EffectWord::Move | EffectWord::Hold | EffectWord::Config => true,
        EffectWord::Observe | EffectWord::Stop => false,
    }
}

/// Returns whether each name is its reading's own; reports the others.
fn judge_names(list: &Node<'_>, readings: &[SensorDef]) -> bool {
    let mut seen = BTreeSet::new();
    let twice = readings.iter().find(|one| !seen.insert(&one.name));
    if let Some(one) = twice {
        list.fault(
            format!("two readings are called `{}`", quote(&one.name)),
            "give every reading a name of its own",
        );
    }
    twice.is_none()
}

/// A name that no model takes for anything else.
fn name(text: &str) -> Result<String, NameFault> {
    let fits = (1..=NAME_BYTES_MAX).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits {
        Ok(text.to_owned())
    } else {
        Err(NameFault(quote(text)))
    }
}

/// A text that is no name of a reading.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is no name of a reading: a small letter, then small letters, digits and `_`, 32 at most"
)]
struct NameFault(String);
