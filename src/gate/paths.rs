//! Reading and writing the members of arguments by the paths of the robot file.

use serde_json::{Map, Value};

use crate::config::{JsonPath, PathStep};

/// Returns the value at `path`, `None` when there is none.
pub(super) fn find<'v>(map: &'v Map<String, Value>, path: &JsonPath) -> Option<&'v Value> {
    let (first, rest) = path.0.split_first()?;
    let PathStep::Key(key) = first else {
        return None;
    };
    rest.iter()
        .try_fold(map.get(key)?, |value, step| match step {
            PathStep::Key(key) => value.get(key),
            PathStep::Index(index) => value.get(usize::try_from(*index).ok()?),
        })
}

/// Returns `path` as a JSON Pointer (RFC 6901).
pub(super) fn pointer(path: &JsonPath) -> String {
    let token = |step: &PathStep| match step {
        PathStep::Key(key) => key.replace('~', "~0").replace('/', "~1"),
        PathStep::Index(index) => index.to_string(),
    };
    path.0
        .iter()
        .map(|step| format!("/{}", token(step)))
        .collect()
}

/// Replaces the value at `path`; changes nothing when there is none.
pub(super) fn replace(map: &mut Map<String, Value>, path: &JsonPath, new: Value) {
    let Some((PathStep::Key(key), rest)) = path.0.split_first() else {
        return;
    };
    let place = rest.iter().try_fold(map.get_mut(key), |value, step| {
        Some(match step {
            PathStep::Key(key) => value?.get_mut(key),
            PathStep::Index(index) => value?.get_mut(usize::try_from(*index).ok()?),
        })
    });
    if let Some(Some(place)) = place {
        *place = new;
    }
}

/// Puts `new` at `path` and makes what is missing on the way: objects, and the next element of an
/// array. An element beyond the next one is not made; the schema has made sure that none is.
pub(super) fn put(map: &mut Map<String, Value>, path: &JsonPath, new: Value) {
    let Some((PathStep::Key(key), rest)) = path.0.split_first() else {
        return;
    };
    let mut place = map.entry(key.as_str()).or_insert(Value::Null);
    for step in rest {
        let next = match step {
            PathStep::Key(key) => member(place, key),
            PathStep::Index(index) => element(place, *index),
        };
        let Some(next) = next else {
            return;
        };
        place = next;
    }
    *place = new;
}

fn member<'v>(place: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    Some(place.as_object_mut()?.entry(key).or_insert(Value::Null))
}

fn element(place: &mut Value, index: u32) -> Option<&mut Value> {
    if place.is_null() {
        *place = Value::Array(Vec::new());
    }
    let items = place.as_array_mut()?;
    let index = usize::try_from(index).ok()?;
    if index == items.len() {
        items.push(Value::Null);
    }
    items.get_mut(index)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn path(steps: &[&str]) -> JsonPath {
        let step = |text: &&str| match text.parse() {
            Ok(index) => PathStep::Index(index),
            Err(_) => PathStep::Key((*text).to_owned()),
        };
        JsonPath(steps.iter().map(step).collect())
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn what_is_put_is_found_and_nothing_else_changes() {
        let mut args = map(json!({ "pose": { "position": [1.0, 2.0] } }));
        put(&mut args, &path(&["pose", "position", "2"]), json!(0.0));
        put(&mut args, &path(&["mode", "name"]), json!("slow"));
        assert_eq!(
            Value::Object(args.clone()),
            json!({ "pose": { "position": [1.0, 2.0, 0.0] }, "mode": { "name": "slow" } })
        );
        replace(&mut args, &path(&["pose", "position", "0"]), json!(9.0));
        assert_eq!(
            find(&args, &path(&["pose", "position", "0"])),
            Some(&json!(9.0))
        );
    }

    #[test]
    fn a_pointer_finds_what_its_path_finds() {
        let args = json!({ "a/b~c": { "list": [0, 7] } });
        let path = path(&["a/b~c", "list", "1"]);
        assert_eq!(pointer(&path), "/a~1b~0c/list/1");
        assert_eq!(
            args.pointer(&pointer(&path)),
            find(&map(args.clone()), &path)
        );
    }

    #[test]
    fn a_path_that_leads_nowhere_finds_and_replaces_nothing() {
        let mut args = map(json!({ "x": 1.0, "list": [] }));
        let before = args.clone();
        for steps in [&["y"][..], &["x", "deep"], &["list", "0"], &["0"], &[]] {
            replace(&mut args, &path(steps), json!(0));
            assert_eq!(find(&args, &path(steps)), None);
        }
        put(&mut args, &path(&["list", "3"]), json!(0));
        assert_eq!(args, before);
    }
}
