//! Whoever reads what a command prints may go away: that changes no exit code, and nothing panics.

use std::io;
use std::process::{Command, Stdio};

use crate::rig::{BINARY, Site, command};

/// Every command that prints, with the code that it ends with.
const COMMANDS: [(&[&str], i32); 11] = [
    (&["--help"], 0),
    (&["fly"], 2),
    (&["tools"], 0),
    (&["tools", "--json"], 0),
    (&["check"], 0),
    (&["check", "--print"], 0),
    (
        &["explain", "rover_go_to_pose", r#"{"x": 1.0, "y": 0.0}"#],
        0,
    ),
    (&["completions", "bash"], 0),
    (&["ctl", "status"], 1),
    (&["sim", "rover-gate", "--bridge", "mock"], 0),
    (&["node", "--robot", "rover-sim", "--board", "sim"], 64),
];

/// A pipe whose reader went away.
fn broken() -> Stdio {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn case_38_a_reader_of_standard_output_that_went_away_changes_nothing() {
    let site = Site::new();
    for (args, code) in COMMANDS {
        let output = command(&site).args(args).stdout(broken()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    }
}

#[test]
fn case_38_a_reader_of_standard_error_that_went_away_changes_nothing() {
    let site = Site::new();
    for (args, code) in COMMANDS {
        let output = command(&site).args(args).stderr(broken()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn case_38_outputs_that_are_closed_from_the_start_change_nothing() {
    let site = Site::new();
    let like = command(&site);
    for (args, code) in COMMANDS {
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"exec "$0" "$@" >&- 2>&-"#, BINARY]);
        shell.args(args);
        if let Some(folder) = like.get_current_dir() {
            shell.current_dir(folder);
        }
        for (name, value) in like.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        assert_eq!(shell.status().unwrap().code(), Some(code), "{args:?}");
    }
}
