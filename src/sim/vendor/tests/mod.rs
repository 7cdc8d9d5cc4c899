//! The simulated robot has the habits of vendor nodes, and hostile input cannot harm it.

mod habits;
mod hostile;
mod others;

use std::path::Path;
use std::time::UNIX_EPOCH;

use proptest::prelude::*;
use serde_json::Map;

use super::*;
use crate::config::{RobotFile, Tiers};
use crate::robot::codec::CMD_REQUEST_BYTES_MAX;
use crate::sim::journal::VerbClass;
use crate::terms::Output;

const DRIVE: &str = dialect::DRIVE;
const GO: &str = dialect::GO_TO_POSE;

/// All verbs of the built-in rover.
const ALL: [&str; 10] = [
    dialect::HEARTBEAT,
    dialect::ESTOP,
    dialect::RELEASE,
    dialect::CAPABILITIES,
    dialect::DRIVE,
    dialect::GO_TO_POSE,
    dialect::GRIPPER_SET,
    dialect::GET_POSE,
    dialect::STOP,
    dialect::SELF_TEST,
];

/// A second robot: other verbs, other arguments, other words.
const CRAWLER: &str = include_str!("../../../../tests/data/crawler/robot.toml");

fn crawler(text: &str) -> RobotFile {
    let tiers = Tiers::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tiers")).unwrap();
    RobotFile::parse("tiers/robots/crawler.toml", text, &tiers).unwrap()
}

/// A robot with the tools to talk to it.
struct Rig {
    vendor: Vendor,
    now: Mono,
    ids: u32,
    frames: Vec<Frame>,
    journal: Vec<JournalEntry>,
}

impl Rig {
    fn new(seed: u64) -> Self {
        Self::speaking(Dialect::rover(), seed)
    }

    /// A robot that learned its language from the second robot's file.
    fn crawler() -> Self {
        Self::speaking(Dialect::of(&crawler(CRAWLER)).unwrap(), 7)
    }

    fn speaking(dialect: Dialect, seed: u64) -> Self {
        let plan = VendorPlan {
            robot_id: RobotId::parse("rover-sim-001").unwrap(),
            dialect,
            seed,
            home: [0.0, 0.0],
            pid: 42,
            wall_at_zero: UNIX_EPOCH,
        };
        let now = Mono::from_ms(1000);
        let mut rig = Self {
            vendor: Vendor::new(plan, now),
            now,
            ids: 0,
            frames: Vec::new(),
            journal: Vec::new(),
        };
        rig.wait(0);
        rig
    }

    /// Lets time pass in steps of the dataflow's timer.
    fn wait(&mut self, ms: u64) {
        let end = self.now.plus_ms(ms);
        loop {
            let frames = self.vendor.advance(self.now);
            self.take(frames);
            if self.now >= end {
                break;
            }
            self.now = self.now.plus_ms(50).min(end);
        }
    }

    fn send_raw(&mut self, text: &str) -> usize {
        let frames = self.vendor.handle(text, self.now);
        let count = frames
            .iter()
            .filter(|frame| frame.output == Output::CmdResponse)
            .count();
        self.take(frames);
        count
    }

    fn send_as(&mut self, id: &str, verb: &str, params: Value) -> Option<Value> {
        let request = json!({
            "envelope_version": "1.0", "spec_version": "1.0.0", "verb": verb,
            "target": "rover-sim-001", "request_id": id, "ts": "2026-01-01T00:00:00.000Z",
            "auth": { "cmd_token": "t" }, "params": params,
        });
        self.send_raw(&request.to_string());
        self.response(id)
    }

    fn send(&mut self, verb: &str, params: Value) -> Option<Value> {
        self.ids += 1;
        let id = format!("id-{}", self.ids);
        self.send_as(&id, verb, params)
    }

    /// Sends and returns the code of the answer.
    fn code(&mut self, verb: &str, params: Value) -> String {
        let response = self.send(verb, params).expect("an answer");
        response["code"].as_str().unwrap().to_owned()
    }

    fn take(&mut self, frames: Vec<Frame>) {
        self.frames.extend(frames);
        self.journal.extend(self.vendor.journal().take());
    }

    fn response(&self, id: &str) -> Option<Value> {
        let mut frames = self.frames.iter().rev();
        let frame = frames.find(|frame| frame.request_id.as_deref() == Some(id))?;
        Some(serde_json::from_str(&frame.payload).unwrap())
    }

    fn all(&self, output: Output) -> Vec<Value> {
        let frames = self.frames.iter().filter(|frame| frame.output == output);
        frames
            .map(|frame| serde_json::from_str(&frame.payload).unwrap())
            .collect()
    }

    fn state(&self) -> Value {
        self.all(Output::State).pop().unwrap()
    }

    fn heartbeats(&mut self, ms: u64) {
        for _ in 0..ms / 300 {
            self.wait(300);
            assert_eq!(self.code(dialect::HEARTBEAT, json!({})), "0");
        }
    }
}

fn velocity(linear: f64) -> Value {
    json!({ "linear": linear, "angular": 0.0, "control_source": "octos-edge" })
}

fn goal(x: f64) -> Value {
    json!({ "x": x, "y": 0.0, "control_source": "octos-edge" })
}
