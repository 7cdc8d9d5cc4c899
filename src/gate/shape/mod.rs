//! The JSON Schema of a robot tool, from the argument paths of the robot file.
//!
//! A constant member of an object is invisible to the model and put in afterwards. An element of an
//! array cannot be left out before a later one, so a constant element is shown, as a constant, and
//! may be given. `config` has made sure that the paths fit together and that arrays have no gaps and
//! no optional elements; an argument whose path does not fit would be missing from the schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::range::{FLOAT_ABS_MAX, Range, WHOLE_ABS_MAX};
use crate::config::{ArgDef, ArgType, PathStep, ToolDef};

/// Longest text of an argument, characters. A command carries 1,024 bytes in all.
const TEXT_CHARS_MAX: u32 = 512;

/// The arguments of a tool as a tree.
#[derive(Debug, Default)]
enum Node<'a> {
    #[default]
    Empty,
    Leaf(&'a ArgDef),
    Object(BTreeMap<&'a str, Node<'a>>),
    Array(BTreeMap<u32, Node<'a>>),
}

/// What the descriptions are made from.
#[derive(Debug, Clone, Copy)]
struct Context<'c> {
    tool: &'c ToolDef,
    ranges: &'c [Range],
    frame: &'c str,
}

/// Returns the schema of a tool's arguments. `ranges` are the ranges in force, `frame` is the frame of
/// the workspace.
pub(super) fn schema(tool: &ToolDef, ranges: &[Range], frame: &str) -> Value {
    let mut root = Node::Object(BTreeMap::new());
    for arg in &tool.args {
        root.insert(&arg.path.0, arg);
    }
    let context = Context {
        tool,
        ranges,
        frame,
    };
    match &root {
        Node::Object(members) => object(members, context),
        Node::Empty | Node::Leaf(_) | Node::Array(_) => nothing(),
    }
}

/// Returns the schema of a tool that takes no argument.
pub(super) fn nothing() -> Value {
    json!({ "type": "object", "properties": {}, "additionalProperties": false })
}

impl<'a> Node<'a> {
    fn insert(&mut self, steps: &'a [PathStep], arg: &'a ArgDef) {
        let Some((step, rest)) = steps.split_first() else {
            *self = Self::Leaf(arg);
            return;
        };
        if matches!(self, Self::Empty) {
            *self = match step {
                PathStep::Key(_) => Self::Object(BTreeMap::new()),
                PathStep::Index(_) => Self::Array(BTreeMap::new()),
            };
        }
        if let (Self::Object(members), PathStep::Key(key)) = (&mut *self, step) {
            members.entry(key).or_default().insert(rest, arg);
        } else if let (Self::Array(items), PathStep::Index(index)) = (self, step) {
            items.entry(*index).or_default().insert(rest, arg);
        }
    }

    /// Returns the value of a node that holds nothing but constants, `None` for others.
    fn constant(&self) -> Option<Value> {
        match self {
            Self::Empty => None,
            Self::Leaf(arg) => arg.constant.clone(),
            Self::Object(members) => {
                let member = |(key, node): (&&str, &Self)| Some(((*key).into(), node.constant()?));
                members
                    .iter()
                    .map(member)
                    .collect::<Option<Map<_, _>>>()
                    .map(Value::Object)
            }
            Self::Array(items) => items.values().map(Self::constant).collect(),
        }
    }

    /// Returns whether a model must give this.
    fn required(&self) -> bool {
        match self {
            Self::Empty => false,
            Self::Leaf(arg) => arg.required && arg.constant.is_none(),
            Self::Object(members) => members.values().any(Self::required),
            Self::Array(items) => items.values().any(Self::required),
        }
    }

    fn schema(&self, name: &str, context: Context<'_>) -> Value {
        match self {
            Self::Empty => nothing(),
            Self::Leaf(arg) => leaf(arg, context),
            Self::Object(members) => {
                let mut schema = object(members, context);
                if let Some(schema) = schema.as_object_mut() {
                    schema.insert(
                        "description".into(),
                        format!("the members of {name}").into(),
                    );
                }
                schema
            }
            Self::Array(items) => array(items, name, context),
        }
    }
}

fn object(members: &BTreeMap<&str, Node<'_>>, context: Context<'_>) -> Value {
    let visible = || members.iter().filter(|(_, node)| node.constant().is_none());
    let schema_of = |(key, node): (&&str, &Node<'_>)| ((*key).into(), node.schema(key, context));
    let properties: Map<String, Value> = visible().map(schema_of).collect();
    let required: Vec<&str> = visible()
        .filter(|(_, node)| node.required())
        .map(|(key, _)| *key)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn array(items: &BTreeMap<u32, Node<'_>>, name: &str, context: Context<'_>) -> Value {
    let element = |node: &Node<'_>| match node.constant() {
        Some(constant) => json!({ "const": constant, "description": "always this" }),
        None => node.schema(name, context),
    };
    let elements: Vec<Value> = items.values().map(element).collect();
    // Constants at the end may be left out: they are put in afterwards.
    let least = items
        .values()
        .rposition(Node::required)
        .map_or(0, |last| last.saturating_add(1));
    json!({
        "type": "array",
        "description": format!("the elements of {name}, in this order"),
        "minItems": least,
        "maxItems": elements.len(),
        "prefixItems": elements,
    })
}

fn leaf(arg: &ArgDef, context: Context<'_>) -> Value {
    let told = description(arg, context);
    match arg.kind_of {
        ArgType::F64 => json!({
            "type": "number", "description": told,
            "minimum": -FLOAT_ABS_MAX, "maximum": FLOAT_ABS_MAX,
        }),
        ArgType::I64 => json!({
            "type": "integer", "description": told,
            "minimum": -WHOLE_ABS_MAX, "maximum": WHOLE_ABS_MAX,
        }),
        ArgType::U64 => json!({
            "type": "integer", "description": told,
            "minimum": 0, "maximum": WHOLE_ABS_MAX,
        }),
        ArgType::Bool => json!({ "type": "boolean", "description": told }),
        ArgType::String if arg.one_of_poses => {
            let names: Vec<&String> = context.tool.poses.keys().collect();
            json!({ "type": "string", "description": told, "enum": names })
        }
        ArgType::String => json!({
            "type": "string", "description": told, "maxLength": TEXT_CHARS_MAX,
        }),
    }
}

/// Says what the argument is, its unit, the range in force and, for targets, the frame.
fn description(arg: &ArgDef, context: Context<'_>) -> String {
    let frame = context.frame;
    let mut told = match (&arg.kind, &arg.free) {
        (Some(kind), _) => kind.as_str().replace('_', " "),
        (None, Some(reason)) => reason.clone(),
        (None, None) if arg.one_of_poses => format!("name of a place in the frame `{frame}`"),
        (None, None) => arg.written.clone(),
    };
    if let Some(range) = context.ranges.iter().find(|range| range.path == arg.path) {
        told.push_str(&format!(": {}{}", range.text(), range.notes()));
    }
    if arg.kind.is_some_and(|kind| kind.target_axis().is_some()) {
        told.push_str(&format!(
            ", in the frame `{frame}` and inside the workspace"
        ));
    }
    told
}

#[cfg(test)]
mod tests;
