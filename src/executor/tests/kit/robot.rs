//! A clock on tokio's paused time, a sink that keeps facts, and a robot that keeps notes.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::terms::{Clock, Fact, FactSink, Mono, Posture, RobotPort, StopCause, StopKind};

/// Time between cancelling a motion and rest of the kit's robot, ms.
pub(in crate::executor::tests) const REST_MS: u64 = 700;

#[derive(Debug)]
pub(in crate::executor::tests) struct PausedClock(pub(super) Instant);

impl Clock for PausedClock {
    fn now(&self) -> Mono {
        let ns = self.0.elapsed().as_nanos();
        Mono::from_ns(u64::try_from(ns).unwrap()).plus_ms(1_000)
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug, Default)]
pub(in crate::executor::tests) struct Facts(pub(super) Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// What happened, in its order.
#[derive(Debug, Clone, Default)]
pub(in crate::executor::tests) struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    pub(in crate::executor::tests) fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    pub(in crate::executor::tests) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

#[derive(Debug)]
pub(in crate::executor::tests) struct NotingRobot {
    pub(super) clock: Arc<PausedClock>,
    pub(super) notes: Notes,
    pub(super) posture: Mutex<Posture>,
    pub(super) rests: Mutex<bool>,
}

impl NotingRobot {
    pub(in crate::executor::tests) fn change(&self, change: impl FnOnce(&mut Posture)) {
        change(&mut self.posture.lock().unwrap());
    }

    pub(in crate::executor::tests) fn never_rests(&self) {
        *self.rests.lock().unwrap() = false;
    }
}

impl RobotPort for NotingRobot {
    fn posture(&self) -> Posture {
        let mut posture = *self.posture.lock().unwrap();
        posture.now = self.clock.now();
        if let Some(reading) = &mut posture.reading {
            reading.at = posture.now;
        }
        posture
    }

    fn stop(&self, kind: StopKind, cause: StopCause, by: Option<&str>) -> u32 {
        let by = by.unwrap_or("nobody");
        self.notes.add(format!("{kind} {cause} by {by}"));
        let mut posture = self.posture.lock().unwrap();
        posture.epoch += 1;
        posture.latched |= kind == StopKind::Estop;
        posture.epoch
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            sleep(Duration::from_millis(REST_MS)).await;
            let rests = *self.rests.lock().unwrap();
            self.notes
                .add(if rests { "at rest" } else { "not at rest" });
            rests
        })
    }
}
