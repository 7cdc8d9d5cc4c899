//! Each cause of a stop, where it leads, and what the lease and the pace have to do with it.

use super::bench::{Bench, Left, TICK_MS, plan};
use crate::safety::{
    CallEnd, CallNote, Core, EVENT_SLOTS, FailedChecks, Latch, Order, Pass, Seen, Signs, TickInput,
    TickOut,
};
use crate::terms::{
    CommandKind, DropCause, Mono, RunState, SafetyEvent, SafetyEventKind, StopCause, StopKind,
};

#[test]
fn every_cause_stops_a_moving_robot_and_leaves_it_as_the_list_says() {
    for cause in StopCause::ALL {
        for kind in [StopKind::Stop, StopKind::Estop] {
            let mut bench = Bench::moving();
            bench.links.latch.ask(kind, cause);
            bench.run_ms(500);
            let expected = match kind {
                StopKind::Estop => RunState::Latched,
                StopKind::Stop if cause.leaves_armed() => RunState::Armed,
                // Here all can be recorded, so nobody has to acknowledge that it could not.
                StopKind::Stop if cause == StopCause::Blackbox => RunState::Disarmed,
                StopKind::Stop => RunState::Stopped,
            };
            assert_eq!(bench.run(), expected, "{kind} {cause}");
            assert!(!bench.robot.moving, "{kind} {cause}");
            assert_eq!(bench.links.latch.word().cause, Some(cause));
        }
    }
}

#[test]
fn a_stop_that_does_not_leave_armed_and_joins_the_end_of_a_call_ends_stopped() {
    for cause in [StopCause::Shutdown, StopCause::FleetStop] {
        let mut bench = Bench::moving();
        bench.robot.loses = 2;
        bench.end_call(CallEnd::Over);
        bench.run_ms(30);
        assert_eq!(bench.run(), RunState::Stopping);
        assert_eq!(bench.links.latch.word().cause, Some(StopCause::Deadline));
        bench.links.latch.ask(StopKind::Stop, cause);
        bench.run_ms(500);
        assert_eq!(bench.run(), RunState::Stopped, "{cause}");
        assert!(bench.order(Order::Disarm).is_none());
        let failed = bench.order(Order::Arm { for_ms: 9_000 });
        let ending = cause == StopCause::Shutdown;
        assert_eq!(failed.has(FailedChecks::ENDING), ending, "{failed:?}");
        assert_eq!(failed.is_none(), !ending);
    }
}

#[test]
fn a_process_that_ends_arms_nothing_whatever_else_was_asked_for() {
    let mut bench = Bench::armed();
    bench
        .links
        .latch
        .ask(StopKind::Estop, StopCause::VendorEvent);
    bench.links.latch.ask(StopKind::Stop, StopCause::Shutdown);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Latched);
    assert!(bench.order(Order::Reset).is_none());
    let failed = bench.order(Order::Arm { for_ms: 9_000 });
    assert_eq!(failed, FailedChecks::ENDING);
}

#[test]
fn no_first_command_passes_once_the_process_ends_or_the_robot_is_out_of_bounds() {
    let offer_recorded = |records: bool, ending: bool, signs: Signs| {
        let mut core = Core::new(plan(), 5);
        let mut input = well();
        let mut out = TickOut::default();
        out.clear(input.now);
        core.tick(&input, &mut out);
        let arm = Order::Arm { for_ms: 60_000 };
        assert!(core.check(&input, arm).is_none());
        core.carry_out(arm, &mut out);
        input.word.ending = ending;
        input.records = records;
        input.seen.signs = signs;
        let mut bench = Bench::armed();
        bench.call = 1;
        let mut cmd = bench.cmd(CommandKind::Move);
        cmd.epoch = 5;
        core.offer(&input, &cmd, &mut out)
    };
    let offer = |ending, signs| offer_recorded(true, ending, signs);
    assert_eq!(offer(false, Signs::STILL), Ok(Pass::First));
    let unrecorded = offer_recorded(false, false, Signs::STILL);
    assert_eq!(unrecorded, Err(DropCause::NotArmed));
    assert_eq!(offer(true, Signs::STILL), Err(DropCause::Epoch));
    for sign in [Signs::OUTSIDE, Signs::OVERSPEED, Signs::BLIND] {
        assert_eq!(offer(false, sign), Err(DropCause::NotArmed), "{sign:?}");
    }
}

/// What the tick looks at when all is well, at epoch 5.
fn well() -> TickInput {
    TickInput {
        lowered: false,
        now: Mono::from_ms(1_000),
        word: Latch::new(5, None).word(),
        seen: Seen {
            at: Mono::from_ms(990),
            states: 9,
            still_run: 9,
            signs: Signs::STILL,
            peer_up: true,
            losses: 0,
            deadman_ms: Some(900),
            answer: None,
            release: None,
            deaf: false,
            graph: crate::safety::GraphSeen::default(),
        },
        records: true,
        spine: 1,
        outbox: 1,
        call: CallNote {
            polls: 0,
            end: CallEnd::Running,
        },
        stop_sent: None,
    }
}

fn ends(cause: StopCause, to: RunState, change: impl FnOnce(&mut Bench)) {
    let mut bench = Bench::moving();
    change(&mut bench);
    bench.run_ms(2_000);
    assert!(bench.asked(cause), "{cause}: {:?}", bench.events);
    assert_eq!(bench.run(), to, "{cause}");
    assert!(!bench.robot.moving, "{cause}");
}

#[test]
fn the_tick_finds_each_cause_that_it_can_see() {
    use StopCause as C;
    let signs = |signs: Signs| move |b: &mut Bench| b.robot.extra = signs;
    ends(C::Overspeed, RunState::Stopped, signs(Signs::OVERSPEED));
    ends(C::Workspace, RunState::Stopped, signs(Signs::OUTSIDE));
    ends(C::StaleState, RunState::Stopped, signs(Signs::BLIND));
    ends(C::VendorEvent, RunState::Stopped, signs(Signs::FOREIGN));
    ends(
        C::VendorEvent,
        RunState::Latched,
        signs(Signs::VENDOR_ESTOP),
    );
    ends(C::BridgeLost, RunState::Stopped, |b| {
        b.links.observed.note_peer_lost()
    });
    ends(C::LeaseLost, RunState::Stopped, |b| b.polls = false);
    ends(C::LeaseLost, RunState::Stopped, |b| b.spins = false);
    ends(C::Deadline, RunState::Armed, |b| b.end_call(CallEnd::Over));
}

#[test]
fn case_14_outside_the_workspace_is_a_stop_within_one_state_and_one_tick() {
    let mut bench = Bench::moving();
    bench.robot.extra = Signs::OUTSIDE;
    bench.say_state();
    let said = bench.ms();
    bench.tick();
    assert_eq!(bench.verbs()[0].0, said + TICK_MS);
}

#[test]
fn a_state_that_stays_away_stops_a_moving_robot() {
    let mut bench = Bench::moving();
    bench.robot.speaks = false;
    let last = bench.links.observed.seen().at.as_ms();
    bench.run_until(1_000, |b| !b.verbs().is_empty());
    assert!(bench.asked(StopCause::StaleState));
    assert!((last + 500..=last + 520).contains(&bench.ms()));
    bench.run_ms(1_000);
    assert_eq!(bench.run(), RunState::Latched, "nothing confirms rest");
}

#[test]
fn control_given_up_by_a_stranger_while_the_robot_moves_is_a_stop() {
    let mut bench = Bench::moving();
    bench.robot.extra = Signs::OURS;
    bench.run_ms(100);
    assert_eq!(bench.run(), RunState::Moving);
    bench.robot.extra = Signs::default();
    bench.run_ms(100);
    assert!(bench.asked(StopCause::VendorEvent));
}

#[test]
fn case_44_a_foreign_holder_while_moving_is_a_stop() {
    let mut bench = Bench::moving();
    bench.robot.extra = Signs::FOREIGN;
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Stopped);
}

#[test]
fn case_35_a_lost_robot_that_comes_back_is_stopped_softly_and_needs_an_operator() {
    let mut bench = Bench::moving();
    bench.links.observed.note_peer_lost();
    bench.robot.speaks = false;
    bench.run_ms(3_000);
    assert_eq!(bench.run(), RunState::Stopping);
    assert!(bench.verbs().iter().all(|(_, step, _)| *step == 0));
    bench.robot.speaks = true;
    bench.greet();
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Stopped);
    assert!(bench.order(Order::Disarm).is_none());
    assert_eq!(bench.run(), RunState::Disarmed);
}

#[test]
fn a_robot_that_restarts_during_an_ordinary_stop_is_not_armed_afterwards() {
    let mut bench = Bench::moving();
    bench.robot.loses = 2;
    bench
        .links
        .latch
        .ask(StopKind::Stop, StopCause::OperatorStop);
    bench.run_ms(30);
    assert_eq!(bench.run(), RunState::Stopping);
    bench.links.observed.note_peer_lost();
    bench.run_ms(30);
    bench.greet();
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Stopped);
    assert!(bench.asked(StopCause::BridgeLost));
}

#[test]
fn a_lost_robot_that_stays_away_is_latched_in_the_end() {
    let mut bench = Bench::moving();
    bench.links.observed.note_peer_lost();
    bench.robot.speaks = false;
    bench.run_ms(11_000);
    assert_eq!(bench.run(), RunState::Latched);
}

#[test]
fn case_65_a_lease_needs_both_the_call_and_the_spine() {
    for (polls, spins) in [(true, false), (false, true), (false, false)] {
        let mut bench = Bench::moving();
        bench.polls = polls;
        bench.spins = spins;
        let stuck = bench.ms();
        bench.run_until(2_000, |b| !b.verbs().is_empty());
        assert!(bench.ms() <= stuck + 500 + 1_000 + TICK_MS);
        bench.run_ms(1_000);
        assert!(bench.last(Left::Beat) < bench.verbs()[0].0, "silence");
        assert_eq!(bench.run(), RunState::Stopped);
    }
    let mut bench = Bench::moving();
    bench.run_ms(15_000);
    assert_eq!(bench.run(), RunState::Moving, "with both it goes on");
}

#[test]
fn a_lease_that_lapsed_stays_lapsed() {
    let mut bench = Bench::moving();
    bench.polls = false;
    bench.run_until(2_000, |b| b.run() == RunState::Stopping);
    bench.polls = true;
    let beats = bench.count(Left::Beat);
    bench.run_ms(1_000);
    assert_eq!(bench.count(Left::Beat), beats);
}

#[test]
fn case_18_the_deadline_of_a_move_is_a_stop_that_leaves_it_armed() {
    let mut bench = Bench::moving();
    let due = bench.ms() - 100 + 20_000;
    bench.run_until(25_000, |b| !b.verbs().is_empty());
    assert!((due..=due + 2 * TICK_MS).contains(&bench.ms()));
    bench.end_call(CallEnd::Over);
    bench.run_ms(400);
    assert_eq!(bench.run(), RunState::Armed);
}

#[test]
fn case_30_two_causes_in_one_tick_are_both_recorded_and_the_stronger_wins() {
    let mut bench = Bench::moving();
    bench.robot.extra = Signs::OVERSPEED.with(Signs::OUTSIDE, true);
    bench.run_ms(500);
    assert!(bench.asked(StopCause::Overspeed) && bench.asked(StopCause::Workspace));
    assert_eq!(bench.links.latch.word().cause, Some(StopCause::Overspeed));
    let begun = |wanted: StopCause| {
        let kinds = bench.events.iter().map(|e| e.kind);
        kinds
            .filter(|k| matches!(k, SafetyEventKind::StopBegun { cause, .. } if *cause == wanted))
            .count()
    };
    assert_eq!(StopCause::ALL.map(begun).iter().sum::<usize>(), 1);
    assert_eq!(begun(StopCause::Overspeed), 1);
}

#[test]
fn case_46_three_late_ticks_within_ten_seconds_stop_and_two_do_not() {
    let late = |bench: &mut Bench| {
        bench.now = bench.now.plus_ms(61);
        bench.round();
        bench.run_ms(1_000);
    };
    let mut bench = Bench::moving();
    late(&mut bench);
    late(&mut bench);
    assert_eq!(bench.run(), RunState::Moving);
    late(&mut bench);
    assert_eq!(bench.run(), RunState::Stopped);
    assert!(bench.asked(StopCause::BoardFault));
    let late_ticks = |k: &SafetyEventKind| matches!(k, SafetyEventKind::LateTick { late_ms: 51 });
    assert_eq!(
        bench.events.iter().filter(|e| late_ticks(&e.kind)).count(),
        3
    );
    bench.order(Order::Disarm);
    assert_eq!(
        bench.order(Order::Arm { for_ms: 9 }),
        FailedChecks::OVERLOADED
    );
    bench.run_ms(30_000);
    assert!(bench.order(Order::Arm { for_ms: 9 }).is_none());

    let mut bench = Bench::moving();
    late(&mut bench);
    late(&mut bench);
    bench.run_ms(10_000);
    late(&mut bench);
    assert_eq!(bench.run(), RunState::Moving, "not within ten seconds");
}

#[test]
fn one_tick_as_late_as_a_lock_up_is_a_stop() {
    let mut bench = Bench::moving();
    bench.now = bench.now.plus_ms(1_010);
    bench.say_state();
    bench.round();
    assert!(bench.asked(StopCause::BoardFault));
    bench.run_ms(1_000);
    assert_eq!(bench.run(), RunState::Stopped);
    bench.order(Order::Disarm);
    let failed = bench.order(Order::Arm { for_ms: 9 });
    assert!(failed.is_none(), "one such tick is no overload: {failed:?}");
}

#[test]
fn an_early_round_is_no_late_tick_and_changes_no_rhythm() {
    let mut bench = Bench::ready();
    let events = bench.events.len();
    for _ in 0..50 {
        bench.now = bench.now.plus_ms(1);
        bench.round();
    }
    assert_eq!(bench.events.len(), events);
}

#[test]
fn case_61_after_a_freeze_neither_motion_nor_heartbeat_leaves_and_the_stop_does() {
    let mut bench = Bench::armed();
    bench.go(CommandKind::Hold);
    bench.run_ms(100);
    let queued = bench.cmd(CommandKind::Hold);
    bench.ports.commands.push(queued).unwrap();
    bench.left.clear();
    bench.now = bench.now.plus_ms(5_000);
    bench.robot.speaks = false;
    bench.round();
    assert!(matches!(bench.left[0].1, Left::Verb { .. }));
    bench.robot.speaks = true;
    bench.run_ms(2_000);
    let verbs_only = |(_, l): &(u64, Left)| matches!(l, Left::Verb { .. } | Left::Release);
    assert!(bench.left.iter().all(verbs_only), "{:?}", bench.left);
    assert_eq!(bench.run(), RunState::Stopped);
    assert_eq!(
        bench.links.shared.calls.drop_cause(1),
        Some(DropCause::Epoch)
    );
}

#[test]
fn a_sending_thread_that_is_stuck_is_a_stop_without_heartbeats() {
    let mut bench = Bench::moving();
    let step = &mut bench.step;
    let mut now = bench.now;
    for n in 0..220u32 {
        now = now.plus_ms(TICK_MS);
        if n % 5 == 0 {
            bench.links.observed.note_state(now, Signs::default());
        }
        bench.links.shared.calls.polled(1);
        bench
            .links
            .shared
            .spine()
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        step.step(now);
    }
    bench.now = now;
    let mut beats = 0;
    while let Some(out) = bench.ports.outs.pop() {
        beats += u32::from(matches!(out, crate::safety::SafetyOut::Heartbeat { .. }));
    }
    assert!(beats <= 1);
    bench.round();
    assert!(bench.asked(StopCause::HeartbeatFault));
}

#[test]
fn case_41_a_full_queue_of_safety_events_latches() {
    let mut bench = Bench::armed();
    for n in 0..EVENT_SLOTS {
        // Nobody records: each round drops one command, which is one event.
        assert!(bench.links.shared.calls.open(1));
        bench.call = 1;
        let mut cmd = bench.cmd(CommandKind::Move);
        cmd.epoch = 99;
        bench.ports.commands.push(cmd).unwrap();
        bench.now = bench.now.plus_ms(TICK_MS);
        if n % 5 == 0 {
            bench.say_state();
        }
        bench.step.step(bench.now);
        bench.links.shared.calls.close(1);
    }
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Latched);
    assert_eq!(bench.links.latch.word().cause, Some(StopCause::Blackbox));
    assert!(bench.links.shared.events_lost() > 0);
    // Read again, the queue has room: a reset holds.
    assert!(bench.order(Order::Reset).is_none());
    bench.run_ms(500);
    assert_eq!(bench.run(), RunState::Disarmed);
}

#[test]
fn a_full_queue_to_the_sending_thread_drops_the_command() {
    let mut bench = Bench::armed();
    for call in 1..=40 {
        bench.call = call % 8 + 1;
        bench.links.shared.calls.open(bench.call);
        let cmd = bench.cmd(CommandKind::Config);
        bench.ports.commands.push(cmd).unwrap();
        bench.step.step(bench.now);
    }
    let mut dropped = 0;
    while let Some(SafetyEvent { kind, .. }) = bench.ports.events.pop() {
        let full = SafetyEventKind::Dropped {
            tool: 0,
            call: 0,
            why: DropCause::Full,
        };
        dropped += u32::from(std::mem::discriminant(&kind) == std::mem::discriminant(&full));
    }
    assert_eq!(dropped, 40 - 31);
}
