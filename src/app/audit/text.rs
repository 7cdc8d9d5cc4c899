//! Reports on the black box for people.

use serde_json::Value;

use super::{ExportReport, ShowReport, VerifyReport, plain};
use crate::telemetry::{ChainReport, Chosen, Fault, Verification, class_word};
use crate::terms::counted;

impl VerifyReport {
    /// Returns the report for people.
    pub fn to_text(&self) -> String {
        let mut text = format!("audit of {} in {}\n", self.robot_id, plain(&self.folder));
        text.push_str(&verification(&self.verification));
        if self.verification.ok {
            text.push_str(
                "keep a hash elsewhere: `audit verify --holds HASH` then finds a log that was made anew\n",
            );
        }
        text
    }
}

impl ExportReport {
    /// Returns the report for people.
    pub fn to_text(&self) -> String {
        format!(
            "{} in {}\n{}",
            counted(self.lines, "line"),
            plain(&self.file),
            verification(&self.verification)
        )
    }
}

fn verification(found: &Verification) -> String {
    let mut text = String::new();
    for chain in &found.chains {
        text.push_str(&format!("{}\n", chain_line(chain)));
    }
    for fault in &found.faults {
        text.push_str(&format!("fault: {}\n", at(fault)));
    }
    if found.more_faults > 0 {
        text.push_str(&format!("fault: and {} more\n", found.more_faults));
    }
    for remark in &found.remarks {
        text.push_str(&format!("told: {}\n", at(remark)));
    }
    let faults = u64::try_from(found.faults.len()).unwrap_or(u64::MAX);
    match faults.saturating_add(found.more_faults) {
        0 => text.push_str("WHOLE: each record follows the one before it\n"),
        many => text.push_str(&format!("BROKEN: {}\n", counted(many, "fault"))),
    }
    text
}

fn chain_line(chain: &ChainReport) -> String {
    let Some((first, head)) = chain.first.zip(chain.head) else {
        return format!("{:<7} no records", chain.class);
    };
    let older = if chain.pruned {
        ", older ones made room"
    } else {
        ""
    };
    let files = counted(chain.segments, "file");
    format!(
        "{:<7} records {first} to {} in {files}{older}\n        head {}",
        chain.class, head.n, head.hash
    )
}

fn at(fault: &Fault) -> String {
    let what = plain(&fault.what);
    match (fault.file.as_str(), fault.line) {
        ("*", _) => what,
        (file, 0) => format!("{}: {what}", plain(file)),
        (file, line) => format!("{}:{line}: {what}", plain(file)),
    }
}

impl ShowReport {
    /// Returns the records for people, one a line.
    pub fn to_text(&self) -> String {
        let found = &self.selection;
        let mut text = String::new();
        let mut life = None;
        for one in &found.records {
            if life != Some(&one.boot) {
                life = Some(&one.boot);
                text.push_str(&format!("-- life {}\n", plain(&one.boot)));
            }
            text.push_str(&line(one));
        }
        let shown = found.records.len();
        text.push_str(&format!(
            "{shown} of {} that {}, of {}\n",
            counted(found.found, "record"),
            if found.found == 1 { "fits" } else { "fit" },
            self.robot_id
        ));
        if found.unreadable > 0 {
            text.push_str(&format!(
                "{} no record or changed: `octos-edge audit verify` names each\n",
                match found.unreadable {
                    1 => "1 line is".to_owned(),
                    many => format!("{many} lines are"),
                }
            ));
        }
        text
    }
}

fn line(one: &Chosen) -> String {
    let mut text = format!("{}  {:<6}  ", plain(&one.t_wall), class_word(one.class));
    let kind = one.fact.get("kind").and_then(Value::as_str);
    let mark = if one.is_note { "black box " } else { "" };
    text.push_str(mark);
    text.push_str(&plain(kind.unwrap_or("?")));
    for (key, value) in one.fact.as_object().into_iter().flatten() {
        if key != "kind" && !value.is_null() {
            text.push_str(&format!("  {}={}", plain(key), shown(value)));
        }
    }
    text.push('\n');
    text
}

/// A text of one word as it is, anything else as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(word) if is_word(word) => word.clone(),
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => plain(&value.to_string()),
    }
}

fn is_word(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
    !text.is_empty() && text.chars().all(plain)
}
