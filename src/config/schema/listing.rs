//! Every setting of a file with the line on which it stands, and the built-in values of those that it
//! does not write.

use std::path::Path;

use serde_json::Value;

use super::{FileKind, entry_of, table_of, target};
use crate::config::reader::{self, Node, Source, key_of};
use crate::config::{ConfigErrors, Place, file};

/// Deepest table that is looked into. The deepest of ours is half of it.
const DEPTH_MAX: usize = 12;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key, dotted from the root; a tool stands under its name.
    pub key: String,
    /// The value, as JSON.
    pub value: String,
    /// Where it is written; `None` when it is built in.
    pub place: Option<Place>,
}

/// Lists a file that loads. Which built-in values there are, the schema says.
///
/// # Errors
/// When the file cannot be read or is not TOML.
pub fn list_settings(kind: FileKind, path: &Path) -> Result<Vec<Setting>, ConfigErrors> {
    let bytes = file::read(path, "it was there a moment ago")?;
    settings(kind, &file::quoted(path), &bytes)
}

pub(super) fn settings(
    kind: FileKind,
    file: &str,
    bytes: &[u8],
) -> Result<Vec<Setting>, ConfigErrors> {
    let source = Source {
        file,
        bytes,
        guide: kind.guide(),
    };
    let root = kind.schema();
    let parsed = reader::read(source, |node| {
        let mut list = Listing {
            root: &root,
            found: Vec::new(),
        };
        list.walk(node, &root, 0);
        Some(list.found)
    });
    parsed.done()
}

struct Listing<'s> {
    root: &'s Value,
    found: Vec<Setting>,
}

impl<'s> Listing<'s> {
    fn walk(&mut self, node: Node<'_>, schema: &'s Value, depth: usize) {
        let Some(value) = node.clone().json() else {
            return;
        };
        let schema = target(self.root, schema);
        match &value {
            Value::Object(_) if depth < DEPTH_MAX && self.says_more(schema) => {
                self.table(node, schema, depth);
            }
            Value::Array(items) if items.iter().any(Value::is_object) && depth < DEPTH_MAX => {
                self.list(node, schema, depth);
            }
            Value::Object(_)
            | Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => self.found.push(Setting {
                key: node.path().to_owned(),
                value: value.to_string(),
                place: Some(node.place()),
            }),
        }
    }

    /// Whether the schema knows entries of this table; examples and parameters are values.
    fn says_more(&self, schema: &Value) -> bool {
        let table = table_of(self.root, schema);
        table.get("properties").is_some()
            || table
                .get("additionalProperties")
                .is_some_and(Value::is_object)
    }

    fn table(&mut self, node: Node<'_>, schema: &'s Value, depth: usize) {
        let path = node.path().to_owned();
        let entries = node.entries().unwrap_or_default();
        let written: Vec<&str> = entries.iter().map(|(key, _)| *key).collect();
        for (key, node) in entries {
            let entry = entry_of(self.root, schema, key).unwrap_or(&Value::Null);
            self.walk(node, entry, depth.saturating_add(1));
        }
        let known = table_of(self.root, schema).get("properties");
        let known = known.and_then(Value::as_object).into_iter().flatten();
        for (key, entry) in known.filter(|(key, _)| !written.contains(&key.as_str())) {
            if let Some(default) = target(self.root, entry).get("default") {
                let key = key_of(key);
                self.found.push(Setting {
                    key: if path.is_empty() {
                        key
                    } else {
                        format!("{path}.{key}")
                    },
                    value: default.to_string(),
                    place: None,
                });
            }
        }
    }

    fn list(&mut self, node: Node<'_>, schema: &'s Value, depth: usize) {
        let items = schema.get("items").unwrap_or(&Value::Null);
        let is_tools = node.path() == "tool";
        for node in node.items().unwrap_or_default() {
            let node = match node.peek("name").filter(|_| is_tools) {
                Some(name) => node.called(format!("tool.{}", key_of(name))),
                None => node,
            };
            self.walk(node, items, depth.saturating_add(1));
        }
    }
}
