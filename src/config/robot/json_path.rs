//! Paths into JSON values, as robot files write them: `pose.position[0]`.

use std::fmt;

use serde_json::Value;

use crate::config::reader::{Node, parsed};

/// Most steps of a path. Chosen: vendors' states nest three deep.
const STEPS_MAX: usize = 8;
/// Most elements of an array that a path may reach.
const INDEX_MAX: u32 = 63;
/// Longest written path, bytes.
const PATH_BYTES_MAX: usize = 128;

/// One step into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathStep {
    /// A member of an object.
    Key(String),
    /// An element of an array, 0 to 63.
    Index(u32),
}

/// A path into a JSON value, written `pose.position[0]`. At least one step, at most 8.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JsonPath(pub Vec<PathStep>);

impl JsonPath {
    /// Parses a path: names of letters, digits and `_`, separated by dots, each with any number of
    /// `[index]` behind it.
    ///
    /// # Errors
    /// [`PathError`] when the text is not such a path or has more than 8 steps.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let steps = (text.len() <= PATH_BYTES_MAX)
            .then(|| steps(text))
            .flatten();
        match steps {
            Some(steps) if steps.len() <= STEPS_MAX => Ok(Self(steps)),
            Some(_) | None => Err(PathError {
                found: text.chars().take(80).collect(),
            }),
        }
    }

    /// Returns the value at this path, `None` when there is none.
    pub fn find<'v>(&self, root: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(root, |value, step| match step {
            PathStep::Key(key) => value.get(key),
            PathStep::Index(index) => value.get(usize::try_from(*index).ok()?),
        })
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if nth == 0 => f.write_str(key)?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

impl JsonPath {
    /// Returns whether no value has something at both paths: one leads into what the other says, or one
    /// takes for a list what the other takes for a table.
    pub(super) fn excludes(&self, other: &Self) -> bool {
        let mut steps = self.0.iter().zip(&other.0);
        match steps.find(|(own, others)| own != others) {
            Some(
                (PathStep::Key(_), PathStep::Key(_)) | (PathStep::Index(_), PathStep::Index(_)),
            ) => false,
            Some(_) => true,
            None => self.0.len() != other.0.len(),
        }
    }
}

/// A text that is no path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` is no path such as `pose.position[0]`, of at most {STEPS_MAX} steps")]
pub struct PathError {
    /// The text as it was written, cut to 80 characters.
    pub found: String,
}

/// The shape of a path.
pub(super) fn json_path(node: Node<'_>) -> Option<JsonPath> {
    parsed(JsonPath::parse)(node)
}

fn steps(text: &str) -> Option<Vec<PathStep>> {
    let mut steps = Vec::new();
    for part in text.split('.') {
        let (name, indexes) = part.split_at(part.find('[').unwrap_or(part.len()));
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !starts_well || !is_name {
            return None;
        }
        steps.push(PathStep::Key(name.to_owned()));
        for index in indexes.split_inclusive(']') {
            let digits = index.strip_prefix('[')?.strip_suffix(']')?;
            let index: u32 = digits.parse().ok()?;
            // One way to write an index: no sign, no leading zero.
            if index > INDEX_MAX || index.to_string() != digits {
                return None;
            }
            steps.push(PathStep::Index(index));
        }
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_finds_its_value() {
        let state = json!({ "pose": { "position": [1.0, 2.0] } });
        let path = JsonPath::parse("pose.position[1]").unwrap();
        assert_eq!(path.find(&state), Some(&json!(2.0)));
        assert_eq!(JsonPath::parse("pose.x").unwrap().find(&state), None);
        assert_eq!(
            JsonPath::parse("pose.position[2]").unwrap().find(&state),
            None
        );
    }

    #[test]
    fn a_path_excludes_what_it_leads_into_and_another_shape_of_its_way() {
        let excludes = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| JsonPath::parse(text).unwrap());
            assert_eq!(one.excludes(&other), other.excludes(&one));
            one.excludes(&other)
        };
        assert!(excludes("pose", "pose.position") && excludes("pose[0]", "pose"));
        assert!(excludes("pose[0]", "pose.x") && excludes("a.b[1].c", "a.b.c"));
        assert!(!excludes("pose.x", "pose.y") && !excludes("a[0]", "a[1].b"));
        assert!(!excludes("speed", "speed"), "one value may be read twice");
    }

    #[test]
    fn what_is_no_path_is_refused() {
        for bad in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "[0]",
            "a[",
            "a[]",
            "a[x]",
            "a[00]",
            "a[64]",
            "a[+1]",
            "a[0]b",
            "a b",
            "1a",
            "a]",
            "a.b.c.d.e.f.g.h.i",
            &"a".repeat(129),
        ] {
            assert!(JsonPath::parse(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn a_path_that_parses_prints_as_it_was_written(text in "[a-c_.\\[\\]0-9]{0,12}") {
            if let Ok(path) = JsonPath::parse(&text) {
                prop_assert_eq!(path.to_string(), text);
            }
        }
    }
}
