//! For tests: the places of a schema at which a file may have a key, and what may stand there.
//!
//! A place is written `tool[].args.*.min`: `[]` is any element of a list, `*` any name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{FileKind, entry_of, table_of, target};

/// Stands between the steps of a path; no key of ours has it.
pub(crate) const BETWEEN: char = '\u{1f}';

/// What a schema says of one place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PlaceOfKey {
    /// The words of a closed set that may stand there, or be listed there; empty for anything else.
    pub(crate) words: BTreeSet<String>,
    /// Whether it is a table, or a list of tables, that must be there: its keys say what it is.
    pub(crate) is_frame: bool,
}

/// Returns every place of a kind of file that has a name.
pub(crate) fn places(kind: FileKind) -> BTreeMap<String, PlaceOfKey> {
    let root = kind.schema();
    let mut all = BTreeMap::new();
    walk(&root, &root, "", &mut all);
    all
}

fn walk(root: &Value, schema: &Value, at: &str, all: &mut BTreeMap<String, PlaceOfKey>) {
    let schema = target(root, schema);
    if let Some(items) = schema.get("items") {
        return walk(root, items, &format!("{at}[]"), all);
    }
    let table = table_of(root, schema);
    let dot = if at.is_empty() { "" } else { "." };
    let must = table.get("required").and_then(Value::as_array);
    let must = |key: &str| must.is_some_and(|keys| keys.iter().any(|must| must == key));
    let named = table.get("properties").and_then(Value::as_object);
    for (key, entry) in named.into_iter().flatten() {
        let place = format!("{at}{dot}{key}");
        let found = PlaceOfKey {
            words: words(root, entry),
            is_frame: must(key) && holds_keys(root, entry),
        };
        walk(root, entry, &place, all);
        all.insert(place, found);
    }
    if let Some(others) = table.get("additionalProperties").filter(|o| o.is_object()) {
        walk(root, others, &format!("{at}{dot}*"), all);
    }
}

/// Whether named keys stand in it, or in its elements.
fn holds_keys(root: &Value, schema: &Value) -> bool {
    let schema = target(root, schema);
    match schema.get("items") {
        Some(items) => holds_keys(root, items),
        None => table_of(root, schema).get("properties").is_some(),
    }
}

/// The words that may stand there by themselves, or as elements of a list.
fn words(root: &Value, schema: &Value) -> BTreeSet<String> {
    let schema = target(root, schema);
    if let Some(items) = schema.get("items") {
        return words(root, items);
    }
    let list = |key: &str| {
        schema
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
    };
    let own = list("enum")
        .chain(schema.get("const"))
        .filter_map(Value::as_str);
    let mut all: BTreeSet<String> = own.map(str::to_owned).collect();
    for one in list("anyOf") {
        all.extend(words(root, one));
    }
    all
}

/// Returns the place to which a path leads, its steps with [`BETWEEN`] between them; `None` when the
/// schema has none.
pub(crate) fn place_of(kind: FileKind, path: &str) -> Option<String> {
    let root = kind.schema();
    let mut schema = &root;
    let mut place = String::new();
    for step in path.split(BETWEEN) {
        schema = target(&root, schema);
        if let Some(items) = schema.get("items") {
            // An element: by its number, or a tool by its name.
            schema = items;
            place.push_str("[]");
            continue;
        }
        let table = table_of(&root, schema);
        let named = table.get("properties").and_then(|all| all.get(step));
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(if named.is_some() { step } else { "*" });
        schema = entry_of(&root, schema, step)?;
    }
    Some(place)
}
