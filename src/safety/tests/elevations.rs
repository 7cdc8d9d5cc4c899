//! Elevations: their count and time, what ends them, and what becomes of the call that runs.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use proptest::prelude::*;

use super::bench::{Bench, Left, TICK_MS};
use crate::safety::{CallEnd, Elevations, Opening, Order, Signs};
use crate::terms::{
    CommandKind, DropCause, ELEVATIONS_MAX, ElevationEnd, ElevationId, Mono, RunState,
    SafetyEventKind, StopCause, StopKind, Tier,
};

const FOR_MS: u64 = 10_000;

fn opening(bench: &Bench, calls: u32) -> Opening {
    Opening {
        tier: Tier::FullActuation,
        calls,
        until: bench.now.plus_ms(FOR_MS),
        falls: bench.links.latch.falls(),
    }
}

fn open(bench: &Bench, calls: u32) -> ElevationId {
    let opening = opening(bench, calls);
    bench.links.shared.elevations.open(opening).unwrap()
}

/// Takes one call.
fn take(bench: &Bench, id: ElevationId) -> Result<u32, ElevationEnd> {
    let at = (bench.now, bench.links.latch.falls());
    let raised = bench.links.shared.elevations.take(id, at);
    raised.map(|raised| raised.left)
}

/// The ends that the tick told.
fn ends(bench: &Bench) -> Vec<(u32, ElevationEnd, u32)> {
    let end = |kind: &SafetyEventKind| {
        let SafetyEventKind::Lowered {
            elevation,
            cause,
            left,
        } = kind
        else {
            return None;
        };
        Some((elevation.number(), *cause, *left))
    };
    bench
        .events
        .iter()
        .filter_map(|event| end(&event.kind))
        .collect()
}

/// Begins a motion under an Elevation.
fn go(bench: &mut Bench, id: ElevationId, kind: CommandKind) {
    take(bench, id).unwrap();
    bench.call += 1;
    assert!(bench.links.shared.calls.open(bench.call));
    say(bench, id, kind);
}

fn say(bench: &mut Bench, id: ElevationId, kind: CommandKind) {
    let mut cmd = bench.cmd(kind);
    cmd.lease.elevation = Some(id);
    bench.ports.commands.push(cmd).unwrap();
}

fn let_go(bench: &Bench, id: ElevationId) {
    bench.links.shared.elevations.let_go(id);
}

#[test]
fn its_calls_are_counted_and_the_last_one_ends_it_only_when_it_has_ended() {
    let mut bench = Bench::armed();
    let id = open(&bench, 2);
    assert_eq!((take(&bench, id), take(&bench, id)), (Ok(1), Ok(0)));
    assert_eq!(take(&bench, id), Err(ElevationEnd::UsedUp));
    let elevations = &bench.links.shared.elevations;
    elevations.give_back(id);
    assert!(elevations.lives(id), "one call runs");
    elevations.give_back(id);
    assert!(!elevations.lives(id));
    bench.run_ms(50);
    assert_eq!(ends(&bench), [(1, ElevationEnd::UsedUp, 0)], "told once");
    assert_eq!(bench.run(), RunState::Armed, "nothing is stopped for it");
    let_go(&bench, id);
    assert_eq!(bench.links.shared.elevations.taken(), 0);
}

#[test]
fn time_ends_it_and_counts_before_the_tick_has_seen_it() {
    let mut bench = Bench::armed();
    let id = open(&bench, 2);
    bench.run_ms(FOR_MS - TICK_MS);
    assert_eq!(take(&bench, id), Ok(1));
    bench.now = bench.now.plus_ms(TICK_MS);
    assert_eq!(take(&bench, id), Err(ElevationEnd::Time));
    bench.round();
    assert_eq!(ends(&bench), [(1, ElevationEnd::Time, 1)]);
}

#[test]
fn every_stop_but_the_ordinary_end_of_a_call_ends_it_at_once() {
    use ElevationEnd as E;
    for cause in StopCause::ALL {
        for kind in [StopKind::Stop, StopKind::Estop] {
            let mut bench = Bench::armed();
            let id = open(&bench, 2);
            bench.links.latch.ask(kind, cause);
            let ordinary = kind == StopKind::Stop && cause == StopCause::Deadline;
            assert_eq!(take(&bench, id).is_ok(), ordinary, "{kind} {cause}");
            bench.tick();
            let expected = match (kind, cause) {
                (StopKind::Estop, _) => Some(E::Estop),
                (_, StopCause::Deadline) => None,
                (_, StopCause::ModelStop | StopCause::OperatorStop | StopCause::FleetStop) => {
                    Some(E::Stop)
                }
                (_, StopCause::Shutdown) => Some(E::Shutdown),
                (_, StopCause::StaleState | StopCause::BridgeLost) => Some(E::LinkLost),
                (_, _) => Some(E::Fault),
            };
            let told: Vec<E> = ends(&bench).iter().map(|(_, cause, _)| *cause).collect();
            assert_eq!(told, Vec::from_iter(expected), "{kind} {cause}");
        }
    }
}

#[test]
fn a_disarm_ends_it_even_when_the_robot_is_armed_again_in_the_same_round() {
    let mut bench = Bench::armed();
    let id = open(&bench, 2);
    bench.ports.orders.submit(Order::Disarm).unwrap();
    let arm = Order::Arm { for_ms: 600_000 };
    bench.ports.orders.submit(arm).unwrap();
    bench.tick();
    assert_eq!(bench.run(), RunState::Armed);
    assert_eq!(ends(&bench), [(1, ElevationEnd::Disarm, 2)]);
    assert!(take(&bench, id).is_err());
}

#[test]
fn a_robot_that_is_not_heard_ends_it_though_nothing_moves() {
    let mut bench = Bench::armed();
    open(&bench, 2);
    bench.robot.speaks = false;
    bench.run_ms(700);
    assert_eq!(ends(&bench), [(1, ElevationEnd::LinkLost, 2)]);
    assert_eq!(bench.run(), RunState::Armed);
}

#[test]
fn case_70_the_call_that_runs_is_stopped_when_its_operator_is_gone_and_the_robot_stays_armed() {
    let mut bench = Bench::armed();
    let (id, other) = (open(&bench, 1), open(&bench, 1));
    go(&mut bench, id, CommandKind::Move);
    bench.run_ms(100);
    assert_eq!(bench.run(), RunState::Moving);
    let_go(&bench, id);
    bench.round();
    assert_eq!(bench.run(), RunState::Stopping, "at once");
    let shared = bench.links.shared.clone();
    assert_eq!(shared.standing().lowered, bench.call);
    bench.end_call(CallEnd::Over);
    bench.run_until(2_000, |bench| bench.run() == RunState::Armed);
    assert!(!bench.robot.moving);
    assert_eq!(ends(&bench), [(1, ElevationEnd::OperatorLost, 0)]);
    assert!(
        shared.elevations.lives(other),
        "that of somebody else stays"
    );
    shared.elevations.give_back(id);
    assert_eq!(shared.elevations.taken(), 1, "its slot is free");
}

#[test]
fn a_call_that_needs_no_elevation_goes_on_when_one_ends() {
    let mut bench = Bench::armed();
    let id = open(&bench, 1);
    bench.go(CommandKind::Move);
    bench.run_ms(100);
    let_go(&bench, id);
    bench.run_ms(100);
    assert_eq!(bench.run(), RunState::Moving);
    assert!(!bench.asked(StopCause::Deadline));
}

#[test]
fn the_end_of_its_time_stops_the_call_that_runs() {
    let mut bench = Bench::armed();
    let id = open(&bench, 1);
    go(&mut bench, id, CommandKind::Move);
    bench.run_until(FOR_MS + 100, |bench| bench.run() == RunState::Stopping);
    assert_eq!(bench.links.shared.standing().lowered, bench.call);
    assert_eq!(bench.verbs().len(), 1);
    assert_eq!(ends(&bench), [(1, ElevationEnd::Time, 0)]);
}

#[test]
fn a_command_that_waits_when_its_elevation_ends_never_leaves() {
    for kind in [CommandKind::Move, CommandKind::Hold, CommandKind::Config] {
        let mut bench = Bench::armed();
        let id = open(&bench, 1);
        go(&mut bench, id, kind);
        let_go(&bench, id);
        bench.run_ms(50);
        let left = |(_, left): &&(u64, Left)| matches!(left, Left::Command { .. });
        assert_eq!(bench.left.iter().filter(left).count(), 0, "{kind:?}");
        let dropped = |kind: &SafetyEventKind| {
            let why = DropCause::Elevation;
            matches!(kind, SafetyEventKind::Dropped { why: told, .. } if *told == why)
        };
        assert!(bench.happened(dropped), "{kind:?}");
        assert_eq!(bench.run(), RunState::Armed);
    }
}

#[test]
fn a_hold_is_not_repeated_under_an_elevation_that_is_over() {
    let mut bench = Bench::armed();
    let id = open(&bench, 1);
    go(&mut bench, id, CommandKind::Hold);
    bench.tick();
    say(&mut bench, id, CommandKind::Hold);
    bench.tick();
    let repeat = Left::Command {
        call: bench.call,
        repeat: true,
    };
    assert_eq!(bench.count(repeat), 1);
    say(&mut bench, id, CommandKind::Hold);
    let_go(&bench, id);
    bench.tick();
    assert_eq!(bench.count(repeat), 1);
    assert_eq!(bench.run(), RunState::Stopping);
}

#[test]
fn so_many_live_at_once_and_a_slot_is_free_when_nobody_needs_it() {
    let mut bench = Bench::armed();
    let all: Vec<_> = (0..ELEVATIONS_MAX).map(|_| open(&bench, 1)).collect();
    let elevations = &bench.links.shared.elevations;
    assert_eq!(elevations.open(opening(&bench, 1)), None);
    take(&bench, all[0]).unwrap();
    let_go(&bench, all[0]);
    bench.tick();
    let elevations = &bench.links.shared.elevations;
    assert_eq!(elevations.open(opening(&bench, 1)), None, "its call runs");
    assert_eq!(elevations.tier_running(), Some(Tier::FullActuation));
    elevations.give_back(all[0]);
    assert_eq!(elevations.tier_running(), None);
    let next = elevations.open(opening(&bench, 1)).unwrap();
    assert!(all.iter().all(|id| *id < next), "no number is given twice");
    for calls in [0, 101, u32::MAX] {
        assert_eq!(elevations.open(opening(&bench, calls)), None, "{calls}");
    }
}

#[test]
fn of_many_that_race_for_the_last_call_one_gets_it() {
    let elevations = Elevations::default();
    for calls in 1..=100 {
        let id = elevations.open(Opening {
            tier: Tier::FullActuation,
            calls,
            until: Mono::from_ms(10),
            falls: 0,
        });
        let id = id.unwrap();
        let (taken, last) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..=calls {
                        if let Ok(raised) = elevations.take(id, (Mono::ZERO, 0)) {
                            taken.fetch_add(1, Ordering::SeqCst);
                            last.fetch_add(u32::from(raised.left == 0), Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        let counts = (taken.into_inner(), last.into_inner());
        assert_eq!(counts, (calls, 1), "{calls} calls");
        elevations.let_go(id);
        for _ in 0..calls {
            elevations.give_back(id);
        }
        // Nobody ticks here; the slot stays until its end is told.
        elevations.restore((0, 0), 0);
    }
}

/// What may happen to one Elevation.
#[derive(Debug, Clone)]
enum Deed {
    Take,
    GiveBack,
    Wait(u64),
    End,
    LetGo,
    Stop(StopCause),
    Silence,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        6 => Just(Deed::Take),
        4 => Just(Deed::GiveBack),
        3 => (1_u64..100).prop_map(Deed::Wait),
        1 => Just(Deed::End),
        1 => Just(Deed::LetGo),
        1 => prop::sample::select(&StopCause::ALL[..]).prop_map(Deed::Stop),
        1 => Just(Deed::Silence),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Against a slow model: a call is given exactly while calls, time and the operator are left and
    /// nobody stopped the robot; the end is told once, and afterwards nothing is given any more.
    #[test]
    fn no_order_of_events_gives_a_call_too_many(
        calls in 1_u32..6,
        for_ms in 10_u64..2_000,
        deeds in prop::collection::vec(deed(), 1..60),
    ) {
        let mut bench = Bench::armed();
        let until = bench.now.plus_ms(for_ms);
        let id = bench.links.shared.elevations.open(Opening {
            tier: Tier::FullActuation,
            calls,
            until,
            falls: bench.links.latch.falls(),
        }).unwrap();
        let (mut left, mut running, mut over) = (calls, 0_u32, false);
        for deed in deeds {
            match deed {
                Deed::Take => {
                    over |= bench.now >= until;
                    let fits = !over && left > 0;
                    prop_assert_eq!(take(&bench, id).is_ok(), fits);
                    left -= u32::from(fits);
                    running += u32::from(fits);
                }
                Deed::GiveBack if running > 0 => {
                    running -= 1;
                    over |= left == 0 && running == 0;
                    bench.links.shared.elevations.give_back(id);
                }
                Deed::GiveBack => {}
                Deed::Wait(ticks) => bench.run_ms(ticks * TICK_MS),
                Deed::End => {
                    over = true;
                    bench.links.shared.elevations.end(id, ElevationEnd::OperatorLost);
                }
                Deed::LetGo => {
                    over = true;
                    let_go(&bench, id);
                }
                Deed::Stop(cause) => {
                    bench.links.latch.ask(StopKind::Stop, cause);
                    over |= cause != StopCause::Deadline;
                }
                Deed::Silence => {
                    bench.robot.extra = bench.robot.extra.with(Signs::BLIND, true);
                    bench.robot.speaks = false;
                    bench.run_ms(700);
                    over = true;
                }
            }
            // Idle time and the end of the arming do not come into it: both are longer than this.
            over |= bench.now >= until;
        }
        bench.run_ms(for_ms + 100);
        let told = ends(&bench);
        prop_assert!(told.len() <= 1, "{:?}", told);
        prop_assert_eq!(told.len(), 1);
        prop_assert!(take(&bench, id).is_err());
        let_go(&bench, id);
        for _ in 0..running {
            bench.links.shared.elevations.give_back(id);
        }
        prop_assert_eq!(bench.links.shared.elevations.taken(), 0);
    }
}
