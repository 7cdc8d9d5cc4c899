//! The files of one test: a copy of `dataflows/`, the shipped tiers and boards, a state folder.

use std::fs;
use std::io::BufReader;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use octos_edge::sim::{JournalEntry, read_journal};
use octos_edge::telemetry::{Record, read_records, verify_records};
use octos_edge::terms::Fact;
use tempfile::TempDir;

/// The robot of `dataflows/rover-sim.yml`.
const ROBOT: &str = "rover-sim-001";
/// The name of the scenario that a test writes.
const SCENARIO: &str = "test";

/// The event that arms the robot, in most scenarios.
pub(crate) const ARM: &str = r#"
[[event]]
when = "ready"
operator = { do = "arm", why = "a test", for_s = 120 }
"#;

/// Returns the root of the repository.
pub(crate) fn repo() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The second robot: where its files come from, and where an installation has them.
const CRAWLER: [(&str, &str); 3] = [
    ("robot.toml", "tiers/robots/crawler.toml"),
    ("dataflow.yml", "dataflows/crawler.yml"),
    ("scenario.toml", "dataflows/scenarios/crawler-yard.toml"),
];

/// A folder with everything that a run needs.
#[derive(Debug)]
pub(crate) struct Site {
    dir: TempDir,
    robot: &'static str,
}

impl Site {
    /// Makes one with the shipped files.
    pub(crate) fn new() -> Self {
        let site = Self {
            dir: tempfile::tempdir().unwrap(),
            robot: ROBOT,
        };
        for folder in ["tiers", "boards"] {
            symlink(repo().join(folder), site.path(folder)).unwrap();
        }
        copy(&repo().join("dataflows"), &site.path("dataflows"));
        site
    }

    /// Makes one whose tiers and boards are copies, to be broken.
    pub(crate) fn with_own_files() -> Self {
        let site = Self {
            dir: tempfile::tempdir().unwrap(),
            robot: ROBOT,
        };
        for folder in ["tiers", "boards", "dataflows"] {
            copy(&repo().join(folder), &site.path(folder));
        }
        site
    }

    /// Makes one for the second robot and no other: its file, its dataflow and its scenario.
    pub(crate) fn crawler() -> Self {
        let mut site = Self::with_own_files();
        site.robot = "crawler-1";
        for below in ["tiers/robots", "dataflows"] {
            fs::remove_dir_all(site.path(below)).unwrap();
        }
        for below in ["tiers/robots", "dataflows", "dataflows/scenarios"] {
            fs::create_dir(site.path(below)).unwrap();
        }
        for (from, to) in CRAWLER {
            fs::copy(repo().join("tests/data/crawler").join(from), site.path(to)).unwrap();
        }
        site
    }

    /// Returns a path below the folder.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Writes a scenario and returns its path. Each turn is the list of its calls, in TOML; a last
    /// turn without calls ends the goal.
    pub(crate) fn scenario(&self, events: &str, turns: &[&str], expect: &str) -> PathBuf {
        let head = format!(
            "schema = 1\nname = \"{SCENARIO}\"\nrobot = \"rover-sim\"\nboard = \"sim\"\n\
             dataflow = \"rover-sim.yml\"\nseed = 7\nlimit_s = 120\ngoal = \"Do it.\"\n\
             [operator]\nname = \"ann\"\n"
        );
        let mut text = head + events;
        for calls in turns.iter().chain(&[""]) {
            text.push_str(&format!("[[turn]]\nsay = \"So.\"\ncall = [ {calls} ]\n"));
        }
        text.push_str(&format!("[expect]\n{expect}\n"));
        let path = self.path(&format!("dataflows/scenarios/{SCENARIO}.toml"));
        fs::write(&path, text).unwrap();
        path
    }

    /// Edits a file: `goes`, which must stand there once, becomes `comes`.
    pub(crate) fn edit(&self, below: &str, goes: &str, comes: &str) {
        let path = self.path(below);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches(goes).count(), 1, "`{goes}` in {below}");
        fs::write(&path, text.replace(goes, comes)).unwrap();
    }

    /// Returns the state folder of the robot.
    pub(crate) fn robot_state(&self) -> PathBuf {
        self.path("state/robots").join(self.robot)
    }

    /// Returns the facts of all lives of the agent, oldest first, each in the order in which its
    /// facts were raised.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        self.lives().into_iter().flatten().collect()
    }

    /// Returns the facts of the newest life of the agent.
    pub(crate) fn newest_life(&self) -> Vec<Fact> {
        self.lives().pop().unwrap()
    }

    fn lives(&self) -> Vec<Vec<Fact>> {
        let audit = self.robot_state().join("audit");
        // However its lives ended: what they left is whole.
        let found = verify_records(&audit, &[]).unwrap();
        assert!(found.ok, "{:#?}", found.faults);
        let records = read_records(&audit).unwrap();
        let mut lives: Vec<(String, Vec<Record>)> = Vec::new();
        for record in records {
            match lives.iter_mut().find(|(boot, _)| *boot == record.boot) {
                Some((_, life)) => life.push(record),
                None => lives.push((record.boot.clone(), vec![record])),
            }
        }
        let in_order = |(_, mut life): (String, Vec<Record>)| {
            life.sort_by_key(|record| record.seq);
            life.into_iter().map(|record| record.fact).collect()
        };
        lives.into_iter().map(in_order).collect()
    }

    /// Returns what the rover saw and did.
    pub(crate) fn journal(&self) -> Vec<JournalEntry> {
        let file = fs::File::open(self.path("state/rover.jsonl")).unwrap();
        read_journal(BufReader::new(file)).unwrap()
    }

    /// Returns the verbs that reached the rover, in order.
    pub(crate) fn verbs(&self) -> Vec<String> {
        verbs(&self.journal())
    }
}

/// Returns the verbs of a part of a journal.
pub(crate) fn verbs(journal: &[JournalEntry]) -> Vec<String> {
    let verb = |entry: &JournalEntry| match entry {
        JournalEntry::Verb { verb, .. } => Some(verb.clone()),
        JournalEntry::Start { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. }
        | JournalEntry::Rest { .. }
        | JournalEntry::Lost { .. }
        | JournalEntry::DeadMan { .. } => None,
    };
    journal.iter().filter_map(verb).collect()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
