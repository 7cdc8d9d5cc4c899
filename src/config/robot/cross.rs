//! What the parts of a robot file must be to each other: files that would defeat their own stop.
//!
//! One verb is one thing on the robot's side. A verb that moves in one place cannot read, stop or
//! release in another, and a word that says "under way" cannot say "at rest".

use std::collections::BTreeMap;

use super::{Completion, StopPlan, ToolDef, VerbCall};
use crate::config::reader::{self, Node};

/// A tool that moves something with a verb on the wire, as it is written.
#[derive(Debug, Clone, Copy)]
struct Mover<'d> {
    name: &'d str,
    effect: &'d str,
    line: u32,
}

/// The verbs that move something, with the tool that sends each.
#[derive(Debug, Default)]
pub(super) struct Movers<'d>(BTreeMap<&'d str, Mover<'d>>);

/// The places of `[stop]` and `release`, for what is judged once all is read.
#[derive(Debug, Default)]
pub(super) struct Places<'d> {
    pub(super) stop: Option<Node<'d>>,
    pub(super) release: Option<Node<'d>>,
}

/// Reports a verb that two tools send to different effects. Returns the verbs that move something.
pub(super) fn judge_effects<'d>(tools: &[Node<'d>]) -> Movers<'d> {
    let mut first: BTreeMap<&str, (&str, &Node<'_>)> = BTreeMap::new();
    let mut movers = Movers::default();
    for tool in tools {
        let (Some(verb), Some(effect)) = (tool.peek("verb"), tool.peek("effect")) else {
            continue;
        };
        if verb.starts_with('@') {
            continue; // the runtime's own: each has one effect
        }
        if ["move", "hold"].contains(&effect) {
            let name = tool.peek("name").unwrap_or("a tool");
            let line = tool.place().line;
            movers.0.entry(verb).or_insert(Mover { name, effect, line });
        }
        match first.get(verb) {
            Some((other, earlier)) if *other != effect => {
                let problem = format!(
                    "`{}` with effect `{}` is also the verb of line {}, with effect `{}`",
                    reader::quote(verb),
                    reader::quote(effect),
                    earlier.place().line,
                    reader::quote(other),
                );
                let hint = "a verb does one thing: give both tools the same effect, or remove one";
                at(tool, &["verb"]).fault(problem, hint);
            }
            Some(_) => {}
            None => drop(first.insert(verb, (effect, tool))),
        }
    }
    movers
}

/// Reports a verb of the stop sequence, or of the release, that moves something.
pub(super) fn judge_stop(
    places: &Places<'_>,
    movers: &Movers<'_>,
    (stop, release): (Option<&StopPlan>, Option<&VerbCall>),
) {
    let moves = |verb: &str, node: Node<'_>| {
        if let Some(mover) = movers.0.get(verb) {
            let problem = format!(
                "`{verb}` is the verb of the `{}` tool `{}` of line {}",
                reader::quote(mover.effect),
                reader::quote(mover.name),
                mover.line,
            );
            node.fault(
                problem,
                "what moves a robot neither stops nor releases it: name another verb",
            );
        }
    };
    if let (Some(plan), Some(node)) = (stop, &places.stop) {
        let steps = at(node, &["steps"]).items().unwrap_or_default();
        for (step, node) in plan.steps.iter().zip(steps) {
            moves(&step.call.verb, at(&node, &["verb"]));
        }
    }
    if let (Some(call), Some(node)) = (release, &places.release) {
        moves(&call.verb, at(node, &["verb"]));
    }
}

/// Reports a word of standstill that begins a motion: the robot would count as at rest while it goes.
pub(super) fn judge_words(places: &Places<'_>, stop: &StopPlan, tools: &[ToolDef]) {
    let Some(node) = &places.stop else { return };
    for tool in tools {
        let Completion::State { path, start, .. } = &tool.completion else {
            continue;
        };
        let both = stop.standstill.any_of.iter().find(|w| start.contains(w));
        if let Some(word) = both.filter(|_| *path == stop.standstill.path) {
            let problem = format!(
                "`{}` is also in completion.start of `{}`, line {}",
                reader::quote(word),
                tool.name,
                tool.place.line,
            );
            let hint = "a robot under way is not at rest: remove the word from one of the two";
            at(node, &["standstill", "any_of"]).fault(problem, hint);
        }
    }
}

/// The value at `keys`, as far as it is there.
fn at<'d>(node: &Node<'d>, keys: &[&str]) -> Node<'d> {
    let mut at = node.clone();
    for key in keys {
        let entries = at.clone().entries().unwrap_or_default();
        if let Some((_, inner)) = entries.into_iter().find(|(name, _)| name == key) {
            at = inner;
        }
    }
    at
}
