//! Each row of the table of run states, and arming.

use super::bench::{Bench, Left, plan};
use crate::safety::{Boot, CallEnd, FailedChecks, Order, Signs};
use crate::terms::{CommandKind, RunState, SafetyEventKind, StopCause, StopKind};

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
