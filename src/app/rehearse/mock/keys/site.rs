//! An installation in a folder of its own, edited key by key, and the ways to look at it.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests edit files of their own"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;

use super::row::{PLAY, POLICY};
use crate::app::explain::{Explanation, explain};
use crate::app::load::Installation;
use crate::app::rehearse::RunFolder;
use crate::app::rehearse::mock::tests::{copied, root};
use crate::app::rehearse::mock::{Given, run, summarize};
use crate::app::requests::{ExplainRequest, ToolsRequest};
use crate::app::settings::Settings;
use crate::app::tools::{ToolList, list_tools};
use crate::app::{AppError, check_all};
use crate::config::{DeadmanSource, RobotFile, Scenario};
use crate::sim::{Dialect, JournalEntry, Summary};
use crate::terms::{Fact, RunState, StopCause};

/// A file, the path of a key in it with `/` between its steps, and its value in TOML. A tool stands
/// under its name. An empty value takes the key away; the number behind the last element adds one.
pub(super) type Change = (&'static str, &'static str, &'static str);

/// Arms at the beginning.
pub(super) const ARM: &str =
    r#"event = [ { when = "ready", operator = { do = "arm", why = "a test", for_s = 120 } } ]"#;
/// A drive of some seconds.
pub(super) const GO: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0 } }"#;
/// A drive of a moment.
pub(super) const NEAR: &str = r#"{ tool = "rover_go_to_pose", args = { x = 0.02, y = 0.0 } }"#;
pub(super) const WHERE: &str = r#"{ tool = "rover_get_pose", args = {} }"#;
pub(super) const VELOCITY: &str =
    r#"{ tool = "rover_set_velocity", args = { linear = 0.2, angular = 0.0 } }"#;
pub(super) const GRIP: &str =
    r#"{ tool = "rover_gripper_set", args = { opening = 0.05, force = 30.0 } }"#;
pub(super) const STOP: &str = r#"{ tool = "rover_stop", args = {} }"#;

/// What the file of a policy holds before a row changes it.
const OPEN_POLICY: &str = "schema = 1\n[policy]\n";

/// The scenario that rows about scenarios change.
const SCENARIO: &str = include_str!("play.toml");

/// An installation.
#[derive(Debug)]
pub(super) struct Site {
    dir: TempDir,
}

/// How a run differs from a plain one.
#[derive(Debug, Default)]
pub(super) struct Play {
    /// Events and faults, in TOML.
    pub(super) happens: &'static str,
    /// What the operator says to questions, in TOML; empty when nobody is there.
    pub(super) answers: &'static str,
    pub(super) speaks: Speaks,
}

/// What the robot speaks.
#[derive(Debug, Default, Clone, Copy)]
pub(super) enum Speaks {
    /// As its file says.
    #[default]
    File,
    /// As the built-in rover does, whatever its file says.
    Rover,
    /// As its file says, and nothing in its advert about its dead-man.
    Mute,
}

impl Speaks {
    fn dialect(self, robot: &RobotFile) -> Dialect {
        match self {
            Self::File => Dialect::of(robot).unwrap(),
            Self::Rover => Dialect::rover(),
            Self::Mute => {
                let mut mute = robot.clone();
                mute.deadman.source = DeadmanSource::Fixed;
                Dialect::of(&mute).unwrap()
            }
        }
    }
}

impl Site {
    pub(super) fn new(changes: &[Change]) -> Self {
        let site = Self { dir: copied() };
        std::fs::create_dir_all(site.path("dataflows/scenarios")).unwrap();
        for file in [POLICY, PLAY, "dataflows/rover-sim.yml"] {
            site.write(file, &shipped(file));
        }
        for file in changes
            .iter()
            .map(|(file, ..)| *file)
            .collect::<BTreeSet<_>>()
        {
            site.write(file, &toml::to_string(&table(file, changes)).unwrap());
        }
        site
    }

    pub(super) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    /// Adds a file of another name.
    pub(super) fn copy(&self, from: &str, to: &str, edit: (&str, &str)) {
        let text = std::fs::read_to_string(self.path(from)).unwrap();
        std::fs::write(self.path(to), text.replace(edit.0, edit.1)).unwrap();
    }

    pub(super) fn settings(&self) -> Settings {
        Settings::of_tests(self.dir.path()).with_config(self.path(POLICY))
    }

    /// What is loaded, as a node would.
    ///
    /// # Errors
    /// As [`Installation::load`].
    pub(super) fn load(&self) -> Result<Installation, AppError> {
        Installation::load(&self.settings(), "rover-sim", "sim")
    }

    /// The faults of all files, `key: problem`, one a line.
    pub(super) fn faults(&self) -> String {
        let error = match check_all(&self.settings()) {
            Ok(_) => return String::new(),
            Err(error) => error,
        };
        let faults = error.faults();
        let text = |fault: &Value, key: &str| fault[key].as_str().unwrap_or_default().to_owned();
        let faults = faults
            .iter()
            .map(|fault| format!("{}: {}", text(fault, "key"), text(fault, "problem")));
        faults.collect::<Vec<_>>().join("\n")
    }

    /// What `check --list` says of a file.
    pub(super) fn check(&self, file: &str) -> String {
        let report = check_all(&self.settings()).unwrap();
        let found = report.loaded.iter().find(|one| one.file.ends_with(file));
        found.unwrap().holds.clone()
    }

    pub(super) fn explain(&self, tool: &str, args: &str) -> Explanation {
        let request = ExplainRequest {
            tool: tool.to_owned(),
            args: args.to_owned(),
            robot: None,
            tier: None,
        };
        explain(&self.settings(), &request).unwrap()
    }

    pub(super) fn tools(&self) -> ToolList {
        let request = ToolsRequest {
            robot: None,
            tier: None,
        };
        list_tools(&self.settings(), &request).unwrap()
    }

    /// What the model is told of a tool, as JSON.
    pub(super) fn card(&self, tool: &str) -> Value {
        let list = self.tools();
        let found = list.tools.iter().find(|one| one.spec.name.as_str() == tool);
        serde_json::to_value(found.unwrap()).unwrap()
    }

    /// Arms, lets the model call, a reply each, and ends.
    pub(super) fn calls(&self, calls: &[&str]) -> Seen {
        let play = Play {
            happens: ARM,
            ..Play::default()
        };
        self.plays(&play, calls)
    }

    /// As [`Site::calls`], with events and faults.
    pub(super) fn happens(&self, happens: &'static str, calls: &[&str]) -> Seen {
        let play = Play {
            happens,
            ..Play::default()
        };
        self.plays(&play, calls)
    }

    /// As [`Site::calls`], and the robot is the built-in rover.
    pub(super) fn rover(&self, happens: &'static str, calls: &[&str]) -> Seen {
        let play = Play {
            happens,
            speaks: Speaks::Rover,
            ..Play::default()
        };
        self.plays(&play, calls)
    }

    pub(super) fn plays(&self, play: &Play, calls: &[&str]) -> Seen {
        let installation = self
            .load()
            .unwrap_or_else(|error| panic!("{error} {:?}", error.faults()));
        plays(&installation, play, calls)
    }

    /// Edits a file, whoever has loaded it.
    pub(super) fn edit(&self, (file, path, to): Change) {
        let text = std::fs::read_to_string(self.path(file)).unwrap();
        let mut table = toml::from_str(&text).unwrap();
        set(&mut table, path, to);
        self.write(file, &toml::to_string(&table).unwrap());
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        std::fs::write(self.path(file), text).unwrap();
    }

    /// Rehearses the scenario of the installation.
    pub(super) fn rehearse(&self) -> Seen {
        let scenario = self.scenario();
        let loaded = Installation::load(&self.settings(), &scenario.robot, &scenario.board);
        let installation = loaded.unwrap_or_else(|error| panic!("{error} {:?}", error.faults()));
        seen(
            (&installation, Speaks::File.dialect(&installation.robot)),
            &scenario,
        )
    }

    pub(super) fn scenario(&self) -> Scenario {
        Scenario::load(&self.path(PLAY)).unwrap_or_else(|faults| panic!("{faults}"))
    }
}

/// Runs a scenario of these calls on what is loaded.
pub(super) fn plays(installation: &Installation, play: &Play, calls: &[&str]) -> Seen {
    let head = "schema = 1\nname = \"row\"\nrobot = \"rover-sim\"\nboard = \"sim\"\n\
                    dataflow = \"rover-sim.yml\"\nseed = 7\nlimit_s = 120\ngoal = \"Do it.\"\n";
    let mut text = format!("{head}{}\nturn = [\n", play.happens);
    for call in calls {
        text.push_str(&format!("  {{ say = \"\", call = [ {call} ] }},\n"));
    }
    text.push_str("  { say = \"done\", call = [] },\n]\n[expect]\n[operator]\nname = \"ann\"\n");
    if !play.answers.is_empty() {
        text.push_str(&format!("answers = {}\n", play.answers));
    }
    let scenario = Scenario::parse("row.toml", &text).unwrap();
    seen(
        (installation, play.speaks.dialect(&installation.robot)),
        &scenario,
    )
}

fn seen((installation, dialect): (&Installation, Dialect), scenario: &Scenario) -> Seen {
    let folder = RunFolder::fresh().unwrap();
    let given = Given {
        installation,
        dialect,
        scenario,
        seed: scenario.seed,
        folder: &folder,
    };
    let ran = run(&given, Box::new(|_| ())).unwrap();
    Seen {
        summary: summarize(&given, &ran, 0).unwrap(),
        facts: ran.facts,
        journal: ran.journal,
    }
}

/// What came of a run.
pub(super) struct Seen {
    pub(super) summary: Summary,
    /// Each with its time, ms.
    pub(super) facts: Vec<(u64, Fact)>,
    pub(super) journal: Vec<JournalEntry>,
}

impl Seen {
    /// What became of each call of the model, with the reason of a refusal.
    pub(super) fn outcomes(&self) -> String {
        let calls = self
            .summary
            .calls
            .list
            .iter()
            .map(|call| match call.reason {
                Some(reason) => reason.to_string(),
                None => call.outcome.clone(),
            });
        calls.collect::<Vec<_>>().join(", ")
    }

    /// What the first call that was refused was told.
    pub(super) fn refusal(&self) -> String {
        self.first(|fact| {
            if let Fact::Refused { detail, .. } = fact {
                Some(detail.clone())
            } else {
                None
            }
        })
        .unwrap_or_default()
    }

    pub(super) fn first<T>(&self, pick: impl Fn(&Fact) -> Option<T>) -> Option<T> {
        self.facts.iter().find_map(|(_, fact)| pick(fact))
    }

    pub(super) fn count(&self, fits: impl Fn(&Fact) -> bool) -> usize {
        self.facts.iter().filter(|(_, fact)| fits(fact)).count()
    }

    /// When the first of these happened, ms.
    pub(super) fn when(&self, fits: impl Fn(&Fact) -> bool) -> u64 {
        let found = self.facts.iter().find(|(_, fact)| fits(fact));
        found.map_or(0, |(t_ms, _)| *t_ms)
    }

    /// The causes of the stops before the end of the node, in order.
    pub(super) fn stops(&self) -> String {
        let stops = self.summary.stops.iter().filter(|stop| !stop.ending);
        let causes = stops.map(|stop| stop.cause.as_str());
        causes.collect::<Vec<_>>().join(", ")
    }

    /// The run state in which the end of the node found the robot.
    pub(super) fn end_state(&self) -> String {
        let mut last = RunState::Boot;
        for (_, fact) in &self.facts {
            if let Fact::RunStateChanged { from, to, cause } = fact {
                if *cause == Some(StopCause::Shutdown) {
                    return from.to_string();
                }
                last = *to;
            }
        }
        last.to_string()
    }

    /// The verbs that reached the robot, each with its parameters and the code of its answer, but for
    /// signs of life and what the runtime asks at the beginning.
    pub(super) fn verbs(&self) -> Vec<String> {
        let verb = |entry: &JournalEntry| {
            let JournalEntry::Verb {
                verb, params, code, ..
            } = entry
            else {
                return None;
            };
            let verb = verb.strip_prefix("vendor.octos.rover.").unwrap_or(verb);
            let common = ["robot.heartbeat", "robot.get_capabilities"];
            // In the order of the names, whatever order the build keeps.
            let params: BTreeMap<&String, &Value> = params.iter().collect();
            let params = serde_json::to_string(&params).unwrap();
            (!common.contains(&verb)).then(|| format!("{verb} {params} {code}"))
        };
        self.journal.iter().filter_map(verb).collect()
    }

    /// The first verb that reached the robot and begins so.
    pub(super) fn verb(&self, begin: &str) -> String {
        let mut verbs = self.verbs().into_iter();
        verbs
            .find(|verb| verb.starts_with(begin))
            .unwrap_or_default()
    }

    /// What went wrong for the operator.
    pub(super) fn operator(&self) -> String {
        self.verdict("operator")
    }

    /// What was found for an expectation, and whether it was met.
    pub(super) fn verdict(&self, name: &str) -> String {
        let mut all = self.summary.expectations.iter();
        let found = all.find(|verdict| verdict.name == name);
        found.map_or("not judged".to_owned(), |verdict| {
            let met = if verdict.ok { "met" } else { "not met" };
            format!("{met}: {}", verdict.found)
        })
    }

    /// Where the robot ended, m.
    pub(super) fn end(&self) -> String {
        // Adding 0 turns -0 into 0.
        let [x, y] = self
            .summary
            .path
            .end
            .unwrap_or_default()
            .map(|m| (m * 10.0).round() / 10.0 + 0.0);
        format!("{x:.1}, {y:.1}")
    }
}

/// The text of a file before a row changes it.
fn shipped(file: &str) -> String {
    match file {
        POLICY => OPEN_POLICY.to_owned(),
        PLAY => SCENARIO.to_owned(),
        other => std::fs::read_to_string(root().join(other)).unwrap(),
    }
}

/// A file with those of the changes that are about it.
pub(super) fn table(file: &str, changes: &[Change]) -> toml::Table {
    let mut table = toml::from_str(&shipped(file)).unwrap();
    for (_, path, to) in changes.iter().filter(|(of, ..)| *of == file) {
        set(&mut table, path, to);
    }
    table
}

/// Reads a value as it stands in a row.
pub(super) fn value(text: &str) -> toml::Value {
    let mut table: toml::Table =
        toml::from_str(&format!("v = {text}")).unwrap_or_else(|error| panic!("{text}: {error}"));
    table.remove("v").unwrap()
}

/// Returns the value at a path, if it is there.
pub(super) fn at(table: &toml::Table, path: &str) -> Option<toml::Value> {
    let (way, last) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = parent(table, way);
    match parent.as_array() {
        Some(list) => list.get(element(list, last)).cloned(),
        None => parent.as_table()?.get(last).cloned(),
    }
}

fn set(table: &mut toml::Table, path: &str, to: &str) {
    let (way, last) = path.rsplit_once('/').unwrap_or(("", path));
    let mut root = toml::Value::Table(std::mem::take(table));
    match (step_along(&mut root, way), to) {
        (toml::Value::Array(list), "") => drop(list.remove(element(list, last))),
        (toml::Value::Array(list), to) => match element(list, last) {
            nth if nth == list.len() => list.push(value(to)),
            nth => list[nth] = value(to),
        },
        (other, "") => drop(other.as_table_mut().unwrap().remove(last).unwrap()),
        (other, to) => drop(
            other
                .as_table_mut()
                .unwrap()
                .insert(last.to_owned(), value(to)),
        ),
    }
    if let toml::Value::Table(whole) = root {
        *table = whole;
    }
}

fn parent(table: &toml::Table, way: &str) -> toml::Value {
    let mut root = toml::Value::Table(table.clone());
    step_along(&mut root, way).clone()
}

fn step_along<'v>(root: &'v mut toml::Value, way: &str) -> &'v mut toml::Value {
    let mut at = root;
    for step in way.split('/').filter(|step| !step.is_empty()) {
        let nth = at.as_array().map(|list| element(list, step));
        let next = match nth {
            Some(nth) => at.get_mut(nth),
            None => at.get_mut(step),
        };
        at = next.unwrap_or_else(|| panic!("no `{step}` in {way}"));
    }
    at
}

/// An element by its number, or by its name.
fn element(list: &[toml::Value], step: &str) -> usize {
    step.parse().unwrap_or_else(|_| {
        let named = |one: &toml::Value| one.get("name").and_then(toml::Value::as_str) == Some(step);
        list.iter()
            .position(named)
            .unwrap_or_else(|| panic!("no `{step}`"))
    })
}
