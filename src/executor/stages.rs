//! The stages that need nothing but the call and its view: resolve, decide, bound, check.

use serde_json::Value;

use super::refuse;
use super::turn::Asked;
use crate::arguments::{Arguments, Flaw, Issue, Mended, Report, measure};
use crate::catalog::{Entry, Judged, ToolView};
use crate::gate::{Subject, ToolRules, Verdict};
use crate::terms::{Descriptor, ElevationId, Refusal, Tier};

/// How long a person may take where no tier says it, ms. Chosen: a minute.
const TTL_MS: u64 = 60_000;

/// A call that passed the first stages.
#[derive(Debug)]
pub(super) struct Checked<'a> {
    pub(super) entry: &'a Entry,
    pub(super) subject: Subject<'a>,
    pub(super) args: Arguments,
    /// What of the arguments was repaired, one sentence each.
    pub(super) repaired: Vec<String>,
    /// A person must say yes first, within so many ms.
    pub(super) asks_for_ms: Option<u64>,
    /// The Elevation without which the policy would have refused it.
    pub(super) elevation: Option<ElevationId>,
    /// The tier up to which calls of this tool are permitted.
    pub(super) effective: Tier,
}

/// Takes a call through the first stages; the first that refuses answers.
pub(super) fn examine<'a>(asked: &Asked<'a>) -> Result<Checked<'a>, Refusal> {
    let judged = resolve(&asked.turn.view, &asked.call.tool)?;
    let needs_person = decide(judged)?;
    let tool = judged.entry.descriptor();
    bound(asked, tool, &asked.call.args)?;
    let Mended { args, repairs } = check(asked, judged.entry, &asked.call.args)?;
    let subject = Subject::of(tool, judged.entry.rules())
        .map_err(|error| refuse::never_admitted(asked, tool, error))?;
    Ok(Checked {
        entry: judged.entry,
        subject,
        args,
        repaired: repairs,
        asks_for_ms: needs_person.then(|| ttl_ms(judged.entry)),
        elevation: judged.elevation,
        effective: judged.effective,
    })
}

fn resolve<'a>(view: &'a ToolView, name: &str) -> Result<Judged<'a>, Refusal> {
    view.find(name)
        .ok_or_else(|| refuse::unknown_tool(view, name))
}

/// Returns how long a person may take: what the tier of a robot's tool says.
fn ttl_ms(entry: &Entry) -> u64 {
    let of_tier = entry.rules().and_then(ToolRules::approval_ttl_ms);
    of_tier.unwrap_or(TTL_MS)
}

/// Returns whether the call needs a person's word.
fn decide(judged: Judged<'_>) -> Result<bool, Refusal> {
    match judged.verdict {
        Verdict::Allow => Ok(false),
        Verdict::Ask => Ok(true),
        Verdict::Refuse(refusal) => Err(refusal.clone()),
    }
}

fn bound(asked: &Asked<'_>, tool: &Descriptor, args: &Value) -> Result<(), Refusal> {
    match measure(args, tool.budget.args_bytes_max) {
        Ok(_) => Ok(()),
        Err(excess) => {
            let issue = Issue::at("", Flaw::Excess(excess));
            let report = Report::of(tool.name.as_str(), issue);
            Err(refuse::schema(asked, tool, report.to_string()))
        }
    }
}

fn check(asked: &Asked<'_>, entry: &Entry, args: &Value) -> Result<Mended, Refusal> {
    let tool = entry.descriptor();
    let name = tool.name.as_str();
    let checked = if tool.effect.mends_arguments() {
        entry.schema().mend(name, args)
    } else {
        entry.schema().check(name, args).map(Mended::from)
    };
    checked.map_err(|mut report| {
        // The limits have not been asked yet: what they would refuse stands in the same report.
        if let (Some(rules), Some(map)) = (entry.rules(), args.as_object()) {
            report.also(rules.beyond(map));
        }
        refuse::schema(asked, tool, report.to_string())
    })
}
