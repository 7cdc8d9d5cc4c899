//! `mock-robot`: the simulated rover as a node of a dataflow.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::clock::SystemClock;
use super::exit::{AppError, Exit};
use super::requests::MockRobotRequest;
use super::settings::Settings;
use crate::node::{Attached, DoraWire, Needs, attach};
use crate::sim::{Frame, JournalEntry, Vendor, VendorPlan};
use crate::terms::{Clock, Input, Wire as _, WireEvent};

/// The longest way to rest, in steps of the physics: four times the 250 ms that braking takes.
const REST_STEPS_MAX: u32 = 100;
const REST_STEP: Duration = Duration::from_millis(10);

/// Serves a dataflow until it ends.
///
/// # Errors
/// [`AppError::Node`] when the dataflow does not wire it, [`AppError::Internal`] when the journal
/// cannot be written.
pub fn serve_mock_robot(settings: &Settings, request: &MockRobotRequest) -> Result<Exit, AppError> {
    super::start_log(settings)?;
    let clock = SystemClock::start();
    let journal = request.journal.as_deref().map(open_journal).transpose()?;
    let Attached {
        wire, mut events, ..
    } = attach(Needs::ROBOT)?;
    let plan = VendorPlan {
        robot_id: request.robot_id.clone(),
        seed: request.seed,
        home: request.home,
        pid: std::process::id(),
        wall_at_zero: clock.wall(),
    };
    let mut robot = Robot {
        vendor: Vendor::new(plan, clock.now()),
        clock,
        wire,
        journal,
    };
    while let Some(event) = events.next_event() {
        match robot.take(event)? {
            Some(exit) => return Ok(exit),
            None => continue,
        }
    }
    robot.come_to_rest()?;
    Ok(Exit::Done)
}

struct Robot {
    vendor: Vendor,
    clock: SystemClock,
    wire: DoraWire,
    journal: Option<File>,
}

impl Robot {
    /// Takes one event; returns how to end when it is the last.
    fn take(&mut self, event: WireEvent) -> Result<Option<Exit>, AppError> {
        let now = self.clock.now();
        let frames = match event {
            WireEvent::Data {
                input: Input::Tick, ..
            } => self.vendor.advance(now),
            WireEvent::Data {
                input: Input::CmdRequest,
                text: Some(text),
            } => self.vendor.handle(&text, now),
            // What had arrived before is still read; then the stream ends.
            WireEvent::Stop => self.vendor.halt(now),
            WireEvent::Broken(error) => {
                tracing::error!(%error, "the dataflow is gone");
                return Ok(Some(Exit::Internal));
            }
            // A robot controls nobody: what becomes of its peers is its dead-man's business.
            WireEvent::Data { .. }
            | WireEvent::Stray { .. }
            | WireEvent::Peer { .. }
            | WireEvent::Param { .. }
            | WireEvent::Reload
            | WireEvent::Unknown => Vec::new(),
        };
        self.send(&frames);
        self.write_journal()?;
        Ok(None)
    }

    /// A driver that ends does not leave its robot rolling.
    fn come_to_rest(&mut self) -> Result<(), AppError> {
        for _ in 0..REST_STEPS_MAX {
            let frames = self.vendor.advance(self.clock.now());
            self.send(&frames);
            self.write_journal()?;
            if self.vendor.rover().is_at_rest() {
                return Ok(());
            }
            thread::park_timeout(REST_STEP);
        }
        tracing::error!("the robot is not at rest");
        Ok(())
    }

    fn send(&mut self, frames: &[Frame]) {
        for frame in frames {
            let sent = self
                .wire
                .send(frame.output, &frame.payload, frame.request_id.as_deref());
            if let Err(error) = sent {
                tracing::warn!(%error, output = frame.output.as_str(), "a frame was not sent");
            }
        }
    }

    /// Appends what happened to the journal, and says the rare events in the log.
    fn write_journal(&mut self) -> Result<(), AppError> {
        let entries = self.vendor.journal().take();
        entries.iter().for_each(tell);
        let Some(file) = &mut self.journal else {
            return Ok(());
        };
        for entry in &entries {
            let line = serde_json::to_string(entry)
                .map_err(|error| AppError::Internal(format!("journal entry: {error}")))?;
            writeln!(file, "{line}")
                .map_err(|error| AppError::Internal(format!("journal: {error}")))?;
        }
        Ok(())
    }
}

/// Says in the log that the robot came to rest or stopped itself.
fn tell(entry: &JournalEntry) {
    match entry {
        JournalEntry::DeadMan { silent_ms, .. } => {
            tracing::info!(silent_ms, "the dead-man stopped the robot");
        }
        JournalEntry::Rest { x, y, arrived, .. } => {
            tracing::info!(x, y, arrived, "the robot is at rest");
        }
        JournalEntry::Start { .. }
        | JournalEntry::Verb { .. }
        | JournalEntry::Ignored { .. }
        | JournalEntry::Pose { .. } => {}
    }
}

fn open_journal(path: &Path) -> Result<File, AppError> {
    OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o640)
        .open(path)
        .map_err(|error| {
            AppError::Internal(format!(
                "journal {} cannot be written: {error}",
                path.display()
            ))
        })
}
