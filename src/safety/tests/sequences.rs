//! The stop sequence: verbs, answers, rest, and the heartbeats and the release around them.

use super::bench::{Bench, Left, plan};
use crate::safety::{AnswerClass, CallEnd, FailedChecks, Order};
use crate::terms::{CommandKind, RunState, SafetyEventKind, StopCause, StopKind};

#[test]
fn case_29_rest_that_is_not_confirmed_escalates_to_the_last_step_and_latches() {
    let mut bench = Bench::moving();
    bench.robot.obeys_step = 9;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    let begun = bench.ms();
    bench.run_until(1_000, |b| b.run() == RunState::Latched);
    assert!((begun + 500..=begun + 520).contains(&bench.ms()));
    assert!(bench.happened(|k| matches!(k, SafetyEventKind::NotConfirmed { .. })));
    // The last step every 50 ms for ten seconds, then each second, for as long as it takes.
    bench.left.clear();
    bench.run_ms(10_000);
    let quick = bench.verbs();
    assert!(quick.iter().all(|(_, step, _)| *step == 1));
    assert!((195..=201).contains(&quick.len()), "{}", quick.len());
    bench.left.clear();
    bench.run_ms(20_000);
    assert!((19..=21).contains(&bench.verbs().len()));
    assert!(bench.order(Order::Reset).has(FailedChecks::STOPPING));
    bench.robot.moving = false;
    bench.run_ms(2_000);
    bench.left.clear();
    bench.run_ms(3_000);
    assert!(bench.verbs().is_empty(), "answered and at rest");
    assert_eq!(bench.run(), RunState::Latched);
    assert!(bench.order(Order::Reset).is_none());
    assert_eq!(bench.run(), RunState::Disarmed);
}

#[test]
fn case_62_a_verb_that_gets_lost_is_repeated_until_it_is_answered() {
    let mut bench = Bench::moving();
    bench.robot.loses = 3;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Armed);
    let verbs = bench.verbs();
    let first = verbs[0].0;
    let expected: Vec<_> = (0..4u16)
        .map(|n| (first + 50 * u64::from(n), 0, n + 1))
        .collect();
    assert_eq!(verbs, expected);
}

#[test]
fn without_an_answer_two_states_at_rest_confirm_and_one_does_not() {
    let mut bench = Bench::moving();
    bench.robot.answers = false;
    bench.robot.speaks = false;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.tick();
    bench.say_state();
    bench.tick();
    bench.tick();
    assert_eq!(bench.run(), RunState::Stopping);
    bench.say_state();
    bench.run_ms(30);
    assert_eq!(bench.run(), RunState::Armed);
}

#[test]
fn states_from_before_the_first_verb_confirm_nothing() {
    let mut bench = Bench::armed();
    bench.run_ms(500);
    bench.robot.speaks = false;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Stopping);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Latched);
}

#[test]
fn case_25_parameters_that_are_refused_are_left_out_the_second_time() {
    let mut bench = Bench::moving();
    bench.robot.class = AnswerClass::InvalidParams;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Armed);
    let empties: Vec<bool> = bench
        .left
        .iter()
        .filter_map(|(_, l)| match l {
            Left::Verb { empty, .. } => Some(*empty),
            Left::Beat | Left::Release | Left::Command { .. } => None,
        })
        .collect();
    assert_eq!(empties, [false, true]);
}

#[test]
fn a_refused_step_gives_way_to_the_next_at_once() {
    let mut bench = Bench::moving();
    bench.robot.class = AnswerClass::Refused;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(50);
    let steps: Vec<u8> = bench.verbs().iter().map(|(_, step, _)| *step).collect();
    assert_eq!(steps, [0, 1]);
}

#[test]
fn a_step_without_rest_gives_way_to_the_next_after_its_time() {
    let mut bench = Bench::moving();
    bench.robot.obeys_step = 1;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Armed);
    let verbs = bench.verbs();
    assert_eq!(verbs.len(), 2, "{verbs:?}");
    assert_eq!(verbs[1].0 - verbs[0].0, 200);
}

#[test]
fn heartbeats_go_on_in_an_orderly_stop_until_control_is_released() {
    let mut bench = Bench::moving();
    bench.robot.releases = false;
    let asked = bench.ms();
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.end_call(CallEnd::Over);
    bench.run_ms(1_500);
    let beats = bench
        .left
        .iter()
        .filter(|(at, l)| *at > asked && *l == Left::Beat);
    assert!(beats.count() >= 1);
    // Nobody answered the release: the dead-man may still be armed, so an operator must look.
    assert_eq!(bench.run(), RunState::Stopped);
    let last = bench.last(Left::Release);
    assert!(bench.last(Left::Beat) <= last + 50);
}

#[test]
fn heartbeats_end_at_once_when_something_is_broken() {
    for cause in [
        StopCause::Blackbox,
        StopCause::BoardFault,
        StopCause::InternalFault,
    ] {
        let mut bench = Bench::moving();
        bench.robot.obeys_step = 9; // the stop takes as long as it may
        bench.links.latch.ask(StopKind::Stop, cause);
        let asked = bench.ms();
        bench.run_ms(490);
        assert_eq!(bench.run(), RunState::Stopping);
        assert!(bench.last(Left::Beat) <= asked, "{cause}");
    }
    let mut bench = Bench::moving();
    bench.robot.obeys_step = 9;
    bench.links.latch.ask(StopKind::Stop, StopCause::Overspeed);
    let asked = bench.ms();
    bench.run_ms(490);
    assert!(bench.last(Left::Beat) > asked, "an orderly stop");
}

#[test]
fn heartbeats_need_a_fresh_state_in_a_stop_too() {
    let mut patient = plan();
    patient.within_ms = 5_000;
    let mut bench = Bench::ready_with(patient);
    bench.order(Order::Arm { for_ms: 60_000 });
    bench.go(CommandKind::Move);
    bench.run_ms(100);
    bench.robot.obeys_step = 9;
    bench.robot.speaks = false;
    let silent = bench.ms();
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(3_000);
    assert_eq!(bench.run(), RunState::Stopping);
    assert!((silent..=silent + 500).contains(&bench.last(Left::Beat)));
}

#[test]
fn a_robot_without_a_release_is_armed_again_at_rest() {
    let mut bare = plan();
    bare.has_release = false;
    let mut bench = Bench::ready_with(bare);
    bench.order(Order::Arm { for_ms: 60_000 });
    bench.go(CommandKind::Move);
    bench.run_ms(100);
    bench.end_call(CallEnd::Over);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Armed);
    assert_eq!(bench.count(Left::Release), 0);
}
