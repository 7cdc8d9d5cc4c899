//! Stops against commands through all parts, with real threads. Order only; no times, no sleeps.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use super::world::{ManualClock, World};
use crate::robot::{Bridge, EventTap, Inbox};
use crate::safety::SafetyStep;
use crate::terms::{
    ActuationCmd, Clock, CommandKind, Input, Mono, Output, RobotPort, StopCause, StopKind, Wire,
    WireError, WireEvent,
};

/// Notes the order in which stop verbs and commands leave. A command carries the epoch under which
/// it was submitted in its parameters.
#[derive(Debug)]
struct Witness<'a> {
    latch: crate::safety::Latch,
    /// Commands that left after a stop verb of a later epoch.
    wrong: &'a Mutex<Vec<String>>,
    commands: &'a AtomicU32,
    stopped: Option<u32>,
}

impl Wire for Witness<'_> {
    fn send(&mut self, _: Output, payload: &str, _: Option<&str>) -> Result<(), WireError> {
        if payload.contains("\"vendor.octos.rover.stop\"") || payload.contains("\"robot.estop\"") {
            self.stopped = Some(self.latch.word().epoch);
        } else if let Some((_, rest)) = payload.split_once("\"params\":{\"epoch\":") {
            self.commands.fetch_add(1, Ordering::SeqCst);
            let epoch: u32 = rest.trim_end_matches('}').parse().unwrap();
            // A stop verb of this epoch or a later one left before: this must not have.
            if self.stopped.is_some_and(|stopped| epoch < stopped) {
                self.wrong.lock().unwrap().push(payload.to_owned());
            }
        }
        Ok(())
    }
}

/// What the threads of the race share.
struct Race {
    done: AtomicBool,
    ticks: AtomicU32,
    wrong: Mutex<Vec<String>>,
    commands: AtomicU32,
}

#[test]
fn case_60_no_command_leaves_after_a_stop_in_any_race_of_many() {
    const STOPS: u32 = 2_500;
    let mut world = World::armed();
    let proto = world.cmd("robot_release_control", CommandKind::Config);
    let (parts, clock) = (world.parts, world.clock);
    let links = parts.links.clone();
    let bridge = parts.bridge.clone();
    let race = Race {
        done: AtomicBool::new(false),
        ticks: AtomicU32::new(0),
        wrong: Mutex::new(Vec::new()),
        commands: AtomicU32::new(0),
    };
    thread::scope(|scope| {
        let (inbox, safety, events) = (parts.inbox, parts.safety, parts.events);
        scope.spawn(|| tick_on(&race, (inbox, safety, events), &clock));
        let mut outbox = parts.outbox;
        let (race_ref, latch) = (&race, links.latch.clone());
        scope.spawn(move || {
            let mut wire = Witness {
                latch,
                wrong: &race_ref.wrong,
                commands: &race_ref.commands,
                stopped: None,
            };
            while !race_ref.done.load(Ordering::SeqCst) {
                outbox.step(&mut wire);
                thread::yield_now();
            }
        });
        let stopper = scope.spawn(|| {
            // On until some commands passed between two stops: else the race is about nothing.
            for n in 0..STOPS * 20 {
                if n >= STOPS && race.commands.load(Ordering::SeqCst) > 0 {
                    return;
                }
                // Past the bridge, where a word that adds nothing joins the stop that stands.
                links.latch.ask(StopKind::Stop, StopCause::ModelStop);
                // Let the robot come to rest now and then, so that commands can pass at all.
                let until = race.ticks.load(Ordering::SeqCst) + 1 + n % 7;
                while race.ticks.load(Ordering::SeqCst) < until {
                    thread::yield_now();
                }
            }
        });
        let mut call = 100u64;
        while !stopper.is_finished() {
            call += 1;
            submit(&bridge, &proto, call);
        }
        race.done.store(true, Ordering::SeqCst);
    });
    let wrong = race.wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of them, such as {}",
        wrong.len(),
        wrong[0]
    );
    assert!(links.latch.word().epoch >= STOPS);
    assert!(race.commands.into_inner() > 0, "some passed between stops");
}

/// The virtual clock, the robot's states, the tick and the recorder.
fn tick_on(race: &Race, parts: (Inbox, SafetyStep, EventTap), clock: &ManualClock) {
    let (mut inbox, mut safety, mut events) = parts;
    let mut seq = 1_000_000u64;
    while !race.done.load(Ordering::SeqCst) {
        clock.0.fetch_add(1_000_000, Ordering::SeqCst);
        let now = clock.now();
        seq += 1;
        let state = format!(
            "{{\"seq\":{seq},\"pose\":{{\"position\":[0,0]}},\"speed\":0,\"nav_status\":\"idle\"}}"
        );
        let event = WireEvent::Data {
            input: Input::State,
            text: Some(state),
        };
        inbox.handle(event, now);
        safety.step(now);
        events.drain(|_| {});
        race.ticks.fetch_add(1, Ordering::SeqCst);
        thread::yield_now();
    }
}

/// Submits a command under the epoch of now.
fn submit(bridge: &Bridge, proto: &ActuationCmd, call: u64) {
    let epoch = bridge.posture().epoch;
    let calls = &bridge.links.shared.calls;
    if !calls.open(call) {
        return;
    }
    let mut cmd = proto.clone();
    cmd.epoch = epoch;
    cmd.lease.call = call;
    cmd.deadline = Mono::from_ns(u64::MAX);
    cmd.params = format!("{{\"epoch\":{epoch}}}")
        .as_str()
        .try_into()
        .unwrap();
    bridge.submit(cmd);
    // Long enough that the tick may find the call alive.
    for _ in 0..50 {
        thread::yield_now();
    }
    calls.close(call);
}
