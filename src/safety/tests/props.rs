//! Random lives: whatever happens in whatever order, the rules hold.

use proptest::prelude::*;

use super::bench::{Bench, Left, TICK_MS, plan};
use crate::safety::{AnswerClass, CallEnd, Order, Signs};
use crate::terms::{CommandKind, RunState, SafetyEventKind, StopCause, StopKind};

#[derive(Debug, Clone)]
enum Deed {
    Wait(u64),
    Jump(u64),
    Order(Order),
    Stop(StopKind, usize),
    Go(CommandKind, bool),
    Repeat,
    End(CallEnd),
    Polls(bool),
    Spins(bool),
    Speaks(bool),
    Signs(u8),
    PeerLost,
    Greet,
    Loses(u32),
    Answers(bool, bool),
}

fn deed() -> impl Strategy<Value = Deed> {
    let kind = prop_oneof![
        Just(CommandKind::Move),
        Just(CommandKind::Hold),
        Just(CommandKind::Config),
    ];
    let end = prop_oneof![
        Just(CallEnd::Arrived),
        Just(CallEnd::Over),
        Just(CallEnd::Dropped),
    ];
    prop_oneof![
        8 => (1u64..60).prop_map(Deed::Wait),
        1 => (100u64..6_000).prop_map(Deed::Jump),
        6 => (0u32..60_000).prop_map(|for_ms| Deed::Order(Order::Arm { for_ms })),
        1 => Just(Deed::Order(Order::Disarm)),
        3 => Just(Deed::Order(Order::Reset)),
        2 => (0usize..17).prop_map(|n| Deed::Stop(StopKind::Stop, n)),
        1 => (0usize..17).prop_map(|n| Deed::Stop(StopKind::Estop, n)),
        8 => (kind, any::<bool>()).prop_map(|(kind, old)| Deed::Go(kind, old)),
        4 => Just(Deed::Repeat),
        3 => end.prop_map(Deed::End),
        2 => any::<bool>().prop_map(Deed::Polls),
        2 => any::<bool>().prop_map(Deed::Spins),
        2 => any::<bool>().prop_map(Deed::Speaks),
        2 => (0u8..7).prop_map(Deed::Signs),
        1 => Just(Deed::PeerLost),
        3 => Just(Deed::Greet),
        1 => (0u32..5).prop_map(Deed::Loses),
        1 => any::<(bool, bool)>().prop_map(|(a, r)| Deed::Answers(a, r)),
    ]
}

fn do_it(bench: &mut Bench, deed: &Deed) {
    match deed {
        Deed::Wait(_) => {}
        Deed::Jump(ms) => bench.now = bench.now.plus_ms(*ms),
        Deed::Order(order) => {
            bench.ports.orders.submit(*order);
        }
        Deed::Stop(kind, n) => {
            bench.links.latch.ask(*kind, StopCause::ALL[*n]);
        }
        Deed::Go(kind, old) => {
            if bench.links.shared.calls.open(bench.call + 1) {
                bench.call += 1;
                let mut cmd = bench.cmd(*kind);
                cmd.epoch = cmd.epoch.wrapping_sub(u32::from(*old));
                bench.ports.commands.push(cmd).ok();
            }
        }
        Deed::Repeat => {
            let cmd = bench.cmd(CommandKind::Hold);
            bench.ports.commands.push(cmd).ok();
        }
        Deed::End(end) => bench.end_call(*end),
        Deed::Polls(on) => bench.polls = *on,
        Deed::Spins(on) => bench.spins = *on,
        Deed::Speaks(on) => bench.robot.speaks = *on,
        Deed::Signs(n) => {
            let all = [
                Signs::OVERSPEED,
                Signs::OUTSIDE,
                Signs::BLIND,
                Signs::VENDOR_ESTOP,
                Signs::FOREIGN,
                Signs::OURS,
            ];
            bench.robot.extra = all.get(usize::from(*n)).copied().unwrap_or_default();
        }
        Deed::PeerLost => bench.links.observed.note_peer_lost(),
        Deed::Greet => bench.greet(),
        Deed::Loses(n) => bench.robot.loses = *n,
        Deed::Answers(answers, releases) => {
            bench.robot.answers = *answers;
            bench.robot.releases = *releases;
            bench.robot.class = AnswerClass::Ok;
        }
    }
}

/// Checks the rules after each tick against what left in it.
fn judge(bench: &Bench, before: RunState, from_frame: usize, events: usize) {
    let word = bench.links.latch.word();
    let fresh = bench.links.observed.seen().fresh(bench.now, 500);
    let new = &bench.events[events..];
    for (_, left) in &bench.left[from_frame..] {
        match left {
            Left::Command { repeat, .. } => {
                assert!(!word.forbids_motion(), "a command under a stop");
                assert!(matches!(bench.run(), RunState::Armed | RunState::Moving));
                // Config leaves from armed; a motion makes the robot move.
                if bench.run() == RunState::Moving {
                    assert!(fresh, "a motion on a stale state");
                    let call = bench.links.shared.standing().lease_call;
                    assert!(bench.links.shared.lease_lives(call, bench.now));
                }
                assert!(!repeat || before == RunState::Moving);
            }
            Left::Beat => {
                let call = bench.links.shared.standing().lease_call;
                assert!(bench.links.shared.lease_lives(call, bench.now));
                assert!(fresh && !word.estop);
            }
            Left::Verb { .. } | Left::Release => {}
        }
    }
    for event in new {
        if let SafetyEventKind::State { from, to, .. } = event.kind {
            match (from, to) {
                (RunState::Latched, RunState::Disarmed) => {
                    let reset = |e: &crate::terms::SafetyEvent| {
                        matches!(e.kind, SafetyEventKind::Order { failed: 0, .. })
                    };
                    assert!(new.iter().any(reset), "left latched without a reset");
                }
                (RunState::Latched, to) => panic!("left latched for {to}"),
                (RunState::Disarmed, RunState::Armed)
                | (RunState::Boot, RunState::Disarmed)
                | (_, RunState::Stopping | RunState::Latched)
                | (RunState::Armed, RunState::Moving | RunState::Disarmed)
                | (RunState::Stopped, RunState::Disarmed) => {}
                (RunState::Stopping, RunState::Armed | RunState::Stopped | RunState::Disarmed) => {
                    // A command that waited may leave in the very tick in which the stop ended.
                    let moves = |(_, l): &(u64, Left)| matches!(l, Left::Command { .. });
                    let goes = bench.left[from_frame..].iter().any(moves);
                    assert!(
                        goes || !bench.robot.moving,
                        "a stop ended while the robot moved"
                    );
                }
                (from, to) => panic!("{from} to {to} is not in the table"),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_events_breaks_the_rules(
        deeds in prop::collection::vec(deed(), 1..120),
        unclean: bool,
        latched in prop::option::weighted(0.2, 0usize..17),
    ) {
        let mut plan = plan();
        plan.boot.unclean = unclean;
        plan.boot.latched = latched.map(|n| StopCause::ALL[n]);
        let mut bench = Bench::cold(plan);
        for deed in &deeds {
            let (mut before, mut from, mut events) =
                (bench.run(), bench.left.len(), bench.events.len());
            do_it(&mut bench, deed);
            let ticks = if let Deed::Wait(n) = deed { *n } else { 2 };
            for _ in 0..ticks {
                bench.tick();
                judge(&bench, before, from, events);
                (before, from, events) = (bench.run(), bench.left.len(), bench.events.len());
            }
        }
        // Left alone with a robot that obeys, every stop ends at rest or latched.
        bench.robot.extra = Signs::default();
        bench.robot.speaks = true;
        bench.links.shared.calls.close(bench.call);
        bench.links.latch.ask(StopKind::Stop, StopCause::ModelStop);
        bench.run_ms(1_000 * TICK_MS);
        let run = bench.run();
        prop_assert!(!bench.robot.moving, "{:?}", run);
        prop_assert!(matches!(
            run,
            RunState::Armed | RunState::Disarmed | RunState::Stopped | RunState::Latched
        ), "{:?}", run);
    }
}
