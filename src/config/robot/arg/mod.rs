//! The arguments of a tool: their types, units and limits.
//!
//! A number that can move something is bounded twice: by `min` and `max` of its own, and by the
//! ceiling that its tier sets for its kind. Here only the file is judged; the numbers of a call are
//! judged by `gate`.

mod rules;

use serde_json::Value;

use super::EffectWord;
use super::json_path::JsonPath;
use crate::config::reader::{Node, Table, exactly, finite, flag, named, number, text, word};
use crate::config::{Place, TierProfile};
use crate::terms::Kind;

/// Longest unit, bytes.
const UNIT_BYTES_MAX: usize = 16;
/// Longest reason, bytes.
const REASON_BYTES_MAX: usize = 200;
/// Smallest and largest change from one call to the next, in the unit of the number.
const STEP_MIN: f64 = 1e-6;
const STEP_MAX: f64 = 1e9;

/// The type of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgType {
    /// A finite number.
    F64,
    /// A whole number from 0.
    U64,
    /// A whole number.
    I64,
    /// `true` or `false`.
    Bool,
    /// A text; with `one_of = "poses"` one of the tool's named poses.
    String,
}

impl ArgType {
    const WORDS: &[(&str, Self)] = &[
        ("f64", Self::F64),
        ("u64", Self::U64),
        ("i64", Self::I64),
        ("bool", Self::Bool),
        ("string", Self::String),
    ];

    /// Returns whether values of this type are numbers.
    pub fn is_number(self) -> bool {
        match self {
            Self::F64 | Self::U64 | Self::I64 => true,
            Self::Bool | Self::String => false,
        }
    }
}

/// What happens to a number outside its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnLimit {
    /// The call is refused.
    Reject,
    /// The nearest permitted number is sent, and the model is told.
    Clamp,
}

const ON_LIMIT: &[(&str, OnLimit)] = &[("reject", OnLimit::Reject), ("clamp", OnLimit::Clamp)];

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgDef {
    /// Where it is written.
    pub place: Place,
    /// Its path in the parameters.
    pub path: JsonPath,
    /// The path as it is written in the file.
    pub written: String,
    /// Its type.
    pub kind_of: ArgType,
    /// Its unit, as written; `none` for a bare number.
    pub unit: String,
    /// What it measures: for numbers of motion tools, unless `free` or `constant`.
    pub kind: Option<Kind>,
    /// The reason why no ceiling bounds it.
    pub free: Option<String>,
    /// Smallest permitted number.
    pub min: Option<f64>,
    /// Largest permitted number.
    pub max: Option<f64>,
    /// Largest change from the last accepted number of the same tool; counts from 0 after any stop.
    pub max_step: Option<f64>,
    /// Whether it must be given.
    pub required: bool,
    /// A constant that is sent whatever the model says; the model does not see the argument.
    pub constant: Option<Value>,
    /// What happens outside the limit.
    pub on_limit: OnLimit,
    /// Whether the text must be one of the tool's named poses.
    pub one_of_poses: bool,
}

/// What the judgement of an argument must know of its tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArgContext<'c> {
    /// The tool's effect; `None` when it could not be read.
    pub(super) effect: Option<EffectWord>,
    /// The profile of the tool's tier; `None` when it is not known.
    pub(super) profile: Option<&'c TierProfile>,
    /// Whether the file has a workspace.
    pub(super) workspace: bool,
}

/// An argument as it is written: `None` where a key is absent or at fault.
#[derive(Debug)]
struct Draft {
    kind_of: Option<ArgType>,
    unit: Option<String>,
    kind: Option<Kind>,
    free: Option<String>,
    min: Option<f64>,
    max: Option<f64>,
    max_step: Option<f64>,
    required: Option<bool>,
    constant: Option<Value>,
    on_limit: Option<OnLimit>,
    one_of_poses: bool,
}

/// The shape of one entry of `[tool.args]`.
pub(super) fn arg(written: &str, node: Node<'_>, context: ArgContext<'_>) -> Option<ArgDef> {
    let place = node.place();
    let path = match JsonPath::parse(written) {
        Ok(path) => Some(path),
        Err(error) => {
            node.fault(
                error.to_string(),
                "write the path of the argument in the parameters",
            );
            None
        }
    };
    let draft = node.table(|t| {
        let draft = draft(t);
        rules::judge(t, &draft, context);
        Some(draft)
    })?;
    Some(ArgDef {
        place,
        path: path?,
        written: written.to_owned(),
        kind_of: draft.kind_of?,
        unit: draft.unit?,
        kind: draft.kind,
        free: draft.free,
        min: draft.min,
        max: draft.max,
        max_step: draft.max_step,
        required: draft.required.unwrap_or(true),
        constant: draft.constant,
        on_limit: draft.on_limit.unwrap_or(OnLimit::Reject),
        one_of_poses: draft.one_of_poses,
    })
}

fn draft(t: &mut Table<'_>) -> Draft {
    let kind_of = t.must("type", word(ArgType::WORDS));
    let unit = t.must("unit", text(1..=UNIT_BYTES_MAX));
    let kind = t.may("kind", named(&Kind::ALL, Kind::as_str));
    let free = t.may("free", text(1..=REASON_BYTES_MAX));
    let min = t.may("min", finite);
    let max = t.may("max", finite);
    let max_step = t.may("max_step", number(STEP_MIN..=STEP_MAX));
    let required = t.may("required", flag);
    let constant = t.may("const", Node::json);
    let on_limit = t.may("on_limit", word(ON_LIMIT));
    let one_of_poses = t.may("one_of", exactly("poses")).is_some();
    t.later("norm_tolerance", "quaternions come with the vendor bridge");
    Draft {
        kind_of,
        unit,
        kind,
        free,
        min,
        max,
        max_step,
        required,
        constant,
        on_limit,
        one_of_poses,
    }
}
