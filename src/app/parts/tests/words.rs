//! What an operator's word does before anything else, and what the record holds of it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

use crate::app::clock::SystemClock;
use crate::app::control::{Answer, Speaker, Word};
use crate::app::parts::*;
use crate::app::settings::{Settings, SettingsRequest};
use crate::app::state::StateFolder;
use crate::robot::Parts;
use crate::telemetry::LogFormat;
#[cfg(feature = "dora")]
use crate::terms::FactClass;
use crate::terms::{Keeping, RunState, StopCause, StopKind};

#[derive(Debug, Default)]
pub(super) struct Facts(pub(super) Mutex<Vec<Fact>>, AtomicBool);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }

    fn keep(&self) -> Keeping {
        if self.1.load(Ordering::SeqCst) {
            Keeping::asked().0
        } else {
            Keeping::without_disk()
        }
    }
}

impl Facts {
    /// The stops that were asked for and the orders that were done, in their order.
    fn words(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let facts = self.0.lock().unwrap();
        let words = facts.iter().filter_map(|fact| {
            if let Fact::StopAsked { what, by, .. } = fact {
                return Some((format!("ask {what}"), by.clone(), None));
            }
            let Fact::OrderDone {
                order, who, why, ..
            } = fact
            else {
                return None;
            };
            Some((order.clone(), Some(who.clone()), Some(why.clone())))
        });
        words.collect()
    }
}

/// Nobody else runs here, so there is nothing to wait for.
#[derive(Debug)]
struct Nobody;

impl Wait for Nobody {
    fn for_tick(&self) {}
    fn for_disk(&self) {}
}

/// An agent of which nothing runs yet.
pub(super) struct World {
    pub(super) desk: OperatorDesk,
    pub(super) facts: Arc<Facts>,
    pub(super) parts: Parts,
    pub(super) folder: StateFolder,
    pub(super) dir: tempfile::TempDir,
    end: Receiver<End>,
    pub(super) runtime: tokio::runtime::Runtime,
}

fn settings() -> Settings {
    Settings::resolve(SettingsRequest {
        tiers: None,
        boards: None,
        config: None,
        origins: Default::default(),
        state: None,
        metrics: None,
        log_format: LogFormat::Text,
        quiet: true,
    })
    .unwrap()
}

pub(super) fn world() -> World {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    world_on(runtime.unwrap())
}

pub(super) fn world_on(runtime: tokio::runtime::Runtime) -> World {
    let installation = Installation::load(&settings(), "rover-sim", "sim").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let robot_id = RobotId::parse("rover-1").unwrap();
    let folder = StateFolder::open(dir.path(), &robot_id).unwrap();
    let facts = Arc::new(Facts::default());
    let (sink, clock): (Arc<dyn FactSink>, Arc<dyn Clock>) =
        (facts.clone(), Arc::new(SystemClock::start()));
    let mind = Mind::of(&installation, None);
    let spine = Arc::new(AtomicU64::new(0));
    let parts: Parts = begin(
        &installation,
        Life {
            robot_id,
            ids: Ids::seeded(1),
            boot: Boot {
                unclean: false,
                latched: None,
            },
            restarts: 0,
            tier: mind.tier(),
            clock: clock.clone(),
            sink: sink.clone(),
            spine: spine.clone(),
        },
    );
    let (sender, end) = sync_channel(ENDS_MAX);
    let scribe_clock = clock.clone();
    let awake = mind.wake(Wake {
        bridge: parts.bridge.clone(),
        links: parts.links.clone(),
        clock,
        sink: sink.clone(),
        progress: spine,
        is_attended: true,
        script: None,
        runtime: runtime.handle().clone(),
        end: sender.clone(),
    });
    let awake = awake.unwrap();
    let desk = OperatorDesk {
        bridge: parts.bridge.clone(),
        orders: parts.orders.clone(),
        desk: Desk::new(folder.files().clone(), parts.links.clone(), sink.clone()),
        links: parts.links.clone(),
        spine: awake.handle,
        has_model: awake.has_model,
        scribe: Scribe::new(scribe_clock, sink.clone()),
        sink,
        robot_id: "rover-1".to_owned(),
        tier: awake.tier,
        approvals: awake.approvals,
        elevations: awake.elevations,
        metrics: None,
        loaded: installation.files.clone(),
        end: sender,
        #[cfg(feature = "dora")]
        ended: EndWatch::default(),
        wait: Arc::new(Nobody),
    };
    World {
        desk,
        facts,
        parts,
        folder,
        dir,
        end,
        runtime,
    }
}

fn last_stop(world: &World) -> Option<StopKind> {
    let Answer::Status(status) = world.desk.carry_out(&Word::Status, Speaker::Scenario) else {
        panic!("no status");
    };
    status.last_stop
}

#[test]
fn the_record_holds_who_asked_for_a_stop_and_why_behind_the_stop() {
    let world = world();
    assert_eq!(last_stop(&world), None);
    let (who, why) = (String::from("ann"), String::from("smoke"));
    let stop = Word::Stop {
        who: who.clone(),
        why: why.clone(),
    };
    let estop = Word::Estop {
        who: who.clone(),
        why: why.clone(),
    };
    world.desk.carry_out(&stop, Speaker::Scenario);
    assert_eq!(last_stop(&world), Some(StopKind::Stop));
    world.desk.carry_out(&estop, Speaker::Scenario);
    assert_eq!(last_stop(&world), Some(StopKind::Estop));
    let asked = |what: &str| (format!("ask {what}"), Some(who.clone()), None);
    let told = |what: &str| (what.to_owned(), Some(who.clone()), Some(why.clone()));
    let expected = [asked("stop"), told("stop"), asked("estop"), told("estop")];
    assert_eq!(world.facts.words(), expected);
}

/// Says a word and returns the answer's text, with a disk that keeps records and with one that does not.
fn answers(say: impl Fn(&World) -> Answer) -> [String; 2] {
    [false, true].map(|loses| {
        let world = world();
        world.facts.1.store(loses, Ordering::SeqCst);
        // The latch itself is on disk.
        world
            .desk
            .desk
            .follow(RunState::Latched, std::time::SystemTime::UNIX_EPOCH);
        let answer = say(&world);
        let Answer::Done { text } = answer else {
            panic!("{answer:?}");
        };
        text
    })
}

#[test]
fn case_50_latched_and_reset_are_answered_once_their_records_are_on_disk_or_say_that_they_are_not()
{
    let who = || "ann".to_owned();
    let why = || "smoke".to_owned();
    let latched = answers(|world| {
        let word = Word::Estop {
            who: who(),
            why: why(),
        };
        world.desk.carry_out(&word, Speaker::Scenario)
    });
    assert!(latched[0].starts_with("latched and on disk"), "{latched:?}");
    assert!(
        latched[1].contains("the disk has not confirmed"),
        "{latched:?}"
    );
    let reset = answers(|world| {
        let word = Word::Reset {
            who: who(),
            why: why(),
        };
        world.desk.told(&word, Ok(()), Speaker::Scenario)
    });
    assert!(!reset[0].contains("disk"), "{reset:?}");
    assert!(reset[1].contains("the disk has not confirmed"), "{reset:?}");
}

#[cfg(feature = "dora")]
#[test]
fn dropped_safety_facts_latch_and_dropped_audit_facts_stop_what_moves() {
    let world = world();
    let word = || world.desk.links.latch.word();
    for class in [FactClass::Audit, FactClass::Trace] {
        world.desk.desk.note_dropped(class);
        assert_eq!(word().cause, None, "nothing moves");
    }
    world.desk.desk.note_dropped(FactClass::Safety);
    assert!(word().estop);
    assert_eq!(word().cause, Some(StopCause::Blackbox));
}

#[cfg(feature = "dora")]
#[test]
fn a_stop_at_once_waits_for_no_disk_and_is_recorded_as_any_other() {
    let world = world();
    let estop = Word::Estop {
        who: "ann".to_owned(),
        why: "smoke".to_owned(),
    };
    let told = world.desk.stop_at_once(&estop, Speaker::Scenario);
    assert!(matches!(told, Answer::Done { .. }), "{told:?}");
    assert!(world.desk.links.latch.word().estop);
    assert_eq!(world.facts.words().len(), 2);
}

#[test]
fn an_end_stops_the_robot_before_the_thread_that_ends_the_node_hears_of_it() {
    let world = world();
    // Its channel is full: whoever carries the end out is busy with something else.
    for _ in 0..ENDS_MAX {
        world.desk.end.send(End::Broken("a test")).unwrap();
    }
    world
        .desk
        .carry_out(&Word::End { who: "ann".into() }, Speaker::Scenario);
    let word = world.desk.links.latch.word();
    assert!(word.stop && !word.estop);
    assert_eq!(word.cause, Some(StopCause::Shutdown));
    assert_eq!(
        world.facts.words(),
        [
            ("ask stop".to_owned(), Some("ann".to_owned()), None),
            (
                "end".to_owned(),
                Some("ann".to_owned()),
                Some(String::new())
            ),
        ]
    );
    drop(world.end);
}

/// A process that descends from the runtime.
const CHILD: Speaker = Speaker::Process {
    pid: 4711,
    uid: 1000,
    is_child: true,
};

#[cfg(feature = "dora")]
#[test]
fn case_66_a_flood_of_refused_words_latches_nothing_and_the_stop_behind_it_passes() {
    use crate::app::control::Control;
    use crate::telemetry::{Metrics, Recorder, RecorderPlan, RobotLabels, read_records};

    let dir = tempfile::tempdir().unwrap();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let recorder = Recorder::start(RecorderPlan {
        dir: dir.path().to_owned(),
        bytes_max: 256 * 1024 * 1024,
        clock: clock.clone(),
        metrics: Arc::new(Metrics::new(RobotLabels::default()).unwrap()),
    })
    .unwrap();
    let mut world = world();
    let sink = recorder.sink();
    world.desk.scribe = Scribe::new(clock, Arc::new(sink.clone()));
    let arm = Word::Arm {
        who: "eve".to_owned(),
        why: "x".to_owned(),
        for_s: 30,
    };
    for _ in 0..10_000 {
        Control::refused(&world.desk, &arm, "a child may only stop", CHILD);
    }
    let word = world.desk.links.latch.word();
    assert!(!word.stop && !word.estop, "nothing is stopped by it");
    for class in [FactClass::Safety, FactClass::Audit] {
        assert_eq!(sink.dropped(class), 0, "{class:?}");
    }
    let stop = Word::Stop {
        who: "ann".to_owned(),
        why: "smoke".to_owned(),
    };
    let told = Control::carry_out(&world.desk, &stop, CHILD);
    assert!(matches!(told, Answer::Done { .. }), "{told:?}");
    assert!(world.desk.links.latch.word().stop);
    world.desk.scribe.close();
    recorder.finish().unwrap();
    let (mut one_by_one, mut counted) = (0, 0);
    for record in read_records(dir.path()).unwrap() {
        if let Fact::OrderRefused { .. } = record.fact {
            one_by_one += 1;
        } else if let Fact::WordsCounted { refused, .. } = record.fact {
            counted += refused;
        } else {
            // The stop, if a second has passed since the last word.
            assert!(matches!(record.fact, Fact::OrderDone { .. }), "{record:?}");
            continue;
        }
        assert_eq!(record.class, FactClass::Audit);
    }
    assert_eq!(one_by_one + counted, 10_000);
    assert!(one_by_one < 64, "{one_by_one}");
}

#[test]
fn an_answer_to_a_question_that_never_was_is_recorded_as_unknown_and_not_without_end() {
    let world = world();
    for n in 0..1_000 {
        let word = Word::Approve {
            who: "eve".to_owned(),
            why: "x".to_owned(),
            request: format!("{n}-abcdef"),
        };
        let told = world.desk.carry_out(&word, CHILD);
        assert!(matches!(told, Answer::Refused { .. }), "{told:?}");
    }
    let facts = world.facts.0.lock().unwrap();
    let unknown = |fact: &&Fact| {
        matches!(fact, Fact::ApprovalEnded { outcome, .. }
            if *outcome == crate::terms::ApprovalOutcome::Unknown)
    };
    let recorded = facts.iter().filter(unknown).count();
    assert!((8..64).contains(&recorded), "{recorded}");
}

#[test]
fn a_goal_is_answered_with_its_place_and_a_stop_says_which_goals_end_with_it() {
    let mut world = world();
    world.desk.has_model = true;
    let goal = |text: &str| {
        let word = Word::Goal {
            who: "ann".to_owned(),
            text: text.to_owned(),
        };
        let answer = world.desk.carry_out(&word, Speaker::Scenario);
        let Answer::Done { text } = answer else {
            panic!("{answer:?}");
        };
        text
    };
    // The loop does not run yet, so none has begun.
    assert_eq!(goal("go"), "goal 1 is under way");
    assert_eq!(goal("then there"), "goal 2 waits: 1 more waits before it");
    assert_eq!(goal("then home"), "goal 3 waits: 2 more wait before it");
    let stop = Word::Stop {
        who: "ann".to_owned(),
        why: "smoke".to_owned(),
    };
    let Answer::Done { text } = world.desk.carry_out(&stop, Speaker::Scenario) else {
        panic!("no answer");
    };
    assert!(
        text.ends_with("; 3 goals that waited end with it"),
        "{text}"
    );
}

#[cfg(feature = "dora")]
#[test]
fn an_end_is_answered_once_rest_is_known() {
    use crate::app::control::Control;

    let world = world();
    let ended = world.desk.ended.clone();
    let seen = crate::app::parts::EndSeen {
        at_rest: true,
        code: 0,
    };
    ended.tell(seen);
    let word = Word::End {
        who: "ann".to_owned(),
    };
    let told = Control::carry_out(&world.desk, &word, Speaker::Scenario);
    let expected = Answer::Ending {
        pid: std::process::id(),
        at_rest: Some(true),
        code: Some(0),
    };
    assert_eq!(told, expected);
    assert!(world.desk.links.latch.word().stop, "the stop comes first");
}
