//! A whole agent on a real state folder with a black box of its own, under the virtual clock: what the
//! disk, the clock and the process itself may do to it.
//!
//! The black box is that of a node without its thread: it goes round once a step. [`Outside`] sees each
//! step of time, each fact and each act on a file before it is done, and may let the disk refuse it, or
//! kill the process there.

mod cut;
mod full;
mod killed;
mod mutated;
mod outside;
mod wall;

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use outside::{Outside, Trouble};

use super::ledger::Records;
use super::*;
use crate::app::control::{Answer, Speaker, Status, Word};
use crate::app::parts::replies;
use crate::app::state::{audit_folder, death, robot_folder};
use crate::config::Scenario;
use crate::model::Cue;
use crate::sim::{Dialect, Fate, FateRule, MockBridge, MockRobot, Vendor, VendorPlan, Way};
use crate::telemetry::{Stepped, Verification, verify_records};
use crate::terms::{Keeping, Output, RunState};

const ROBOT: &str = "rover-1";
/// The first verb of the stop sequence of the rover.
const STOP_VERB: &str = "vendor.octos.rover.stop";
/// Nothing that a test waits for takes longer, ms.
const PATIENCE_MS: u64 = 20_000;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn installation() -> Installation {
    Installation::load(&Settings::of_tests(&root()), "rover-sim", "sim").unwrap()
}

fn robot_id() -> RobotId {
    RobotId::parse(ROBOT).unwrap()
}

/// The folder of the robot in a state folder.
fn folder_of(state: &Path) -> PathBuf {
    robot_folder(state, &robot_id())
}

fn verified(state: &Path) -> Verification {
    verify_records(&audit_folder(&folder_of(state)), &[]).unwrap()
}

/// What a model says: each entry is one goal, a call and then its end.
fn script(calls: &[&str]) -> Vec<Cue> {
    let mut text = String::from(
        "schema = 1\nname = \"t\"\nrobot = \"rover-sim\"\nboard = \"sim\"\ndataflow = \"rover-sim.yml\"\nseed = 7\nlimit_s = 60\ngoal = \"x\"\n[operator]\nname = \"ann\"\n",
    );
    for call in calls {
        text.push_str(&format!(
            "[[turn]]\nsay = \"go\"\ncall = [ {call} ]\n[[turn]]\nsay = \"done\"\ncall = []\n"
        ));
    }
    text.push_str("[expect]\n");
    replies(&Scenario::parse("t.toml", &text).unwrap())
}

const DRIVE: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0 } }"#;
const HOLD: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.0 } }"#;
const LOOK: &str = r#"{ tool = "rover_get_pose", args = {} }"#;

/// The black box of the run.
#[derive(Debug)]
struct Kept {
    stepped: Stepped,
    outside: Arc<Outside>,
}

impl FactSink for Kept {
    fn raise(&self, fact: Fact) {
        if let Fact::RunStateChanged { to, .. } = fact {
            self.outside.seen().run = Some(to);
            self.outside.tell(&format!("run {to:?}"));
        }
        self.outside.happens(|| {
            let value = serde_json::to_value(&fact).unwrap();
            format!("fact {}", value["kind"])
        });
        self.stepped.raise(fact);
    }

    fn keep(&self) -> Keeping {
        self.stepped.keep()
    }
}

impl Records for Kept {
    fn round(&self) {
        self.stepped.round(/* closing */ false);
    }

    fn healthy(&self) -> bool {
        self.stepped.healthy()
    }
}

/// The simulated robot at the other end of the wire.
#[derive(Debug)]
struct Robot(MockBridge);

impl World for Robot {
    fn advance_to(&mut self, now: Mono) {
        self.0.advance_to(now);
    }

    fn wake(&mut self) {
        self.0.wake();
    }

    fn take_heard(&mut self) -> Vec<Heard> {
        self.0.take_heard()
    }
}

/// What a life is made of.
#[derive(Debug)]
struct Setup<'a> {
    installation: &'a Installation,
    state: &'a Path,
    outside: Arc<Outside>,
    script: Vec<Cue>,
    /// Whether what the robot says of its state is lost.
    mute: bool,
}

impl<'a> Setup<'a> {
    fn new(installation: &'a Installation, state: &'a Path, calls: &[&str]) -> Self {
        Self {
            installation,
            state,
            outside: Arc::default(),
            script: script(calls),
            mute: false,
        }
    }
}

/// A life on its way.
struct Rig {
    stage: Stage<Robot>,
    outside: Arc<Outside>,
    kept: Arc<Kept>,
    line: Arc<Mutex<Line>>,
}

/// What went over the wire.
#[derive(Debug, Default)]
struct Line {
    /// The verbs that left towards the robot, with their times, ms.
    sent: Vec<(u64, String)>,
    /// The ids of the last requests.
    ids: VecDeque<String>,
    /// What the robot said last of each kind.
    said: VecDeque<(Output, String)>,
    /// How many states arrived.
    states: u64,
    /// Whether answers are lost on the way.
    deaf: bool,
}

/// What is kept of the wire.
const LINE_KEPT: usize = 64;

/// Plays a life; when `play` returns it just ends, as a process does that is not asked.
fn on_stage<T>(setup: Setup<'_>, play: impl AsyncFnOnce(&mut Rig) -> T) -> T {
    let outside = Arc::clone(&setup.outside);
    outside.over_state();
    let played = runtime().unwrap().block_on(async {
        let mut rig = Rig::new(setup);
        play(&mut rig).await
    });
    death::watch(None);
    played
}

impl Rig {
    fn new(setup: Setup<'_>) -> Self {
        let clock = VirtualClock::default();
        let folder = StateFolder::open(setup.state, &robot_id()).unwrap();
        let audit = audit_folder(&folder_of(setup.state));
        std::fs::create_dir_all(&audit).unwrap();
        let outside = setup.outside;
        let kept = Arc::new(Kept {
            stepped: Stepped::begin(&audit, Arc::new(clock.clone()), outside.clone()).unwrap(),
            outside: outside.clone(),
        });
        let ledger = Arc::new(Ledger::beside(clock.clone(), kept.clone()));
        let line = Arc::new(Mutex::new(Line::default()));
        let robot = MockRobot::new(vendor(setup.installation), link(&clock, &line, setup.mute));
        let cast = Cast {
            installation: setup.installation,
            robot_id: robot_id(),
            folder,
            ids: Ids::seeded(7),
            tier: None,
            script: Some(setup.script),
            is_attended: true,
        };
        let stage = Stage::on(cast, (clock, ledger), |parts, rhythm| {
            Robot(MockBridge::new(parts, robot, rhythm))
        });
        Self {
            stage: stage.unwrap(),
            outside,
            kept,
            line,
        }
    }

    async fn step(&mut self) {
        self.outside.happens(|| "tick".to_owned());
        self.stage.step().await;
    }

    async fn run_ms(&mut self, ms: u64) {
        let end = self.stage.clock.now().plus_ms(ms);
        while self.stage.clock.now() < end {
            self.step().await;
        }
    }

    async fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let end = self.stage.clock.now().plus_ms(PATIENCE_MS);
        while !done(self) {
            assert!(
                self.stage.clock.now() < end,
                "never {what}: {:?}",
                self.status()
            );
            self.step().await;
        }
    }

    async fn enters(&mut self, run: RunState) {
        self.until(&run.to_string(), |rig| rig.run() == run).await;
    }

    /// Waits until orders are heard, as an operator does.
    async fn ready(&mut self) {
        self.until("ready", |rig| rig.status().ready).await;
    }

    /// Says a word and tells outside what was answered.
    fn say(&self, word: &Word) -> Answer {
        self.outside.tell(&format!("asked {}", word.as_str()));
        let answer = self.stage.control.carry_out(word, Speaker::Scenario);
        if let Answer::Done { text } = &answer {
            self.outside
                .tell(&format!("done {}: {text}", word.as_str()));
        }
        answer
    }

    /// Says a word that must be carried out.
    fn does(&self, word: &Word) -> String {
        let answer = self.say(word);
        let Answer::Done { text } = answer else {
            panic!("{word:?}: {answer:?}");
        };
        text
    }

    async fn arm(&mut self, why: &str) {
        self.ready().await;
        self.does(&arm(why));
    }

    fn status(&self) -> Status {
        let answer = self
            .stage
            .control
            .carry_out(&Word::Status, Speaker::Scenario);
        let Answer::Status(status) = answer else {
            panic!("{answer:?}");
        };
        *status
    }

    fn run(&self) -> RunState {
        self.stage.control.links.shared.run()
    }

    fn goal(&self) {
        self.does(&Word::Goal {
            who: "ann".to_owned(),
            text: "go on".to_owned(),
        });
    }

    /// Gives the next goal and waits until the robot moves; a goal that ends before is given again.
    async fn drive(&mut self) {
        self.until("the agent", |rig| !rig.status().goal.running)
            .await;
        self.goal();
        let end = self.stage.clock.now().plus_ms(PATIENCE_MS);
        let mut steps = 0_u32;
        while self.run() != RunState::Moving {
            let now = self.stage.clock.now();
            assert!(now < end, "never moves: {:?}", self.status());
            self.step().await;
            steps += 1;
            // Calls have a rate: not sooner than after a second.
            if steps.is_multiple_of(120) && !self.status().goal.running {
                self.goal();
            }
        }
    }

    /// Resets as often as it takes; a robot that is stopped for good is switched off and on before.
    async fn resets(&mut self, why: &str) {
        for _ in 0..5 {
            if let Answer::Done { .. } = self.say(&reset(why)) {
                return;
            }
            let fresh = vendor(&installation());
            self.stage.world().0.robot().restart(fresh);
            self.run_ms(500).await;
        }
        panic!("never reset: {:?}", self.status());
    }

    fn facts(&self) -> Vec<(u64, Fact)> {
        self.stage.ledger.facts()
    }

    fn count(&self, wanted: impl Fn(&Fact) -> bool) -> usize {
        self.facts().iter().filter(|(_, fact)| wanted(fact)).count()
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap()
    }

    fn sent(&self) -> Vec<(u64, String)> {
        self.line().sent.clone()
    }

    /// Ends in order, with all records on disk.
    async fn finish(&mut self) {
        self.stage.end(Some("ann")).await;
        self.stage.conclude(Exit::Done);
        self.kept.stepped.round(/* closing */ true);
    }
}

fn arm(why: &str) -> Word {
    Word::Arm {
        who: "ann".to_owned(),
        why: why.to_owned(),
        for_s: 600,
    }
}

fn stop(why: &str) -> Word {
    Word::Stop {
        who: "ann".to_owned(),
        why: why.to_owned(),
    }
}

fn estop(why: &str) -> Word {
    Word::Estop {
        who: "ann".to_owned(),
        why: why.to_owned(),
    }
}

fn reset(why: &str) -> Word {
    Word::Reset {
        who: "ann".to_owned(),
        why: why.to_owned(),
    }
}

fn disarm(why: &str) -> Word {
    Word::Disarm {
        who: "ann".to_owned(),
        why: why.to_owned(),
    }
}

fn vendor(installation: &Installation) -> Vendor {
    let plan = VendorPlan {
        robot_id: robot_id(),
        dialect: Dialect::of(&installation.robot).unwrap(),
        seed: 7,
        home: installation.robot.home(),
        pid: 1,
        wall_at_zero: VirtualClock::wall_at_zero(),
    };
    Vendor::new(plan, Mono::ZERO)
}

/// Notes what goes over the wire; what a mute robot says of its state is lost.
fn link(clock: &VirtualClock, line: &Arc<Mutex<Line>>, mute: bool) -> FateRule {
    let (clock, line) = (clock.clone(), Arc::clone(line));
    FateRule::new(move |way, text| {
        let mut line = line.lock().unwrap();
        let output = match way {
            Way::FromRobot(output) => output,
            Way::ToRobot => {
                let request: serde_json::Value = serde_json::from_str(text).unwrap();
                let word = |key: &str| request[key].as_str().unwrap().to_owned();
                line.sent.push((clock.now().as_ms(), word("verb")));
                line.ids.push_back(word("request_id"));
                if line.ids.len() > LINE_KEPT {
                    line.ids.pop_front();
                }
                return Fate::Arrives;
            }
        };
        if output == Output::State && mute {
            return Fate::Lost;
        }
        let lost = output == Output::CmdResponse && line.deaf;
        line.states += u64::from(output == Output::State);
        line.said.push_back((output, text.to_owned()));
        if line.said.len() > LINE_KEPT {
            line.said.pop_front();
        }
        if lost { Fate::Lost } else { Fate::Arrives }
    })
}
