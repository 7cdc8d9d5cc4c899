//! How a robot is stopped: the verbs, in order, and how standstill is recognised.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::json_path::{JsonPath, json_path};
use crate::config::reader::{Node, Table, exactly, flag, list, object, text, whole};
use crate::terms::PARAMS_BYTES_MAX;

/// Most steps of a stop sequence: the safety thread keeps them in a queue of this size.
const STEPS_MAX: usize = 8;
/// Longest verb, bytes.
const VERB_BYTES_MAX: usize = 128;
/// Most words of one list, and the longest of them in bytes.
const WORDS_MAX: usize = 16;
const WORD_BYTES_MAX: usize = 64;

/// A verb with constant parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct VerbCall {
    /// The dotted verb.
    pub verb: Arc<str>,
    /// Its parameters, at most 1,024 bytes as JSON.
    pub args: Map<String, Value>,
}

/// One step of the stop sequence.
#[derive(Debug, Clone, PartialEq)]
pub struct StopStep {
    /// The verb with its parameters.
    pub call: VerbCall,
    /// Whether a refusal as `INVALID_PARAMS` is answered by the verb without parameters.
    pub retry_empty: bool,
    /// How long the step may take before the next one begins, ms, 50 to 5000.
    pub wait_ms: u32,
}

/// How standstill is recognised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    /// Path into the state.
    pub path: JsonPath,
    /// Words that say that it stands still.
    pub any_of: Vec<String>,
    /// Not confirmed within this time: escalate and latch, ms, 100 to 10 000.
    pub within_ms: u32,
}

/// How the robot is stopped.
#[derive(Debug, Clone, PartialEq)]
pub struct StopPlan {
    /// Tried in order; 1 to 8 steps, the last one is repeated when standstill is not confirmed.
    pub steps: Vec<StopStep>,
    /// How standstill is recognised.
    pub standstill: Standstill,
}

/// The shape of `[stop]`.
pub(super) fn stop_plan(node: Node<'_>) -> Option<StopPlan> {
    node.table(|t| {
        let steps = t.must("steps", list(1..=STEPS_MAX, stop_step));
        let standstill = t.must("standstill", standstill);
        if let (Some(steps), Some(standstill)) = (&steps, &standstill) {
            judge_times(t, steps, standstill);
        }
        Some(StopPlan {
            steps: steps?,
            standstill: standstill?,
        })
    })
}

/// Reports a sequence whose last step would begin only after the robot was given up and latched.
fn judge_times(t: &Table<'_>, steps: &[StopStep], standstill: &Standstill) {
    let before_last = steps.iter().rev().skip(1);
    let last_begins_ms: u32 = before_last.map(|step| step.wait_ms).sum();
    if last_begins_ms >= standstill.within_ms {
        let problem = format!(
            "the last step begins after {last_begins_ms} ms, needs less than standstill.within_ms, {}",
            standstill.within_ms
        );
        t.fault(
            "steps",
            problem,
            "shorten the waits, or give the robot more time to stand still",
        );
    }
}

fn stop_step(node: Node<'_>) -> Option<StopStep> {
    node.table(|t| {
        let verb = t.must("verb", wire_verb);
        let args = t.must("args", fixed_args);
        let retry_empty = t.may("retry_empty", flag);
        let wait_ms = t.must("wait_ms", whole(50..=5_000));
        Some(StopStep {
            call: VerbCall {
                verb: verb?,
                args: args?,
            },
            retry_empty: retry_empty.unwrap_or(false),
            wait_ms: wait_ms?,
        })
    })
}

fn standstill(node: Node<'_>) -> Option<Standstill> {
    node.table(|t| {
        t.must("stream", exactly("state"));
        let path = t.must("path", json_path);
        let any_of = t.must("any_of", list(1..=WORDS_MAX, state_word));
        let within_ms = t.must("within_ms", whole(100..=10_000));
        Some(Standstill {
            path: path?,
            any_of: any_of?,
            within_ms: within_ms?,
        })
    })
}

/// The shape of `release`.
pub(super) fn verb_call(node: Node<'_>) -> Option<VerbCall> {
    node.table(|t| {
        let verb = t.must("verb", wire_verb);
        let args = t.must("args", fixed_args);
        Some(VerbCall {
            verb: verb?,
            args: args?,
        })
    })
}

/// The shape of a word that the robot's state may hold.
pub(super) fn state_word(node: Node<'_>) -> Option<String> {
    text(1..=WORD_BYTES_MAX)(node)
}

/// The shape of a dotted verb, as it is sent: `vendor.octos.rover.stop`.
pub(super) fn wire_verb(node: Node<'_>) -> Option<Arc<str>> {
    let fits = |verb: &str| {
        let part_fits = |part: &str| {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            !part.is_empty() && part.bytes().all(plain)
        };
        verb.len() <= VERB_BYTES_MAX && verb.contains('.') && verb.split('.').all(part_fits)
    };
    match node.as_str() {
        Some(verb) if fits(verb) => Some(Arc::from(verb)),
        Some(_) | None => node.unfit("a dotted verb such as `robot.estop`, of at most 128 bytes"),
    }
}

/// Parameters that are sent without a look at them: they must fit the command's fixed buffer.
fn fixed_args(node: Node<'_>) -> Option<Map<String, Value>> {
    let args = object(node.clone())?;
    let bytes = Value::Object(args.clone()).to_string().len();
    if bytes > PARAMS_BYTES_MAX {
        let problem = format!("is {bytes} bytes of json, at most {PARAMS_BYTES_MAX} can be sent");
        node.fault(problem, "shorten the parameters");
        return None;
    }
    Some(args)
}
