//! When a motion is done: the words of the robot file, against the states that come in.

use serde_json::Value;

use crate::config::{Completion, ToolDef};

/// What a state says about a motion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Progress {
    /// It goes on.
    Going,
    /// It succeeded.
    Arrived,
    /// It failed, with this word.
    Failed(String),
}

/// Watches for the end of one motion.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    completion: &'a Completion,
    started: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn of(tool: &'a ToolDef) -> Self {
        Self {
            completion: &tool.completion,
            started: false,
        }
    }

    /// Looks at a state. `ok` and `fail` count only after `start` was seen, so that the words of an
    /// earlier motion end nothing.
    pub(super) fn see(&mut self, state: &Value) -> Progress {
        let Completion::State {
            path,
            start,
            ok,
            fail,
        } = self.completion
        else {
            return Progress::Going;
        };
        let Some(word) = path.find(state).and_then(Value::as_str) else {
            return Progress::Going;
        };
        let among = |words: &[String]| words.iter().any(|w| w == word);
        // A file that names no words of beginning: every word that is not one of an end.
        let other = start.is_empty() && !among(ok) && !among(fail);
        self.started |= among(start) || other;
        match self.started {
            true if among(ok) => Progress::Arrived,
            true if among(fail) => Progress::Failed(word.chars().take(40).collect()),
            _ => Progress::Going,
        }
    }
}
