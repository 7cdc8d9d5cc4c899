//! The JSON Schema of a robot tool, from the argument paths of the robot file.
//!
//! A constant member of an object is invisible to the model and put in afterwards. An element of an
//! array cannot be left out before a later one, so a constant element is shown, as a constant.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::range::{FLOAT_ABS_MAX, Range};
use crate::config::{ArgDef, ArgType, PathStep, ToolDef};

/// Longest text of an argument, characters; a command carries 1,024 bytes in all.
const TEXT_CHARS_MAX: u32 = 512;

/// The arguments of a tool as a tree.
#[derive(Debug, Default)]
enum Node<'a> {
    /// Nothing yet.
    #[default]
    Empty,
    /// One argument, with its description.
    Leaf(&'a ArgDef, String),
    /// An object, by member.
    Object(BTreeMap<&'a str, Node<'a>>),
    /// An array, by index.
    Array(BTreeMap<u32, Node<'a>>),
}

/// What a model sees of a node.
struct Shown {
    schema: Value,
    required: bool,
}

/// Returns the schema of all arguments of a tool. `ranges` holds the ranges in force.
///
/// # Errors
/// The arguments whose paths do not fit together, each with one sentence.
pub(super) fn schema<'a>(
    tool: &'a ToolDef,
    ranges: &[Range],
    frame: &str,
) -> Result<Value, Vec<(&'a ArgDef, String)>> {
    let mut root = Node::Object(BTreeMap::new());
    let mut faults = Vec::new();
    for arg in &tool.args {
        let told = description(arg, ranges, frame);
        if let Err(problem) = root.insert(&arg.path.0, arg, told) {
            faults.push((arg, problem));
        }
    }
    for arg in &tool.args {
        if let Err(problem) = root.check_array(&arg.path.0) {
            faults.push((arg, problem));
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let nothing = || object(Map::new(), Vec::new(), None);
    Ok(root.show(tool, "").map_or_else(nothing, |shown| {
        let mut schema = shown.schema;
        if let Some(top) = schema.as_object_mut() {
            top.remove("description");
        }
        schema
    }))
}

impl<'a> Node<'a> {
    fn insert(
        &mut self,
        steps: &'a [PathStep],
        arg: &'a ArgDef,
        told: String,
    ) -> Result<(), String> {
        let Some((step, rest)) = steps.split_first() else {
            if !matches!(self, Self::Empty) {
                return Err("two arguments have this path, or one lies inside the other".into());
            }
            *self = Self::Leaf(arg, told);
            return Ok(());
        };
        if matches!(self, Self::Empty) {
            *self = match step {
                PathStep::Key(_) => Self::Object(BTreeMap::new()),
                PathStep::Index(_) => Self::Array(BTreeMap::new()),
            };
        }
        match (self, step) {
            (Self::Object(members), PathStep::Key(key)) => {
                members.entry(key).or_default().insert(rest, arg, told)
            }
            (Self::Array(items), PathStep::Index(index)) => {
                items.entry(*index).or_default().insert(rest, arg, told)
            }
            _ => Err("the path crosses another argument, or mixes members and elements".into()),
        }
    }

    /// Checks the arrays on the way of one path: no gaps, and nothing optional before it.
    fn check_array(&self, steps: &[PathStep]) -> Result<(), String> {
        let Some((step, rest)) = steps.split_first() else {
            return Ok(());
        };
        match (self, step) {
            (Self::Object(members), PathStep::Key(key)) => members
                .get(key.as_str())
                .map_or(Ok(()), |member| member.check_array(rest)),
            (Self::Array(items), PathStep::Index(index)) => {
                for earlier in 0..*index {
                    let fixed = items.get(&earlier).is_some_and(Self::never_absent);
                    if !fixed {
                        return Err(format!(
                            "element {earlier} before it must be given as well, and be required"
                        ));
                    }
                }
                items
                    .get(index)
                    .map_or(Ok(()), |item| item.check_array(rest))
            }
            _ => Ok(()),
        }
    }

    fn never_absent(&self) -> bool {
        match self {
            Self::Empty => false,
            Self::Leaf(arg, _) => arg.required || arg.constant.is_some(),
            Self::Object(members) => members.values().any(Self::never_absent),
            Self::Array(items) => items.values().any(Self::never_absent),
        }
    }

    /// Returns whether every argument in here is a constant.
    fn is_constant(&self) -> bool {
        match self {
            Self::Empty => true,
            Self::Leaf(arg, _) => arg.constant.is_some(),
            Self::Object(members) => members.values().all(Self::is_constant),
            Self::Array(items) => items.values().all(Self::is_constant),
        }
    }

    /// Returns what the model sees of this node, `None` when there is nothing to give.
    fn show(&self, tool: &ToolDef, name: &str) -> Option<Shown> {
        if self.is_constant() {
            return None;
        }
        match self {
            Self::Empty => None,
            Self::Leaf(arg, told) => Some(Shown {
                schema: leaf(arg, told, tool),
                required: arg.required,
            }),
            Self::Object(members) => {
                let mut properties = Map::new();
                let mut required = Vec::new();
                for (key, member) in members {
                    if let Some(shown) = member.show(tool, key) {
                        if shown.required {
                            required.push(Value::from(*key));
                        }
                        properties.insert((*key).to_owned(), shown.schema);
                    }
                }
                Some(Shown {
                    required: !required.is_empty(),
                    schema: object(properties, required, Some(name)),
                })
            }
            Self::Array(items) => Some(array(items, tool, name)),
        }
    }
}

fn object(properties: Map<String, Value>, required: Vec<Value>, name: Option<&str>) -> Value {
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if let Some(top) = schema.as_object_mut() {
        if !required.is_empty() {
            top.insert("required".to_owned(), Value::from(required));
        }
        if let Some(name) = name {
            top.insert(
                "description".to_owned(),
                format!("the members of {name}").into(),
            );
        }
    }
    schema
}

fn array(items: &BTreeMap<u32, Node<'_>>, tool: &ToolDef, name: &str) -> Shown {
    let mut elements = Vec::new();
    let mut least = 0_usize;
    for item in items.values() {
        let shown = match (item, item.show(tool, name)) {
            (_, Some(shown)) => shown,
            (item, None) => Shown {
                schema: json!({ "const": constant(item), "description": "always this" }),
                required: false,
            },
        };
        elements.push(shown.schema);
        if shown.required {
            least = elements.len();
        }
    }
    let schema = json!({
        "type": "array",
        "description": format!("the elements of {name}, in this order"),
        "minItems": least,
        "maxItems": elements.len(),
        "prefixItems": elements,
    });
    Shown {
        schema,
        required: least > 0,
    }
}

fn constant(node: &Node<'_>) -> Value {
    match node {
        Node::Empty => Value::Null,
        Node::Leaf(arg, _) => arg.constant.clone().unwrap_or_default(),
        Node::Object(members) => {
            let member = |(key, node): (&&str, &Node<'_>)| ((*key).to_owned(), constant(node));
            Value::Object(members.iter().map(member).collect())
        }
        Node::Array(items) => items.values().map(constant).collect(),
    }
}

fn leaf(arg: &ArgDef, told: &str, tool: &ToolDef) -> Value {
    match arg.kind_of {
        ArgType::F64 => json!({
            "type": "number", "description": told,
            "minimum": -FLOAT_ABS_MAX, "maximum": FLOAT_ABS_MAX,
        }),
        ArgType::I64 => json!({
            "type": "integer", "description": told,
            "minimum": -9_007_199_254_740_991_i64, "maximum": 9_007_199_254_740_991_i64,
        }),
        ArgType::U64 => json!({
            "type": "integer", "description": told,
            "minimum": 0, "maximum": 9_007_199_254_740_991_i64,
        }),
        ArgType::Bool => json!({ "type": "boolean", "description": told }),
        ArgType::String if arg.one_of_poses => {
            let names: Vec<&String> = tool.poses.keys().collect();
            json!({ "type": "string", "description": told, "enum": names })
        }
        ArgType::String => json!({
            "type": "string", "description": told, "maxLength": TEXT_CHARS_MAX,
        }),
    }
}

/// Says what the argument is, its unit, the range in force and, for targets, the frame.
fn description(arg: &ArgDef, ranges: &[Range], frame: &str) -> String {
    let mut told = match (&arg.kind, &arg.free) {
        (Some(kind), _) => kind.as_str().replace('_', " "),
        (None, Some(reason)) => reason.clone(),
        (None, None) if arg.one_of_poses => format!("name of a place in the frame `{frame}`"),
        (None, None) => arg.written.clone(),
    };
    if let Some(range) = ranges.iter().find(|range| range.name == arg.written) {
        told.push_str(&format!(", {}{}", range.text(), range.notes()));
    } else if arg.unit != "none" {
        told.push_str(&format!(", {}", arg.unit));
    }
    if arg.kind.is_some_and(|kind| kind.target_axis().is_some()) {
        told.push_str(&format!(", in the frame `{frame}`, inside the workspace"));
    }
    told
}

#[cfg(test)]
mod tests;
