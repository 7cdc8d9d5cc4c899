//! The official JSON Schema Test Suite: 0 wrong verdicts on the words that we accept.
//!
//! The suite is nobody's part of this repository: whoever runs this names its folder in
//! `OCTOS_EDGE_JSON_SCHEMA_SUITE` (`.ci/run` fetches it), that of one draft, such as
//! `json/tests/draft2020-12`. Without it the test says that it had nothing to do.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the suite lies where the one who runs this says, and counts are for people"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::vocabulary::holds;
use super::super::{Schema, SchemaFlaw};

const FOLDER: &str = "OCTOS_EDGE_JSON_SCHEMA_SUITE";
/// What the required part of the suite must at least bring: fewer means that it is not the suite.
const CASES_MIN: usize = 600;

/// Optional parts that say what a number or a pattern means under words that we accept. The other
/// optional files are about formats and references.
const OPTIONAL: [&str; 4] = [
    "bignum.json",
    "ecmascript-regex.json",
    "float-overflow.json",
    "non-bmp-regex.json",
];

#[derive(Debug, Default)]
struct Count {
    cases: usize,
    schemas: usize,
    wrong: Vec<String>,
    refused: BTreeMap<String, usize>,
    /// Schemas that use no word but ours and were refused all the same.
    unsound: Vec<String>,
}

#[test]
fn the_official_suite_finds_no_wrong_verdict() {
    let Ok(folder) = std::env::var(FOLDER) else {
        println!("nothing to do: {FOLDER} names no folder of the JSON Schema Test Suite");
        return;
    };
    let folder = Path::new(&folder);
    let required = judged(&files(folder));
    told("required", &required);
    let optional: Vec<PathBuf> = OPTIONAL
        .iter()
        .map(|name| folder.join("optional").join(name))
        .collect();
    let optional = judged(&optional);
    told("optional", &optional);
    assert!(
        required.cases >= CASES_MIN,
        "{} is not the suite",
        folder.display()
    );
    assert_eq!(required.wrong, [""; 0]);
    assert_eq!(required.unsound, [""; 0]);
    assert_eq!(optional.wrong, [""; 0]);
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "json"))
        .collect();
    files.sort();
    files
}

fn judged(files: &[PathBuf]) -> Count {
    let mut count = Count::default();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
        for group in &groups {
            judge(&mut count, file, group);
        }
    }
    count
}

fn judge(count: &mut Count, file: &Path, group: &Value) {
    let name = file.file_name().unwrap().to_string_lossy();
    let what = format!("{name}: {}", group["description"]);
    let schema = match Schema::compile_any(&group["schema"]) {
        Ok(schema) => schema,
        Err(faults) => {
            for fault in faults {
                let word = if let SchemaFlaw::Keyword { word, .. } = fault.flaw {
                    word
                } else if let SchemaFlaw::Reference(word) = fault.flaw {
                    word.to_owned()
                } else if fault.flaw == SchemaFlaw::Dialect {
                    "$schema of another dialect".to_owned()
                } else {
                    count.unsound.push(format!("{what}: {}", fault.flaw));
                    continue;
                };
                assert_eq!(holds(&word), None, "{what}");
                *count.refused.entry(word).or_default() += 1;
            }
            return;
        }
    };
    count.schemas += 1;
    for test in group["tests"].as_array().unwrap() {
        count.cases += 1;
        if schema.takes(&test["data"]) != test["valid"].as_bool().unwrap() {
            count.wrong.push(format!("{what}: {}", test["description"]));
        }
    }
}

fn told(part: &str, count: &Count) {
    println!(
        "JSON Schema Test Suite, {part}: {} cases of {} schemas run, {} wrong verdicts",
        count.cases,
        count.schemas,
        count.wrong.len()
    );
    for wrong in &count.wrong {
        println!("  wrong: {wrong}");
    }
    for unsound in &count.unsound {
        println!("  not compiled: {unsound}");
    }
    let refused: Vec<String> = count
        .refused
        .iter()
        .map(|(word, schemas)| format!("{word} {schemas}"))
        .collect();
    println!("  refused at load, by word: {}", refused.join(", "));
}
