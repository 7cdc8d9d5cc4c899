//! Stops against commands through all parts, with real threads. Order only; no times, no sleeps.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

use super::world::World;
use crate::terms::{
    Clock, CommandKind, Mono, Output, RobotPort, StopCause, StopKind, Wire, WireError,
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

#[test]
fn case_60_no_command_leaves_after_a_stop_in_any_race_of_many() {
    const ROUNDS: u64 = 20_000;
    let mut world = World::armed();
    let (wrong, commands) = (Mutex::new(Vec::new()), AtomicU32::new(0));
    let proto = world.cmd("robot_release_control", CommandKind::Config);
    let World { parts, clock, .. } = world;
    let links = parts.links.clone();
    let bridge = parts.bridge.clone();
    let (mut safety, mut outbox, mut events) = (parts.safety, parts.outbox, parts.events);
    let mut inbox = parts.inbox;
    let done = AtomicBool::new(false);
    let tick = AtomicU32::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            // The virtual clock, the robot's states, the tick and the recorder.
            let mut seq = 1_000_000u64;
            while !done.load(Ordering::SeqCst) {
                clock.0.fetch_add(1_000_000, Ordering::SeqCst);
                let now: Mono = clock.now();
                seq += 1;
                let state = format!(
                    "{{\"seq\":{seq},\"pose\":{{\"position\":[0,0]}},\"speed\":0,\"nav_status\":\"idle\"}}"
                );
                let event = crate::terms::WireEvent::Data {
                    input: crate::terms::Input::State,
                    text: Some(state),
                };
                inbox.handle(event, now);
                safety.step(now);
                events.drain(|_| {});
                tick.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
            }
        });
        scope.spawn(|| {
            let mut wire = Witness {
                latch: links.latch.clone(),
                wrong: &wrong,
                commands: &commands,
                stopped: None,
            };
            while !done.load(Ordering::SeqCst) {
                outbox.step(&mut wire);
                thread::yield_now();
            }
        });
        let stopper = scope.spawn(|| {
            for n in 0..ROUNDS / 8 {
                bridge.stop(StopKind::Stop, StopCause::ModelStop, None);
                // Let the robot come to rest now and then, so that commands can pass at all.
                let until = tick.load(Ordering::SeqCst) + 1 + u32::try_from(n % 7).unwrap();
                while tick.load(Ordering::SeqCst) < until {
                    thread::yield_now();
                }
            }
        });
        let mut call = 100u64;
        while !stopper.is_finished() {
            call += 1;
            let epoch = bridge.posture().epoch;
            if !links.shared.calls.open(call) {
                continue;
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
            thread::yield_now();
            links.shared.calls.close(call);
        }
        done.store(true, Ordering::SeqCst);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} of them, such as {}",
        wrong.len(),
        wrong[0]
    );
    assert!(links.latch.word().epoch >= 2_500);
}
