//! Where the state of a simulated robot says what, and in which words.
//!
//! The envelope's own members (`seq`, `estopped`, `controller_holder`, …) are not written here. A robot
//! file whose paths do not fit into one state, or hide such a member, is a fault.

use serde_json::{Map, Value, json};

use crate::config::{Completion, ConfigError, JsonPath, PathStep, RobotFile};

/// Said of a motion when the file has no word for it.
const UNDER_WAY: &str = "moving";
/// Said where only the words of a completion stand, before the first motion.
const AT_REST: &str = "idle";
/// Members of the state that every simulated robot has.
const OWN_MEMBERS: [&str; 6] = [
    "robot_id",
    "seq",
    "estopped",
    "estop_reason",
    "controller_holder",
    "battery",
];

/// Where the state says what.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::sim::vendor) struct Says {
    position: Option<JsonPath>,
    yaw: Option<JsonPath>,
    speed: Option<JsonPath>,
    /// Places of words: first that of standstill, then those of completions elsewhere.
    slots: Vec<Slot>,
}

/// A place of a word.
#[derive(Debug, Clone, PartialEq)]
struct Slot {
    path: JsonPath,
    rest: String,
    under_way: String,
    /// Whether its words are written as truth values.
    truth: bool,
}

/// What the state says about one motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sim::vendor) struct Words {
    /// The number of the slot.
    pub(super) slot: usize,
    pub(super) start: String,
    pub(super) ok: String,
    /// Whether the robot says `ok` for a moment only: the word is none of standstill.
    pub(super) passes: bool,
}

impl Words {
    /// Whether the word of success gives way to that of rest.
    pub(in crate::sim::vendor) fn passes(&self) -> bool {
        self.passes
    }
}

/// How far a part of the robot is with its motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::sim::vendor) enum Phase {
    #[default]
    Idle,
    Following,
    Arrived,
}

/// What a part of the robot is at.
#[derive(Debug, Clone, Default)]
pub(in crate::sim::vendor) struct Activity {
    pub(in crate::sim::vendor) phase: Phase,
    /// The words of the latest motion, where it has its own.
    pub(in crate::sim::vendor) words: Option<Words>,
    /// The request that is answered at the end.
    pub(in crate::sim::vendor) answer_to: Option<String>,
}

/// What a state tells.
#[derive(Debug)]
pub(in crate::sim::vendor) struct Seen<'a> {
    pub(in crate::sim::vendor) position: [f64; 3],
    pub(in crate::sim::vendor) yaw: f64,
    pub(in crate::sim::vendor) speed: f64,
    pub(in crate::sim::vendor) base: &'a Activity,
    pub(in crate::sim::vendor) gripper: &'a Activity,
}

impl Says {
    /// As the built-in rover says it.
    pub(super) fn rover() -> Self {
        let member = |keys: &[&str]| {
            let steps = keys.iter().map(|key| PathStep::Key((*key).to_owned()));
            JsonPath(steps.collect())
        };
        Self {
            position: Some(member(&["pose", "position"])),
            yaw: Some(member(&["pose", "yaw"])),
            speed: Some(member(&["speed"])),
            slots: vec![Slot {
                path: member(&["nav_status"]),
                rest: AT_REST.to_owned(),
                under_way: "following".to_owned(),
                truth: false,
            }],
        }
    }

    /// As a robot file says it.
    pub(super) fn of(robot: &RobotFile, faults: &mut Vec<ConfigError>) -> Self {
        let mut slots = vec![slot_of_standstill(robot)];
        for tool in &robot.tools {
            let Completion::State { path, fail, .. } = &tool.completion else {
                continue;
            };
            if !slots.iter().any(|slot| slot.path == *path) {
                slots.push(Slot {
                    path: path.clone(),
                    rest: fail.first().map_or(AT_REST, String::as_str).to_owned(),
                    under_way: UNDER_WAY.to_owned(),
                    truth: false,
                });
            }
        }
        let mut says = Self {
            position: robot.workspace.as_ref().map(|space| space.position.clone()),
            yaw: None,
            speed: robot.monitor.as_ref().map(|monitor| monitor.path.clone()),
            slots,
        };
        faults.extend(says.conflicts(robot));
        // The heading has no path in the file: it stands beside the position where that is free.
        let yaw = says.position.as_ref().and_then(beside);
        let with_yaw = Self {
            yaw,
            ..says.clone()
        };
        if with_yaw.conflicts(robot).is_empty() {
            says = with_yaw;
        }
        says
    }

    /// Returns the words of a motion with this completion; `None` when the state has none for it.
    pub(super) fn words(&self, completion: &Completion, robot: &RobotFile) -> Option<Words> {
        let Completion::State {
            path, start, ok, ..
        } = completion
        else {
            return None;
        };
        let slot = self.slots.iter().position(|slot| slot.path == *path)?;
        let at_rest = &robot.stop.standstill.any_of;
        // A word of success that also means standstill is the one to say.
        let both = ok.iter().find(|word| at_rest.contains(word));
        let ok = both.or(ok.first())?.clone();
        Some(Words {
            slot,
            start: start.first().map_or(UNDER_WAY, String::as_str).to_owned(),
            passes: slot == 0 && !at_rest.contains(&ok),
            ok,
        })
    }

    /// Writes what is seen.
    pub(in crate::sim::vendor) fn write(&self, seen: &Seen<'_>) -> Map<String, Value> {
        let mut state = Value::Object(Map::new());
        let mut put_at = |path: &Option<JsonPath>, value: Value| {
            if let Some(path) = path {
                put(&mut state, path, value);
            }
        };
        put_at(&self.position, json!(seen.position));
        put_at(&self.yaw, json!(seen.yaw));
        put_at(&self.speed, json!(seen.speed));
        for (nth, slot) in self.slots.iter().enumerate() {
            let word = slot.word(nth, seen);
            put(&mut state, &slot.path, slot.written(word));
        }
        match state {
            Value::Object(members) => members,
            // A path begins with a name, so the state is an object.
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new(),
        }
    }

    /// What one state cannot say together: writes one and looks for every part of it.
    fn conflicts(&self, robot: &RobotFile) -> Vec<ConfigError> {
        let idle = Activity::default();
        let position = [1.0, 2.0, 3.0];
        let mut state = self.write(&Seen {
            position,
            yaw: 4.0,
            speed: 5.0,
            base: &idle,
            gripper: &idle,
        });
        for member in OWN_MEMBERS {
            state.insert(member.to_owned(), Value::Null);
        }
        let state = Value::Object(state);
        let numbers = [
            ("workspace.source.path", &self.position, json!(position)),
            ("workspace.source.path", &self.yaw, json!(4.0)),
            ("monitor.speed.path", &self.speed, json!(5.0)),
        ];
        let numbers = numbers.into_iter();
        let numbers = numbers.filter_map(|(key, path, value)| Some((key, path.as_ref()?, value)));
        let words = self.slots.iter().enumerate().map(|(nth, slot)| {
            let key = match nth {
                0 => "stop.standstill.path",
                _ => "completion.state",
            };
            (key, &slot.path, slot.written(&slot.rest))
        });
        let hidden = numbers
            .chain(words)
            .filter(|(_, path, value)| path.find(&state) != Some(value));
        hidden
            .map(|(key, path, _)| ConfigError {
                place: robot.place.clone(),
                key: key.to_owned(),
                problem: format!(
                    "`{path}` cannot stand in one state with the other paths of this file"
                ),
                hint: format!(
                    "name another path; a simulated robot also says {}",
                    OWN_MEMBERS.join(", ")
                ),
            })
            .collect()
    }
}

impl Slot {
    fn word<'a>(&'a self, nth: usize, seen: &'a Seen<'_>) -> &'a str {
        for activity in [seen.base, seen.gripper] {
            let words = activity.words.as_ref().filter(|words| words.slot == nth);
            match (words, activity.phase) {
                (Some(words), Phase::Following) => return &words.start,
                (Some(words), Phase::Arrived) => return &words.ok,
                (Some(_), Phase::Idle) | (None, _) => {}
            }
        }
        if nth == 0 && seen.base.phase == Phase::Following {
            return &self.under_way;
        }
        &self.rest
    }

    fn written(&self, word: &str) -> Value {
        match self.truth {
            true => json!(word == "true"),
            false => json!(word),
        }
    }
}

fn slot_of_standstill(robot: &RobotFile) -> Slot {
    let standstill = &robot.stop.standstill;
    let mut begin = None;
    let mut succeed: Vec<&String> = Vec::new();
    let mut is_of_completion = false;
    for tool in &robot.tools {
        if let Completion::State {
            path, start, ok, ..
        } = &tool.completion
            && *path == standstill.path
        {
            is_of_completion = true;
            begin = begin.or(start.first());
            succeed.extend(ok);
        }
    }
    // A stopped robot must not look like one that arrived.
    let mut at_rest = standstill.any_of.iter();
    let rest = at_rest.find(|word| !succeed.contains(word));
    let rest = rest
        .or(standstill.any_of.first())
        .cloned()
        .unwrap_or_default();
    let truth = !is_of_completion && ["true", "false"].contains(&rest.as_str());
    let under_way = match (begin, truth) {
        (Some(word), _) => word.clone(),
        (None, true) => (rest == "false").to_string(),
        (None, false) => other_than(&standstill.any_of),
    };
    Slot {
        path: standstill.path.clone(),
        rest,
        under_way,
        truth,
    }
}

/// A word that means no rest. The list has at most 16 words, so one of 17 is free.
fn other_than(at_rest: &[String]) -> String {
    let numbered = (1..=16).map(|nth| format!("{UNDER_WAY}_{nth}"));
    let mut words = std::iter::once(UNDER_WAY.to_owned()).chain(numbered);
    words
        .find(|word| !at_rest.contains(word))
        .unwrap_or_default()
}

/// The path of `yaw` beside a member; an element of a list has nothing beside it.
fn beside(path: &JsonPath) -> Option<JsonPath> {
    let mut steps = path.0.clone();
    match steps.last_mut() {
        Some(PathStep::Key(key)) => *key = "yaw".to_owned(),
        Some(PathStep::Index(_)) | None => return None,
    }
    Some(JsonPath(steps))
}

/// Writes a value at a path and makes what is missing on the way.
fn put(root: &mut Value, path: &JsonPath, new: Value) {
    let mut place = root;
    for step in &path.0 {
        let next = match step {
            PathStep::Key(key) => {
                if !place.is_object() {
                    *place = json!({});
                }
                let members = place.as_object_mut();
                members.map(|members| members.entry(key.as_str()).or_insert(Value::Null))
            }
            PathStep::Index(index) => element(place, *index),
        };
        let Some(next) = next else { return };
        place = next;
    }
    *place = new;
}

/// An element of a list, 0 to 63.
fn element(place: &mut Value, index: u32) -> Option<&mut Value> {
    let index = usize::try_from(index).ok()?;
    if !place.is_array() {
        *place = json!([]);
    }
    let elements = place.as_array_mut()?;
    if elements.len() <= index {
        elements.resize(index.checked_add(1)?, Value::Null);
    }
    elements.get_mut(index)
}
