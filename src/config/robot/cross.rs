//! What the parts of a robot file must be to each other: files that would defeat their own stop.
//!
//! One verb is one thing on the robot's side. A verb that moves in one place cannot read, stop or
//! release in another, and a word that says "under way" cannot say "at rest".

use std::collections::BTreeMap;

use super::{Completion, JsonPath, SpeedMonitor, StopPlan, ToolDef, VerbCall, Workspace};
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

/// The places of what is judged once all is read.
#[derive(Debug, Default)]
pub(super) struct Places<'d> {
    pub(super) stop: Option<Node<'d>>,
    pub(super) release: Option<Node<'d>>,
    pub(super) workspace: Option<Node<'d>>,
    pub(super) monitor: Option<Node<'d>>,
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

/// What the state says at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    Word,
    Position,
    Speed,
}

impl Said {
    fn as_str(self) -> &'static str {
        match self {
            Self::Word => "a word",
            Self::Position => "a position",
            Self::Speed => "a speed",
        }
    }
}

/// A path into the state, with the key that names it and the place of the key.
#[derive(Debug)]
struct Seen<'a, 'd> {
    path: &'a JsonPath,
    said: Said,
    key: String,
    node: Node<'d>,
}

/// Reports paths of which no state can have both: one value read as two things, or a value inside of
/// another.
pub(super) fn judge_paths(
    places: &Places<'_>,
    (stop, workspace, monitor): (&StopPlan, Option<&Workspace>, Option<&SpeedMonitor>),
    tools: &[ToolDef],
) {
    let Some(stop_node) = &places.stop else {
        return;
    };
    let mut seen = vec![Seen {
        path: &stop.standstill.path,
        said: Said::Word,
        key: "stop.standstill.path".to_owned(),
        node: at(stop_node, &["standstill", "path"]),
    }];
    if let (Some(space), Some(node)) = (workspace, &places.workspace) {
        seen.push(Seen {
            path: &space.position,
            said: Said::Position,
            key: "workspace.source.path".to_owned(),
            node: at(node, &["source", "path"]),
        });
    }
    if let (Some(monitor), Some(node)) = (monitor, &places.monitor) {
        seen.push(Seen {
            path: &monitor.path,
            said: Said::Speed,
            key: "monitor.speed.path".to_owned(),
            node: at(node, &["speed", "path"]),
        });
    }
    for tool in tools {
        if let Completion::State { path, .. } = &tool.completion {
            seen.push(Seen {
                path,
                said: Said::Word,
                key: format!(
                    "completion.state of `{}`, line {}",
                    tool.name, tool.place.line
                ),
                node: stop_node.clone(),
            });
        }
    }
    for (nth, first) in seen.iter().enumerate() {
        for second in seen.iter().skip(nth.saturating_add(1)) {
            judge_pair(first, second);
        }
    }
}

fn judge_pair(first: &Seen<'_, '_>, second: &Seen<'_, '_>) {
    let Seen {
        path, said, key, ..
    } = first;
    let problem = if *path == second.path {
        if *said == second.said {
            return;
        }
        format!(
            "`{path}` is also {}: no value is both {} and {}",
            second.key,
            said.as_str(),
            second.said.as_str()
        )
    } else if path.excludes(second.path) {
        format!(
            "`{path}` and `{}`, {}, cannot stand in one state",
            second.path, second.key
        )
    } else {
        return;
    };
    let hint = "write each path as the robot's state has it";
    // A completion has no node of its own here: what is told names its line.
    let named = !key.starts_with("completion");
    let problem = if named {
        problem
    } else {
        format!("{key}: {problem}")
    };
    first.node.fault(problem, hint);
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
