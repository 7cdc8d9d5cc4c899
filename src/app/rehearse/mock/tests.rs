//! Whole scenarios in this process. Times are virtual and exact.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;
use crate::config::{Fault, FaultAct, Loss};
use crate::terms::{ApprovalOutcome, Fact, Reason, StopCause, Tier, WireEvent};

pub(super) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub(super) fn settings(root: &Path) -> Settings {
    Settings::of_tests(root)
}

fn scenario(name: &str) -> Scenario {
    let file = format!("dataflows/scenarios/{name}.toml");
    Scenario::load(&root().join(file)).unwrap()
}

pub(super) fn installation(root: &Path) -> Installation {
    Installation::load(&settings(root), "rover-sim", "sim").unwrap()
}

/// Runs a scenario on an installation; `prepare` may do something before time begins.
fn run_on(
    installation: &Installation,
    (scenario, seed): (&Scenario, u64),
    prepare: impl FnOnce(&Stage),
) -> (Summary, Ran) {
    let folder = RunFolder::open(&settings(&root())).unwrap();
    let given = Given {
        installation,
        dialect: Dialect::of(&installation.robot).unwrap(),
        scenario,
        seed,
        folder: &folder,
    };
    let ran = runtime().unwrap().block_on(async {
        let stage = Stage::new(&given, Box::new(|_| ())).unwrap();
        prepare(&stage);
        stage.run().await.unwrap()
    });
    (summarize(&given, &ran, 0).unwrap(), ran)
}

pub(super) fn run(scenario: &Scenario, seed: u64) -> (Summary, Ran) {
    run_on(&installation(&root()), (scenario, seed), |_| ())
}

/// Runs one drive to the mark with this fault on the way.
fn with_fault(act: FaultAct) -> (Summary, Ran) {
    let mut scenario = scenario("rover-faults-drift");
    scenario.expect = crate::config::Expect {
        at_rest: Some(true),
        ..crate::config::Expect::default()
    };
    let given: Vec<Fault> = std::mem::take(&mut scenario.faults);
    scenario.faults = given
        .into_iter()
        .map(|fault| Fault {
            act: act.clone(),
            ..fault
        })
        .collect();
    run(&scenario, 7)
}

fn causes(ran: &Ran) -> BTreeSet<StopCause> {
    let mut causes = BTreeSet::new();
    for (_, fact) in &ran.facts {
        if let Fact::StopBegun { cause, .. } | Fact::StopAsked { cause, .. } = fact
            && *cause != StopCause::Shutdown
        {
            causes.insert(*cause);
        }
    }
    causes
}

fn count(ran: &Ran, wanted: impl Fn(&Fact) -> bool) -> usize {
    ran.facts.iter().filter(|(_, fact)| wanted(fact)).count()
}

#[test]
fn case_57_the_same_seed_gives_the_same_trace_on_ten_runs_and_another_seed_another() {
    let scenario = scenario("rover-gate");
    let traces: BTreeSet<String> = (0..10).map(|_| run(&scenario, 7).1.trace).collect();
    assert_eq!(traces.len(), 1, "{traces:?}");
    assert!(!traces.contains(&run(&scenario, 8).1.trace));
}

#[test]
fn case_57_faults_by_chance_are_the_same_for_the_same_seed() {
    let act = FaultAct::LoseAnswers {
        loss: Loss::PerMille(300),
    };
    let (one, two) = (with_fault(act.clone()).1, with_fault(act).1);
    assert_eq!(one.trace, two.trace);
    assert!(one.faults[0].messages > 0);
}

#[test]
fn every_shipped_scenario_meets_its_expectations_in_this_process() {
    let names = crate::config::toml_stems(&root().join("dataflows/scenarios"));
    assert!(names.len() >= 6, "{names:?}");
    for name in names {
        let scenario = scenario(&name);
        let (summary, _) = run(&scenario, scenario.seed);
        assert!(summary.ok, "{}", summary.to_text());
        assert!(summary.to_text().contains(&summary.trace.unwrap()));
    }
}

#[test]
fn case_04_the_refusal_above_the_tier_counts_once_and_the_list_only_its_gauge() {
    let (summary, ran) = run(&scenario("rover-gate"), 7);
    let line = r#"denial_total{reason="robot_tier_gate",tier="full_actuation"} 1"#;
    let lines = summary.metrics.iter().filter(|have| have.ends_with(line));
    assert_eq!(lines.count(), 2, "{:?}", summary.metrics);
    assert_eq!(count(&ran, |f| matches!(f, Fact::Refused { .. })), 1);
    assert!(count(&ran, |f| matches!(f, Fact::ToolsHidden { .. })) > 0);
}

#[test]
fn case_02_without_tier_files_nothing_begins() {
    let empty = tempfile::tempdir().unwrap();
    let result = rehearse(&settings(empty.path()), (scenario("rover-gate"), 7), |_| ());
    let Err(AppError::Config(faults)) = result else {
        panic!("{result:?}");
    };
    assert!(faults.to_string().contains("safe_motion.toml"), "{faults}");
}

#[test]
fn case_62_three_lost_stop_messages_are_said_again_and_the_record_says_what_was_lost() {
    let (summary, ran) = run(&scenario("rover-faults-lost-stops"), 7);
    assert!(summary.ok, "{}", summary.to_text());
    let first_step = "vendor.octos.rover.stop";
    for number in 1..=4 {
        let said = |f: &Fact| matches!(f, Fact::StopVerb { verb, nth } if verb == first_step && *nth == number);
        assert!(count(&ran, said) >= 1, "{number}");
    }
    let first_answer = ran.facts.iter().position(
        |(_, f)| matches!(f, Fact::StopAnswered { verb, ok: true } if verb == first_step),
    );
    let fourth = ran
        .facts
        .iter()
        .position(|(_, f)| matches!(f, Fact::StopVerb { verb, nth: 4 } if verb == first_step));
    assert!(first_answer.unwrap() > fourth.unwrap());
    assert_eq!(ran.faults[0].messages, 3);
    assert_eq!(
        (ran.faults[0].what, summary.faults.len()),
        ("lose_requests", 1)
    );
}

#[test]
fn every_fault_leaves_the_robot_at_rest_and_has_its_cause() {
    use FaultAct as F;
    use StopCause as C;
    let all = Loss::PerMille(1000);
    let table: [(F, &[C]); 10] = [
        // Without heartbeats the robot's own dead-man stops it, and says so.
        (
            F::LoseRequests {
                verb: None,
                loss: all,
            },
            &[C::VendorEvent],
        ),
        (
            F::LoseStates { loss: all },
            &[C::StaleState, C::VendorEvent],
        ),
        // The robot's states say what the answers do not: it arrives.
        (F::LoseAnswers { loss: all }, &[]),
        (F::LateAnswers { by_ms: 5000 }, &[]),
        (F::WrongIds { count: 1000 }, &[]),
        (F::FrozenRobot { for_ms: 3000 }, &[C::StaleState]),
        (F::FrozenAgent { for_ms: 3000 }, &[C::LeaseLost]),
        (
            F::FrozenProcess { for_ms: 3000 },
            &[C::LeaseLost, C::BoardFault, C::VendorEvent],
        ),
        (F::LostGraphTicks { for_ms: 60_000 }, &[]),
        (F::ForeignController, &[C::VendorEvent]),
    ];
    for (act, expected) in table {
        let (summary, ran) = with_fault(act.clone());
        let expected: BTreeSet<C> = expected.iter().copied().collect();
        assert!(summary.ok, "{act:?}\n{}", summary.to_text());
        assert!(
            causes(&ran).is_superset(&expected) && causes(&ran).is_empty() == expected.is_empty(),
            "{act:?}: {:?}",
            causes(&ran)
        );
    }
}

#[test]
fn answers_of_nobody_are_counted_and_change_nothing() {
    let (_, ran) = with_fault(FaultAct::WrongIds { count: 1000 });
    let ignored = |f: &Fact| {
        matches!(f, Fact::InputIgnored { fault, .. }
            if *fault == crate::terms::InputFault::UnknownResponse)
    };
    assert_eq!(
        count(&ran, ignored),
        usize::try_from(ran.faults[0].messages).unwrap()
    );
}

#[test]
fn a_frozen_process_sends_no_motion_after_the_thaw() {
    let (_, ran) = with_fault(FaultAct::FrozenProcess { for_ms: 3000 });
    let began = ran.faults[0].t_ms;
    let sent = |(t_ms, f): &&(u64, Fact)| {
        *t_ms > began && matches!(f, Fact::CommandSent { moves: true, .. } | Fact::Heartbeat)
    };
    assert_eq!(ran.facts.iter().filter(sent).count(), 0);
    let dead_man = |e: &JournalEntry| matches!(e, JournalEntry::DeadMan { .. });
    assert!(ran.journal.iter().any(dead_man));
}

#[test]
fn case_67_arming_is_refused_while_somebody_else_holds_control() {
    let mut scenario = scenario("rover-faults-drift");
    scenario.faults[0].act = FaultAct::ForeignController;
    scenario.faults[0].when = crate::config::When::Ready;
    let (summary, ran) = run(&scenario, 7);
    assert!(!summary.ok);
    let refused = |f: &Fact| {
        matches!(f, Fact::OrderRefused { order, failed, .. }
            if order == "arm" && failed.iter().any(|why| why.contains("somebody else")))
    };
    assert_eq!(count(&ran, refused), 1);
    assert_eq!(summary.motions_at_robot, 0);
}

#[test]
fn an_expectation_that_is_not_met_and_a_fault_that_never_came_are_named() {
    let mut scenario = scenario("rover-faults-drift");
    scenario.faults[0].when = crate::config::When::Once(crate::config::Condition::MovedM(500.0));
    let (summary, _) = run(&scenario, 7);
    assert!(!summary.ok);
    let failed = summary.expectations.iter().filter(|verdict| !verdict.ok);
    let failed: Vec<&str> = failed.map(|verdict| verdict.name).collect();
    assert!(
        failed.contains(&"faults") && failed.contains(&"stops"),
        "{failed:?}"
    );
}

#[test]
fn a_run_beyond_its_limit_ends_at_rest_and_has_failed() {
    let mut scenario = scenario("rover-gate");
    scenario.limit_s = 2;
    let (summary, _) = run(&scenario, 7);
    let operator = summary.expectations.iter().find(|v| v.name == "operator");
    assert!(operator.unwrap().found.contains("limit_s"), "{operator:?}");
    assert!(summary.total_ms < 4000);
}

#[test]
fn case_20_a_person_is_asked_for_each_call_and_only_a_yes_in_time_moves_the_gripper() {
    let mut installation = installation(&root());
    installation.robot.max_tier = Tier::FullActuation;
    let text = r#"
        schema = 1
        name = "asked"
        robot = "rover-sim"
        board = "sim"
        dataflow = "rover-sim.yml"
        seed = 7
        limit_s = 300
        goal = "Open the gripper, three times."
        [operator]
        name = "ann"
        answers = ["approve", "deny", "silent"]
        [[event]]
        when = "ready"
        operator = { do = "arm", why = "a test", for_s = 300 }
        [[turn]]
        say = "Open."
        call = [ { tool = "rover_gripper_set", args = { opening = 0.05, force = 10.0 } } ]
        [[turn]]
        say = "Drive on."
        call = [ { tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.0 } } ]
        [[turn]]
        say = "Open wider."
        call = [ { tool = "rover_gripper_set", args = { opening = 0.06, force = 10.0 } } ]
        [[turn]]
        say = "Drive on."
        call = [ { tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.0 } } ]
        [[turn]]
        say = "Open wide."
        call = [ { tool = "rover_gripper_set", args = { opening = 0.07, force = 10.0 } } ]
        [[turn]]
        say = "Done."
        call = []
        [expect]
        refused = [ { tool = "rover_gripper_set", reason = "approval_denied", times = 2 } ]
        end_state = "armed"
    "#;
    let scenario = Scenario::parse("asked.toml", text).unwrap();
    let (summary, ran) = run_on(&installation, (&scenario, 7), |_| ());
    assert!(summary.ok, "{}", summary.to_text());
    let ended = |wanted: ApprovalOutcome| {
        count(
            &ran,
            |f| matches!(f, Fact::ApprovalEnded { outcome, .. } if *outcome == wanted),
        )
    };
    assert_eq!(count(&ran, |f| matches!(f, Fact::ApprovalAsked { .. })), 3);
    assert_eq!(ended(ApprovalOutcome::Granted), 1);
    assert_eq!(ended(ApprovalOutcome::Denied), 1);
    assert_eq!(ended(ApprovalOutcome::Expired), 1);
    let opened = ran.journal.iter().filter(
        |entry| matches!(entry, JournalEntry::Verb { verb, .. } if verb.ends_with("gripper_set")),
    );
    assert_eq!(opened.count(), 1, "only the call that was approved left");

    let alone = Scenario {
        answers: Vec::new(),
        ..scenario
    };
    let (_, ran) = run_on(&installation, (&alone, 7), |_| ());
    let unavailable = |f: &Fact| matches!(f, Fact::Refused { reason, .. } if *reason == Reason::ApprovalUnavailable);
    assert_eq!(count(&ran, unavailable), 3, "nobody is there: no at once");
    assert_eq!(count(&ran, |f| matches!(f, Fact::ApprovalAsked { .. })), 0);
}

/// The installation in a folder of its own, to be edited.
pub(super) fn copied() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for folder in ["tiers", "tiers/robots", "boards"] {
        std::fs::create_dir(dir.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let from = entry.unwrap().path();
            if from.is_file() {
                let to = dir.path().join(folder).join(from.file_name().unwrap());
                std::fs::copy(&from, to).unwrap();
            }
        }
    }
    dir
}

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the test edits a file of its own"
)]
fn case_69_an_edited_limit_counts_after_a_restart_and_before_it_only_asks_for_one() {
    let dir = copied();
    let loaded = installation(dir.path());
    let rover = dir.path().join("tiers/robots/rover-sim.toml");
    let text = std::fs::read_to_string(&rover).unwrap();
    let edited = text
        .replace(
            "min = -0.2, max = 0.5, max_step = 0.3",
            "min = -0.2, max = 0.1, max_step = 0.3",
        )
        .replace(
            "allow  = [ { linear = 0.2, angular = 0.0 }",
            "allow  = [ { linear = 0.1, angular = 0.0 }",
        );
    assert_ne!(text, edited);
    let scenario = scenario("rover-gate");
    let limit = |f: &Fact| {
        matches!(f, Fact::Refused { tool, reason, .. }
            if tool == "rover_set_velocity" && *reason == crate::terms::Reason::Limit)
    };
    let restart = |f: &Fact| matches!(f, Fact::RestartRequired { .. });

    let (_, untouched) = run_on(&loaded, (&scenario, 7), |stage| {
        stage.inject(WireEvent::Reload)
    });
    assert_eq!(count(&untouched, restart), 0);

    std::fs::write(&rover, &edited).unwrap();
    let (summary, running) = run_on(&loaded, (&scenario, 7), |stage| {
        stage.inject(WireEvent::Reload);
    });
    assert!(summary.ok, "the old limit stands: {}", summary.to_text());
    let named = |f: &Fact| {
        matches!(f, Fact::RestartRequired { files }
            if matches!(files.as_slice(), [file] if file.ends_with("rover-sim.toml")))
    };
    assert_eq!((count(&running, named), count(&running, limit)), (1, 0));

    let (_, restarted) = run_on(&installation(dir.path()), (&scenario, 7), |_| ());
    assert_eq!(
        (count(&restarted, restart), count(&restarted, limit)),
        (0, 1)
    );
}
