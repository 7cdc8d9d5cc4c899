//! Nothing moves that cannot be recorded.

use super::bench::{Bench, Left};
use crate::safety::{FailedChecks, Order};
use crate::terms::{CommandKind, RunState, StopCause, StopKind};

#[test]
fn case_48_motion_stops_when_nothing_can_be_recorded_and_goes_on_only_when_armed_again() {
    let mut bench = Bench::moving();
    bench.links.shared.note_records(false);
    bench.run_ms(400);
    assert!(bench.asked(StopCause::Blackbox));
    assert!(!bench.verbs().is_empty(), "the verbs left");
    assert_eq!(bench.run(), RunState::Stopped);
    let epoch = bench.links.latch.word().epoch;
    bench.run_ms(2_000);
    assert_eq!(bench.links.latch.word().epoch, epoch, "asked once");

    // Nobody arms it.
    assert!(bench.order(Order::Disarm).is_none());
    let failed = bench.order(Order::Arm { for_ms: 9_000 });
    assert_eq!(failed, FailedChecks::BLACKBOX);
    assert_eq!(
        failed.names().collect::<Vec<_>>(),
        ["black box cannot be written"]
    );
    bench.links.shared.note_records(true);
    assert!(bench.order(Order::Arm { for_ms: 9_000 }).is_none());
}

#[test]
fn case_48_once_there_is_room_again_a_stopped_robot_is_disarmed_by_itself_and_never_armed() {
    let mut bench = Bench::moving();
    bench.links.shared.note_records(false);
    bench.run_ms(1_000);
    assert_eq!(bench.run(), RunState::Stopped);
    bench.links.shared.note_records(true);
    bench.run_ms(100);
    assert_eq!(bench.run(), RunState::Disarmed);
    bench.run_ms(5_000);
    assert_eq!(bench.run(), RunState::Disarmed);
    // A stop of another cause still needs a person.
    let mut other = Bench::moving();
    other.links.latch.ask(StopKind::Stop, StopCause::BoardFault);
    other.run_ms(100);
    other.links.shared.note_records(false);
    other.run_ms(900);
    other.links.shared.note_records(true);
    other.run_ms(100);
    assert_eq!(other.run(), RunState::Stopped);
}

#[test]
fn an_orderly_stop_does_not_end_armed_when_nothing_can_be_recorded_meanwhile() {
    let mut bench = Bench::moving();
    bench.robot.obeys_step = 9;
    bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
    bench.run_ms(50);
    bench.links.shared.note_records(false);
    bench.run_ms(50);
    bench.robot.obeys_step = 0;
    bench.run_ms(400);
    assert_ne!(bench.run(), RunState::Armed);
    assert!(bench.asked(StopCause::Blackbox));
}

#[test]
fn a_command_that_cannot_be_recorded_does_not_leave_not_even_in_the_same_tick() {
    let mut bench = Bench::armed();
    bench.links.shared.note_records(false);
    bench.go(CommandKind::Move);
    bench.run_ms(400);
    let left = |(_, left): &(u64, Left)| matches!(left, Left::Command { .. });
    assert!(!bench.left.iter().any(left));
    assert_eq!(bench.run(), RunState::Stopped);
}
