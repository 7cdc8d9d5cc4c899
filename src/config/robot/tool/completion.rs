//! When a call of a tool is done.

use super::EffectWord;
use crate::config::reader::{Node, list, word};
use crate::config::robot::json_path::{JsonPath, json_path};
use crate::config::robot::stop::state_word;

/// Most words of one list.
const WORDS_MAX: usize = 16;

/// When a call is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Completion {
    /// When the robot accepted it.
    Accepted,
    /// When the robot answered.
    Done,
    /// When the state says so. `ok` and `fail` count only after `start` was seen.
    State {
        /// Path into the state.
        path: JsonPath,
        /// Words that say that it has begun.
        start: Vec<String>,
        /// Words that say that it succeeded.
        ok: Vec<String>,
        /// Words that say that it failed.
        fail: Vec<String>,
    },
}

impl Completion {
    /// Returns the completion of a tool that writes none: a hold runs its time after it was accepted,
    /// everything else is done when the robot has answered.
    pub(super) fn usual(effect: EffectWord) -> Self {
        match effect {
            EffectWord::Hold => Self::Accepted,
            EffectWord::Observe | EffectWord::Move | EffectWord::Config | EffectWord::Stop => {
                Self::Done
            }
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Plain {
    Accepted,
    Done,
}

const PLAIN: &[(&str, Plain)] = &[("accepted", Plain::Accepted), ("done", Plain::Done)];

/// The shape of `completion`: a word, or a table that names a path into the state.
pub(super) fn completion(node: Node<'_>) -> Option<Completion> {
    if node.as_str().is_some() {
        return Some(match word(PLAIN)(node)? {
            Plain::Accepted => Completion::Accepted,
            Plain::Done => Completion::Done,
        });
    }
    node.table(|t| {
        let path = t.must("state", json_path);
        let start = t.must("start", list(1..=WORDS_MAX, state_word));
        let ok = t.must("ok", list(1..=WORDS_MAX, state_word));
        let fail = t.must("fail", list(0..=WORDS_MAX, state_word));
        if let (Some(ok), Some(fail)) = (&ok, &fail)
            && let Some(both) = fail.iter().find(|word| ok.contains(word))
        {
            let problem = format!("`{both}` is among `ok` as well");
            t.fault("fail", problem, "a word means success or failure, not both");
        }
        Some(Completion::State {
            path: path?,
            start: start?,
            ok: ok?,
            fail: fail?,
        })
    })
}
