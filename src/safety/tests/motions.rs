//! Motions: how they begin, what they may join, and every way in which they end.

use super::bench::{Bench, Left, TICK_MS, plan};
use crate::safety::{CallEnd, Order};
use crate::terms::{CommandKind, DropCause, RunState, SafetyEventKind, StopCause, StopKind};

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
