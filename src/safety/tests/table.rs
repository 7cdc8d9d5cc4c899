//! Each row of the table of run states, the stop sequence, arming, lease and heartbeats.

use super::bench::{Bench, Left, TICK_MS, plan};
use crate::safety::{AnswerClass, Boot, CallEnd, FailedChecks, Order, Signs};
use crate::terms::{CommandKind, DropCause, RunState, SafetyEventKind, StopCause, StopKind};

#[test]
fn a_clean_boot_disarms_and_sends_nothing() {
    let mut bench = Bench::cold(plan());
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Disarmed);
    assert!(bench.left.is_empty());
}

#[test]
fn case_64_after_an_unclean_end_the_stop_sequence_is_the_first_output() {
    let mut unclean = plan();
    unclean.boot = Boot {
        unclean: true,
        latched: None,
    };
    let mut bench = Bench::cold(unclean.clone());
    bench.robot.moving = true;
    bench.robot.speaks = false; // its node is still starting
    bench.run_ms(2_000);
    assert_eq!(bench.run(), RunState::Stopping);
    let soft = |(_, left): &(u64, Left)| matches!(left, Left::Verb { step: 0, .. });
    assert!(!bench.left.is_empty() && bench.left.iter().all(soft));
    bench.robot.speaks = true;
    bench.greet();
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Disarmed);

    let mut bench = Bench::cold(unclean);
    bench.greet();
    bench.robot.moving = true;
    bench.robot.obeys_step = 9;
    bench.run_ms(600);
    assert_eq!(bench.run(), RunState::Latched, "rest was never seen");
}

#[test]
fn a_robot_that_never_appears_after_an_unclean_end_is_latched() {
    let mut unclean = plan();
    unclean.boot.unclean = true;
    let mut bench = Bench::cold(unclean);
    bench.robot.speaks = false;
    bench.run_ms(11_000);
    assert_eq!(bench.run(), RunState::Latched);
}

#[test]
fn a_persisted_latch_starts_latched_and_after_an_unclean_end_stops_all_the_same() {
    let mut latched = plan();
    latched.boot.latched = Some(StopCause::OperatorStop);
    let mut bench = Bench::cold(latched.clone());
    bench.greet();
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Latched);
    assert!(bench.left.is_empty());

    latched.boot.unclean = true;
    let mut bench = Bench::cold(latched);
    bench.greet();
    bench.robot.moving = true;
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Latched);
    assert!(!bench.verbs().is_empty());
    assert!(!bench.robot.moving);
    assert_eq!(bench.order(Order::Reset), FailedChecks::NONE);
    assert_eq!(bench.run(), RunState::Disarmed);
}

#[test]
fn case_16_arming_lists_all_checks_that_failed() {
    let mut bench = Bench::cold(plan());
    bench.robot.speaks = false;
    bench.run_ms(50);
    let failed = bench.order(Order::Arm { for_ms: 0 });
    let expected = [
        FailedChecks::PEER_DOWN,
        FailedChecks::STATE_STALE,
        FailedChecks::NOT_AT_REST,
        FailedChecks::ADVERT_UNSEEN,
        FailedChecks::DEADMAN,
        FailedChecks::NO_TIME,
    ];
    for check in expected {
        assert!(failed.has(check), "{failed:?}");
    }
    let arms = |change: fn(&mut Bench)| {
        let mut bench = Bench::ready();
        change(&mut bench);
        bench.run_ms(100);
        let failed = bench.order(Order::Arm { for_ms: 60_000 });
        assert_eq!(failed.is_none(), bench.run() == RunState::Armed);
        failed
    };
    assert_eq!(arms(|_| {}), FailedChecks::NONE);
    let one = [
        arms(|b| b.robot.extra = Signs::FOREIGN),
        arms(|b| b.robot.moving = true),
        arms(|b| b.links.observed.note_advert(149)),
        arms(|b| b.links.observed.note_advert(0)),
        arms(|b| b.robot.extra = Signs::BLIND),
        arms(|b| b.robot.extra = Signs::OUTSIDE),
        arms(|b| b.robot.extra = Signs::OVERSPEED),
    ];
    let expected = [
        FailedChecks::FOREIGN_HOLDER,
        FailedChecks::NOT_AT_REST,
        FailedChecks::DEADMAN,
        FailedChecks::DEADMAN,
        FailedChecks::BLIND,
        FailedChecks::OUTSIDE,
        FailedChecks::OVERSPEED,
    ];
    assert_eq!(one, expected);
    let stale = arms(|b| {
        b.robot.speaks = false;
        b.run_ms(600);
    });
    assert_eq!(stale, FailedChecks::STATE_STALE);
}

#[test]
fn case_43_no_dead_man_is_accepted_only_when_waived_and_then_no_heartbeat_leaves() {
    let mut waived = plan();
    waived.waive_deadman = true;
    let mut bench = Bench::ready_with(waived);
    bench.links.observed.note_advert(0);
    assert!(bench.order(Order::Arm { for_ms: 60_000 }).is_none());
    bench.go(CommandKind::Move);
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Moving);
    assert_eq!(bench.count(Left::Beat), 0);
    bench.links.observed.note_advert(149);
    bench.end_call(CallEnd::Dropped);
    bench.run_ms(300);
    bench.order(Order::Disarm);
    assert_eq!(bench.order(Order::Arm { for_ms: 1 }), FailedChecks::DEADMAN);
}

#[test]
fn orders_fit_their_states_only() {
    let mut bench = Bench::armed();
    assert!(
        bench
            .order(Order::Arm { for_ms: 9 })
            .has(FailedChecks::WRONG_STATE)
    );
    assert!(bench.order(Order::Reset).has(FailedChecks::WRONG_STATE));
    assert!(bench.order(Order::Disarm).is_none());
    assert_eq!(bench.run(), RunState::Disarmed);
    bench
        .links
        .latch
        .ask(StopKind::Estop, StopCause::OperatorStop);
    bench.run_ms(300);
    let failed = bench.order(Order::Arm { for_ms: 9 });
    assert!(failed.has(FailedChecks::LATCHED) && failed.has(FailedChecks::WRONG_STATE));
    assert_eq!(bench.order(Order::Disarm), FailedChecks::LATCHED);
}

#[test]
fn a_motion_begins_with_a_heartbeat_and_then_its_command() {
    let mut bench = Bench::armed();
    bench.go(CommandKind::Move);
    bench.tick();
    let frames: Vec<Left> = bench.left.iter().map(|(_, left)| *left).collect();
    let command = Left::Command {
        call: 1,
        repeat: false,
    };
    assert_eq!(frames, [Left::Beat, command]);
    assert_eq!(bench.run(), RunState::Moving);
    bench.run_ms(1_500);
    // Every 300 ms, a third of the dead-man time.
    assert_eq!(bench.count(Left::Beat), 6);
}

#[test]
fn a_call_that_arrived_ends_with_a_release_and_no_stop_verb() {
    let mut bench = Bench::moving();
    bench.robot.moving = false;
    bench.run_ms(60);
    bench.end_call(CallEnd::Arrived);
    bench.run_ms(50);
    assert_eq!(bench.run(), RunState::Armed);
    assert!(bench.verbs().is_empty());
    assert_eq!(bench.count(Left::Release), 1);
    assert_eq!(bench.links.latch.word().epoch, 0, "nothing was voided");
    let beats = bench.count(Left::Beat);
    bench.run_ms(2_000);
    assert_eq!(bench.count(Left::Beat), beats, "then silence");
}

#[test]
fn a_call_that_ends_while_the_robot_moves_ends_with_a_stop() {
    for end in [CallEnd::Arrived, CallEnd::Over, CallEnd::Dropped] {
        let mut bench = Bench::moving();
        bench.end_call(end);
        bench.run_ms(400);
        assert_eq!(bench.run(), RunState::Armed, "{end:?}");
        assert!(!bench.verbs().is_empty() && !bench.robot.moving);
        assert_eq!(bench.count(Left::Release), 1);
    }
}

#[test]
fn a_robot_that_was_only_just_told_to_move_is_not_taken_for_one_at_rest() {
    for end in [CallEnd::Arrived, CallEnd::Over, CallEnd::Dropped] {
        let mut bench = Bench::armed();
        bench.go(CommandKind::Move);
        bench.tick();
        bench.robot.moving = false; // its states still say so
        bench.end_call(end);
        bench.run_ms(300);
        assert!(!bench.verbs().is_empty(), "{end:?}");
    }
}

#[test]
fn case_17_a_dropped_future_stops_the_robot_and_no_heartbeat_leaves_after() {
    let mut bench = Bench::moving();
    let dropped = bench.ms();
    bench.end_call(CallEnd::Dropped);
    bench.run_ms(1_000);
    let first = bench.verbs()[0].0;
    assert!(first <= dropped + TICK_MS, "{first} after {dropped}");
    assert!(bench.last(Left::Beat) <= dropped);
    assert_eq!(bench.run(), RunState::Armed);
}

#[test]
fn case_19_a_hold_without_a_repeat_is_stopped_after_its_time() {
    let mut bench = Bench::armed();
    bench.go(CommandKind::Hold);
    bench.tick();
    let begun = bench.ms();
    bench.run_ms(300);
    let again = bench.cmd(CommandKind::Hold);
    bench.ports.commands.push(again).unwrap();
    bench.tick();
    let repeated = bench.ms();
    assert_eq!(repeated, begun + 310);
    bench.run_ms(600);
    let stopped = bench.verbs()[0].0;
    assert!((repeated + 400..=repeated + 400 + TICK_MS).contains(&stopped));
    let repeat = Left::Command {
        call: 1,
        repeat: true,
    };
    assert_eq!(bench.count(repeat), 1);
    assert_eq!(bench.run(), RunState::Armed);
}

#[test]
fn a_move_is_never_repeated_and_a_second_call_does_not_join() {
    let mut bench = Bench::moving();
    let again = bench.cmd(CommandKind::Move);
    bench.ports.commands.push(again).unwrap();
    bench.go(CommandKind::Hold);
    bench.run_ms(50);
    let commands = bench
        .left
        .iter()
        .filter(|(_, l)| matches!(l, Left::Command { .. }));
    assert_eq!(commands.count(), 1);
    let dropped = |kind: &SafetyEventKind| {
        matches!(
            kind,
            SafetyEventKind::Dropped {
                why: DropCause::NotArmed,
                ..
            }
        )
    };
    assert_eq!(bench.events.iter().filter(|e| dropped(&e.kind)).count(), 2);
    assert_eq!(
        bench.links.shared.calls.drop_cause(2),
        Some(DropCause::NotArmed)
    );
}

#[test]
fn commands_leave_from_armed_only_and_under_their_own_epoch() {
    let drops = |mut bench: Bench, kind: CommandKind| {
        bench.left.clear();
        bench.go(kind);
        bench.run_ms(50);
        let moved = bench
            .left
            .iter()
            .any(|(_, l)| matches!(l, Left::Command { .. }));
        assert!(!moved, "{kind:?} in {:?}", bench.run());
        bench.links.shared.calls.drop_cause(bench.call)
    };
    let stopped = |cause| {
        let mut bench = Bench::armed();
        bench.links.latch.ask(StopKind::Stop, cause);
        bench.run_ms(400);
        bench
    };
    let latched = || {
        let mut bench = Bench::armed();
        bench.links.latch.ask(StopKind::Estop, StopCause::ModelStop);
        bench.run_ms(400);
        bench
    };
    for kind in [CommandKind::Move, CommandKind::Hold, CommandKind::Config] {
        assert_eq!(drops(Bench::ready(), kind), Some(DropCause::NotArmed));
        let bench = stopped(StopCause::Overspeed);
        assert_eq!(bench.run(), RunState::Stopped);
        assert_eq!(drops(bench, kind), Some(DropCause::NotArmed));
        assert_eq!(drops(latched(), kind), Some(DropCause::Epoch));
    }
    let mut bench = Bench::armed();
    bench.call = 5;
    assert!(bench.links.shared.calls.open(5));
    let old = bench.cmd(CommandKind::Move);
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Armed);
    bench.ports.commands.push(old).unwrap();
    bench.tick();
    assert_eq!(
        bench.links.shared.calls.drop_cause(5),
        Some(DropCause::Epoch)
    );
}

#[test]
fn a_change_of_the_set_up_needs_an_armed_robot_and_moves_nothing() {
    let mut bench = Bench::armed();
    bench.go(CommandKind::Config);
    bench.tick();
    assert_eq!(bench.run(), RunState::Armed);
    assert_eq!(bench.left.len(), 1);
}

#[test]
fn an_armed_robot_is_disarmed_when_idle_or_when_its_time_is_over() {
    let mut short = plan();
    short.idle_disarm_s = 2;
    let mut bench = Bench::ready_with(short);
    assert!(bench.order(Order::Arm { for_ms: 60_000 }).is_none());
    bench.run_ms(1_900);
    assert_eq!(bench.run(), RunState::Armed);
    bench.run_ms(200);
    assert_eq!(bench.run(), RunState::Disarmed);

    let mut bench = Bench::ready();
    assert!(bench.order(Order::Arm { for_ms: 500 }).is_none());
    bench.go(CommandKind::Move);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Moving);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Disarmed);
    assert!(!bench.verbs().is_empty() && !bench.robot.moving);
}

#[test]
fn disarming_a_moving_robot_stops_it_first() {
    let mut bench = Bench::moving();
    assert!(bench.order(Order::Disarm).is_none());
    assert_eq!(bench.run(), RunState::Stopping);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Disarmed);
    assert!(!bench.robot.moving);
}

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

#[test]
fn a_stop_in_any_state_leads_back_and_never_up() {
    let after = |mut bench: Bench| {
        bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
        bench.run_ms(400);
        assert!(!bench.verbs().is_empty());
        assert!(!bench.links.latch.word().stop);
        bench.run()
    };
    assert_eq!(after(Bench::ready()), RunState::Disarmed);
    assert_eq!(after(Bench::armed()), RunState::Armed);
    assert_eq!(after(Bench::moving()), RunState::Armed);
    let mut stopped = Bench::moving();
    stopped
        .links
        .latch
        .ask(StopKind::Stop, StopCause::BoardFault);
    stopped.run_ms(400);
    assert_eq!(stopped.run(), RunState::Stopped);
    assert_eq!(after(stopped), RunState::Stopped);
    let mut latched = Bench::moving();
    latched
        .links
        .latch
        .ask(StopKind::Estop, StopCause::FleetStop);
    latched.run_ms(400);
    assert_eq!(after(latched), RunState::Latched);
}

#[test]
fn a_stopped_robot_is_armed_again_by_way_of_disarmed() {
    let mut bench = Bench::moving();
    bench.links.latch.ask(StopKind::Stop, StopCause::Overspeed);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Stopped);
    assert_eq!(
        bench.order(Order::Arm { for_ms: 9 }),
        FailedChecks::WRONG_STATE
    );
    assert!(bench.order(Order::Disarm).is_none());
    assert!(bench.order(Order::Arm { for_ms: 9_000 }).is_none());
}

#[test]
fn an_estop_during_a_stop_latches_without_beginning_anew() {
    let mut bench = Bench::moving();
    bench.robot.answers = false;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(60);
    bench
        .links
        .latch
        .ask(StopKind::Estop, StopCause::OperatorStop);
    bench.run_ms(300);
    assert_eq!(bench.run(), RunState::Latched);
    let begun = |k: &SafetyEventKind| matches!(k, SafetyEventKind::StopBegun { .. });
    assert_eq!(bench.events.iter().filter(|e| begun(&e.kind)).count(), 1);
    assert!(bench.happened(|k| matches!(k, SafetyEventKind::Standstill { .. })));
}

#[test]
fn a_reset_needs_rest_a_fresh_state_and_a_robot_without_an_estop_of_its_own() {
    let mut bench = Bench::moving();
    bench
        .links
        .latch
        .ask(StopKind::Estop, StopCause::OperatorStop);
    bench.run_ms(400);
    bench.robot.extra = Signs::VENDOR_ESTOP;
    bench.run_ms(100);
    assert_eq!(bench.order(Order::Reset), FailedChecks::VENDOR_ESTOP);
    bench.robot.extra = Signs::default();
    bench.robot.moving = true;
    bench.run_ms(100);
    assert_eq!(bench.order(Order::Reset), FailedChecks::NOT_AT_REST);
    bench.robot.moving = false;
    bench.run_ms(100);
    bench.left.clear();
    assert!(bench.order(Order::Reset).is_none());
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Disarmed);
    assert!(bench.left.is_empty(), "a reset starts nothing");
}
