//! Broken files through the binary: each ends `check` with 64, and is named with line and key.
//!
//! The table is that of the loaders: `src/config/tests/broken` holds an edit and the whole report of
//! it for each way to break a file. Here the same reports must reach the terminal.

use std::fs;

use crate::rig::{Site, command, repo};

/// One edit of a good file, and the lines of its report that name a place.
struct Broken<'a> {
    name: &'a str,
    goes: String,
    comes: String,
    faults: Vec<&'a str>,
}

impl<'a> Broken<'a> {
    fn read(block: &'a str) -> Self {
        let (name, rest) = block.split_once('\n').unwrap();
        let (edit, report) = rest.split_once("\n\n").unwrap();
        let part = |sign: char| {
            let lines = edit.lines().filter_map(|line| line.strip_prefix(sign));
            lines.collect::<Vec<_>>().join("\n")
        };
        let faults = report.lines();
        Self {
            name,
            goes: part('-'),
            comes: part('+'),
            faults: faults
                .filter(|line| !line.is_empty() && !line.starts_with(' '))
                .collect(),
        }
    }
}

/// Breaks `file` in every way of a snapshot; returns how many there were.
fn check_all(snapshot: &str, file: &str) -> usize {
    let folder = repo().join("src/config/tests/broken/snapshots");
    let path = folder.join(format!(
        "octos_edge__config__tests__broken__{snapshot}.snap"
    ));
    let text = fs::read_to_string(path).unwrap();
    let site = Site::with_own_files();
    let good = fs::read_to_string(site.path(file)).unwrap();
    let blocks: Vec<Broken<'_>> = text.split("## ").skip(1).map(Broken::read).collect();
    for broken in &blocks {
        assert!(!broken.faults.is_empty(), "{}: no report", broken.name);
        fs::write(site.path(file), good.replace(&broken.goes, &broken.comes)).unwrap();
        let output = command(&site).arg("check").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{}: {said}", broken.name);
        assert_eq!(output.stdout, b"", "{}", broken.name);
        for fault in &broken.faults {
            let times = said.lines().filter(|line| line == fault).count();
            assert_eq!(times, 1, "{}: {fault}\nin {said}", broken.name);
        }
    }
    blocks.len()
}

#[test]
fn the_shipped_files_have_no_fault() {
    let output = command(&Site::new())
        .args(["check", "--list"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    for kind in ["tier", "robot", "board", "scenario", "dataflow"] {
        assert!(said.lines().any(|line| line.starts_with(kind)), "{said}");
    }
    assert!(said.ends_with("files, no fault\n"), "{said}");
}

#[test]
fn every_broken_tier_file_ends_with_64_and_is_named() {
    let files = [
        ("observe", "tiers/observe.toml"),
        ("safe_motion", "tiers/safe_motion.toml"),
        ("full_actuation", "tiers/full_actuation.toml"),
        ("emergency_override", "tiers/emergency_override.toml"),
    ];
    let broken: usize = files.iter().map(|(name, file)| check_all(name, file)).sum();
    assert!(broken >= 30, "only {broken}");
}

#[test]
fn every_broken_robot_file_ends_with_64_and_is_named() {
    let parts = ["robot", "tool", "argument"];
    let file = "tiers/robots/rover-sim.toml";
    let broken: usize = parts.iter().map(|part| check_all(part, file)).sum();
    assert!(broken >= 60, "only {broken}");
}

#[test]
fn every_broken_board_or_scenario_ends_with_64_and_is_named() {
    let boards = check_all("board", "boards/sim.toml");
    let scenarios = check_all("scenario", "dataflows/scenarios/rover-gate.toml");
    assert!(boards + scenarios >= 20, "only {boards} and {scenarios}");
}
