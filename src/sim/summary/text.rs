//! The summary for people.

use comfy_table::{ContentArrangement, Table, presets};

use super::Summary;
use super::map;
use crate::terms::{Reason, counted};

/// Widest line.
const COLUMNS: u16 = 100;
/// Longest cell of free text, characters.
const CELL_CHARS_MAX: usize = 160;

pub(super) fn render(summary: &Summary) -> String {
    let met = summary
        .expectations
        .iter()
        .filter(|verdict| verdict.ok)
        .count();
    let parts = [
        head(summary, met),
        section(&calls_title(summary), calls(summary)),
        section("stops", stops(summary)),
        section("faults", faults(summary)),
        section("expectations", expectations(summary)),
        map::draw(&summary.path)
            .map(|map| way(summary, &map))
            .unwrap_or_default(),
        metrics(summary),
    ];
    parts.concat()
}

fn head(summary: &Summary, met: usize) -> String {
    let pid = |pid: Option<u32>| pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string());
    let word = if summary.ok { "PASSED" } else { "FAILED" };
    let of = counted(summary.expectations.len(), "expectation");
    let seconds = |ms: u64| std::time::Duration::from_millis(ms).as_secs_f64();
    let took = match &summary.trace {
        None => format!("{:.1} s", seconds(summary.total_ms)),
        Some(_) => format!(
            "{:.1} s of its own clock, {:.1} s of ours",
            seconds(summary.total_ms),
            seconds(summary.wall_ms)
        ),
    };
    let trace = summary.trace.iter();
    let trace: String = trace.map(|hash| format!("trace {hash}\n")).collect();
    format!(
        "{word}  {}  {met} of {of} met in {took}\n\
         bridge {}, seed {}, agent pid {}, robot pid {}\n{trace}",
        summary.scenario,
        summary.bridge,
        summary.seed,
        pid(summary.agent_pid),
        pid(summary.robot_pid),
    )
}

fn section(title: &str, table: Option<Table>) -> String {
    table
        .map(|table| format!("\n{title}\n{table}\n"))
        .unwrap_or_default()
}

/// How many calls were accepted, and how many refused for which reason.
fn calls_title(summary: &Summary) -> String {
    let reasons: Vec<String> = summary
        .calls
        .refused
        .iter()
        .map(|(reason, count)| format!("{count} {reason}"))
        .collect();
    let refused = match reasons.as_slice() {
        [] => "none".to_owned(),
        some => some.join(", "),
    };
    format!(
        "calls: {} accepted, refused: {refused}",
        summary.calls.accepted
    )
}

fn calls(summary: &Summary) -> Option<Table> {
    let mut table = table(&["#", "tool", "outcome", "took", "why"]);
    for (index, call) in summary.calls.list.iter().enumerate() {
        // Of any other refusal the tier is not the reason.
        let tier = call
            .tier
            .filter(|_| call.reason == Some(Reason::RobotTierGate))
            .map(|tier| format!(", needs {tier}"))
            .unwrap_or_default();
        let reason = call.reason.map(|reason| format!("{reason}{tier}"));
        let took = call
            .took_ms
            .map_or_else(|| "-".to_owned(), |ms| format!("{ms} ms"));
        table.add_row(vec![
            index.saturating_add(1).to_string(),
            cut(&call.tool),
            call.outcome.clone(),
            took,
            reason.unwrap_or_else(|| cut(&call.detail)),
        ]);
    }
    (!summary.calls.list.is_empty()).then_some(table)
}

fn stops(summary: &Summary) -> Option<Table> {
    let mut table = table(&["kind", "cause", "by", "standstill after"]);
    for stop in &summary.stops {
        let after = stop.standstill_after_ms;
        table.add_row(vec![
            stop.kind.to_string(),
            stop.cause.to_string(),
            stop.by.to_owned(),
            after.map_or_else(|| "not confirmed".to_owned(), |ms| format!("{ms} ms")),
        ]);
    }
    (!summary.stops.is_empty()).then_some(table)
}

fn faults(summary: &Summary) -> Option<Table> {
    let mut table = table(&["fault", "began after", "messages hit"]);
    for fault in &summary.faults {
        table.add_row(vec![
            fault.what.to_owned(),
            format!("{} ms", fault.t_ms),
            fault.messages.to_string(),
        ]);
    }
    (!summary.faults.is_empty()).then_some(table)
}

fn expectations(summary: &Summary) -> Option<Table> {
    let mut table = table(&["expectation", "", "expected", "found"]);
    for verdict in &summary.expectations {
        table.add_row(vec![
            verdict.name.to_owned(),
            if verdict.ok { "met" } else { "NOT MET" }.to_owned(),
            cut(&verdict.expected),
            cut(&verdict.found),
        ]);
    }
    (!summary.expectations.is_empty()).then_some(table)
}

fn way(summary: &Summary, map: &str) -> String {
    let length = summary.path.length_m;
    let motions = counted(summary.motions_at_robot, "motion command");
    let (start, end) = (place(summary.path.start), place(summary.path.end));
    format!(
        "\npath {length:.2} m from {start} to {end}, \
         {motions} reached the robot\n{map}"
    )
}

/// A place on the map, m.
fn place(at: Option<[f64; 2]>) -> String {
    // A centimetre is what is shown; adding 0 turns -0 into 0.
    let shown = |m: f64| (m * 100.0).round() / 100.0 + 0.0;
    at.map_or_else(
        || "nowhere".to_owned(),
        |[x, y]| format!("({:.2}, {:.2})", shown(x), shown(y)),
    )
}

fn metrics(summary: &Summary) -> String {
    let lines = summary.metrics.iter();
    let text: String = lines.map(|line| format!("  {line}\n")).collect();
    if text.is_empty() {
        text
    } else {
        format!("\nmetrics\n{text}")
    }
}

fn table(head: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(COLUMNS)
        .set_header(head.to_vec());
    table
}

/// Free text for a cell: one line, of bounded length, without control characters.
fn cut(text: &str) -> String {
    let line = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    line.take(CELL_CHARS_MAX).collect()
}
