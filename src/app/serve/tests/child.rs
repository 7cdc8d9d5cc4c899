//! The other process: a whole node with its threads, on a dataflow that is a file, whose clock breaks one
//! of them on a word of the test.
//!
//! It is this test binary, started again for one test; without the test's word that test does nothing.

use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::thread;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::{Entry, Node, NodeParts};
use crate::app::clock::SystemClock;
use crate::app::load::Installation;
use crate::app::requests::NodeRequest;
use crate::app::settings::Settings;
use crate::app::start_log;
use crate::app::state::StateFolder;
use crate::model::Cue;
use crate::node::attach_to_session;
use crate::terms::{Call, Clock, LaneReply, Mono, RobotId};

/// The variable that holds the test's word.
pub(super) const WORD: &str = "CASE_50_CHILD";
/// The test that is the other process.
pub(super) const TEST: &str = "app::serve::tests::child::the_process_that_breaks";
/// What the test writes to break the thread, and to break it once.
pub(super) const STRIKE: &str = "strike";
pub(super) const STRIKE_ONCE: &str = "strike once";

/// What the other process is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Plan {
    /// Where its state, its session and its outputs lie.
    pub(super) dir: PathBuf,
    /// The file of its outputs.
    pub(super) outputs: String,
    /// The name of the thread that breaks; empty: none.
    pub(super) thread: String,
}

impl Plan {
    /// The file that says that the word to break was heard.
    pub(super) fn heard(&self) -> PathBuf {
        self.dir.join(format!("{}.heard", self.outputs))
    }
}

/// How the clock is.
const WHOLE: u8 = 0;
const BREAKS_ONCE: u8 = 1;
const BROKEN: u8 = 2;

/// The clock of the machine, until a thread is struck: it panics in that thread.
#[derive(Debug)]
struct Brittle {
    clock: SystemClock,
    thread: String,
    struck: Arc<AtomicU8>,
}

impl Brittle {
    fn may_break(&self) {
        if thread::current().name() != Some(self.thread.as_str()) {
            return;
        }
        let once =
            self.struck
                .compare_exchange(BREAKS_ONCE, WHOLE, Ordering::SeqCst, Ordering::SeqCst);
        assert!(once == Err(WHOLE), "struck by the test");
    }
}

impl Clock for Brittle {
    fn now(&self) -> Mono {
        self.may_break();
        self.clock.now()
    }

    fn wall(&self) -> SystemTime {
        self.may_break();
        self.clock.wall()
    }
}

/// Threads that read no clock. Another thread of their name panics in their place: what ends the process
/// goes by the name, and the test sees that the node has a thread of that name.
const WITHOUT_CLOCK: [&str; 2] = ["supervisor", "signals"];

/// Listens for the word of the test, on a thread of its own; a file says that it was heard.
#[expect(
    clippy::disallowed_methods,
    reason = "the test waits for a file of its own"
)]
fn listen(plan: Plan, struck: Arc<AtomicU8>) {
    let listens = thread::Builder::new().name("test".to_owned());
    let listening = listens.spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let how = match line.unwrap_or_default().as_str() {
                STRIKE => BROKEN,
                STRIKE_ONCE => BREAKS_ONCE,
                _ => continue,
            };
            struck.store(how, Ordering::SeqCst);
            std::fs::write(plan.heard(), "").unwrap();
            if WITHOUT_CLOCK.contains(&plan.thread.as_str()) {
                let twin = thread::Builder::new().name(plan.thread.clone());
                drop(twin.spawn(|| panic!("struck by the test")).unwrap());
            }
        }
    });
    drop(listening.unwrap());
}

/// The model drives to a point, then asks where the robot is; the robot of the session never says that it
/// goes, and never answers.
fn script() -> Vec<Cue> {
    let drives = Call {
        id: "call".to_owned(),
        tool: "rover_go_to_pose".to_owned(),
        args: json!({ "x": 1.0, "y": 0.0 }),
    };
    let asks = Call {
        id: "next".to_owned(),
        tool: "rover_get_pose".to_owned(),
        args: json!({}),
    };
    let reply = LaneReply {
        text: String::new(),
        calls: vec![drives, asks],
    };
    let drive = Cue {
        sees: Vec::new(),
        reply,
    };
    vec![drive, Cue::default()]
}

#[test]
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "this is a process of its own: it is told by its environment, and its code is looked at"
)]
fn the_process_that_breaks() {
    let Ok(word) = std::env::var(WORD) else {
        return;
    };
    let plan: Plan = serde_json::from_str(&word).unwrap();
    let settings = Settings::of_tests(Path::new(env!("CARGO_MANIFEST_DIR")));
    let robot_id = RobotId::parse("rover-sim-001").unwrap();
    let request = NodeRequest {
        robot: "rover-sim".to_owned(),
        board: "sim".to_owned(),
        robot_id: Some(robot_id.clone()),
        tier: None,
        model: None,
    };
    let struck = Arc::new(AtomicU8::new(WHOLE));
    let clock = Brittle {
        clock: SystemClock::start(),
        thread: plan.thread.clone(),
        struck: struck.clone(),
    };
    let attached =
        attach_to_session(&plan.dir.join("inputs.json"), &plan.dir.join(&plan.outputs)).unwrap();
    let node = Node::start(NodeParts {
        installation: Installation::load(&settings, &request.robot, &request.board).unwrap(),
        request: &request,
        folder: StateFolder::open(&plan.dir.join("state"), &robot_id).unwrap(),
        robot_id,
        restarts: 0,
        tick_every: None,
        clock: Arc::new(clock),
    });
    let serving = node.unwrap().begin(Entry {
        attached,
        script: Some(script()),
        log: start_log(&settings).unwrap(),
        listener: None,
    });
    let serving = serving.unwrap();
    listen(plan, struck);
    let exit = serving.until_the_end();
    std::process::exit(i32::from(exit.code()));
}
