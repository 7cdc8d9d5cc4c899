//! The house stands as ARCHITECTURE.md says: arrows between rooms, sizes, doors and dependencies.
//!
//! A text scan, not a parser: it reads `use crate::` lines and a few words. That catches drift,
//! which is what it is for; it is no defence against somebody who hides an arrow on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Lines of code in one source file, tests and comments not counted.
const CODE_LINES_MAX: usize = 500;

/// Which rooms each room may import. `*` is every room.
const ARROWS: [(&str, &[&str]); 19] = [
    ("terms", &[]),
    ("config", &["terms"]),
    ("arguments", &["terms"]),
    ("gate", &["terms", "config", "arguments"]),
    ("catalog", &["terms", "arguments", "gate"]),
    ("executor", &["terms", "arguments", "gate", "catalog"]),
    ("agent", &["terms"]),
    ("model", &["terms"]),
    ("spine", &["terms", "agent", "executor", "catalog"]),
    ("safety", &["terms", "gate"]),
    ("robot", &["terms", "config", "gate", "safety"]),
    ("board", &["terms", "config", "gate"]),
    ("sim", &["terms", "config", "robot", "safety"]),
    ("tools", &["terms", "catalog", "gate", "robot", "board"]),
    ("node", &["terms", "config"]),
    ("telemetry", &["terms", "config"]),
    ("app", &["*"]),
    ("cli", &["app", "terms"]),
    ("lib", &["*"]),
];

/// Words that a room must not contain, with the reason.
const BANNED_WORDS: [(&str, &[&str]); 3] = [
    ("gate", &["tokio", "dora", "zenoh", "async fn", ".await"]),
    ("safety", &["tokio", "dora", "zenoh", "async fn", ".await"]),
    ("terms", &["tokio", "dora_", "zenoh"]),
];

struct Source {
    path: PathBuf,
    room: String,
    /// The text without test modules and without comments.
    code: String,
    text: String,
    is_test: bool,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn sources() -> Vec<Source> {
    let src = root().join("src");
    let mut paths = Vec::new();
    files_below(&src, &mut paths);
    paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|ext| ext == "rs"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            let first = path
                .strip_prefix(&src)
                .unwrap()
                .components()
                .next()
                .unwrap();
            let room = first
                .as_os_str()
                .to_str()
                .unwrap()
                .trim_end_matches(".rs")
                .to_owned();
            let is_test = path.components().any(|part| {
                let name = part.as_os_str().to_str().unwrap_or_default();
                name == "tests.rs" || name == "tests"
            });
            let code = code_of(&text);
            Source {
                path,
                room,
                code,
                text,
                is_test,
            }
        })
        .collect()
}

/// Returns the lines before the first test module, without comments and blank lines.
fn code_of(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"))
        .filter(|line| !line.trim_start().starts_with("//") && !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the rooms that a text names after `crate::`.
fn rooms_named(code: &str) -> BTreeSet<&str> {
    code.split("crate::")
        .skip(1)
        .filter_map(|rest| {
            rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .next()
        })
        .filter(|word| !word.is_empty())
        .collect()
}

fn assert_none(what: &str, found: &[String]) {
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

#[test]
fn arrows_between_rooms_are_those_of_the_table() {
    let arrows: BTreeMap<_, _> = ARROWS.into_iter().collect();
    let mut found = Vec::new();
    for source in sources().iter().filter(|s| s.room != "main" && !s.is_test) {
        let Some(may) = arrows.get(source.room.as_str()) else {
            found.push(format!(
                "{}: room `{}` is not in the table",
                source.path.display(),
                source.room
            ));
            continue;
        };
        for room in rooms_named(&source.code) {
            let known = arrows.contains_key(room);
            if known && room != source.room && !may.contains(&room) && !may.contains(&"*") {
                found.push(format!(
                    "{}: {} → {room}",
                    source.path.display(),
                    source.room
                ));
            }
        }
    }
    assert_none("arrows that the house does not have", &found);
}

#[test]
fn safety_takes_nothing_but_the_permit_from_the_gate() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| s.room == "safety" && !s.is_test)
        .flat_map(|s| {
            s.code
                .split("crate::gate::")
                .skip(1)
                .filter(|rest| !rest.starts_with("Permit"))
                .map(|rest| {
                    format!(
                        "{}: {}",
                        s.path.display(),
                        rest.lines().next().unwrap_or("")
                    )
                })
                .collect::<Vec<_>>()
        })
        .collect();
    assert_none("safety may name gate::Permit only", &found);
}

#[test]
fn pure_rooms_name_no_runtime_and_wait_for_nothing() {
    let mut found = Vec::new();
    for (room, words) in BANNED_WORDS {
        for source in sources().iter().filter(|s| s.room == room && !s.is_test) {
            for word in words.iter().filter(|word| source.code.contains(**word)) {
                found.push(format!("{}: `{word}`", source.path.display()));
            }
        }
    }
    assert_none("words that a pure room must not hold", &found);
}

/// The one lock of the safety room: between those who give orders. The tick never takes it.
const SAFETY_LOCK: &str = "safety/order.rs";

#[test]
fn the_tick_takes_no_lock() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| s.room == "safety" && !s.is_test && !s.path.ends_with(SAFETY_LOCK))
        .filter(|s| {
            ["Mutex", "RwLock", "Condvar"]
                .iter()
                .any(|word| s.code.contains(word))
        })
        .map(|s| s.path.display().to_string())
        .collect();
    assert_none("locks in the safety room", &found);
}

#[test]
fn dora_is_named_in_the_node_room_only() {
    let found: Vec<_> = sources()
        .iter()
        .filter(|s| s.room != "node" && !s.is_test)
        .filter(|s| s.code.contains("dora_") && s.code.contains("use dora"))
        .map(|s| s.path.display().to_string())
        .collect();
    assert_none("dora types outside node", &found);
}

#[test]
fn every_source_file_has_a_duty_and_a_readable_size() {
    let mut found = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//!") {
            found.push(format!(
                "{}: does not begin with a module doc",
                source.path.display()
            ));
        }
        let lines = source.code.lines().count();
        if lines > CODE_LINES_MAX && !source.is_test {
            found.push(format!("{}: {lines} lines of code", source.path.display()));
        }
    }
    assert_none("files without a duty, or too long", &found);
}

#[test]
fn grants_and_permits_are_made_in_the_gate_alone() {
    let mut found = Vec::new();
    for source in sources().iter().filter(|s| s.room != "gate") {
        for word in ["Grant {", "Permit {"] {
            // As a return type, before the body, it is no construction.
            let made = source.text.match_indices(word).any(|(at, _)| {
                let before = source.text[..at].trim_end_matches('&');
                !before.ends_with("-> ")
            });
            if made {
                found.push(format!("{}: `{word}`", source.path.display()));
            }
        }
    }
    assert_none("proofs made outside the gate", &found);
}

#[test]
fn every_fact_is_raised_somewhere() {
    let all = sources();
    let list = &all
        .iter()
        .find(|s| s.path.ends_with("terms/fact.rs"))
        .unwrap()
        .code;
    let body = list
        .split("pub enum Fact {")
        .nth(1)
        .unwrap()
        .split("\n}")
        .next()
        .unwrap();
    let variants: Vec<&str> = body
        .lines()
        .filter(|line| line.starts_with("    ") && !line.starts_with("     "))
        .filter_map(|line| {
            line.trim()
                .split(|c: char| !c.is_ascii_alphanumeric())
                .next()
        })
        .filter(|word| !word.is_empty())
        .collect();
    assert!(
        variants.len() > 30,
        "the scan of fact.rs broke: {variants:?}"
    );
    let raisers: Vec<_> = all
        .iter()
        .filter(|s| !["terms", "telemetry"].contains(&s.room.as_str()) && !s.is_test)
        .map(|s| s.code.as_str())
        .collect();
    let found: Vec<_> = variants
        .iter()
        .filter(|variant| {
            !raisers
                .iter()
                .any(|code| code.contains(&format!("Fact::{variant}")))
        })
        .map(|variant| (*variant).to_owned())
        .collect();
    assert_none("facts that nothing raises", &found);
}

#[test]
fn every_integration_test_file_is_declared() {
    let main = std::fs::read_to_string(root().join("tests/it/main.rs")).unwrap();
    let found: Vec<_> = std::fs::read_dir(root().join("tests/it"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .filter(|stem| stem != "main" && !main.contains(&format!("mod {stem};")))
        .collect();
    assert_none("test files that main.rs does not declare", &found);
}

#[test]
fn lint_exceptions_are_expected_with_a_reason_and_tests_are_not_ignored() {
    let mut paths = Vec::new();
    files_below(&root().join("src"), &mut paths);
    files_below(&root().join("tests"), &mut paths);
    let mut found = Vec::new();
    for path in paths
        .iter()
        .filter(|p| p.extension().is_some_and(|ext| ext == "rs"))
    {
        let text = std::fs::read_to_string(path).unwrap();
        for word in [
            concat!("#[al", "low("),
            concat!("#[ign", "ore"),
            concat!("thread::sl", "eep"),
        ] {
            if text.contains(word) {
                found.push(format!("{}: `{word}`", path.display()));
            }
        }
    }
    assert_none("words that the house does not use", &found);
}

/// Runs `cargo tree` on the build that ships to a board: the node without an embedded daemon.
fn node_build_tree(extra: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args([
            "tree",
            "--locked",
            "--no-default-features",
            "--features",
            "dora",
            "--prefix",
            "none",
        ])
        .args(["--edges", "normal,build"])
        .args(extra)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_node_build_has_no_banned_crate_and_one_version_of_each_heavy_one() {
    let tree = node_build_tree(&[]);
    let crates: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .collect();
    let mut found = Vec::new();
    for banned in [
        "openssl-sys",
        "native-tls",
        "aws-lc-sys",
        "aws-lc-rs",
        "libgit2-sys",
    ] {
        if crates.iter().any(|(name, _)| *name == banned) {
            found.push(format!("{banned} is in the node build"));
        }
    }
    for heavy in [
        "zenoh",
        "tokio",
        "arrow-array",
        "serde",
        "rustix",
        "jsonschema",
        "schemars",
    ] {
        let versions: Vec<_> = crates
            .iter()
            .filter(|(name, _)| *name == heavy)
            .map(|(_, v)| *v)
            .collect();
        if versions.len() != 1 {
            found.push(format!("{heavy}: versions {versions:?}"));
        }
    }
    if tree.contains("git+") {
        found.push("a dependency comes from git".to_owned());
    }
    assert_none("dependencies that the node build must not have", &found);
}

/// Licences that a dependency may offer; one of an `OR` list is enough.
const LICENCES: [&str; 13] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "MIT",
    "MIT-0",
    "BSD-1-Clause",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "CC0-1.0",
    "MPL-2.0",
    "CDLA-Permissive-2.0",
];

#[test]
fn every_licence_of_the_node_build_is_on_the_list() {
    let tree = node_build_tree(&["--format", "{p}|{l}"]);
    let allowed = |term: &str| LICENCES.contains(&term.trim().trim_matches(['(', ')']));
    let found: BTreeSet<_> = tree
        .lines()
        .filter_map(|line| line.trim_end_matches(" (*)").split_once('|'))
        .filter(|(_, licence)| {
            let terms = licence.replace('/', " OR ");
            !terms
                .split(" AND ")
                .all(|all| all.split(" OR ").any(allowed))
        })
        .map(|(name, licence)| format!("{name}: {licence}"))
        .collect();
    assert_none(
        "licences that are not on the list",
        &found.into_iter().collect::<Vec<_>>(),
    );
}
