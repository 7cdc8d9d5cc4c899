//! The table: one row a figure.

use comfy_table::presets::UTF8_FULL_CONDENSED;
use comfy_table::{CellAlignment, ContentArrangement, Table};

use super::machine;

/// One figure.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// What was measured.
    pub(crate) what: String,
    /// The figure, with its unit.
    pub(crate) figure: String,
    /// The floor or the peer, measured in the same run.
    pub(crate) beside: String,
    /// Figure through floor.
    pub(crate) ratio: Option<f64>,
    /// What is wanted.
    pub(crate) goal: String,
    /// Whether it is reached; `None` when there is no goal.
    pub(crate) reached: Option<bool>,
    /// What the figure depends on: printed when the goal is not reached.
    pub(crate) cause: String,
}

/// Prints the table, then the cause of each goal that was not reached.
pub(crate) fn print(header: &str, rows: &[Row]) {
    let mut table = Table::new();
    table
        .load_style(UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(["what", "figure", "beside it", "ratio", "goal", "reached"]);
    for row in rows {
        let ratio = row.ratio.map_or("-".to_owned(), ratio);
        let reached = match row.reached {
            None => "-",
            Some(true) => "yes",
            Some(false) => "NO",
        };
        let cells = [&row.what, &row.figure, &row.beside, &ratio, &row.goal];
        let cells = cells.into_iter().map(String::as_str).chain([reached]);
        table.add_row(cells.collect::<Vec<_>>());
    }
    if let Some(column) = table.column_mut(3) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!(
        "\n{header}\n{table}\nload {:.2} after the run",
        machine::load()
    );
    for row in rows.iter().filter(|row| row.reached == Some(false)) {
        println!("not reached: {}: {}", row.what, row.cause);
    }
}

fn ratio(ratio: f64) -> String {
    if ratio < 10.0 {
        format!("{ratio:.2}x")
    } else {
        format!("{ratio:.0}x")
    }
}
