//! The explanation for people. The first line answers the question by itself.

use comfy_table::{ContentArrangement, Table, presets};

use super::{ExplainNumber, ExplainRule, ExplainVerdict, Explanation};

/// Widest line.
const COLUMNS: u16 = 100;

impl Explanation {
    /// Returns the text.
    pub fn to_text(&self) -> String {
        let mut text = self.headline();
        text.push('\n');
        let rules: Vec<String> = self.decided_by.iter().map(rule).collect();
        let mut part = |title: &str, lines: &[String]| {
            for (nth, line) in lines.iter().enumerate() {
                let title = if nth == 0 { title } else { "" };
                text.push_str(&format!("\n{title:<11}{line}"));
            }
        };
        part("decided by", &rules);
        let lowered = self.lowered.iter().cloned();
        part(
            "tier",
            &[self.tier()].into_iter().chain(lowered).collect::<Vec<_>>(),
        );
        // The first line of what is wrong stands in the headline.
        part("also", self.detail.get(1..).unwrap_or_default());
        let ways = self.hint.iter().chain(&self.operator_hint);
        part("way out", &ways.cloned().collect::<Vec<_>>());
        part("needs", &self.needs);
        if !self.numbers.is_empty() {
            text.push_str(&format!("\n\n{}", self.table()));
        }
        text.push('\n');
        text
    }

    /// Returns the one line that says what would become of the call.
    fn headline(&self) -> String {
        let first = self.detail.first().map_or("", String::as_str);
        match (self.verdict, self.reason) {
            (ExplainVerdict::Allowed, _) if !first.is_empty() => {
                format!("allowed with a repair: {first}")
            }
            (ExplainVerdict::Allowed, _) => {
                format!("allowed: `{}`, on a robot at rest at home", self.tool)
            }
            (ExplainVerdict::Clamped, _) => format!("allowed with another number: {first}"),
            (ExplainVerdict::Asks, _) => format!("asks: {first}"),
            (ExplainVerdict::Stop, _) => format!(
                "always allowed: `{}` is a stop; nothing stands before it, and what is in its arguments is dropped",
                self.tool
            ),
            (ExplainVerdict::Refused, Some(reason)) => format!("refused: {reason}: {first}"),
            (ExplainVerdict::Refused, None) => format!("refused: {first}"),
        }
    }

    fn tier(&self) -> String {
        let effective = self.effective;
        match (self.effect, self.needed) {
            (None, _) => format!("in force is {effective}"),
            (Some(effect), None) => format!("`{effect}` needs none; in force is {effective}"),
            (Some(effect), Some(needed)) => {
                format!("`{effect}` needs {needed}; in force is {effective}")
            }
        }
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(COLUMNS)
            .set_header(["number", "given", "sent", "permitted", "written at"]);
        for number in &self.numbers {
            table.add_row(row(number));
        }
        table
    }
}

fn rule(rule: &ExplainRule) -> String {
    match &rule.place {
        Some(place) => format!("{} {place}: {}", rule.layer, rule.rule),
        None => format!("{}: {}", rule.layer, rule.rule),
    }
}

fn row(number: &ExplainNumber) -> [String; 5] {
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| value.to_string());
    let mut permitted = number.permitted.clone();
    if let Some(tier) = number.ceiling_of {
        permitted.push_str(&format!(", ceiling of {tier}"));
    }
    if let Some(step) = &number.step {
        permitted.push_str(&format!(", steps of {step}"));
    }
    [
        number.argument.clone(),
        shown(number.given),
        shown(number.sent),
        permitted,
        number.place.clone().unwrap_or_default(),
    ]
}
