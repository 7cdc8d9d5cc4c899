//! The hand of a test that plays the operator, step by step, on an agent whose drive to a point is above
//! its ceiling.

use std::path::Path;

use super::tests::{copied, installation, root, settings};
use super::{Given, RunFolder, Stage, runtime};
use crate::app::control::{Answer, ElevationStatus, Speaker, Word};
use crate::app::parts::Held;
use crate::config::Scenario;
use crate::sim::Dialect;
use crate::terms::{ElevationEnd, Fact, Reason, RunState, Tier};

/// Steps after which a wait has failed: five virtual minutes.
const STEPS_MAX: u32 = 30_000;

/// Replaces the one place of a text in a file of the installation.
#[expect(clippy::disallowed_methods, reason = "the test edits files of its own")]
fn edit(dir: &Path, file: &str, old: &str, new: &str) {
    let path = dir.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.matches(old).count(), 1, "{file}: {old}");
    std::fs::write(path, text.replace(old, new)).unwrap();
}

/// Which calls of the tier above the ceiling ask a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    Nobody,
    Everybody,
}

/// The hand of a test on an agent whose drive to a point is above its ceiling.
pub(super) struct Hand {
    pub(super) stage: Stage,
    /// Facts that were seen.
    pub(super) seen: usize,
}

/// Lets a test play the operator of a model that says these replies; an empty one ends its goal.
pub(super) fn play(asks: Asks, replies: &[&str], test: impl AsyncFnOnce(&mut Hand)) {
    let dir = copied();
    let tier =
        "tier = \"safe_motion\"               # tests of the gate also try \"full_actuation\"";
    let robot = "tiers/robots/rover-sim.toml";
    edit(dir.path(), robot, tier, "tier = \"full_actuation\"");
    if asks == Asks::Nobody {
        let file = "tiers/full_actuation.toml";
        let rule = "{ mode = \"per_call\", ttl_s = 60 }";
        edit(dir.path(), file, rule, "{ mode = \"never\" }");
    }
    let mut text = String::from(
        "schema = 1\nname = \"played\"\nrobot = \"rover-sim\"\nboard = \"sim\"\n\
         dataflow = \"rover-sim.yml\"\nseed = 7\nlimit_s = 300\ngoal = \"Do it.\"\n\
         [operator]\nname = \"ann\"\nanswers = [\"approve\"]\n",
    );
    for calls in replies {
        text.push_str(&format!("[[turn]]\nsay = \"So.\"\ncall = [ {calls} ]\n"));
    }
    text.push_str("[expect]\n");
    let scenario = Scenario::parse("played.toml", &text).unwrap();
    let installation = installation(dir.path());
    let folder = RunFolder::open(&settings(&root())).unwrap();
    let given = Given {
        installation: &installation,
        dialect: Dialect::of(&installation.robot).unwrap(),
        scenario: &scenario,
        seed: 7,
        folder: &folder,
    };
    runtime().unwrap().block_on(async {
        let stage = Stage::new(&given, Box::new(|_| ())).unwrap();
        let mut hand = Hand { stage, seen: 0 };
        hand.until("an advert", |f| matches!(f, Fact::Advert { .. }))
            .await;
        hand.rest_ms(200).await;
        test(&mut hand).await;
    });
}

impl Hand {
    /// Lets a step of time pass; a person says yes to whatever is asked.
    pub(super) async fn step(&mut self) {
        self.stage.inner.step().await;
        for asked in self.stage.inner.control.approvals.pending() {
            self.say(&Word::Approve {
                who: "ann".to_owned(),
                why: "looked".to_owned(),
                request: asked.request,
            });
        }
    }

    pub(super) async fn rest_ms(&mut self, ms: u64) {
        for _ in 0..ms / 10 {
            self.step().await;
        }
    }

    /// Goes on to the next fact that fits.
    pub(super) async fn until(&mut self, what: &str, fits: impl Fn(&Fact) -> bool) -> Fact {
        for _ in 0..STEPS_MAX {
            let facts = self.facts();
            let new = facts.iter().enumerate().skip(self.seen);
            if let Some((at, fact)) = new.clone().find(|(_, fact)| fits(fact)) {
                self.seen = at + 1;
                return fact.clone();
            }
            self.step().await;
        }
        panic!("never: {what}; {:#?}", self.facts());
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        let facts = self.stage.inner.ledger.facts();
        facts.into_iter().map(|(_, fact)| fact).collect()
    }

    pub(super) fn say(&self, word: &Word) -> Answer {
        self.stage.inner.control.carry_out(word, Speaker::Scenario)
    }

    pub(super) fn arm(&self) {
        let answer = self.say(&Word::Arm {
            who: "ann".to_owned(),
            why: "a test".to_owned(),
            for_s: 3_600,
        });
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
    }

    pub(super) fn elevate(&self, tools: &[&str], calls: u32, for_s: u32) -> Result<Held, Answer> {
        let word = Word::Elevate {
            who: "ann".to_owned(),
            why: "a test".to_owned(),
            tier: Tier::FullActuation,
            tools: tools.iter().map(|name| (*name).to_owned()).collect(),
            calls,
            for_s,
        };
        self.stage.inner.control.elevate(&word, Speaker::Scenario)
    }

    pub(super) fn goal(&self) {
        self.stage
            .inner
            .control
            .spine
            .goal("Do it.", ("ann", None))
            .unwrap();
    }

    pub(super) async fn goal_ended(&mut self) {
        self.until("the end of the goal", |f| {
            matches!(f, Fact::GoalEnded { .. })
        })
        .await;
    }

    /// Gives a goal whose one call must be refused because of its tier.
    pub(super) async fn refused_by_the_tier(&mut self) {
        self.goal();
        let refused = self.until("a refusal", |f| matches!(f, Fact::Refused { .. }));
        let refused = refused.await;
        assert!(is_gate(&refused), "{refused:?}");
        self.goal_ended().await;
    }

    pub(super) fn live(&self) -> Vec<ElevationStatus> {
        let Answer::Status(status) = self.say(&Word::Status) else {
            panic!("no status");
        };
        status.elevations
    }

    pub(super) fn run(&self) -> RunState {
        self.stage.inner.control.links.shared.run()
    }

    /// How many commands moved the robot.
    pub(super) fn motions(&self) -> usize {
        let moves = |f: &&Fact| matches!(f, Fact::CommandSent { moves: true, .. });
        self.facts().iter().filter(moves).count()
    }

    /// Tools above the ceiling that the view does not show, as the gauge has it.
    pub(super) fn hidden(&self) -> Option<u32> {
        let facts = self.facts();
        facts.iter().rev().find_map(|fact| {
            let Fact::ToolsHidden { tier, count, .. } = fact else {
                return None;
            };
            (*tier == Some(Tier::FullActuation)).then_some(*count)
        })
    }

    /// The ends that were told.
    pub(super) fn ends(&self) -> Vec<(ElevationEnd, u32)> {
        let facts = self.facts();
        let ends = facts.iter().filter_map(|fact| {
            let Fact::ElevationEnded { cause, left, .. } = fact else {
                return None;
            };
            Some((*cause, *left))
        });
        ends.collect()
    }
}

/// Whether a call was refused because of its tier.
pub(super) fn is_gate(fact: &Fact) -> bool {
    matches!(fact, Fact::Refused { reason, .. } if *reason == Reason::RobotTierGate)
}
