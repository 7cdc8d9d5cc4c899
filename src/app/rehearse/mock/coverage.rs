//! Case 58: every cause of a stop and every reason of a refusal is reached by a scripted run in this
//! process, or stands in a list that says who will bring it.
//!
//! The lists shrink: a cause or reason that a run reaches must not stand in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::tests::{copied, installation, root, run, settings};
use super::{Given, RunFolder};
use crate::app::load::Installation;
use crate::app::state::robot_folder;
use crate::config::{PolicyFile, Scenario, ScriptedCall, ScriptedTurn};
use crate::sim::Dialect;
use crate::terms::{Fact, Reason, RobotId, StopCause};

/// Causes that nothing in this release asks for, with the room that will.
const CAUSES_TO_COME: [(StopCause, &str); 2] = [
    (StopCause::FleetStop, "fleet"),
    (StopCause::EstopInput, "board: pins"),
];

/// Causes that only a node with threads and a disk can meet, with the test that reaches each.
const CAUSES_OF_A_NODE: [(StopCause, &str, &str); 2] = [
    (
        StopCause::HeartbeatFault,
        include_str!("../../../safety/tests/causes.rs"),
        "a_sending_thread_that_is_stuck_is_a_stop_without_heartbeats",
    ),
    (
        StopCause::Blackbox,
        include_str!("../../../safety/tests/causes.rs"),
        "case_41_a_full_queue_of_safety_events_latches",
    ),
];

/// Reasons that nothing in this release gives, with the room that will.
const REASONS_TO_COME: [(Reason, &str); 3] = [
    (
        Reason::InternalOnly,
        "tools that answer only to other tools",
    ),
    (Reason::TagGate, "policy: tags"),
    (Reason::ContextGate, "policy: contexts"),
];

/// What is different about an installation, or about the disk that a run begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Home {
    /// The shipped files, an empty state folder.
    Shipped,
    /// The last life ended while armed.
    Unclean,
    /// A latch file that nobody can read.
    BadLatch,
    /// The ceiling is below what the rover drives: its file says less than it does.
    TooFast,
    /// Tools above `safe_motion` are permitted, and each call of them needs a person.
    Full,
    /// The policy denies driving to a point.
    Denied,
    /// The ceiling is full_actuation, and a person answers: no.
    Attended,
}

/// One scripted run.
struct Script {
    home: Home,
    /// Events and faults, as in a scenario file.
    happens: &'static str,
    /// Calls of the model: a reply each, or several in one reply.
    says: &'static [&'static str],
}

const ARM: &str =
    r#"event = [ { when = "ready", operator = { do = "arm", why = "coverage", for_s = 30 } } ]"#;
const GO: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0 } }"#;
const NEAR: &str = r#"{ tool = "rover_go_to_pose", args = { x = 0.02, y = 0.0 } }"#;
const WHERE: &str = r#"{ tool = "rover_get_pose", args = {} }"#;
const VELOCITY: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.2, angular = 0.0 } }"#;
const STOP: &str = r#"{ tool = "rover_stop", args = {} }"#;
const GRIP: &str = r#"{ tool = "rover_gripper_set", args = { opening = 0.05, force = 10.0 } }"#;

impl Script {
    fn scenario(&self) -> Scenario {
        let mut text = String::from(
            "schema = 1\nname = \"coverage\"\nrobot = \"rover-sim\"\nboard = \"sim\"\n\
             dataflow = \"rover-sim.yml\"\nseed = 7\nlimit_s = 30\ngoal = \"Reach it.\"\n",
        );
        text.push_str(self.happens);
        text.push_str("\nturn = [\n");
        for call in self.says {
            text.push_str(&format!("  {{ say = \"\", call = [ {call} ] }},\n"));
        }
        text.push_str("  { say = \"done\", call = [] },\n]\n");
        text.push_str("[operator]\nname = \"ann\"\n");
        if self.home == Home::Attended {
            text.push_str("answers = [\"deny\"]\n");
        }
        text.push_str("[expect]\n");
        Scenario::parse("coverage.toml", &text).unwrap()
    }

    fn facts(&self) -> Vec<Fact> {
        let dir = copied();
        self.home.furnish(dir.path());
        let mut installation = installation(dir.path());
        if self.home == Home::Denied {
            let text = "schema = 1\n[policy]\ndeny = [\"rover_go_to_pose\"]\n";
            installation.policy = Some(PolicyFile::parse("octos-edge.toml", text).unwrap());
        }
        let folder = RunFolder::open(&settings(&root())).unwrap();
        self.home.leave_behind(folder.path());
        let scenario = self.scenario();
        let given = Given {
            installation: &installation,
            scenario: &scenario,
            dialect: self.home.dialect(&installation),
            seed: 7,
            folder: &folder,
        };
        let ran = super::run(&given, Box::new(|_| ())).unwrap();
        ran.facts.into_iter().map(|(_, fact)| fact).collect()
    }
}

impl Home {
    /// A robot that is faster than its file says does not speak as its file does.
    fn dialect(self, installation: &Installation) -> Dialect {
        if self == Self::TooFast {
            Dialect::rover()
        } else {
            Dialect::of(&installation.robot).unwrap()
        }
    }

    #[expect(clippy::disallowed_methods, reason = "the test edits files of its own")]
    fn furnish(self, dir: &Path) {
        let edits: &[(&str, &str, &str)] = match self {
            Self::Shipped | Self::Unclean | Self::BadLatch | Self::Denied => &[],
            Self::TooFast => &[
                ("tiers/robots/rover-sim.toml", "mps = 0.25", "mps = 0.1"),
                (
                    "tiers/safe_motion.toml",
                    "linear_speed_mps = 0.25",
                    "linear_speed_mps = 0.1",
                ),
                (
                    "tiers/robots/rover-sim.toml",
                    "{ linear = 0.2, angular = 0.0 }, { linear = -0.1",
                    "{ linear = 0.1, angular = 0.0 }, { linear = -0.1",
                ),
            ],
            Self::Full | Self::Attended => &[(
                "tiers/robots/rover-sim.toml",
                "max_tier = \"safe_motion\"",
                "max_tier = \"full_actuation\"",
            )],
        };
        for (file, old, new) in edits {
            let path = dir.join(file);
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(text.contains(old), "{file}: {old}");
            std::fs::write(&path, text.replace(old, new)).unwrap();
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the test leaves files as an earlier life would"
    )]
    fn leave_behind(self, state: &Path) {
        let (name, text) = match self {
            Self::Unclean => ("armed.json", "{}"),
            Self::BadLatch => ("latch.json", "{"),
            Self::Shipped | Self::TooFast | Self::Full | Self::Attended | Self::Denied => return,
        };
        let robot = robot_folder(state, &RobotId::parse("rover-sim-001").unwrap());
        std::fs::create_dir_all(&robot).unwrap();
        std::fs::write(robot.join(name), text).unwrap();
    }
}

fn shipped(happens: &'static str, says: &'static [&'static str]) -> Script {
    Script {
        home: Home::Shipped,
        happens,
        says,
    }
}

fn at_home(home: Home, says: &'static [&'static str]) -> Script {
    Script {
        home,
        happens: ARM,
        says,
    }
}

/// A fault on the way of a drive, beside the arming.
macro_rules! on_the_way {
    ($fault:literal) => {
        concat!(
            r#"event = [ { when = "ready", operator = { do = "arm", why = "coverage", for_s = 30 } } ]"#,
            "\nfault = [ { when = { moved_m = 0.2 }, ",
            $fault,
            " } ]"
        )
    };
}

/// A script for every cause that a run in this process can meet.
fn for_causes() -> Vec<(StopCause, Script)> {
    use StopCause as C;
    vec![
        (C::Deadline, shipped(ARM, &[VELOCITY])),
        (C::ModelStop, shipped(ARM, &[STOP])),
        (
            C::OperatorStop,
            shipped(
                r#"event = [ { when = "ready", operator = { do = "stop", why = "coverage" } } ]"#,
                &[],
            ),
        ),
        (C::Shutdown, shipped("", &[])),
        (
            C::LeaseLost,
            shipped(on_the_way!(r#"do = "frozen_agent", for_ms = 3000"#), &[GO]),
        ),
        (
            C::StaleState,
            shipped(
                on_the_way!(r#"do = "lose_states", per_mille = 1000"#),
                &[GO],
            ),
        ),
        (
            C::Workspace,
            shipped(on_the_way!(r#"do = "drift", x = 5.0, y = 0.0"#), &[GO]),
        ),
        (C::Overspeed, at_home(Home::TooFast, &[GO])),
        (
            C::BridgeLost,
            shipped(on_the_way!(r#"do = "dead_robot""#), &[GO]),
        ),
        (
            C::BoardFault,
            shipped(
                on_the_way!(r#"do = "frozen_process", for_ms = 3000"#),
                &[GO],
            ),
        ),
        (C::UncleanEnd, at_home(Home::Unclean, &[])),
        (
            C::InternalFault,
            Script {
                home: Home::BadLatch,
                happens: "",
                says: &[],
            },
        ),
        (
            C::VendorEvent,
            shipped(on_the_way!(r#"do = "foreign_controller""#), &[GO]),
        ),
    ]
}

/// A script for every reason that a run in this process can give.
fn for_reasons() -> Vec<(Reason, Script)> {
    use Reason as R;
    vec![
        (
            R::UnknownTool,
            shipped("", &[r#"{ tool = "rover_fly", args = {} }"#]),
        ),
        (R::PolicyDeny, at_home(Home::Denied, &[GO])),
        (R::RobotTierGate, shipped(ARM, &[GRIP])),
        (
            R::Schema,
            shipped(
                ARM,
                &[r#"{ tool = "rover_go_to_pose", args = { x = "near" } }"#],
            ),
        ),
        (
            R::Limit,
            shipped(
                ARM,
                &[r#"{ tool = "rover_set_velocity", args = { linear = 99.0, angular = 0.0 } }"#],
            ),
        ),
        (R::ApprovalDenied, at_home(Home::Attended, &[GRIP])),
        (R::ApprovalUnavailable, at_home(Home::Full, &[GRIP])),
        (
            R::Interlock,
            shipped(
                on_the_way!(r#"do = "lost_graph_ticks", for_ms = 60000"#),
                &[GO, NEAR],
            ),
        ),
        (
            R::EstopLatched,
            shipped(
                r#"event = [ { when = "ready", operator = { do = "estop", why = "coverage" } } ]"#,
                &[GO],
            ),
        ),
        (
            R::BridgeDown,
            shipped(on_the_way!(r#"do = "dead_robot""#), &[GO, WHERE]),
        ),
        (R::NotArmed, shipped("", &[GO])),
        // The read is answered so late that the state is old by then; the robot stands meanwhile.
        (
            R::StaleState,
            shipped(
                r#"event = [ { when = "ready", operator = { do = "arm", why = "coverage", for_s = 30 } } ]
                   fault = [ { when = "ready", do = "late_answers", by_ms = 2000 },
                             { when = "ready", do = "lose_states", per_mille = 1000 } ]"#,
                &[WHERE, GO],
            ),
        ),
        (
            R::Workspace,
            shipped(
                ARM,
                &[r#"{ tool = "rover_go_to_pose", args = { x = 9.0, y = 0.0 } }"#],
            ),
        ),
        (R::Rate, shipped(ARM, &[NEAR, NEAR, NEAR, NEAR])),
        // The stop is listed last and done first: the motion was asked for before it.
        (
            R::Busy,
            shipped(
                ARM,
                &[
                    r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0 } }, { tool = "rover_stop", args = {} }"#,
                ],
            ),
        ),
    ]
}

/// A robot that somebody else takes over is stopped in the very tick that would begin a motion: the
/// command waits in the queue then. The reads before it choose the tick.
fn overtaken(reads: usize) -> Vec<Fact> {
    let happens = r#"event = [ { when = "ready", operator = { do = "arm", why = "coverage", for_s = 30 } } ]
        fault = [ { when = { after_ms = 0 }, do = "foreign_controller" } ]"#;
    let mut script = shipped(happens, &[]).scenario();
    let turn = |tool: &str, args: serde_json::Value| ScriptedTurn {
        sees: Vec::new(),
        say: String::new(),
        calls: vec![ScriptedCall {
            tool: tool.to_owned(),
            args: args.as_object().unwrap().clone(),
        }],
    };
    let read = turn("rover_get_pose", serde_json::json!({}));
    let go = turn(
        "rover_go_to_pose",
        serde_json::json!({ "x": 1.5, "y": 0.0 }),
    );
    script
        .turns
        .splice(0..0, std::iter::repeat_n(read, reads).chain([go]));
    run(&script, 7)
        .1
        .facts
        .into_iter()
        .map(|(_, fact)| fact)
        .collect()
}

fn causes_in(facts: &[Fact]) -> BTreeSet<StopCause> {
    let mut causes = BTreeSet::new();
    for fact in facts {
        if let Fact::StopBegun { cause, .. } | Fact::StopAsked { cause, .. } = fact {
            causes.insert(*cause);
        }
        if let Fact::RunStateChanged { cause, .. } = fact {
            causes.extend(*cause);
        }
    }
    causes
}

fn reasons_in(facts: &[Fact]) -> BTreeSet<Reason> {
    let mut reasons = BTreeSet::new();
    for fact in facts {
        if let Fact::Refused { reason, .. } = fact {
            reasons.insert(*reason);
        }
    }
    reasons
}

#[test]
fn case_58_every_cause_of_a_stop_is_reached_by_a_scripted_run_or_its_room_is_named() {
    let mut reached = BTreeSet::new();
    for (cause, script) in for_causes() {
        let found = causes_in(&script.facts());
        assert!(found.contains(&cause), "{cause}: only {found:?}");
        reached.extend(found);
    }
    let mut known: BTreeMap<StopCause, &str> = CAUSES_TO_COME.into_iter().collect();
    for (cause, file, test) in CAUSES_OF_A_NODE {
        assert!(file.contains(&format!("fn {test}()")), "{test} is gone");
        known.insert(cause, test);
    }
    for cause in StopCause::ALL {
        let listed = known.get(&cause);
        assert!(
            reached.contains(&cause) != listed.is_some(),
            "{cause}: reached {}, listed as {listed:?}",
            reached.contains(&cause)
        );
    }
}

#[test]
fn case_58_every_reason_of_a_refusal_is_reached_by_a_scripted_run_or_its_room_is_named() {
    let mut reached = BTreeSet::new();
    for (reason, script) in for_reasons() {
        let found = reasons_in(&script.facts());
        assert!(found.contains(&reason), "{reason}: only {found:?}");
        reached.extend(found);
    }
    let kept_back = |reads: &usize| reasons_in(&overtaken(*reads)).contains(&Reason::LeaseExpired);
    let reads = (0..20).find(kept_back);
    assert!(reads.is_some(), "no command was overtaken by a stop");
    reached.insert(Reason::LeaseExpired);
    let known: BTreeMap<Reason, &str> = REASONS_TO_COME.into_iter().collect();
    for reason in Reason::ALL {
        let listed = known.get(&reason);
        assert!(
            reached.contains(&reason) != listed.is_some(),
            "{reason}: reached {}, listed as {listed:?}",
            reached.contains(&reason)
        );
    }
}
