//! The refusals that the executor itself words. Those of policy, limits and admission come from the
//! gate.

use super::questions::{QUESTIONS_PER_MINUTE_MAX, QUESTIONS_PER_TURN_MAX, Spared};
use super::turn::Asked;
use crate::catalog::ToolView;
use crate::gate::SubjectError;
use crate::terms::{Descriptor, Reason, Refusal, Tier, Unasked};

/// Longest tool name that is repeated or recorded, characters.
pub(super) const NAME_CHARS_MAX: usize = 80;

/// Returns the first characters of a name that somebody made up.
pub(super) fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS_MAX).collect()
}

pub(super) fn unknown_tool(view: &ToolView, name: &str) -> Refusal {
    Refusal {
        reason: Reason::UnknownTool,
        needed: None,
        effective: view.effective(),
        rule: None,
        detail: format!("no tool is named `{}`", short(name)),
        hint: match view.nearest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "call one of the tools that you were shown".to_owned(),
        },
    }
}

pub(super) fn schema(asked: &Asked<'_>, tool: &Descriptor, detail: String) -> Refusal {
    let hint = "mend every place that is named and call again".to_owned();
    refusal(asked, tool, Reason::Schema, (detail, hint))
}

pub(super) fn never_admitted(asked: &Asked<'_>, tool: &Descriptor, error: SubjectError) -> Refusal {
    let hint = "use another tool".to_owned();
    refusal(asked, tool, Reason::PolicyDeny, (error.to_string(), hint))
}

pub(super) fn nobody_to_ask(asked: &Asked<'_>, tool: &Descriptor, why: Unasked) -> Refusal {
    let detail = format!(
        "each call of `{}` needs a person's word, and {why}",
        tool.name
    );
    let hint = "use a tool of a lower tier; asking again changes nothing".to_owned();
    refusal(asked, tool, Reason::ApprovalUnavailable, (detail, hint))
}

pub(super) fn denied(asked: &Asked<'_>, tool: &Descriptor, (who, why): (&str, &str)) -> Refusal {
    let detail = format!("{who} said no to this call of `{}`: {why}", tool.name);
    let hint = "do not ask again for the same; go on in another way, or end here".to_owned();
    refusal(asked, tool, Reason::ApprovalDenied, (detail, hint))
}

/// A person is not asked, so that they are not worn down.
pub(super) fn spared(asked: &Asked<'_>, tool: &Descriptor, why: Spared) -> Refusal {
    let name = &tool.name;
    let (reason, detail, hint) = match why {
        Spared::Denied => (
            Reason::ApprovalDenied,
            format!(
                "this very call of `{name}` got no yes before: nobody is asked again in this turn"
            ),
            "go on in another way, or end here",
        ),
        Spared::Turn => (
            Reason::ApprovalDenied,
            format!(
                "call of `{name}`: a turn may ask a person {QUESTIONS_PER_TURN_MAX} times, and this one has"
            ),
            "go on with tools of a lower tier, or end here: a new goal may ask again",
        ),
        Spared::Minute { wait_ms } => (
            Reason::Rate,
            format!(
                "call of `{name}`: a person is asked at most {QUESTIONS_PER_MINUTE_MAX} times a minute, the \
                 next time in {} s",
                wait_ms.div_ceil(1000)
            ),
            "wait that long, and ask only for what is needed",
        ),
    };
    refusal(asked, tool, reason, (detail, hint.to_owned()))
}

pub(super) fn nobody_answered(asked: &Asked<'_>, tool: &Descriptor, ttl_ms: u64) -> Refusal {
    let detail = format!(
        "nobody said yes to this call of `{}` within {ttl_ms} ms",
        tool.name
    );
    let hint = "without a person's word the answer is no; go on in another way".to_owned();
    refusal(asked, tool, Reason::ApprovalDenied, (detail, hint))
}

pub(super) fn other_numbers(asked: &Asked<'_>, tool: &Descriptor) -> Refusal {
    let detail = format!(
        "the numbers of this call of `{}` are no longer those that a person said yes to",
        tool.name
    );
    let hint = "call again: the person is asked anew".to_owned();
    refusal(asked, tool, Reason::ApprovalDenied, (detail, hint))
}

pub(super) fn stopped_since(asked: &Asked<'_>, tool: &Descriptor) -> Refusal {
    let detail = format!(
        "the robot was stopped after this call of `{}` was asked for",
        tool.name
    );
    let hint = "look at the robot's state, then decide anew".to_owned();
    refusal(asked, tool, Reason::Busy, (detail, hint))
}

pub(super) fn stopped_by_a_person(asked: &Asked<'_>, tool: &Descriptor) -> Refusal {
    let detail = format!(
        "a person stopped the robot during this goal, so `{}` moves it no more",
        tool.name
    );
    let hint = "end here and say what is left to do: a person must give a new goal".to_owned();
    refusal(asked, tool, Reason::NotArmed, (detail, hint))
}

pub(super) fn scope_taken(asked: &Asked<'_>, tool: &Descriptor) -> Refusal {
    let detail = format!("another call holds what `{}` needs for itself", tool.name);
    let hint = "wait for the other call to end".to_owned();
    refusal(asked, tool, Reason::Busy, (detail, hint))
}

pub(super) fn batch_full(asked: &Asked<'_>, max: usize) -> Refusal {
    Refusal {
        reason: Reason::Busy,
        needed: None,
        effective: asked.turn.view.effective(),
        rule: None,
        detail: format!("more than {max} calls at once: this one was not looked at"),
        hint: "ask for fewer calls at once".to_owned(),
    }
}

fn refusal(
    asked: &Asked<'_>,
    tool: &Descriptor,
    reason: Reason,
    (detail, hint): (String, String),
) -> Refusal {
    Refusal {
        reason,
        needed: tool.effect.needed_tier(),
        effective: effective(asked),
        rule: tool.rule.as_ref().map(|rule| rule.id.as_ref().to_owned()),
        detail,
        hint,
    }
}

/// Returns the tier up to which calls of the asked tool are permitted.
fn effective(asked: &Asked<'_>) -> Tier {
    let view = &asked.turn.view;
    let judged = view.find(&asked.call.tool);
    judged.map_or(view.effective(), |judged| judged.effective)
}
