//! The tools of a robot as a table for people.

use comfy_table::{ContentArrangement, Table, presets};

use super::{ListedTool, ToolList};
use crate::terms::counted;

/// Widest line.
const COLUMNS: u16 = 110;

impl ToolList {
    /// Returns the text.
    pub fn to_text(&self) -> String {
        let mut table = Table::new();
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(COLUMNS)
            .set_header(["tool", "effect", "needs", "for the model", "limits"]);
        for tool in &self.tools {
            table.add_row(row(tool));
        }
        format!(
            "{}: {} visible, {} hidden at {} (ceiling {})\n{table}\n\
             a card has {} bytes on average; fingerprint of all that are visible: {}\n",
            self.robot,
            counted(self.visible, "tool"),
            self.hidden,
            self.effective,
            self.ceiling,
            self.card_bytes_average,
            self.fingerprint.get(..12).unwrap_or_default(),
        )
    }
}

fn row(tool: &ListedTool) -> [String; 5] {
    let shown = match (tool.hidden_by, tool.asks) {
        (Some(reason), _) => format!("hidden: {reason}"),
        (None, true) => "visible, asks a person".to_owned(),
        (None, false) => "visible".to_owned(),
    };
    let needed = tool.needed.map_or("-", |tier| tier.as_str());
    [
        tool.spec.name.to_string(),
        tool.effect.to_owned(),
        needed.to_owned(),
        shown,
        tool.limits.join("\n"),
    ]
}
