//! One life of the process under test, and the folder that its lives share.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::child::{Plan, STRIKE, STRIKE_ONCE, TEST, WORD};
use crate::app::control::{Answer, Client, Status, Word};
use crate::app::state::{StateFiles, audit_folder, robot_folder};
use crate::telemetry::{read_records, verify_records};
use crate::terms::{Fact, RobotId, StopCause};

/// Looks for something that must come, 10 ms each: a guard against a hang, a minute on an idle machine.
const LOOKS_MAX: u32 = 6_000;
const LOOK: Duration = Duration::from_millis(10);
/// How long the robot of the session speaks, ms: longer than any of these tests.
const SESSION_MS: u32 = 120_000;
/// Its states come so often, ms.
const STATE_MS: u32 = 50;

/// Looks until something is there.
fn wait<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..LOOKS_MAX {
        if let Some(found) = look() {
            return found;
        }
        thread::park_timeout(LOOK);
    }
    panic!("{what} did not come");
}

/// The files of a robot over several lives.
pub(super) struct House {
    dir: tempfile::TempDir,
    robot: PathBuf,
}

impl House {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test writes a file of its own"
    )]
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("inputs.json"), session().to_string()).unwrap();
        let id = RobotId::parse("rover-sim-001").unwrap();
        let robot = robot_folder(&dir.path().join("state"), &id);
        Self { dir, robot }
    }

    /// The cause of the latch on disk.
    pub(super) fn latched(&self) -> Option<StopCause> {
        StateFiles::seen(self.robot.clone()).latched()
    }

    /// Whether the marker of an armed robot lies there.
    pub(super) fn marked(&self) -> bool {
        StateFiles::seen(self.robot.clone()).unclean()
    }

    /// Waits until the black box holds such a fact, in whole chains.
    pub(super) fn wait_on_disk(&self, wanted: impl Fn(&Fact) -> bool) {
        let audit = audit_folder(&self.robot);
        wait("the record", || {
            let records = read_records(&audit).ok()?;
            records.iter().any(|one| wanted(&one.fact)).then_some(())
        });
        let found = verify_records(&audit, &[]).unwrap();
        assert!(found.ok, "{:#?}", found.faults);
    }
}

/// One process.
pub(super) struct Life {
    process: Child,
    socket: PathBuf,
    plan: Plan,
    log: String,
}

impl Life {
    /// Starts a life in which `thread` breaks when it is struck.
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts its own binary again"
    )]
    pub(super) fn begun(house: &House, thread: &str) -> Self {
        let nth = std::fs::read_dir(house.dir.path()).unwrap().count();
        let plan = Plan {
            dir: house.dir.path().to_owned(),
            outputs: format!("outputs-{nth}.jsonl"),
            thread: thread.to_owned(),
        };
        let process = Command::new(std::env::current_exe().unwrap())
            .args([TEST, "--exact", "--nocapture", "--test-threads=1"])
            .env(WORD, serde_json::to_string(&plan).unwrap())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Self {
            process: process.unwrap(),
            socket: house.robot.join("control.sock"),
            plan,
            log: String::new(),
        }
    }

    /// As [`Life::begun`], and waits until the robot could be armed.
    pub(super) fn ready(house: &House, thread: &str) -> Self {
        let mut life = Self::begun(house, thread);
        life.wait_for(|status| status.ready && status.arming_blocked_by.is_empty());
        life
    }

    /// Waits until the node says so of itself.
    pub(super) fn wait_for(&mut self, wanted: impl Fn(&Status) -> bool) -> Status {
        let process = self.process.id();
        wait("the state", || {
            // A socket that an earlier life left has nobody behind it.
            let mut client = Client::connect(&self.socket).ok()?;
            let Answer::Status(status) = client.ask(&Word::Status).ok()? else {
                panic!("a status is answered with one");
            };
            (status.pid == process && wanted(&status)).then_some(*status)
        })
    }

    pub(super) fn ask(&self, word: &Word) -> Answer {
        Client::connect(&self.socket).unwrap().ask(word).unwrap()
    }

    /// Breaks the thread at its next look at the clock, and at every one after it.
    pub(super) fn strike(&mut self) {
        self.say(STRIKE);
    }

    /// Breaks the thread at its next look at the clock, and mends it.
    pub(super) fn strike_once(&mut self) {
        self.say(STRIKE_ONCE);
    }

    fn say(&mut self, word: &str) {
        let stdin = self.process.stdin.as_mut().unwrap();
        stdin.write_all(format!("{word}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
        wait("the blow", || self.plan.heard().exists().then_some(()));
    }

    /// Waits for the end of the process; returns its code.
    pub(super) fn code(&mut self) -> Option<i32> {
        let end = wait("the end", || {
            // Some look at the clock only when somebody comes to the door.
            drop(Client::connect(&self.socket));
            self.process.try_wait().unwrap()
        });
        self.process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut self.log)
            .unwrap();
        end.code()
    }

    /// What it wrote to its log.
    pub(super) fn log(&self) -> &str {
        &self.log
    }

    /// How many of its threads have this name.
    pub(super) fn threads_called(&self, name: &str) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.process.id())).unwrap();
        let names = tasks.filter_map(|task| {
            let comm = std::fs::read(task.ok()?.path().join("comm")).ok()?;
            String::from_utf8(comm).ok()
        });
        names.filter(|comm| comm.trim_end() == name).count()
    }

    /// The verbs that it sent.
    pub(super) fn sent(&self) -> Vec<String> {
        let outputs = self.plan.dir.join(&self.plan.outputs);
        let text = std::fs::read(outputs).unwrap_or_default();
        let text = String::from_utf8(text).unwrap();
        let sent = text.lines().filter_map(|line| {
            let output: Value = serde_json::from_str(line).ok()?;
            let request: Value = serde_json::from_str(find_text(&output)?).ok()?;
            Some(request["verb"].as_str()?.to_owned())
        });
        sent.collect()
    }

    /// How many of them move the robot.
    pub(super) fn motions(&self) -> usize {
        let sent = self.sent();
        let moves = |verb: &&String| verb.ends_with("go_to_pose") || verb.ends_with("set_velocity");
        sent.iter().filter(moves).count()
    }

    /// Waits until it sent a verb of this end.
    pub(super) fn wait_sent(&self, end: &str) {
        wait("the verb", || {
            self.sent()
                .iter()
                .any(|verb| verb.ends_with(end))
                .then_some(())
        });
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // It may have ended: what counts is that it is gone.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The payload of an output: one text, alone or in a list.
fn find_text(output: &Value) -> Option<&str> {
    let data = &output["data"];
    data.as_str().or_else(|| data.get(0)?.as_str())
}

/// What the robot says: its advert, then its states, at rest.
fn session() -> Value {
    let input = |id: &str, at_ms: u32, body: &Value| {
        json!({
            "type": "Input", "id": id, "time_offset_secs": f64::from(at_ms) / 1000.0,
            "data": [body.to_string()], "data_type": "Utf8",
        })
    };
    let advert = json!({
        "robot_id": "rover-sim-001", "vendor": "octos", "model": "rover", "pid": 42,
        "heartbeat_timeout_ms": 1000, "commands": [], "streams": ["state"],
        "ts": "2026-01-01T00:00:00.000Z",
    });
    let mut events = vec![input("capabilities", 0, &advert)];
    for seq in 1..=SESSION_MS / STATE_MS {
        let state = json!({
            "robot_id": "rover-sim-001", "seq": seq, "pose": { "position": [0.0, 0.0, 0.0] },
            "speed": 0.0, "nav_status": "idle", "estopped": false, "controller_holder": null,
        });
        events.push(input("state", seq * STATE_MS, &state));
    }
    json!({ "id": "octos_edge", "events": events })
}
