//! What the keys of a tool must be to each other, to its tier and to the rest of the robot file.

use super::{Completion, Draft, EffectWord, ToolContext, Verb};
use crate::config::reader::{Node, Table};
use crate::config::robot::json_path::PathStep;
use crate::config::robot::{ArgDef, ArgType};
use crate::terms::Kind;

use EffectWord::{Config, Hold, Move, Observe, Stop};

/// Keys that mean something for some effects only, with those effects.
const KEYS: [(&str, &[EffectWord]); 15] = [
    ("tier", &[Observe, Move, Hold, Config]),
    ("args", &[Observe, Move, Hold, Config]),
    ("allow", &[Observe, Move, Hold, Config]),
    ("refuse", &[Observe, Move, Hold, Config]),
    ("timeout_ms", &[Observe, Move, Hold, Config]),
    ("rate_per_s", &[Observe, Move, Hold, Config]),
    ("burst", &[Observe, Move, Hold, Config]),
    ("freshness_ms", &[Move, Hold, Config]),
    ("device", &[Move, Hold, Config, Stop]),
    ("control_source", &[Observe, Move, Hold, Config]),
    ("completion", &[Observe, Move, Config]),
    ("hold_ms", &[Hold]),
    ("max_call_ms", &[Hold]),
    ("speed_bound", &[Move, Hold]),
    ("poses", &[Move, Hold]),
];

/// Keys that mean nothing for a tool that sends nothing.
const KEYS_OF_SENDING: [&str; 3] = ["completion", "control_source", "freshness_ms"];

/// Reports everything that does not fit.
pub(super) fn judge(t: &mut Table<'_>, tool: &Draft<'_>, context: ToolContext<'_>) {
    let Some(effect) = tool.effect else { return };
    judge_keys(t, effect);
    judge_verb(t, tool, effect);
    judge_tier(t, tool, effect);
    judge_times(t, tool, effect);
    judge_completion(t, tool, effect);
    judge_arguments(t, tool, effect);
    if effect.moves() {
        judge_goals(t, tool, context);
        judge_speed(t, tool, effect, context);
    }
}

fn judge_keys(t: &Table<'_>, effect: EffectWord) {
    for (key, effects) in KEYS {
        if t.has(key) && !effects.contains(&effect) {
            let hint = match effect {
                Stop => "remove it: a stop is permitted to everyone, at once and unlimited",
                Observe | Move | Hold | Config => "remove it, or choose another effect",
            };
            t.fault(
                key,
                format!("changes nothing: a tool of effect `{effect}` has none"),
                hint,
            );
        }
    }
    if effect == Hold {
        for key in ["hold_ms", "max_call_ms"] {
            if !t.has(key) {
                t.fault(
                    key,
                    "missing, and the effect is `hold`",
                    format!("add `{key}`"),
                );
            }
        }
    }
}

fn judge_verb(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord) {
    let Some(verb) = &tool.verb else { return };
    let own_effect = match verb {
        Verb::Stop | Verb::Estop => Stop,
        Verb::State | Verb::SafetyEvents => Observe,
        Verb::Wire(_) => {
            if effect == Stop {
                let hint = "write @stop or @estop: the verbs of the robot stand in [stop]";
                t.fault(
                    "verb",
                    "a stop runs the stop sequence, not a verb of its own",
                    hint,
                );
            }
            return;
        }
    };
    if effect != own_effect {
        let problem = format!("found `{effect}`, needs `{own_effect}`, the effect of this verb");
        t.fault(
            "effect",
            problem,
            "the runtime answers verbs with `@` itself",
        );
    }
    if own_effect == Observe {
        for key in KEYS_OF_SENDING.into_iter().filter(|key| t.has(key)) {
            t.fault(key, "changes nothing: this verb sends nothing", "remove it");
        }
        let since = |arg: &ArgDef| *verb == Verb::SafetyEvents && arg.written == "since";
        if tool.args.iter().flatten().any(|arg| !since(arg)) {
            let hint = "@state takes no argument, @safety_events takes `since`";
            t.fault("args", "changes nothing: this verb does not read it", hint);
            return;
        }
        let fits = |arg: &ArgDef| since(arg) && arg.kind_of == ArgType::U64;
        if *verb == Verb::SafetyEvents && !tool.args.iter().flatten().any(fits) {
            let hint = "add since = { type = \"u64\", unit = \"none\", min = 0, required = false }";
            t.fault("args", "missing: this verb reads `since`, a u64", hint);
        }
    }
}

fn judge_tier(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord) {
    if effect != Stop && !t.has("tier") {
        let hint = "add the tier that a caller needs; only a stop has none";
        t.fault("tier", "missing", hint);
    }
    if let Some(profile) = tool.profile
        && effect != Stop
        && !profile.effects.contains(&effect)
    {
        let effects: Vec<String> = profile
            .effects
            .iter()
            .map(|effect| format!("`{effect}`"))
            .collect();
        let problem = format!(
            "`{effect}` is not among the effects of {}: {}",
            profile.tier,
            effects.join(", ")
        );
        t.fault(
            "effect",
            problem,
            "choose a tier whose file lists the effect",
        );
    }
}

fn judge_times(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord) {
    let own_or_default = tool
        .timeout_ms
        .or(tool.profile.map(|profile| profile.defaults.timeout_ms));
    let hard_max = tool
        .profile
        .and_then(|profile| profile.lease)
        .map(|lease| lease.hard_max_ms);
    if let (Some(timeout), Some(hard_max)) = (tool.timeout_ms, hard_max)
        && effect.moves()
        && timeout > hard_max
    {
        let problem =
            format!("found `{timeout}`, needs at most the lease's hard_max_ms, {hard_max}");
        t.fault(
            "timeout_ms",
            problem,
            "the lease would end the call first: lower it",
        );
    }
    if let (Some(hold), Some(call)) = (tool.hold_ms, tool.max_call_ms)
        && hold > call
    {
        let problem = format!("found `{call}`, needs at least hold_ms, {hold}");
        t.fault(
            "max_call_ms",
            problem,
            "a call lasts for one command at least",
        );
    }
    if let (Some(call), Some(timeout)) = (tool.max_call_ms, own_or_default)
        && call > timeout
    {
        let problem = format!("found `{call}`, needs at most timeout_ms, {timeout}");
        t.fault(
            "max_call_ms",
            problem,
            "the deadline would end the call first: lower it",
        );
    }
}

fn judge_completion(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord) {
    let Some(completion) = &tool.completion else {
        return;
    };
    let (problem, hint) = match effect {
        Move if *completion == Completion::Accepted => (
            "found `accepted`: the call would be over, and the robot stopped, as soon as it sets out"
                .to_owned(),
            "write \"done\" when the robot answers at its goal, else { state, start, ok, fail }",
        ),
        Observe | Config if *completion != Completion::Done => (
            format!("a tool of effect `{effect}` is done when it is answered"),
            "its answer is its result: write \"done\"",
        ),
        // Of the last two the key itself was reported.
        Move | Observe | Config | Hold | Stop => return,
    };
    t.fault("completion", problem, hint);
}

fn judge_arguments(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord) {
    let args = || tool.args.iter().flatten();
    if effect != Stop && args().any(|arg| arg.constant.is_none()) {
        let given = [
            ("allow", tool.allow.as_ref()),
            ("refuse", tool.refuse.as_ref()),
        ];
        for (key, examples) in given {
            let absent = !t.has(key);
            if absent || examples.is_some_and(Vec::is_empty) {
                let hint = "a tool with arguments shows one call that passes and one that does not";
                t.fault(key, "has no example", hint);
            }
        }
    }
    if tool.control_source.is_some() && args().any(|arg| arg.written == "control_source") {
        let hint = "keep the key and remove the argument: a model must not choose it";
        t.fault("control_source", "is an argument as well", hint);
    }
}

/// Judges what the tool can be sent to: targets and named poses.
fn judge_goals(t: &Table<'_>, tool: &Draft<'_>, context: ToolContext<'_>) {
    let Some(args) = &tool.args else { return };
    let named = args.iter().any(|arg| arg.one_of_poses);
    if named && !t.has("poses") {
        t.fault(
            "poses",
            "missing, and an argument names one",
            "add the pose of every name",
        );
    }
    if t.has("poses") && !named {
        let hint = "give an argument one_of = \"poses\", or remove the poses";
        t.fault("poses", "changes nothing: no argument names one", hint);
    }
    if named && !context.workspace {
        t.fault(
            "poses",
            "need a [workspace]",
            "add one: it bounds where the poses may lie",
        );
    }
    let bounded = |kind| {
        tool.profile
            .is_none_or(|profile| profile.ceilings.contains_key(&kind))
    };
    if named && !bounded(Kind::Distance) {
        let hint = "add `distance_m` to the ceilings of the tier";
        t.fault("poses", "no ceiling of the tier bounds the distance", hint);
    }
    let targets = |wanted| {
        args.iter()
            .filter(move |arg| arg.kind == Some(wanted))
            .count()
    };
    for axis in [Kind::TargetX, Kind::TargetY, Kind::TargetZ] {
        if targets(axis) > 1 {
            t.fault(
                "args",
                format!("`{axis}` is there twice"),
                "a tool has one target",
            );
        }
    }
    let count = [Kind::TargetX, Kind::TargetY].map(targets);
    let any = count.iter().any(|count| *count > 0) || targets(Kind::TargetZ) > 0;
    if any && count.contains(&0) {
        let hint = "name both, so that the point can be judged";
        t.fault("args", "a target needs `target_x` and `target_y`", hint);
    }
}

/// Judges what bounds the tool's speed: an argument, a figure of the file, or the monitor.
fn judge_speed(t: &Table<'_>, tool: &Draft<'_>, effect: EffectWord, context: ToolContext<'_>) {
    let ceiling = tool
        .profile
        .map(|profile| profile.ceilings.get(&Kind::LinearSpeed).copied());
    if let (Some(bound), Some(ceiling)) = (&tool.speed_bound, ceiling) {
        match ceiling {
            Some(ceiling) if bound.mps > ceiling => t.fault(
                "speed_bound",
                format!(
                    "mps is {}, needs at most the ceiling of its tier, {ceiling}",
                    bound.mps
                ),
                "choose a tier that permits the speed, or bound the tool",
            ),
            None => t.fault(
                "speed_bound",
                "its tier has no ceiling of linear speed",
                "add `linear_speed_mps` to the ceilings of the tier",
            ),
            Some(_) => {}
        }
    }
    let Some(args) = tool.args.as_deref().or((!t.has("args")).then_some(&[])) else {
        return;
    };
    // An argument that may be left out bounds nothing.
    let by_argument = args.iter().any(|arg| {
        let speed = matches!(
            arg.kind,
            Some(Kind::LinearSpeed | Kind::AngularSpeed | Kind::JointSpeed)
        );
        speed && arg.required
    });
    if by_argument || t.has("speed_bound") {
        return;
    }
    if !context.monitor {
        let problem = format!("missing: a `{effect}` tool without a speed argument needs it");
        let hint = "write { mps = …, source = \"…\" }, or add [monitor]";
        t.fault("speed_bound", problem, hint);
    } else if ceiling == Some(None) {
        let hint = "add `linear_speed_mps` to the ceilings of the tier, or write speed_bound";
        t.fault(
            "speed_bound",
            "missing: no ceiling for [monitor] to watch",
            hint,
        );
    }
}

/// Judges the paths of all arguments together: they must build one JSON value. `args` is sorted.
pub(super) fn judge_paths(node: &Node<'_>, args: &[ArgDef]) {
    for (before, arg) in args.iter().zip(args.iter().skip(1)) {
        if arg.path.0.starts_with(&before.path.0) {
            let problem = format!("`{}` lies within `{}`", arg.written, before.written);
            node.fault(problem, "name either the whole or its parts");
        }
    }
    for arg in args {
        for (depth, step) in arg.path.0.iter().enumerate() {
            let siblings = || {
                args.iter()
                    .filter(move |other| other.path.0.get(..depth) == arg.path.0.get(..depth))
            };
            let has =
                |wanted: &PathStep| siblings().any(|other| other.path.0.get(depth) == Some(wanted));
            let PathStep::Index(index) = step else {
                continue;
            };
            let keyed =
                siblings().any(|other| matches!(other.path.0.get(depth), Some(PathStep::Key(_))));
            if keyed {
                let problem = format!("`{}` makes a list of what is a table", arg.written);
                node.fault(problem, "use either names or indexes at one place");
            }
            if *index > 0 && !has(&PathStep::Index(index - 1)) {
                let problem = format!("`{}` has no element before it", arg.written);
                node.fault(problem, "number the elements from 0 without a gap");
            }
            if !arg.required {
                let problem = format!("`{}` may be left out of a list", arg.written);
                node.fault(problem, "require it, or make it a constant");
            }
        }
    }
}
