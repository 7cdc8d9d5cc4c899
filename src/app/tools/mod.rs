//! `tools`: what a model would see of a robot, and what is hidden from it and why.

#[cfg(test)]
mod tests;
mod text;

use serde::Serialize;
use serde_json::{Map, Value};

use super::exit::AppError;
use super::paper::Paper;
use super::requests::ToolsRequest;
use super::settings::Settings;
use crate::catalog::Judged;
use crate::gate::Verdict;
use crate::terms::{Reason, Tier, ToolSpec};

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ListedTool {
    /// As the model sees it, or would.
    #[serde(flatten)]
    pub spec: ToolSpec,
    /// What a call does: the word of the robot file.
    pub effect: &'static str,
    /// The tier that it needs; `None` for a stop.
    pub needed: Option<Tier>,
    /// Whether the model sees it.
    pub visible: bool,
    /// Whether each call needs a person's word.
    pub asks: bool,
    /// Why it is hidden.
    pub hidden_by: Option<Reason>,
    /// What hides it, in a sentence.
    pub why: Option<String>,
    /// Each number, with what is permitted.
    pub limits: Vec<String>,
    /// Length of its card, as it goes to the model, bytes.
    pub card_bytes: usize,
}

/// All tools of a robot under one policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolList {
    /// The robot file.
    pub robot: String,
    /// The ceiling of the robot file.
    pub ceiling: Tier,
    /// The tier in force.
    pub effective: Tier,
    /// The tools, sorted by name.
    pub tools: Vec<ListedTool>,
    /// Tools that the model sees.
    pub visible: usize,
    /// Tools that it does not.
    pub hidden: usize,
    /// Average length of the cards that the model sees, bytes; 0 without any.
    pub card_bytes_average: usize,
    /// BLAKE3 hash of all that the model sees.
    pub fingerprint: String,
}

/// Lists the tools of a robot as a node would offer them.
///
/// # Errors
/// [`AppError::Usage`] when no robot can be chosen, [`AppError::Config`] with every fault of the files.
pub fn list_tools(settings: &Settings, request: &ToolsRequest) -> Result<ToolList, AppError> {
    let paper = Paper::load(settings, request.robot.as_deref(), request.tier)?;
    let tools: Vec<ListedTool> = paper.view.tools().map(listed).collect();
    let shown: Vec<usize> = tools
        .iter()
        .filter(|tool| tool.visible)
        .map(|tool| tool.card_bytes)
        .collect();
    Ok(ToolList {
        robot: paper.book.robot.robot.clone(),
        ceiling: paper.book.robot.max_tier,
        effective: paper.view.effective(),
        visible: shown.len(),
        hidden: tools.len().saturating_sub(shown.len()),
        card_bytes_average: shown
            .iter()
            .sum::<usize>()
            .checked_div(shown.len())
            .unwrap_or(0),
        fingerprint: paper.view.fingerprint().to_owned(),
        tools,
    })
}

fn listed(judged: Judged<'_>) -> ListedTool {
    let tool = judged.entry.descriptor();
    let spec = ToolSpec::from(tool);
    let refusal = judged.verdict.refusal();
    ListedTool {
        // Names, texts and JSON always serialise.
        card_bytes: serde_json::to_string(&spec).map_or(0, |card| card.len()),
        spec,
        effect: tool.effect.as_str(),
        needed: tool.effect.needed_tier(),
        visible: refusal.is_none(),
        asks: matches!(judged.verdict, Verdict::Ask),
        hidden_by: refusal.map(|refusal| refusal.reason),
        why: refusal.map(|refusal| refusal.detail.clone()),
        limits: limits(judged),
    }
}

fn limits(judged: Judged<'_>) -> Vec<String> {
    let numbers = judged.entry.rules().map_or(Vec::new(), |rules| {
        rules.numbers(&Map::<String, Value>::new())
    });
    let limit = |number: crate::gate::NumberLimit| {
        let step = number
            .step
            .map_or(String::new(), |step| format!(", steps of {step}"));
        format!("{} {}{step}", number.name, number.range)
    };
    numbers.into_iter().map(limit).collect()
}
